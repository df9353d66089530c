"""States on disk: what is continued, and what is refused with a reason."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from hypercondense.condensing.checkpoint import (
    Checkpoint,
    remove_checkpoint,
)
from hypercondense.condensing.run import condense_by
from hypercondense.errors import CondensationError, FormatError
from hypercondense.files.storage import read_tensors, write_tensors
from hypercondense.hypergraph import Hypergraph, Split
from makers.jobs import kept_in, quick


def file_in(folder: Path) -> Path:
    (path,) = folder.iterdir()
    return path


def facts_changed(folder: Path, change: Any) -> None:
    """Rewrite the facts of a checkpoint."""
    tensors = dict(read_tensors(file_in(folder)))
    facts = json.loads(tensors["facts"].tobytes())
    change(facts)
    tensors["facts"] = np.frombuffer(json.dumps(facts).encode(), np.uint8)
    write_tensors(file_in(folder), tensors)


def test_what_was_saved_is_loaded_and_only_if_it_is_to_be_resumed(tmp_path: Path) -> None:
    assert kept_in(tmp_path, resume=True).load() is None  # nothing is there yet
    kept_in(tmp_path).save({"a": torch.arange(3)}, {"epoch": 7, "best": {"score": 0.1}})
    assert kept_in(tmp_path).load() is None
    loaded = kept_in(tmp_path, resume=True).load()
    assert loaded is not None
    tensors, facts = loaded
    assert tensors["a"].tolist() == [0, 1, 2] and facts == {"epoch": 7, "best": {"score": 0.1}}
    remove_checkpoint(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_it_is_due_at_once_and_then_only_after_its_time(tmp_path: Path) -> None:
    keeper = Checkpoint(tmp_path, {}, every=1e6)
    assert keeper.due()
    keeper.save({}, {})
    assert not keeper.due()


def test_a_state_of_release_0_1_0_is_refused_with_the_reason(tmp_path: Path) -> None:
    """Its facts tell no version."""
    kept_in(tmp_path).save({"features": torch.ones(2)}, {"epoch": 7})
    facts_changed(tmp_path, lambda facts: facts.pop("version"))
    message = r"has version 1 and this program continues version 3 only; .* start again without resume"
    with pytest.raises(CondensationError, match=message):
        kept_in(tmp_path, resume=True).load()
    facts_changed(tmp_path, lambda facts: facts.update(version=4))
    with pytest.raises(CondensationError, match="has version 4"):
        kept_in(tmp_path, resume=True).load()


def test_a_file_that_is_no_checkpoint_is_refused(tmp_path: Path) -> None:
    kept_in(tmp_path).save({}, {})
    facts_changed(tmp_path, lambda facts: facts.pop("identity"))
    with pytest.raises(FormatError, match=r"is not a checkpoint to .*; remove it and start again"):
        kept_in(tmp_path, resume=True).load()
    write_tensors(file_in(tmp_path), {"other": np.zeros(2)})
    with pytest.raises(FormatError, match="is not a checkpoint"):
        kept_in(tmp_path, resume=True).load()


def test_no_bit_of_a_state_changes_unnoticed(tmp_path: Path) -> None:
    tensors = {"features": torch.rand(3, 2), "step": torch.tensor(4.0)}
    kept_in(tmp_path).save(tensors, {"epoch": 7, "history": [{"loss": 0.5}]})
    whole = file_in(tmp_path).read_bytes()
    assert kept_in(tmp_path, resume=True).load() is not None
    for place in range(0, 8 * len(whole), 37):
        changed = bytearray(whole)
        changed[place // 8] ^= 1 << place % 8
        file_in(tmp_path).write_bytes(changed)
        with pytest.raises((FormatError, CondensationError)) as caught:
            kept_in(tmp_path, resume=True).load()
        assert "checkpoint" in str(caught.value)


@pytest.mark.parametrize("lost", ["chance", "features", "epoch", "history", "best"])
def test_a_state_that_lacks_something_is_refused(
    source: Hypergraph, parts: Split, tmp_path: Path, lost: str
) -> None:
    """Not damaged, but made by somebody: its checksum is right."""
    how: dict[str, Any] = {"nodes": 9, "select": False, "checkpoint": tmp_path}
    condense_by(quick("ahgcdd-x"), source, parts, **how)
    arrays = dict(read_tensors(file_in(tmp_path)))
    facts = json.loads(arrays.pop("facts").tobytes())
    del arrays["sha256"]
    facts |= {lost: "nonsense"} if lost in facts else {}
    arrays.pop(lost, None)
    identity = facts.pop("identity")
    del facts["version"]
    keeper = Checkpoint(tmp_path, identity)
    keeper.save({name: torch.from_numpy(array) for name, array in arrays.items()}, facts)
    with pytest.raises(FormatError, match=r"not a checkpoint .*; remove it and start again"):
        condense_by(quick("ahgcdd-x"), source, parts, **how, resume=True)


def test_states_whose_writing_takes_long_are_written_rarely(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = 100.0
    monkeypatch.setattr("time.monotonic", lambda: now)
    often, rare = (replace(kept_in(tmp_path), every=every) for every in (0.0, 0.5))
    for keeper in (often, rare):
        keeper._written, keeper._took = now, 0.1
    assert often.due() and not rare.due()
    now += 1.9
    assert not rare.due()
    now += 0.2
    assert rare.due()


def test_the_identity_must_be_the_same(tmp_path: Path) -> None:
    kept_in(tmp_path, identity="one").save({}, {})
    with pytest.raises(CondensationError, match="was made with identity 'one', not 'two'; use the same"):
        kept_in(tmp_path, resume=True, identity="two").load()


def test_resuming_with_other_options_is_refused_and_says_which(
    source: Hypergraph, parts: Split, tmp_path: Path
) -> None:
    how: dict[str, Any] = {"nodes": 9, "select": False, "checkpoint": tmp_path}

    def again(recipe: Any = None, **changes: Any) -> None:
        condense_by(recipe or quick("ahgcdd-x"), source, parts, **{**how, **changes}, resume=True)

    condense_by(quick("ahgcdd-x"), source, parts, **how)
    again()
    with pytest.raises(CondensationError, match="was made with seed 0, not 1"):
        again(seed=1)
    with pytest.raises(CondensationError, match="was made with 9 condensed nodes, not 12; use the same"):
        again(nodes=12)
    with pytest.raises(CondensationError, match="was made with selection False, not True"):
        again(select=True)
    with pytest.raises(CondensationError, match=r"was made with settings .*'epochs': 8"):
        again(quick("ahgcdd-x", goal__epochs=9))


def test_what_a_writer_left_that_was_killed_at_its_first_write_goes(tmp_path: Path) -> None:
    part = Checkpoint(tmp_path, {}).part("a teacher")
    left = tmp_path / f".{part.file}.abcdefgh"
    left.mkdir()
    (left / "hypercondense.lock").touch()
    (left / "new").write_text("half of it")
    remove_checkpoint(tmp_path)
    assert list(tmp_path.iterdir()) == []
