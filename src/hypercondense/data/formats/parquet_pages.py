"""What the pages of a Parquet file say they unpack to, counted before a library unpacks them.

The directory at the end of a file may say less than its pages do, and a page says what memory is taken.
"""

from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from hypercondense.errors import FormatError

_WINDOW = 1 << 16  # bytes in which the header of a page must end
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
_UNPACKED, _PACKED, _DATA, _DICTIONARY, _DATA_2 = 2, 3, 5, 7, 8  # fields of the header of a page


class Pages(NamedTuple):
    """What pages unpack to, all together."""

    bytes: int
    values: int


def pages_of(path: Path, file: BinaryIO, column: Any) -> Pages:
    """What the pages of a column of a row group say, as ``pyarrow`` describes that column.

    Raises:
        FormatError: They do not lie one after the other where the directory says.
    """
    place, end = _first_page(column), _first_page(column) + column.total_compressed_size
    total, values = 0, 0
    while place < end:
        file.seek(place)
        header, length = _header(path, file.read(_WINDOW))
        packed, unpacked = header.get(_PACKED), header.get(_UNPACKED)
        if not isinstance(packed, int) or not isinstance(unpacked, int) or packed < 0 or unpacked < 0:
            raise FormatError(f"{path} has a page of no size; write it again")
        told = [
            header[key].get(1) for key in (_DATA, _DICTIONARY, _DATA_2) if isinstance(header.get(key), dict)
        ]
        values += sum(one for one in told if isinstance(one, int) and one > 0)
        total += unpacked
        place += length + packed
    if place != end:
        raise FormatError(f"{path} has pages that are longer than its directory says; write it again")
    return Pages(total, values)


def _first_page(column: Any) -> int:
    dictionary = column.dictionary_page_offset if column.has_dictionary_page else None
    first = int(column.data_page_offset)
    return int(dictionary) if dictionary is not None and 0 < dictionary < first else first


def _header(path: Path, window: bytes) -> tuple[dict[int, Any], int]:
    """The fields of a header, in Thrift's compact protocol, and its length."""
    try:
        return _struct(window, 0, 0)
    except (IndexError, ValueError):
        raise FormatError(f"{path} has a page without a whole header; write it again") from None


def _struct(given: bytes, place: int, depth: int) -> tuple[dict[int, Any], int]:
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
        fields[key], place = _value(given, place, kind, depth)
    return fields, place + 1


def _value(given: bytes, place: int, kind: int, depth: int) -> tuple[Any, int]:
    if kind in (_TRUE, _FALSE, _BYTE, _DOUBLE):
        return None, place + {_BYTE: 1, _DOUBLE: 8}.get(kind, 0)
    if kind <= _LAST_NUMBER:
        return _whole(given, place)
    if kind == _BINARY:
        length, place = _unsigned(given, place)
        return None, place + length
    if kind in (_LIST, _SET):
        return None, _skipped_list(given, place, depth)
    if kind == _STRUCT:
        return _struct(given, place, depth + 1)
    raise ValueError("a kind of field that no header has")


def _skipped_list(given: bytes, place: int, depth: int) -> int:
    size, kind = given[place] >> 4, given[place] & 15
    place += 1
    if size == 15:
        size, place = _unsigned(given, place)
    for _ in range(min(size, _WINDOW)):
        _, place = (None, place + 1) if kind in (_TRUE, _FALSE) else _value(given, place, kind, depth + 1)
    return place


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
