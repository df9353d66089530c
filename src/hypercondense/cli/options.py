"""Options that several commands share."""

from pathlib import Path
from typing import Annotated, Any

import typer

METHODS = (
    "auto, ahgcdd, ahgcdd-x, ahgcdd-paper, ahgcdd-x-paper, means, k-means, ridge, unrolled, taught, bundled, "
    "random, herding, k-center, hgcpa, hg-cond, hg-cond-nhl"
)
MODELS = "hgnn, hcha, unigcnii, allset, edhnn, mlp"
Method = Annotated[str, typer.Option(help=f"How to condense: {METHODS}, or a recipe in a .json file.")]
Select = Annotated[
    bool, typer.Option(help="Let validation nodes choose between candidates and guard results.")
]
_SEVERAL = f"Networks separated by commas, of {MODELS}; or all, which leaves mlp out."

Models = Annotated[str, typer.Option(help=_SEVERAL)]
Model = Annotated[str, typer.Option("--model", help=_SEVERAL)]
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
    from hypercondense.typed import read

    if file is None:
        return split(source, seed=seed)
    parts = read(read_json(file), _split_file(), where=str(file), error=FormatError)
    return split_from_ids(source, train_ids=parts.train, validation_ids=parts.validation, test_ids=parts.test)


def _split_file() -> Any:
    """What a file with a split says: node ids, whole numbers from 0."""
    from msgspec import Meta, defstruct

    from hypercondense.typed import Value

    ids = Annotated[int, Meta(ge=0, le=2**62)]
    fields = [(part, list[ids]) for part in ("train", "validation", "test")]
    return defstruct("SplitFile", fields, bases=(Value,))
