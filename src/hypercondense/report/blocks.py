"""What a page is made of: sections with blocks, which one template shows."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from markupsafe import Markup

from hypercondense.frozen import Frozen


@dataclass(frozen=True)
class Cell:
    """A cell of a table with a look of its own."""

    text: str | Markup
    kind: str = ""


@dataclass(frozen=True)
class Column:
    """A column: its heading, and whether it holds numbers (``number``), a picture (``wide``) or words."""

    name: str
    kind: str = "text"


@dataclass(frozen=True)
class Table:
    """Rows under headings. The first cell of a row is its heading.

    ``folded`` is the text of a fold that it lies under, for what few will want to read.
    """

    block: ClassVar[str] = "table"
    caption: str
    columns: Sequence[Column]
    rows: Sequence[Sequence[str | Markup | Cell]]
    folded: str | None = None
    kind: str = ""


@dataclass(frozen=True)
class Chart:
    """A picture, what it shows in a sentence, what its axes are, and the same numbers as a table."""

    block: ClassVar[str] = "chart"
    caption: str
    picture: Markup
    across: tuple[str, str]
    up: tuple[str, str]
    table: Table
    legend: Sequence[tuple[str, str]] = ()


@dataclass(frozen=True)
class Charts:
    """Pictures side by side, as far as there is room."""

    block: ClassVar[str] = "charts"
    charts: Sequence[Chart]


@dataclass(frozen=True)
class Facts(Frozen):
    """Names and values."""

    block: ClassVar[str] = "facts"
    facts: Mapping[str, str]


@dataclass(frozen=True)
class Code:
    """Something to copy, with what it is called and a remark."""

    block: ClassVar[str] = "code"
    name: str
    code: str
    remark: str = ""
    folded: bool = False


@dataclass(frozen=True)
class Notes:
    """Sentences, each of which stands alone."""

    block: ClassVar[str] = "notes"
    lines: Sequence[str]
    kind: str = "plain"


@dataclass(frozen=True)
class Map:
    """The map of nodes: a picture that works alone, and what a script needs to answer questions about it."""

    block: ClassVar[str] = "map"
    picture: Markup
    data: Any
    legend: Sequence[tuple[str, str]]
    classes: Sequence[tuple[int, str]]
    nodes: Sequence[tuple[int, str]]
    caption: str
    table: Table


@dataclass(frozen=True)
class Section:
    """A part of a page under a heading."""

    id: str
    title: str
    lead: str = ""
    blocks: Sequence[Any] = ()


@dataclass(frozen=True)
class Headline:
    """The one figure that matters, with what it means and what it is compared with."""

    figure: str
    meaning: str
    range: str = ""
    table: Table | None = None


@dataclass(frozen=True)
class Page:
    """A whole page."""

    title: str
    subtitle: str
    headline: Headline | None
    sections: Sequence[Section]
    notes: Sequence[str] = field(default_factory=tuple)
