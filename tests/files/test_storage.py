"""Folders and files that are whole or not there."""

import errno
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from safetensors import SafetensorError

from hypercondense.errors import FormatError
from hypercondense.files import drafts
from hypercondense.files.drafts import remove_drafts
from hypercondense.files.storage import (
    check_target,
    file_digest,
    read_json,
    read_tensors,
    replaced_file,
    replaced_folder,
    user_cache,
    write_json,
    write_tensors,
)


class Broken(Exception):
    pass


def names(folder: Path) -> list[str]:
    return sorted(entry.name for entry in folder.iterdir())


def our_folder(folder: Path) -> Path:
    folder.mkdir(parents=True)
    write_json(folder / "manifest.json", {"format": "hypercondense.condensed"})
    (folder / "condensed.safetensors").write_text("1")
    return folder


OURS = ["condensed.safetensors", "manifest.json"]


def test_a_folder_appears_when_the_block_ends(tmp_path: Path) -> None:
    with replaced_folder(tmp_path / "deep" / "target") as draft:
        (draft / "a").write_text("1")
        assert not (tmp_path / "deep" / "target").exists()
    assert (tmp_path / "deep" / "target" / "a").read_text() == "1"
    assert names(tmp_path / "deep") == ["target"]


def test_a_block_that_fails_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(Broken), replaced_folder(tmp_path / "target") as draft:
        (draft / "a").write_text("1")
        raise Broken
    assert names(tmp_path) == []


@pytest.mark.parametrize("error", [Broken, KeyboardInterrupt])
def test_a_block_that_fails_keeps_the_old_folder(tmp_path: Path, error: type[BaseException]) -> None:
    our_folder(tmp_path / "target")
    with pytest.raises(error), replaced_folder(tmp_path / "target", overwrite=True) as draft:
        (draft / "a").write_text("1")
        raise error
    assert names(tmp_path) == ["target"]
    assert names(tmp_path / "target") == OURS


def test_an_existing_folder_is_replaced_only_on_request(tmp_path: Path) -> None:
    our_folder(tmp_path / "target")
    with pytest.raises(FileExistsError, match="exists already"), replaced_folder(tmp_path / "target"):
        pass
    with replaced_folder(tmp_path / "target", overwrite=True) as draft:
        (draft / "new").write_text("1")
    assert names(tmp_path) == ["target"]
    assert names(tmp_path / "target") == ["new"]


def test_an_empty_folder_is_replaced_on_request(tmp_path: Path) -> None:
    (tmp_path / "target").mkdir()
    with replaced_folder(tmp_path / "target", overwrite=True) as draft:
        (draft / "new").write_text("1")
    assert names(tmp_path / "target") == ["new"]


@pytest.mark.parametrize("overwrite", [False, True])
def test_a_file_in_the_way_is_never_replaced(tmp_path: Path, overwrite: bool) -> None:
    (tmp_path / "target").write_text("a file")
    with pytest.raises(FileExistsError), replaced_folder(tmp_path / "target", overwrite=overwrite):
        pass
    assert (tmp_path / "target").read_text() == "a file"
    assert names(tmp_path) == ["target"]


def _add_a_file(folder: Path) -> None:
    (folder / "thesis.tex").write_text("1")


def _add_tensors(folder: Path) -> None:
    (folder / "weights.safetensors").write_text("a year of training")


def _add_tensors_of_another_format(folder: Path) -> None:
    (folder / "hypergraph.safetensors").write_text("a year of training")


def _add_a_folder(folder: Path) -> None:
    (folder / "thesis.safetensors").mkdir()


def _remove_the_manifest(folder: Path) -> None:
    (folder / "manifest.json").unlink()


def _break_the_manifest(folder: Path) -> None:
    (folder / "manifest.json").write_text("{")


def _change_the_format(folder: Path) -> None:
    write_json(folder / "manifest.json", {"format": "browser extension"})


@pytest.mark.parametrize(
    ("change", "named"),
    [
        (_add_a_file, r"\(thesis.tex\)"),
        (_add_tensors, r"\(weights.safetensors\)"),
        (_add_tensors_of_another_format, r"\(hypergraph.safetensors\)"),
        (_add_a_folder, r"\(thesis.safetensors\)"),
        (_remove_the_manifest, r"\(condensed.safetensors\)"),
        (_break_the_manifest, "manifest.json"),
        (_change_the_format, "manifest.json"),
    ],
)
def test_a_folder_with_anything_else_is_never_replaced(
    tmp_path: Path, change: Callable[[Path], None], named: str
) -> None:
    change(our_folder(tmp_path / "target"))
    before = names(tmp_path / "target")
    with (
        pytest.raises(FileExistsError, match=f"holds other files .*{named}"),
        replaced_folder(tmp_path / "target", overwrite=True),
    ):
        pass
    assert names(tmp_path / "target") == before
    assert names(tmp_path) == ["target"]


def test_a_file_that_comes_while_the_draft_is_filled_is_not_lost(tmp_path: Path) -> None:
    our_folder(tmp_path / "target")
    with (
        pytest.raises(FileExistsError, match=r"thesis\.tex"),
        replaced_folder(tmp_path / "target", overwrite=True),
    ):
        _add_a_file(tmp_path / "target")
    assert names(tmp_path / "target") == [*OURS, "thesis.tex"]
    assert names(tmp_path) == ["target"]


@pytest.mark.parametrize("inside", [".", "deep/deeper"])
def test_the_current_folder_and_those_around_it_are_never_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, inside: str
) -> None:
    target = our_folder(tmp_path / "target")
    (target / inside).mkdir(parents=True, exist_ok=True)
    monkeypatch.chdir(target / inside)
    with pytest.raises(FileExistsError, match="current folder"):
        check_target(target, overwrite=True)


def test_a_dangling_link_in_the_way_is_not_overwritten(tmp_path: Path) -> None:
    (tmp_path / "target").symlink_to(tmp_path / "nowhere")
    with pytest.raises(FileExistsError), replaced_folder(tmp_path / "target"):
        pass
    assert (tmp_path / "target").is_symlink()


def test_if_the_last_step_fails_the_old_folder_comes_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    our_folder(tmp_path / "target")
    rename = Path.rename

    def failing(self: Path, target: Path) -> Path:
        if Path(target) == tmp_path / "target" and not (self / "condensed.safetensors").exists():
            raise OSError("disk trouble")
        return rename(self, target)

    monkeypatch.setattr(
        drafts, "_exchanged", lambda *_: False
    )  # as where the system cannot do it in one step
    monkeypatch.setattr(Path, "rename", failing)
    with pytest.raises(OSError, match="disk trouble"), replaced_folder(tmp_path / "target", overwrite=True):
        pass
    assert names(tmp_path) == ["target"]
    assert names(tmp_path / "target") == OURS


def test_a_file_is_replaced_whole_or_not_at_all(tmp_path: Path) -> None:
    target = tmp_path / "deep" / "file"
    with replaced_file(target) as draft:
        draft.write_text("first")
    with pytest.raises(Broken), replaced_file(target) as draft:
        draft.write_text("second")
        raise Broken
    assert target.read_text() == "first"
    assert names(target.parent) == ["file"]


@pytest.mark.skipif(os.name != "posix", reason="permissions as on POSIX")
def test_files_of_a_folder_can_be_read_by_whom_the_system_allows(tmp_path: Path) -> None:
    """safetensors makes files for their owner only."""
    with replaced_folder(tmp_path / "folder") as draft:
        write_tensors(draft / "a.safetensors", {"a": np.zeros(3)})
        write_json(draft / "b.json", {})
    modes = {path.stat().st_mode & 0o777 for path in (tmp_path / "folder").iterdir()}
    plain = tmp_path / "plain"
    plain.touch()
    assert modes == {plain.stat().st_mode & 0o777}


def test_what_a_killed_writer_leaves_behind_can_be_removed(tmp_path: Path) -> None:
    """Libraries make files of their own beside the one they write: safetensors does."""
    target = tmp_path / "a[b]"
    target.write_text("first")
    (tmp_path / ".a[b]x").write_text("of somebody else")
    (tmp_path / ".a[b].json.abcd1234").mkdir()  # a draft of another file
    killed = """
import os, sys
from pathlib import Path
from hypercondense.files.storage import replaced_file
with replaced_file(Path(sys.argv[1])) as draft:
    draft.write_text("half")
    (draft.parent / ".tmp123").write_text("a file on the way to it")
    os._exit(9)
"""
    assert subprocess.run([sys.executable, "-c", killed, str(target)], check=False).returncode == 9
    assert len(names(tmp_path)) == 4
    remove_drafts(target)
    assert names(tmp_path) == [".a[b].json.abcd1234", ".a[b]x", "a[b]"]
    assert target.read_text() == "first"


def left_by(tmp_path: Path, killed: str) -> Path:
    """Run a program that ends itself in the middle of writing ``target``."""
    target = tmp_path / "target"
    start = "import os, sys\nfrom pathlib import Path\nfrom hypercondense.files import drafts, storage\n"
    start += "target = Path(sys.argv[1])\n"
    assert subprocess.run([sys.executable, "-c", start + killed, str(target)], check=False).returncode == 9
    return target


def test_the_next_writer_of_a_folder_removes_what_a_killed_one_left(tmp_path: Path) -> None:
    target = left_by(
        tmp_path,
        "with storage.replaced_folder(target) as draft:\n    (draft / 'a').write_text('1')\n    os._exit(9)",
    )
    assert len(names(tmp_path)) == 1  # a hidden draft
    (tmp_path / ".target.settings").mkdir()
    (tmp_path / ".target.settings" / "mine").write_text("of the user: it only looks like a draft")
    with replaced_folder(target) as draft:
        (draft / "b").write_text("2")
    assert names(tmp_path) == [".target.settings", "target"]
    assert names(target) == ["b"]


def test_a_link_is_no_draft_whatever_it_leads_to(tmp_path: Path) -> None:
    precious = tmp_path / "precious"
    precious.mkdir()
    for name in ("mine", "hypercondense.lock"):
        (precious / name).touch()
    (tmp_path / ".made.abcdefgh").symlink_to(precious)
    with replaced_folder(tmp_path / "made") as draft:
        (draft / "file").touch()
    assert sorted(file.name for file in precious.iterdir()) == ["hypercondense.lock", "mine"]


def test_a_draft_that_somebody_is_filling_stays(tmp_path: Path) -> None:
    target = tmp_path / "target"
    with replaced_folder(target) as draft:
        (draft / "a").write_text("1")
        remove_drafts(target)
        with pytest.raises(Broken), replaced_folder(target):
            raise Broken
        assert (draft / "a").exists()
    assert names(target) == ["a"]


def test_a_power_cut_between_two_renames_loses_nothing(tmp_path: Path) -> None:
    """Where the system cannot exchange two names in one step."""
    our_folder(tmp_path / "target")
    target = left_by(
        tmp_path,
        "drafts._exchanged = lambda *_: False\nrename = Path.rename\n"
        "def cut(self, to):\n    if self.name == 'new': os._exit(9)\n    return rename(self, to)\n"
        "Path.rename = cut\n"
        "with storage.replaced_folder(target, overwrite=True) as draft: (draft / 'a').write_text('1')",
    )
    assert not target.exists()
    remove_drafts(target)
    assert names(tmp_path) == ["target"]
    assert names(target) == OURS


def test_tensors_survive_and_their_digest_is_that_of_the_file(tmp_path: Path) -> None:
    arrays = {"a": np.arange(6, dtype=np.float32).reshape(2, 3).T, "b": np.empty(0, np.int64)}
    digest = write_tensors(tmp_path / "x", arrays)
    assert digest == file_digest(tmp_path / "x")
    loaded = read_tensors(tmp_path / "x")
    for key, array in arrays.items():
        np.testing.assert_array_equal(loaded[key], array)
        assert loaded[key].dtype == array.dtype


def refuse_to_write(monkeypatch: pytest.MonkeyPatch, message: str) -> None:
    def refusing(*_: object) -> None:
        raise SafetensorError(message)

    monkeypatch.setattr("safetensors.numpy.save_file", refusing)


@pytest.mark.skipif(os.name != "posix", reason="error numbers are those of errno on POSIX only")
def test_a_full_disk_is_an_error_of_the_system(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    told = "Error while serializing: I/O error: No space left on device (os error 28)"
    refuse_to_write(monkeypatch, told)
    with pytest.raises(OSError, match="No space left") as caught:
        write_tensors(tmp_path / "x", {"a": np.zeros(3)})
    assert caught.value.errno == errno.ENOSPC
    assert caught.value.filename == str(tmp_path / "x")


def test_tensors_in_a_folder_that_is_not_there_are_an_error_of_the_system(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="x"):
        write_tensors(tmp_path / "nowhere" / "x", {"a": np.zeros(3)})


def test_other_trouble_with_writing_tensors_keeps_its_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    refuse_to_write(monkeypatch, "the moon is full")
    with pytest.raises(OSError, match="the moon is full"):
        write_tensors(tmp_path / "x", {"a": np.zeros(3)})


@pytest.mark.parametrize("content", [b"", b"x", b"\xff" * 100, b"\x02" + b"\0" * 7 + b"{}x"])
def test_broken_tensors_are_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "x").write_bytes(content)
    with pytest.raises(FormatError, match="safetensors"):
        read_tensors(tmp_path / "x")


def test_json_survives(tmp_path: Path) -> None:
    write_json(tmp_path / "x", {"ö": [1, None, 0.5]})
    assert read_json(tmp_path / "x") == {"ö": [1, None, 0.5]}


def test_json_without_a_standard_form_is_not_written(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="JSON"):
        write_json(tmp_path / "x", {"a": float("nan")})


@pytest.mark.parametrize("content", [b"", b"[1]", b"{", b"\xff", b'"a"', b"1" * 10_000])
def test_broken_json_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "x").write_bytes(content)
    with pytest.raises(FormatError, match="JSON"):
        read_json(tmp_path / "x")


@pytest.mark.parametrize("content", [b"[" * 100_000, b'{"a":' * 100_000])
def test_json_that_is_nested_too_deeply_is_refused_as_such(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "x").write_bytes(content)
    with pytest.raises(FormatError, match=r"x is nested too deeply$"):
        read_json(tmp_path / "x")


@pytest.mark.parametrize(
    ("platform", "variable", "expected"),
    [
        ("win32", "LOCALAPPDATA", "{given}/hypercondense/datasets"),
        ("darwin", "XDG_CACHE_HOME", "{home}/Library/Caches/hypercondense/datasets"),
        ("linux", "XDG_CACHE_HOME", "{given}/hypercondense/datasets"),
        ("linux", "RELATIVE", "{home}/.cache/hypercondense/datasets"),
        ("linux", "UNUSED", "{home}/.cache/hypercondense/datasets"),
    ],
)
def test_the_cache_follows_the_custom_of_the_system(
    platform: str, variable: str, expected: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv(variable, str(tmp_path / "given"))
    if variable == "RELATIVE":  # the specification wants relative paths ignored
        monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    monkeypatch.setattr("sys.platform", platform)
    wanted = expected.format(given=tmp_path / "given", home=tmp_path / "home")
    assert user_cache("datasets") == Path(wanted)
