"""The ledger of results, and networks that are trained on everything."""

import dataclasses
import json
from pathlib import Path

import pytest

from hypercondense.catalogue import condense
from hypercondense.condensation import load_condensed
from hypercondense.condensing import costs
from hypercondense.condensing.baselines.coresets import Herding
from hypercondense.condensing.baselines.embedding import HiddenLayer
from hypercondense.condensing.baselines.hgcond import HGCond
from hypercondense.condensing.costs import ledger_of
from hypercondense.condensing.job import Method
from hypercondense.condensing.material import Material
from hypercondense.condensing.run import condense_by
from hypercondense.errors import ConfigError
from hypercondense.files.storage import MANIFEST, read_json
from hypercondense.hypergraph import Hypergraph, Split
from hypercondense.nn import whole_training
from hypercondense.nn.training import Inputs
from hypercondense.typed import read
from makers.jobs import quick

NEEDY: list[tuple[str, Method, int]] = [
    ("teachers", quick("taught"), 1),
    ("a network", Herding(embedding=HiddenLayer(epochs=3)), 1),
    ("experts", HGCond(epochs=2, linker_steps=2, experts=2, expert_steps=10), 2),
]


def test_every_second_of_a_result_is_in_its_ledger(source: Hypergraph, parts: Split, tmp_path: Path) -> None:
    result = condense_by(quick("ahgcdd"), source, parts, nodes=9)
    ledger = result.ledger
    assert ledger is not None
    seconds = dict(ledger.seconds)
    assert seconds.pop("total") == result.seconds["total"]
    assert {"diffusion", "starts", "optimization", "looks"} <= set(seconds)
    assert sum(value for name, value in seconds.items() if name not in ("guard", "loading")) == (
        pytest.approx(result.seconds["total"])
    )
    assert (ledger.source.nodes, ledger.result.nodes) == (300, 9)
    assert ledger.source.bytes > ledger.source.nodes * source.num_features * 4
    assert ledger.whole_trainings == 0 and not ledger.measured
    assert ledger.whole_seconds and ledger.share == result.seconds["total"] / ledger.whole_seconds
    result.save(tmp_path / "out")
    assert load_condensed(tmp_path / "out").ledger == ledger


def test_folders_without_a_ledger_are_read(source: Hypergraph, parts: Split, tmp_path: Path) -> None:
    condense_by(quick("means"), source, parts, nodes=9, select=False).save(tmp_path / "out")
    manifest = read_json(tmp_path / "out" / MANIFEST)
    for name in ("ledger", "curve", "checksum"):
        del manifest[name]
    for name in ("allocate", "metric", "whole_training", "retain", "confidence"):
        del manifest["provenance"][name]
    (tmp_path / "out" / MANIFEST).write_text(json.dumps(manifest), "utf-8")
    loaded = load_condensed(tmp_path / "out")
    assert loaded.ledger is None and loaded.curve is None
    assert (loaded.provenance.allocate, loaded.provenance.metric) == ("proportional", "accuracy")


@pytest.mark.parametrize(("who", "method", "number"), NEEDY, ids=[who for who, _, _ in NEEDY])
def test_who_trains_on_everything_is_counted_and_may_be_forbidden(
    source: Hypergraph, parts: Split, who: str, method: Method, number: int
) -> None:
    ledger = condense_by(method, source, parts, nodes=9, select=False).ledger
    assert ledger is not None and ledger.whole_trainings == number
    assert ledger.measured == (who == "teachers")  # which are HGNNs, trained as any other
    material = Material(source, parts, whole_training=False)
    with pytest.raises(ConfigError, match=f"needs {who}.*--no-whole-training"):
        condense_by(method, source, parts, nodes=9, whole_training=False)
    assert material.whole_trainings == 0


def test_methods_that_do_without_may_be_used(source: Hypergraph, parts: Split) -> None:
    result = condense(source, parts, nodes=9, method="means", whole_training=False)
    assert not result.provenance.whole_training
    assert result.ledger is not None and result.ledger.whole_trainings == 0


def test_nothing_is_loaded_to_estimate_where_memory_is_short(source: Hypergraph, parts: Split) -> None:
    result = condense_by(quick("means"), source, parts, nodes=9, select=False, memory="1GB")
    assert result.ledger is not None and result.ledger.whole_seconds is result.ledger.share is None


def test_an_estimate_is_made_once_and_from_one_epoch_where_that_takes_long(
    source: Hypergraph, parts: Split, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[int] = []

    def seconds(inputs: Inputs, split: Split, epochs: int) -> float:
        asked.append(epochs)
        return {1: 0.5, 5: 1.5}[epochs]

    monkeypatch.setattr(whole_training, "_seconds", seconds)
    inputs = Inputs.of(source)
    assert whole_training.estimated_seconds(inputs, parts, at_most=1.9) == 200 / 5 * 0.8 * 5 * 0.5
    assert whole_training.estimated_seconds(inputs, parts, at_most=2.0) == 200 / 5 * 1.5
    assert asked == [1, 1, 5]
    material = Material(source, parts)
    one, two = (ledger_of(source, material, searched=False, peak_memory_mb=1.0) for _ in range(2))
    assert one == two and len(asked) == 4
    assert costs.extent_of(source) == one.result == one.source


def test_the_result_does_not_depend_on_the_estimate(
    source: Hypergraph, parts: Split, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = condense_by(quick("unrolled"), source, parts, nodes=9)
    monkeypatch.setattr(costs, "estimated_seconds", lambda *_, **__: 1e-9)
    second = condense_by(quick("unrolled"), source, parts, nodes=9)
    assert first.hypergraph.digest == second.hypergraph.digest
    assert first.final_validation == second.final_validation


def test_a_ledger_is_checked_when_it_is_read(source: Hypergraph, parts: Split) -> None:
    result = condense_by(quick("means"), source, parts, nodes=9, select=False)
    with pytest.raises(ConfigError, match=r"seconds\.total must be a number >= 0"):
        read({"seconds": {"total": -1.0}}, type(result.ledger))  # type: ignore[arg-type]
    assert dataclasses.replace(result, ledger=None).ledger is None
