"""One line of a results file: what a run was and what came of it."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any
from zlib import crc32

import msgspec
from msgspec import Meta, field

from hypercondense.errors import FormatError, one_line
from hypercondense.experiments.settings import WHOLE, Settings
from hypercondense.typed import NotNegative, Value, Whole, read

CHECKSUM = "crc32"  # the field of a line that tells its checksum; older lines have none


class Failure(Value, forbid_unknown_fields=False):
    """What is read from the line of a run that broke down."""

    settings: Settings
    error: str


class Result(Value, kw_only=True, forbid_unknown_fields=False):
    """What is read from the line of a run that went well; a line may hold more.

    Args:
        settings: Of the run.
        values: Scores of all trainings, as fractions.
        versions: Of this package and of those it uses.
        source_digest: Tells sources apart.
        split_digest: Tells splits apart.
        condense_seconds: 0 where nothing was condensed.
        train_seconds: Of all trainings together.
        peak_memory_mb: Of the condensation.
        run_memory_mb: Of the whole run.
        num_source_incidences: Self-loops included.
        machine: System, processor and cores.
        notes: What the source says about itself.
    """

    settings: Settings
    values: Annotated[tuple[float, ...], Meta(min_length=1)]
    versions: Mapping[str, str]
    source_digest: str
    split_digest: str
    condense_seconds: NotNegative
    train_seconds: NotNegative
    peak_memory_mb: NotNegative | None = None
    run_memory_mb: NotNegative = 0.0
    num_source_incidences: Whole
    machine: Mapping[str, str | int | None] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.peak_memory_mb is None and self.settings.method != WHOLE:
            raise ValueError("peak_memory_mb is missing")

    @property
    def version(self) -> str:
        """Of this package."""
        return self.versions.get("hypercondense", "of unknown version")


@dataclass(frozen=True, eq=False)
class Line:
    """A line of a results file."""

    path: Path
    number: int
    content: Result | Failure

    @property
    def settings(self) -> Settings:
        """Of the run."""
        return self.content.settings

    @property
    def where(self) -> str:
        """File and number, for messages."""
        return f"{self.path.name}:{self.number}"

    @property
    def failed(self) -> bool:
        """Whether the run broke down; such lines are never averaged, and tried again by the next ``run``."""
        return isinstance(self.content, Failure)

    @property
    def result(self) -> Result:
        """What came of a run that did not fail."""
        assert isinstance(self.content, Result), f"the run of {self.where} has failed"
        return self.content

    @classmethod
    def parse(cls, text: bytes, number: int, path: Path) -> "Line":
        """Read one line."""
        try:
            return cls(path, number, _content(text))
        except (msgspec.DecodeError, ValueError, OverflowError, RecursionError) as error:
            raise FormatError(
                f"{path}: line {number} is not a result ({one_line(error)}); "
                "remove it, or restore the file, and run what is missing again"
            ) from error


def checksum(content: Mapping[str, Any]) -> int:
    """CRC-32 of all fields of a line but itself: enough against damage by accident."""
    rest = {name: value for name, value in content.items() if name != CHECKSUM}
    return crc32(msgspec.json.encode(rest, order="deterministic"))


def _content(text: bytes) -> Result | Failure:
    content = msgspec.json.decode(text)
    if isinstance(content, dict) and content.get(CHECKSUM, checksum(content)) != checksum(content):
        raise ValueError("it was changed after it was written")
    if isinstance(content, dict) and "error" in content:
        return read(content, Failure, error=ValueError)
    return read(content, Result, error=ValueError)
