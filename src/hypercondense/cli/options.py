"""Options that several commands share."""

from pathlib import Path
from typing import Annotated, Any

import typer

Source = Annotated[
    str, typer.Argument(metavar="SOURCE", help="A registered name, or a file or folder in any known format.")
]
DataDir = Annotated[
    Path | None,
    typer.Option(help="Where data sets are; then $HYPERCONDENSE_DATA, then the user cache."),
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON value on standard output.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Show no progress and no notes.")]
Debug = Annotated[bool, typer.Option("--debug", help="Show where an error comes from.")]
_LARGEST_SEED = 2**31 - 1  # what every generator takes
Seed = Annotated[
    int, typer.Option(help="Equal seeds give equal results on one machine.", min=0, max=_LARGEST_SEED)
]
SplitSeed = Annotated[
    int,
    typer.Option(
        help="Seed of the 50/25/25 split into train, validation and test.", min=0, max=_LARGEST_SEED
    ),
]
SplitFile = Annotated[
    Path | None,
    typer.Option(
        "--split", help='JSON file with your own node ids: {"train": [], "validation": [], "test": []}.'
    ),
]
Device = Annotated[str, typer.Option(help="Any torch device, such as cpu or cuda:0.")]
Memory = Annotated[
    str | None, typer.Option(help="Memory the diffusion may use, such as 2GB; more is written to disk.")
]


def check_device(device: str) -> None:
    """Find out at the start that a device does not exist or cannot compute."""
    import torch

    from hypercondense.errors import ConfigError

    try:
        torch.empty(1, device=device).tolist()  # a meta tensor has no numbers
    except (RuntimeError, AssertionError, NotImplementedError) as error:
        reason = str(error).splitlines()[0]
        raise ConfigError(f"device {device!r} cannot be used here ({reason}); try --device cpu") from error


def load_source(source: str, data_dir: Path | None) -> Any:
    """Read a source for a command."""
    from hypercondense.data import load

    return load(source, data_dir=data_dir)


def read_split(source: Any, file: Path | None, seed: int) -> Any:
    """The split of a command: from a file of ids, or from a seed."""
    from hypercondense.errors import FormatError
    from hypercondense.files.storage import read_json
    from hypercondense.hypergraph import split, split_from_ids

    if file is None:
        return split(source, seed=seed)
    parts = read_json(file)
    if set(parts) != {"train", "validation", "test"}:
        raise FormatError(f"{file} must have the keys train, validation and test, got {', '.join(parts)}")
    for part, ids in parts.items():
        _check_ids(file, part, ids)
    return split_from_ids(source, **{f"{part}_ids": ids for part, ids in parts.items()})


def _check_ids(file: Path, part: str, ids: Any) -> None:
    from hypercondense.errors import FormatError

    if not isinstance(ids, list):
        raise FormatError(f"{file}: {part} must be a list of node ids, got {str(ids)[:60]!r}")
    for position, node in enumerate(ids):
        if type(node) is not int or not 0 <= node < 2**63:  # true and false are integers to Python
            raise FormatError(
                f"{file}: {part} must be node ids, whole numbers from 0: "
                f"entry {position} is {str(node)[:60]!r}"
            )
