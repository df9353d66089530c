"""Where data sets lie on this machine."""

import os
from collections.abc import Sequence
from pathlib import Path

from hypercondense.data.registry import Dataset, RemoteFile
from hypercondense.files.storage import user_cache

VARIABLE = "HYPERCONDENSE_DATA"


def roots(data_dir: Path | str | None = None) -> Sequence[Path]:
    """Folders searched for data sets, in order: ``data_dir``, ``$HYPERCONDENSE_DATA``, the user cache."""
    given = (data_dir, os.environ.get(VARIABLE) or None)
    return [*(Path(folder).expanduser() for folder in given if folder is not None), user_cache("datasets")]


def target(dataset: Dataset, data_dir: Path | str | None = None) -> Path:
    """The folder that the files of ``dataset`` belong into: below the first of :func:`roots`."""
    return roots(data_dir)[0] / dataset.folder


def find(dataset: Dataset, data_dir: Path | str | None = None) -> Path | None:
    """The first folder that holds every file of ``dataset``, or ``None``."""
    candidates = (root / dataset.folder for root in roots(data_dir))
    return next((folder for folder in candidates if dataset.files and not missing(dataset, folder)), None)


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
