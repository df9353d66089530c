"""Downloading data sets: continued where it stopped, checked, and in place only when whole."""

import errno
import logging
import shutil
from pathlib import Path

from hypercondense.data.download import download
from hypercondense.data.locate import advice, missing, target
from hypercondense.data.registry import Dataset, RemoteFile, lookup
from hypercondense.errors import DatasetNotFoundError, FetchError
from hypercondense.files.locking import BusyError, exclusive
from hypercondense.files.storage import file_digest, replaced_file
from hypercondense.runtime.memory import format_size
from hypercondense.runtime.progress import Progress, silent

SUMS = "SHA256SUMS"
_WORKPLACE = ".fetch"  # partial files and locks, below the folder of all data sets

_log = logging.getLogger(__name__)


def fetch(
    dataset: Dataset | str,
    *,
    data_dir: Path | str | None = None,
    progress: Progress = silent,
    force: bool = False,
) -> Path:
    """Download what is missing of a data set and return its folder.

    Files arrive in a hidden folder, are continued there after an interruption, and move into place only when
    all of them are whole. Files that are in place already and have the right checksum are kept. Where no
    checksum is registered, the log has a warning, and the sum of what came is in ``SHA256SUMS`` beside it.

    Args:
        dataset: A registered data set, or its name.
        data_dir: Where to put it, in a folder of its own; ``$HYPERCONDENSE_DATA`` or the user cache if not
            given.
        progress: Called with the bytes done and in all, a stage per file.
        force: Download also what is there already.
    """
    dataset = _registered(dataset)
    folder = target(dataset, data_dir)
    if dataset.embedded:
        raise FetchError(f"{dataset.name} comes with the package; there is nothing to fetch")
    if any(file.url is None for file in missing(dataset, folder)):
        raise FetchError(f"no address is known for all of {dataset.name}; {advice(dataset, folder)}")
    if not _wanted(dataset, folder, force=force):
        return folder  # and write nothing: the folder may be read-only
    workplace = folder.parent / _WORKPLACE / dataset.folder
    try:
        with exclusive(workplace.with_name(f"{workplace.name}.lock")):
            _fetch_into(folder, dataset, workplace, progress=progress, force=force)
    except BusyError as error:
        raise FetchError(
            f"another process is fetching {dataset.name} into {folder.parent}; wait for it"
        ) from error
    except OSError as error:
        raise FetchError(_disk_trouble(error, dataset, folder)) from error
    return folder


def _registered(dataset: Dataset | str) -> Dataset:
    if isinstance(dataset, Dataset):
        return dataset
    found = lookup(dataset)
    if found is None:
        raise DatasetNotFoundError(f"{dataset!r} is not a registered data set; see `hypercondense datasets`")
    return found


def _fetch_into(folder: Path, dataset: Dataset, workplace: Path, *, progress: Progress, force: bool) -> None:
    wanted = _wanted(dataset, folder, force=force)  # again: another process may have been faster
    if force:
        shutil.rmtree(workplace, ignore_errors=True)
    workplace.mkdir(exist_ok=True)
    _check_space(wanted, workplace)
    for file in wanted:
        _log.info("fetching %s", file.url)
        download(file, workplace, by_hand=_by_hand(file, folder), progress=progress)
    folder.mkdir(parents=True, exist_ok=True)
    for file in wanted:
        (workplace / file.path).replace(folder / file.path)
    _record_sums(folder, dataset)
    shutil.rmtree(workplace)


def _wanted(dataset: Dataset, folder: Path, *, force: bool) -> list[RemoteFile]:
    """The files to download."""
    known = (file for file in dataset.files if file.url)
    return [file for file in known if force or not _in_place(folder / file.path, file)]


def _in_place(path: Path, file: RemoteFile) -> bool:
    return path.is_file() and (file.sha256 is None or file_digest(path) == file.sha256)


def _check_space(wanted: list[RemoteFile], workplace: Path) -> None:
    here = sum(path.stat().st_size for path in workplace.iterdir())
    needed = sum(file.size or 0 for file in wanted) - here
    free = shutil.disk_usage(workplace).free
    if needed > free:
        raise FetchError(
            f"{format_size(needed)} are needed but only {format_size(free)} are free at "
            f"{workplace.parent.parent}; make room or choose another folder"
        )


def _record_sums(folder: Path, dataset: Dataset) -> None:
    """Write the checksums of all files, and say which were not known before."""
    unknown = [file.path for file in dataset.files if file.sha256 is None]
    if unknown:
        _log.warning(
            "no checksum is registered for %s of %s; what came is recorded in %s",
            ", ".join(unknown),
            dataset.name,
            folder / SUMS,
        )
    paths = sorted(found for file in dataset.files for found in folder.glob(file.path))
    with replaced_file(folder / SUMS) as draft:
        draft.write_text("".join(f"{file_digest(path)}  {path.name}\n" for path in paths), "utf-8")


def _by_hand(file: RemoteFile, folder: Path) -> str:
    return f"or put the file {file.path} into {folder} by hand"


def _disk_trouble(error: OSError, dataset: Dataset, folder: Path) -> str:
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return (
            f"the disk is full at {folder.parent} while fetching {dataset.name}; make room and fetch again, "
            f"it continues where it stopped, or choose another folder"
        )
    return f"cannot write {dataset.name} into {folder} ({error.strerror or error}); choose another folder"
