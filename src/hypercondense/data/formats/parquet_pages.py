"""What the pages of a Parquet file say they unpack to, counted before a library unpacks them.

The directory at the end of a file may say less than its pages do, and a page says what memory is taken. The
directory is read here, too: the library ends the process where what it says of a column is strange.
"""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, TypeAlias

from hypercondense.errors import FormatError

_WINDOWS = (1 << 9, 1 << 16)  # bytes in which the header of a page ends, nearly always and always
_DEEPEST = 16
_TRUE, _FALSE, _BYTE, _LAST_NUMBER, _DOUBLE, _BINARY, _LIST, _SET, _MAP, _STRUCT = (
    1,
    2,
    3,
    6,
    7,
    8,
    9,
    10,
    11,
    12,
)
_MARK, _END = b"PAR1", 8  # at the end of a file, after the length of its directory

#: Fields that are kept, by number, with those kept of what is in them; all others are passed over.
_Wanted: TypeAlias = Mapping[int, "_Wanted"]
_UNPACKED, _PACKED, _DATA, _DICTIONARY, _DATA_2 = 2, 3, 5, 7, 8  # of the header of a page
_COUNT, _ENCODING, _ENCODING_2 = 1, 2, 4
_OF_PAGE: _Wanted = {
    _UNPACKED: {},
    _PACKED: {},
    _DATA: {_COUNT: {}, _ENCODING: {}},
    _DICTIONARY: {_COUNT: {}},
    _DATA_2: {_COUNT: {}, _ENCODING_2: {}},
}
_ROW_GROUPS, _COLUMNS, _ROWS, _ABOUT = 4, 1, 3, 3  # of the directory, a group of rows, and a column in it
_KIND, _VALUES, _PACKED_SIZE, _FIRST, _FIRST_DICTIONARY = 1, 5, 7, 9, 11
_OF_COLUMN: _Wanted = {_KIND: {}, _VALUES: {}, _PACKED_SIZE: {}, _FIRST: {}, _FIRST_DICTIONARY: {}}
_OF_DIRECTORY: _Wanted = {_ROW_GROUPS: {_COLUMNS: {_ABOUT: _OF_COLUMN}, _ROWS: {}}}
_FLOAT, _DOUBLES = 4, 5  # kinds of columns
_PREFIXES = 7  # an encoding in which a text is told by how much of the one before it has in common


class Pages(NamedTuple):
    """What pages unpack to, all together."""

    bytes: int
    values: int


class Column(NamedTuple):
    """What the directory says of a column in one group of rows; ``place`` is that in the schema."""

    place: int
    is_float: bool
    values: int
    first: int
    size: int


def columns_of(path: Path, file: BinaryIO) -> list[Column]:
    """All columns of all groups of rows.

    Raises:
        FormatError: The directory is none.
    """
    size = os.fstat(file.fileno()).st_size
    file.seek(max(0, size - _END))
    end = file.read(_END)
    length = int.from_bytes(end[:4], "little")
    if end[4:] != _MARK or length + _END > size:
        raise FormatError(f"{path} is no whole Parquet file; write it again")
    file.seek(size - _END - length)
    try:
        groups = _struct(file.read(length), 0, _OF_DIRECTORY, 0)[0].get(_ROW_GROUPS) or ()
        return [
            _column(place, one[_ABOUT], group.get(_ROWS, 0))
            for group in groups
            for place, one in enumerate(group.get(_COLUMNS) or ())
        ]
    except (IndexError, ValueError, KeyError, TypeError, AttributeError):
        raise FormatError(f"{path} has a directory that says nothing of a column; write it again") from None


def _column(place: int, told: dict[int, Any], rows: int) -> Column:
    dictionary, first = told.get(_FIRST_DICTIONARY, 0), told[_FIRST]
    return Column(
        place,
        told[_KIND] in (_FLOAT, _DOUBLES),
        max(told[_VALUES], rows, 0),
        dictionary if 0 < dictionary < first else first,
        told[_PACKED_SIZE],
    )


def pages_of(path: Path, file: BinaryIO, column: Column) -> Pages:
    """What the pages of a column of a row group say.

    Raises:
        FormatError: They do not lie one after the other where the directory says.
    """
    place, end = column.first, column.first + column.size
    total, values = 0, 0
    while 0 <= place < end:
        header, length = _header(path, file, place)
        packed, unpacked = header.get(_PACKED), header.get(_UNPACKED)
        if not isinstance(packed, int) or not isinstance(unpacked, int) or packed < 0 or unpacked < 0:
            raise FormatError(f"{path} has a page of no size; write it again")
        told = [header[key] for key in (_DATA, _DICTIONARY, _DATA_2) if isinstance(header.get(key), dict)]
        if any(_PREFIXES in (one.get(_ENCODING), one.get(_ENCODING_2)) for one in told):
            raise FormatError(
                f"{path} has texts in the encoding DELTA_BYTE_ARRAY, in which a few bytes stand for any "
                "amount; write it again without it"
            )
        counts = [one.get(_COUNT) for one in told]
        values += sum(one for one in counts if isinstance(one, int) and one > 0)
        total += unpacked
        place += length + packed
    if place != end:
        raise FormatError(f"{path} has pages that are longer than its directory says; write it again")
    return Pages(total, values)


def _header(path: Path, file: BinaryIO, place: int) -> tuple[dict[int, Any], int]:
    """The fields of a header, in Thrift's compact protocol, and its length."""
    for window in _WINDOWS:
        file.seek(place)
        try:
            return _struct(file.read(window), 0, _OF_PAGE, 0)
        except (IndexError, ValueError):
            continue
    raise FormatError(f"{path} has a page without a whole header; write it again")


def _struct(given: bytes, place: int, wanted: _Wanted, depth: int) -> tuple[dict[int, Any], int]:
    if depth > _DEEPEST:
        raise ValueError("nested too deeply")
    fields: dict[int, Any] = {}
    key = 0
    while given[place]:
        step, kind = given[place] >> 4, given[place] & 15
        place += 1
        if step:
            key += step
        else:
            key, place = _whole(given, place)
        value, place = _value(given, place, kind, wanted.get(key, {}), depth)
        if key in wanted:
            fields[key] = value
    return fields, place + 1


def _value(given: bytes, place: int, kind: int, wanted: _Wanted, depth: int) -> tuple[Any, int]:
    if kind in (_TRUE, _FALSE, _BYTE, _DOUBLE):
        return None, place + {_BYTE: 1, _DOUBLE: 8}.get(kind, 0)
    if kind <= _LAST_NUMBER:
        return _whole(given, place)
    if kind == _BINARY:
        length, place = _unsigned(given, place)
        return None, place + length
    if kind in (_LIST, _SET):
        return _list(given, place, wanted, depth)
    if kind == _STRUCT:
        return _struct(given, place, wanted, depth + 1)
    raise ValueError("a kind of field that no header has")


def _list(given: bytes, place: int, wanted: _Wanted, depth: int) -> tuple[list[Any], int]:
    """What is in a list, if anything of it is wanted."""
    size, kind = given[place] >> 4, given[place] & 15
    place += 1
    if size == 15:
        size, place = _unsigned(given, place)
    found = []
    for _ in range(size):
        if kind in (_TRUE, _FALSE):
            value, place = None, place + 1
        else:
            value, place = _value(given, place, kind, wanted, depth + 1)
        if place > len(given):
            raise IndexError("it ends too early")
        if wanted:
            found.append(value)
    return found, place


def _unsigned(given: bytes, place: int) -> tuple[int, int]:
    number = shift = 0
    while True:
        byte = given[place]
        number |= (byte & 127) << shift
        place, shift = place + 1, shift + 7
        if byte < 128:
            return number, place
        if shift > 63:
            raise ValueError("a number that is too long")


def _whole(given: bytes, place: int) -> tuple[int, int]:
    number, place = _unsigned(given, place)
    return (number >> 1) ^ -(number & 1), place
