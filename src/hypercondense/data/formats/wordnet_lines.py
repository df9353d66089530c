"""The lines of WordNet's ``data.noun``, ``data.verb``, ``data.adj`` and ``data.adv``: wndb(5WN)."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from hypercondense.data.formats.files import read_text
from hypercondense.errors import FormatError

#: The files in the order of their nodes, and the types of synset in each.
PARTS = {"data.noun": "n", "data.verb": "v", "data.adj": "as", "data.adv": "r"}

_LINE = re.compile(
    r"(?P<offset>\d{8}) (?P<lexicographer_file>\d\d) (?P<type>[nvasr]) "
    r"(?P<num_words>[0-9a-f]{2}) (?P<words>(?:\S+ [0-9a-f] )+)"
    r"(?P<num_pointers>\d{3}) (?P<pointers>(?:\S{1,2} \d{8} [nvasr] [0-9a-f]{4} )*)"
    r"(?:(?P<num_frames>\d\d) (?P<frames>(?:\+ \d\d [0-9a-f]{2} )+))?"
    r"\| (?P<gloss>.*)",
    re.ASCII,
)
_POSITION = re.compile(r"\((?:a|p|ip)\)$")  # where an adjective may stand


class Synset(NamedTuple):
    """One line: its place, its class (``lexicographer_file``), and what the hypergraph is made of.

    A pointer is a symbol with the type and offset of its target.
    """

    file: str
    line: int
    offset: str
    lexicographer_file: int
    lemmas: list[str]
    pointers: list[tuple[str, str, str]]
    gloss: str


def read_synsets(folder: Path) -> Iterator[Synset]:
    """Every synset of the four files, in order; a line that is not as described is named."""
    for name in PARTS:
        text = read_text(folder / name)
        lines = text.split("\n")
        if lines.pop():
            raise FormatError(f"{folder / name}, line {len(lines) + 1}: the file ends within this line")
        for number, line in enumerate(lines, start=1):
            if not line.startswith("  "):  # those are the licence
                try:
                    yield _synset(name, number, line)
                except ValueError as error:
                    raise FormatError(f"{folder / name}, line {number}: {error}") from error


def _synset(name: str, number: int, line: str) -> Synset:
    found = _LINE.fullmatch(line)
    if not found or found["type"] not in PARTS[name]:
        raise ValueError(
            f"expected offset, file, type {' or '.join(PARTS[name])}, words, pointers, | and gloss "
            f"as in wndb(5WN), got {line[:40]!r}"
        )
    words = found["words"].split()[::2]
    _check_number("words", int(found["num_words"], 16), len(words))
    parts = found["pointers"].split()
    _check_number("pointers", int(found["num_pointers"]), len(parts) // 4)
    _check_number("frames", int(found["num_frames"] or 0), len((found["frames"] or "").split()) // 3)
    return Synset(
        file=name,
        line=number,
        offset=found["offset"],
        lexicographer_file=int(found["lexicographer_file"]),
        lemmas=[_POSITION.sub("", word).lower() for word in words],
        pointers=list(zip(parts[0::4], parts[2::4], parts[1::4], strict=True)),
        gloss=found["gloss"],
    )


def _check_number(of: str, declared: int, came: int) -> None:
    if declared != came:
        raise ValueError(f"{declared} {of} are declared, but there are {came}")
