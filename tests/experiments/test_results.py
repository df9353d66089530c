"""The results file: whole lines, each once, whatever happens."""

import errno
import json
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hypercondense.errors import FormatError
from hypercondense.experiments.line import Line
from hypercondense.experiments.results import ResultsFile, read_lines
from hypercondense.experiments.settings import Settings
from hypercondense.typed import content_of
from makers.experiment_cases import content


def settings(seed: int) -> Settings:
    return Settings(source="digits", ratio=0.01, method="random", seed=seed)


def changed(**more: Any) -> bytes:
    return json.dumps(content(settings(1)) | more).encode()


def filled(path: Path, count: int = 3) -> ResultsFile:
    file = ResultsFile(path)
    for seed in range(count):
        assert file.append(content(settings(seed), notes=["Größe, λ"]))
    return file


def seeds(path: Path) -> list[int]:
    return [line.settings.seed for line in read_lines(path).lines]


def test_lines_are_read_as_they_were_written(tmp_path: Path) -> None:
    path = tmp_path / "new" / "results.jsonl"
    filled(path)
    assert [json.loads(text)["key"] for text in path.read_text("utf-8").splitlines()] == [
        settings(seed).key for seed in range(3)
    ]
    found = read_lines(path)
    assert [line.where for line in found.lines] == [f"results.jsonl:{number}" for number in (1, 2, 3)]
    assert found.warning is None
    assert found.lines[0].result.notes == ("Größe, λ",)


def test_a_key_is_never_written_twice(tmp_path: Path) -> None:
    path = tmp_path / "results.jsonl"
    file = filled(path)
    assert not file.append(content(settings(1), [0.9]))
    assert not ResultsFile(path).append(content(settings(2)))
    assert seeds(path) == [0, 1, 2]


def test_lines_of_another_process_are_seen_before_appending(tmp_path: Path) -> None:
    path = tmp_path / "results.jsonl"
    one, other = ResultsFile(path), ResultsFile(path)
    assert one.append(content(settings(0)))
    assert not other.append(content(settings(0)))
    assert other.append(content(settings(1)))
    assert not one.append(content(settings(1)))
    assert seeds(path) == [0, 1]


def test_a_failed_run_does_not_count_and_can_be_done_again(tmp_path: Path) -> None:
    path = tmp_path / "results.jsonl"
    file = ResultsFile(path)
    failed = {"key": settings(0).key, "settings": content_of(settings(0)), "error": "out of memory"}
    assert file.append(failed)
    assert not file.finished.has(settings(0), {})
    assert file.append(content(settings(0)))
    assert file.finished.has(settings(0), {})
    assert not file.append(failed)
    assert [line.failed for line in read_lines(path).lines] == [True, False]


def test_a_last_line_cut_at_any_byte_is_noticed_cut_off_and_written_again(tmp_path: Path) -> None:
    whole = tmp_path / "whole.jsonl"
    filled(whole)
    text = whole.read_bytes()
    begin = text[:-1].rindex(b"\n") + 1
    path = tmp_path / "cut.jsonl"
    for cut in range(begin, len(text)):
        path.write_bytes(text[:cut])
        lacks_break_only = cut == len(text) - 1
        read = read_lines(path)
        assert len(read.lines) == (3 if lacks_break_only else 2)
        file = ResultsFile(path)
        is_hurt = cut > begin and not lacks_break_only
        assert (file.warning is not None) == is_hurt
        assert not is_hurt or "ends in the middle of line 3" in str(file.warning)
        assert file.append(content(settings(2), notes=["Größe, λ"])) == (not lacks_break_only)
        assert path.read_bytes() == text


@given(st.binary(max_size=30).filter(lambda rest: b"\n" not in rest))
def test_any_rest_of_a_line_is_cut_off(tmp_path_factory: pytest.TempPathFactory, rest: bytes) -> None:
    path = tmp_path_factory.mktemp("rest") / "results.jsonl"
    filled(path, 2)
    text = path.read_bytes()
    path.write_bytes(text + rest)
    ResultsFile(path)
    assert path.read_bytes() == text


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        (b"not json", "JSON is malformed"),
        (b'{"key": "\xff"}', "utf-8"),
        (b"[1]", "must be a table, got [1]"),
        (b"[" * 100_000, "recursion"),
        (b'{"settings": ' * 100_000, "recursion"),
        (b"{}", "settings is missing"),
        (b'{"settings": {"source": "cora"}}', "ratio is missing in settings"),
        (b'{"settings": 3}', "settings must be a table, got 3"),
        (b'{"error": "x"}', "settings is missing"),
        (changed(error=3), "error must be a text, got 3"),
        (changed(values=[]), "values must be a list of length >= 1, got []"),
        (changed(values=["x"]), "values[0] must be a number, got 'x'"),
        (changed(versions=3), "versions must be a table, got 3"),
        (changed(versions={"torch": 2}), "versions.torch must be a text, got 2"),
        (changed(condense_seconds=-1), "condense_seconds must be a number >= 0.0, got -1"),
        (changed(train_seconds="4"), "train_seconds must be a number, got '4'"),
        (changed(notes="x"), "notes must be a list, got 'x'"),
        (changed(settings={**content_of(settings(1)), "seed": "1"}), "settings.seed must be a whole number"),
        (changed(settings={**content_of(settings(1)), "colour": 1}), "unknown field 'colour' in settings"),
    ],
)
def test_a_bad_line_in_the_middle_is_an_error_that_names_it(tmp_path: Path, bad: bytes, reason: str) -> None:
    path = tmp_path / "results.jsonl"
    filled(path, 2)
    first, second = path.read_bytes().splitlines()
    path.write_bytes(b"\n".join([first, bad, second, b""]))
    with pytest.raises(FormatError, match="line 2 is not a result") as caught:
        ResultsFile(path)
    assert reason in str(caught.value)
    assert str(path) in str(caught.value) and "\n" not in str(caught.value)


NEEDED = [
    "settings",
    "values",
    "versions",
    "source_digest",
    "split_digest",
    "condense_seconds",
    "train_seconds",
]


@pytest.mark.parametrize("name", [*NEEDED, "peak_memory_mb", "num_source_incidences"])
def test_a_line_that_lacks_what_is_needed_says_what(name: str) -> None:
    lacking = {key: value for key, value in content(settings(1)).items() if key != name}
    with pytest.raises(FormatError, match=rf"results.jsonl: line 7 is not a result \({name} is missing\)"):
        Line.parse(json.dumps(lacking).encode(), 7, Path("results.jsonl"))


def test_a_line_may_hold_more_than_is_read(tmp_path: Path) -> None:
    file = ResultsFile(tmp_path / "results.jsonl")
    assert file.append(content(settings(0), colour={"red": 1}, machine={"system": "Linux", "cores": None}))
    assert read_lines(file.path).lines[0].result.machine["system"] == "Linux"


def test_what_is_no_result_is_not_written(tmp_path: Path) -> None:
    file = filled(tmp_path / "results.jsonl")
    before = file.path.read_bytes()
    with pytest.raises(FormatError, match=r"line 4 is not a result .values must be a list, got 3"):
        file.append(content(settings(3)) | {"values": 3})
    assert file.path.read_bytes() == before


def test_every_committed_line_is_read_and_its_settings_give_its_key() -> None:
    path = Path(__file__).parents[2] / "docs" / "results" / "results.jsonl"
    keys = [json.loads(text)["key"] for text in path.read_text("utf-8").splitlines()]
    assert [line.settings.key for line in read_lines(path).lines] == keys


def test_an_empty_file_and_blank_lines_are_no_results(tmp_path: Path) -> None:
    path = tmp_path / "results.jsonl"
    path.touch()
    assert read_lines(path).lines == []
    filled(path, 1)
    path.write_bytes(b"\n" + path.read_bytes() + b"\n\n")
    assert seeds(path) == [0]
    assert read_lines(path).lines[0].number == 2


@pytest.mark.parametrize("how", ["nothing is written", "half is written", "it fails when flushed"])
def test_a_full_disk_leaves_whole_lines_and_says_what_was_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    path = tmp_path / "results.jsonl"
    file = filled(path)
    before = path.read_bytes()
    write = os.write

    def full(*_: Any) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    def half(handle: int, text: bytes) -> int:
        return write(handle, text[: len(text) // 2])

    with monkeypatch.context() as patched:
        if how == "it fails when flushed":
            patched.setattr(os, "fsync", full)
        else:
            patched.setattr(os, "write", full if how == "nothing is written" else half)
        with pytest.raises(OSError, match="the 3 lines before it are whole") as caught:
            file.append(content(settings(3)))
    assert caught.value.errno == errno.ENOSPC and caught.value.filename == str(path)
    assert path.read_bytes() == before
    assert file.append(content(settings(3)))  # there is space again
    assert seeds(path) == [0, 1, 2, 3]


def test_a_line_that_was_changed_by_accident_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "results.jsonl"
    filled(path)
    whole = path.read_bytes()
    assert whole.count(b'"crc32": ') == 3
    for old, new in ((b'"seed": 1', b'"seed": 4'), (b'"crc32": ', b'"crc32": 1'), (b"\xce\xbb", b"\xce\xbc")):
        path.write_bytes(whole.replace(old, new, 1))
        with pytest.raises(FormatError, match="it was changed after it was written"):
            read_lines(path)
