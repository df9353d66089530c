"""A lock that one process holds, whatever happens to its file meanwhile."""

import os
from pathlib import Path

import pytest

from hypercondense.files.locking import BusyError, exclusive
from makers.processes import started

PROCESSES, ATTEMPTS = 20, 60


def enter_often(folder: Path, number: int) -> None:
    """Take the lock again and again; a file that exists already tells that somebody else is inside."""
    from hypercondense.cli.out_folder import sole_writer
    from hypercondense.errors import CondensationError

    entered = 0
    for _ in range(ATTEMPTS):
        try:
            with sole_writer(folder / "out"):
                os.close(os.open(folder / "inside", os.O_CREAT | os.O_EXCL))
                entered += 1
                (folder / "inside").unlink()
        except CondensationError:
            continue
    (folder / f"entered-{number}").write_text(str(entered))


def test_of_twenty_processes_one_is_inside_at_a_time_and_none_sees_an_error(tmp_path: Path) -> None:
    processes = [started(enter_often, tmp_path, number) for number in range(PROCESSES)]
    for process in processes:
        process.join()
    assert [process.exitcode for process in processes] == [0] * PROCESSES
    entered = [int((tmp_path / f"entered-{number}").read_text()) for number in range(PROCESSES)]
    assert sum(entered) > 0
    assert not (tmp_path / "out.partial").exists()


def test_the_same_lock_is_not_given_twice(tmp_path: Path) -> None:
    with exclusive(tmp_path / "lock"):
        with pytest.raises(BusyError), exclusive(tmp_path / "lock"):
            pass
        with pytest.raises(BusyError), exclusive(tmp_path / "lock", remove=True):
            pass
        assert (tmp_path / "lock").exists()
    with exclusive(tmp_path / "lock", remove=True):
        pass
    assert not (tmp_path / "lock").exists()


def test_a_lock_whose_file_was_removed_is_not_trusted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As if the holder had removed it between our opening and our locking it."""
    from hypercondense.files import locking

    given = locking._locked
    opened = []

    def removing(file: object) -> bool:
        opened.append(file)
        if len(opened) == 1:
            (tmp_path / "lock").unlink()
        return given(file)  # type: ignore[arg-type]

    monkeypatch.setattr(locking, "_locked", removing)
    with exclusive(tmp_path / "lock"):
        assert len(opened) == 2
        assert (tmp_path / "lock").exists()


def test_a_file_in_place_of_the_folder_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "folder").write_text("a file")
    with pytest.raises(OSError, match="folder"), exclusive(tmp_path / "folder" / "lock"):
        pass
