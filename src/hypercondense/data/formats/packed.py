"""Files that may be packed by gzip or Zstandard: unpacked within a budget, and packed by their ending."""

import gzip
import os
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

from hypercondense.data.formats.reader import Reading
from hypercondense.errors import ConfigError, FormatError, one_line
from hypercondense.files.regular import open_regular

_BLOCK = 1 << 22  # bytes that are unpacked at once
# Packed bytes that are given at once. What a stream leaves over is copied, and a file may be of very many.
_BITE = 1 << 14
_STREAMS, _STREAM_BYTES = 1000, 1000  # packed streams in a file of any size, and one more for so many bytes
_GZIP, _ZSTANDARD = ".gz", ".zst"
_LEVEL = 6


def read_unpacked(path: Path, reading: Reading) -> bytearray:
    """The content of a file, unpacked if its name ends in .gz or .zst.

    Raises:
        FormatError: It would take more memory than allowed, which is counted while it is unpacked, or it is
            not packed as its name says, or cut off.
        ConfigError: Zstandard is not installed.
    """
    content = bytearray()
    with open_regular(path) as file:
        size, checked = os.fstat(file.fileno()).st_size, 0
        for block in _blocks(path, file):
            if len(content) + len(block) > checked:
                checked = len(content) + 2 * _BLOCK
                reading.check(path, 2 * checked, file_size=size)
            content += block
    return content


def _blocks(path: Path, file: BinaryIO) -> Iterator[bytes]:
    ending = path.suffix.lower()
    if ending not in (_GZIP, _ZSTANDARD):
        while block := file.read(_BLOCK):
            yield block
        return
    broken: tuple[type[Exception], ...] = (zlib.error, EOFError)
    if ending == _ZSTANDARD:
        broken = (*broken, zstandard().ZstdError)
    try:
        yield from _unpacked(path, file, ending)
    except broken as error:
        raise FormatError(f"{path} is not packed as its name says, or cut off: {one_line(error)}") from error


def _unpacked(path: Path, file: BinaryIO, ending: str) -> Iterator[bytes]:
    """One packed stream after the other, as both formats allow; each costs something, however short it is."""
    given = file.read(_BITE)
    left = _STREAMS + os.fstat(file.fileno()).st_size // _STREAM_BYTES
    while given:
        left -= 1
        if left < 0:
            raise FormatError(f"{path} is of very many packed parts, hardly anything in each; pack it as one")
        stream = _Gzip() if ending == _GZIP else zstandard().ZstdDecompressor()
        while not stream.eof:
            yield stream.decompress(given, _BLOCK)
            given = b""
            if stream.needs_input and not stream.eof:
                given = file.read(_BITE)
                if not given:
                    raise EOFError("it ends too early")
        given = stream.unused_data or file.read(_BITE)


class _Gzip:
    """A stream of gzip that is asked as one of Zstandard is."""

    def __init__(self) -> None:
        self.stream = zlib.decompressobj(wbits=31)

    def decompress(self, given: bytes, most: int) -> bytes:
        return self.stream.decompress(self.stream.unconsumed_tail + given, most)

    @property
    def eof(self) -> bool:
        return self.stream.eof

    @property
    def needs_input(self) -> bool:
        return not self.stream.unconsumed_tail

    @property
    def unused_data(self) -> bytes:
        return self.stream.unused_data


def packed(content: bytes, name: str) -> bytes:
    """Content as a file of this name holds it; equal content gives equal bytes."""
    if name.lower().endswith(_GZIP):
        return gzip.compress(content, _LEVEL, mtime=0)
    if name.lower().endswith(_ZSTANDARD):
        result: bytes = zstandard().compress(content)
        return result
    return content


def zstandard() -> Any:
    """The module that knows Zstandard: Python's own since 3.14, before that the same one from the registry.

    Raises:
        ConfigError: It is not installed.
    """
    try:
        from compression import zstd  # type: ignore[import-not-found,unused-ignore]
    except ImportError:
        try:
            from backports import zstd  # type: ignore[import-not-found,no-redef,unused-ignore]
        except ImportError as error:
            raise ConfigError(
                "files .zst need backports.zstd before Python 3.14; install it with "
                "pip install 'hypercondense[zstd]'"
            ) from error
    return zstd
