"""Loading a hypergraph by the name of a data set or by a path."""

import difflib
import logging
import os
from dataclasses import fields
from pathlib import Path
from typing import Any

from hypercondense.data.locate import advice, find, local_folder, missing, target
from hypercondense.data.registry import DATASETS, Dataset, Expected, known_names, lookup
from hypercondense.errors import DatasetNotFoundError, FormatError
from hypercondense.hypergraph import Hypergraph
from hypercondense.runtime.arguments import told_arguments

_log = logging.getLogger(__name__)


@told_arguments
def load(
    source: str | Path,
    *,
    data_dir: Path | str | None = None,
    seed: int = 0,
    noise: float | None = None,
    memory: int | None = None,
) -> Hypergraph:
    """Load a registered data set, or any file or folder in a supported format.

    Args:
        source: A registered name or alias in any case, or a path. A ``Path``, and a text with a separator
            in it (``./cora``), is always a path; any other text is a path if it is no registered name, or if
            the registered data set is not on this machine and a folder here is called so. Folders here are
            found in any case.
        data_dir: Where to look first for a registered data set; then come ``$HYPERCONDENSE_DATA`` and the
            user cache.
        seed: For ``synthetic``, and for features that are made from the labels.
        noise: Standard deviation of the noise in features that are made from the labels; the default is
            that of the data set.
        memory: Bytes that reading may take, where that is more than 400 MB and ten times the file.

    A registered data set is checked against its published statistics, so that another variant of the data
    under the same name is noticed.

    >>> load("digits")
    Hypergraph('digits', 1797 nodes, 1797 hyperedges, 10782 incidences, 64 features, 10 classes)
    """
    if not isinstance(source, str | Path):
        raise TypeError(
            f"source must be the name of a data set or a path, got a {type(source).__name__}; tables and "
            "arrays are read by hypercondense.from_pandas, Hypergraph, and others"
        )
    dataset = None if _is_path(source) else lookup(str(source))
    if dataset is None:
        return _read_path(source, seed=seed, noise=noise, memory=memory)
    if noise is not None and not dataset.label_derived:
        raise ValueError(
            f"noise is for features that are made from the labels, but {dataset.name} has its own; "
            f"leave it out"
        )
    here = local_folder(str(source))
    if dataset.embedded:
        _tell_of(here, dataset, "with the program")
        return _embedded(dataset, seed)
    found = find(dataset, data_dir)
    if found is not None:
        _tell_of(here, dataset, f"in {found}", but=found)
    folder = found or here
    if folder is None:
        what_to_do = advice(dataset, target(dataset, data_dir))
        raise DatasetNotFoundError(f"{dataset.name} is not on this machine; {what_to_do}")
    if missing(dataset, folder):  # one of the user's own that is only called so
        return _read(folder, seed=seed, noise=noise, memory=memory)
    return _read_registered(dataset, folder, seed=seed, noise=noise, memory=memory)


def _tell_of(here: Path | None, dataset: Dataset, where: str, *, but: Path | None = None) -> None:
    """A folder that is called like the data set that is read instead of it."""
    if here is not None and (but is None or here.resolve() != but.resolve()):
        own = f".{os.sep}{here.name}"
        _log.warning("%s is the data set %s; the folder of this name here is %s", dataset.name, where, own)


def _is_path(source: str | Path) -> bool:
    separators = [os.sep, os.altsep or os.sep]
    return not isinstance(source, str) or any(separator in source for separator in separators)


def _embedded(dataset: Dataset, seed: int) -> Hypergraph:
    if dataset.name == "digits":
        from hypercondense.data.digits import digits

        return digits()
    from hypercondense.data.synthetic import synthetic

    return synthetic(seed=seed)


def _read_path(source: str | Path, **options: Any) -> Hypergraph:
    path = Path(source).expanduser()
    if not path.exists():
        in_any_case = None if _is_path(source) else local_folder(str(source))
        if in_any_case is None:
            raise DatasetNotFoundError(_unknown(source))
        path = in_any_case
    return _read(path, **options)


def _read_registered(
    dataset: Dataset, folder: Path, *, seed: int, noise: float | None, memory: int | None
) -> Hypergraph:
    noise = dataset.noise if noise is None else noise
    hypergraph = _read(folder, name=dataset.name, seed=seed, noise=noise, width=dataset.width, memory=memory)
    _check(hypergraph, dataset, folder)
    return hypergraph


def _read(path: Path, **options: Any) -> Hypergraph:
    """Read with the options that are given; the reader has its own defaults for the others."""
    from hypercondense.data.formats import read

    given = {key: value for key, value in options.items() if value is not None}
    return read(path, **given)


def _check(hypergraph: Hypergraph, dataset: Dataset, folder: Path) -> None:
    """Compare with the published statistics; where those were never seen to be right, only warn."""
    for field in fields(Expected):
        wanted = getattr(dataset.expected, field.name)
        if wanted is None:
            continue
        if field.name == "num_incidences_with_self_loops":
            found = hypergraph.with_self_loops[0].num_incidences
        else:
            found = getattr(hypergraph, field.name)
        if found != wanted:
            what = field.name.removeprefix("num_").replace("_", " ")
            difference = f"{dataset.name} has {wanted:,} {what}, but the files in {folder} have {found:,}"
            if dataset.verified:
                raise FormatError(
                    f"{difference}: they are another variant; give their path ({folder}{os.sep}) to use "
                    f"them as they are"
                )
            _log.warning("%s, by publications that were never checked against the files", difference)


def _unknown(source: str | Path) -> str:
    if _is_path(source):
        return f"there is no file or folder {str(source)!r}; check the path"
    close = dict.fromkeys(
        found.name
        for name in difflib.get_close_matches(str(source).casefold(), known_names(), n=3)
        if (found := lookup(name))
    )
    hint = f"did you mean {' or '.join(close)}?" if close else f"registered are {', '.join(DATASETS)}"
    return f"{str(source)!r} is neither a registered data set nor an existing file or folder; {hint}"
