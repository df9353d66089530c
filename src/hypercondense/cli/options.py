"""Options that several commands share."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

from hypercondense import names

METHODS, MODELS = ", ".join(names.METHODS), ", ".join(names.NETWORKS)
Method = Annotated[str, typer.Option(help=f"How to condense: {METHODS}, or a recipe in a .json file.")]
Select = Annotated[
    bool, typer.Option(help="Let validation nodes choose between candidates and guard results.")
]
Metric = Annotated[names.Metric, typer.Option(help="What is chosen for on validation nodes.")]
Allocate = Annotated[
    names.Allocation,
    typer.Option(
        help="How nodes are shared out: by training nodes, the same for every class, or more for "
        "classes whose nodes differ more."
    ),
]
_SEVERAL = f"Networks separated by commas, of {MODELS}; or all, which leaves mlp out."

Models = Annotated[str, typer.Option(help=_SEVERAL)]
Model = Annotated[str, typer.Option("--model", help=_SEVERAL)]
Source = Annotated[
    str, typer.Argument(metavar="SOURCE", help="A registered name, or a file or folder in any known format.")
]
Ratio = Annotated[
    float | None, typer.Option(help="Condensed nodes as a fraction of all source nodes, as 0.01.")
]
Nodes = Annotated[int | None, typer.Option(help="The number of condensed nodes, instead of --ratio.")]
Settings = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="FIELD=VALUE",
        help="A field of the method, as goal.epochs=80 or start=k-means; "
        "`hypercondense methods NAME` lists them.",
    ),
]
Budget = Annotated[
    str | None,
    typer.Option(
        help=f"For a search ({', '.join(names.SEARCHES)}): at most so many trials, as 7, or a time, as 60s "
        "or 2m."
    ),
]
DataDir = Annotated[
    Path | None,
    typer.Option(help="Where data sets are; then $HYPERCONDENSE_DATA, then the user cache."),
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON value on standard output.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Show no progress and no notes.")]
Debug = Annotated[bool, typer.Option("--debug", help="Show where an error comes from.")]
MOST = 100_000  # repetitions of anything: more is a slip, and never ends
_LARGEST_SEED = 2**31 - 1  # what every generator takes
Seed = Annotated[
    int, typer.Option(help="Equal seeds give equal results on one machine.", min=0, max=_LARGEST_SEED)
]
SplitSeed = Annotated[
    int | None,
    typer.Option(
        help="Seed of the 50/25/25 split into train, validation and test; the default is the split that "
        "came with SOURCE, else 0.",
        min=0,
        max=_LARGEST_SEED,
    ),
]
SplitFile = Annotated[
    Path | None,
    typer.Option(
        "--split", help='JSON file with your own node ids: {"train": [], "validation": [], "test": []}.'
    ),
]
Threads = Annotated[
    int | None,
    typer.Option(help="Threads of torch; by default 1, because more gain nothing on small matrices.", min=1),
]
Scores = Annotated[
    bool, typer.Option("--cache/--no-cache", help="Keep scores of the whole source in the user cache.")
]
Device = Annotated[str, typer.Option(help="Any torch device, such as cpu or cuda:0.")]
Engine = Annotated[
    names.EngineName,
    typer.Option(help="Who shares the work: this machine, or Ray (pip install 'hypercondense[ray]')."),
]
Address = Annotated[
    str | None,
    typer.Option(help="Of a Ray cluster, such as auto or 10.0.0.1:6379; without it Ray is started here."),
]
Memory = Annotated[
    str | None,
    typer.Option(
        help="Memory the diffusion may use, such as 2GB, or the whole process where SOURCE stays on disk; "
        "more is written to disk."
    ),
]
SourceMemory = Annotated[
    str | None,
    typer.Option(
        "--memory",
        help="Memory that reading the source may use, such as 2GB; the whole process where it stays on disk.",
    ),
]
ReadingMemory = Annotated[
    str | None,
    typer.Option(
        "--memory", help="Memory that reading SOURCE may use, such as 2GB, where its size does not allow it."
    ),
]


def check_not_source(out: Path, source: str) -> None:
    """Refuse to put a result in the place of what it is made from, which would be gone.

    Raises:
        FileExistsError: They are the same.
    """
    if out.exists() and Path(source).exists() and out.samefile(source):
        raise FileExistsError(f"{out} is the source itself, which would be lost; choose another place")


def check_device(device: str) -> None:
    """Find out at the start that a device does not exist or cannot compute."""
    from hypercondense.runtime import devices

    devices.check_device(device)


@contextmanager
def opened_engine(name: names.EngineName, address: str | None, workers: int = 0) -> Iterator[Any]:
    """The engine a command asked for, for a while; ``None`` is this machine."""
    from hypercondense.runtime.engine import engine_named

    engine = engine_named(name, workers=workers or 1, address=address)
    try:
        yield engine if engine.remote else None
    finally:
        engine.close()


def load_source(source: str, data_dir: Path | None, memory: str | None = None) -> Any:
    """Read a source for a command; what was left out or filled in is told on standard error."""
    from hypercondense.data import load
    from hypercondense.runtime.memory import parse_size

    with told_conversions():
        return load(source, data_dir=data_dir, memory=None if memory is None else parse_size(memory))


@contextmanager
def told_conversions() -> Iterator[None]:
    """Tell on standard error what a conversion lost, left out or filled in."""
    import warnings

    from hypercondense.cli.output import warn
    from hypercondense.errors import ConversionWarning

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", ConversionWarning)
        yield
    for one in caught:
        if issubclass(one.category, ConversionWarning):
            warn(str(one.message))
        else:
            warnings.warn_explicit(one.message, one.category, one.filename, one.lineno)


def read_split(source: Any, file: Path | None, seed: int | None) -> Any:
    """The split of a command: from a file of ids, from a seed, or that of the source."""
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


def parse_settings(settings: list[str] | None) -> dict[str, str]:
    """``["time=2", "epochs=50"]`` as a mapping."""
    from hypercondense.errors import ConfigError

    parsed = {}
    for setting in settings or []:
        name, equals, value = setting.partition("=")
        if not equals or not name:
            raise ConfigError(f"--set takes FIELD=VALUE, such as goal.epochs=50, got {setting!r}")
        parsed[name.strip()] = value.strip()
    return parsed
