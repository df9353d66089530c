"""Where data sets lie on this machine; the names of their folders are taken in any case."""

import os
from collections.abc import Sequence
from pathlib import Path

from hypercondense.data.registry import Dataset, RemoteFile
from hypercondense.errors import ConfigError
from hypercondense.files.storage import user_cache

VARIABLE = "HYPERCONDENSE_DATA"


def roots(data_dir: Path | str | None = None) -> Sequence[Path]:
    """Folders searched for data sets, in order: ``data_dir``, ``$HYPERCONDENSE_DATA``, the user cache."""
    given = (data_dir, os.environ.get(VARIABLE) or None)
    return [*(Path(folder).expanduser() for folder in given if folder is not None), user_cache("datasets")]


def target(dataset: Dataset, data_dir: Path | str | None = None) -> Path:
    """The folder that the files of ``dataset`` belong into: below the first of :func:`roots`."""
    usual = roots(data_dir)[0] / dataset.folder
    return usual if usual.is_dir() else _the_only(_called(dataset.folder, usual.parent)) or usual


def find(dataset: Dataset, data_dir: Path | str | None = None) -> Path | None:
    """The first folder that holds every file of ``dataset``, or ``None``.

    Raises:
        ConfigError: Two folders hold them whose names differ in case only.
    """
    for root in roots(data_dir) if dataset.files else ():
        whole = [folder for folder in _called(dataset.folder, root) if not missing(dataset, folder)]
        if found := _the_only(whole):
            return found
    return None


def local_folder(name: str) -> Path | None:
    """The folder of this name in the current one, or ``None``.

    Raises:
        ConfigError: There are two whose names differ in case only.
    """
    return _the_only(_called(name, Path()))


def _called(name: str, root: Path) -> list[Path]:
    """The folders below ``root`` that have this name in any case; links to one of them do not count."""
    try:
        entries = sorted(root.iterdir(), reverse=True)
    except OSError:  # there is none, or its names may not be read
        entries = [root / name]
    found = [path for path in entries if path.name.casefold() == name.casefold() and path.is_dir()]
    return sorted({path.resolve(): path for path in found}.values())


def _the_only(folders: Sequence[Path]) -> Path | None:
    if len(folders) > 1:
        raise ConfigError(
            f"{' and '.join(map(str, folders))} differ in case only, so it is not clear which is meant; "
            f"rename or remove one, or give a path (.{os.sep}{folders[0].name})"
        )
    return folders[0] if folders else None


def missing(dataset: Dataset, folder: Path) -> list[RemoteFile]:
    """The files of ``dataset`` that are not in ``folder``."""
    return [file for file in dataset.files if not any(found.is_file() for found in folder.glob(file.path))]


def advice(dataset: Dataset, folder: Path) -> str:
    """What to do to get ``dataset`` into ``folder``."""
    command = f"run `hypercondense datasets fetch {dataset.name}`"
    by_hand = [file.path for file in missing(dataset, folder) if file.url is None]
    if not by_hand:
        return f"{command}, or put {_listed(dataset, folder)} from {dataset.source} into {folder}"
    then = f", then {command}" if len(dataset.by_hand) < len(dataset.files) else ""
    return f"put {', '.join(by_hand)} from {dataset.source} into {folder}{then}"


def _listed(dataset: Dataset, folder: Path) -> str:
    return ", ".join(file.path for file in missing(dataset, folder))
