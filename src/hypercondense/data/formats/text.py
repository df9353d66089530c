"""Numbers and labels in text files, parsed without a Python loop over the numbers."""

import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from hypercondense.data.formats.files import read_text
from hypercondense.errors import FormatError
from hypercondense.hypergraph import UNKNOWN, Ids

_SEPARATORS = b",\t\r "
_MOST_DIGITS = 18  # what surely fits in 63 bits


def read_number_lines(path: Path) -> tuple[Ids, Ids, int]:
    """Whole numbers, the line (from 0) of each, and the number of lines.

    Numbers are separated by commas, blanks or tabs. The last line may lack its line break.
    """
    content = read_text(path).encode()
    _check_characters(path, content)
    codes = np.frombuffer(content, np.uint8)
    digit = (codes >= ord("0")) & (codes <= ord("9"))
    starts = np.flatnonzero(digit & ~np.concatenate([[False], digit[:-1]]))
    ends = np.flatnonzero(digit & ~np.concatenate([digit[1:], [False]]))
    too_long = np.flatnonzero(ends - starts >= _MOST_DIGITS)
    if len(too_long):
        raise _bad_number(path, content, int(starts[too_long[0]]))
    # Of blanks alone numpy makes one number out of nothing.
    numbers = np.fromstring(content.translate(_TO_BLANKS), dtype=np.int64, sep=" ")[: len(starts)]
    breaks = np.cumsum(codes == ord("\n"))
    return numbers, breaks[starts], int(breaks[-1]) + (content[-1:] != b"\n")


_TO_BLANKS = bytes.maketrans(_SEPARATORS, b" " * len(_SEPARATORS))


def _check_characters(path: Path, content: bytes) -> None:
    strange = content.translate(None, b"0123456789\n" + _SEPARATORS)
    if strange:
        raise _bad_number(path, content, content.index(strange[:1]))


def _bad_number(path: Path, content: bytes, place: int) -> FormatError:
    line = content.count(b"\n", 0, place) + 1
    before = content[:place].translate(_TO_BLANKS).replace(b"\n", b" ")
    start = before.rfind(b" ") + 1
    token = re.split(b"[ \n]", content[start : place + 40].translate(_TO_BLANKS))[0].decode(errors="replace")
    return FormatError(f"{path}, line {line}: expected whole numbers from 0, got {token!r}")


def encode_labels(raw: Sequence[str]) -> tuple[Ids, tuple[str, ...]]:
    """Classes ``0 ..`` for label texts, and their names; an empty text is an unknown label.

    Whole numbers are put in order of value, other labels in alphabetical order.

    >>> encode_labels(["10", "9", "", "10"])
    (array([ 1,  0, -1,  1]), ('9', '10'))
    """
    names = sorted(set(raw) - {""})
    if all(re.fullmatch(r"-?[0-9]{1,18}", name) for name in names):
        names.sort(key=int)
    classes = {name: label for label, name in enumerate(names)} | {"": UNKNOWN}
    return np.fromiter((classes[label] for label in raw), np.int64, len(raw)), tuple(names)
