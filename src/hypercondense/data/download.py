"""One file from the web to the disk, continued where it stopped and checked."""

import http.client
import os
import shutil
import socket
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from hypercondense.data.registry import RemoteFile
from hypercondense.errors import FetchError
from hypercondense.files.storage import file_digest
from hypercondense.runtime.memory import format_size
from hypercondense.runtime.progress import Progress
from hypercondense.version import __version__

TIMEOUT_SECONDS = 30.0
WAITS_SECONDS = (0.5, 1.0, 2.0, 4.0)  # between tries after a dropped connection or a busy server
_BLOCK = 1 << 16
_BUSY = (408, 425, 429, 500, 502, 503, 504)


class _DroppedError(Exception):
    """The connection ended before the file did; worth another try."""


def download(file: RemoteFile, folder: Path, *, by_hand: str, progress: Progress) -> Path:
    """Bring ``file`` whole and checked into ``folder``; ``NAME.part`` there is continued.

    Every failure is a ``FetchError`` whose text ends with ``by_hand``, what a person can do instead. Errors
    of the disk are ``OSError``. When interrupted, the part stays to be continued.
    """
    whole = folder / file.path
    if not whole.is_file():
        part = _Part(folder / f"{file.path}.part")
        _download_part(file, part, by_hand=by_hand, progress=progress)
        _check(file, part, by_hand)
        part.path.replace(whole)
        part.forget_tag()
    return whole


class _Part:
    """A partial file, and the tag (ETag) of the version that the server is sending."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._tag_path = path.with_name(f"{path.name}.tag")

    @property
    def size(self) -> int:
        return self.path.stat().st_size if self.path.exists() else 0

    @property
    def tag(self) -> str | None:
        return self._tag_path.read_text("utf-8") if self._tag_path.exists() else None

    def remember_tag(self, tag: str | None) -> None:
        # A weak tag does not promise equal bytes.
        if tag and not tag.startswith("W/"):
            self._tag_path.write_text(tag, "utf-8")
        else:
            self.forget_tag()

    def forget_tag(self) -> None:
        self._tag_path.unlink(missing_ok=True)

    def remove(self) -> None:
        self.path.unlink(missing_ok=True)
        self.forget_tag()


def _download_part(file: RemoteFile, part: _Part, *, by_hand: str, progress: Progress) -> None:
    """Try until the file is whole, a few times."""
    for wait in WAITS_SECONDS:
        try:
            return _try_once(file, part, by_hand=by_hand, progress=progress)
        except _DroppedError:
            time.sleep(wait)
    try:
        return _try_once(file, part, by_hand=by_hand, progress=progress)
    except _DroppedError as error:
        raise FetchError(
            f"the connection to {_host(file)} broke {len(WAITS_SECONDS) + 1} times ({error}); fetch again, "
            f"it continues at {format_size(part.size)}, {by_hand}"
        ) from error


def _try_once(file: RemoteFile, part: _Part, *, by_hand: str, progress: Progress) -> None:
    if file.sha256 is None and part.tag is None:
        part.remove()  # nothing could tell whether the rest is of the same version
    if file.size is not None and part.size == file.size:
        return
    with _answer(file, part, by_hand) as answer:
        _receive(answer, file, part, by_hand=by_hand, progress=progress)


def _answer(file: RemoteFile, part: _Part, by_hand: str) -> Any:
    """What the server has to say about the file."""
    try:
        return _open(file, part)
    except urllib.error.HTTPError as error:
        error.close()
        if error.code == 416:  # the part does not fit the file, which has changed
            part.remove()
            raise _DroppedError("the file has changed on the server") from error
        if error.code in _BUSY:
            raise _DroppedError(f"status {error.code}") from error
        raise FetchError(
            f"{file.url} answers {error.code} {error.reason}; it may have moved: see its source, {by_hand}"
        ) from error
    except urllib.error.URLError as error:
        if isinstance(error.reason, socket.gaierror):
            raise FetchError(
                f"cannot find {_host(file)}: is there a network? Fetch again later, {by_hand}"
            ) from error
        raise _DroppedError(str(error.reason)) from error
    except (http.client.HTTPException, OSError) as error:
        raise _DroppedError(str(error) or type(error).__name__) from error


def _host(file: RemoteFile) -> str:
    return urlsplit(file.url or "").hostname or str(file.url)


def _open(file: RemoteFile, part: _Part) -> Any:
    """Ask for the file, or for what is missing of it."""
    if urlsplit(file.url or "").scheme not in ("http", "https"):
        raise FetchError(f"only http and https addresses can be fetched, not {file.url}")
    headers = {"User-Agent": f"hypercondense/{__version__}", "Accept-Encoding": "identity"}
    if part.size:
        headers["Range"] = f"bytes={part.size}-"
        if part.tag:
            headers["If-Range"] = part.tag
    return _opener().open(urllib.request.Request(str(file.url), headers=headers), timeout=TIMEOUT_SECONDS)


def _opener() -> urllib.request.OpenerDirector:
    """An opener that also after a redirection knows only http and https."""
    opener = urllib.request.OpenerDirector()
    for handler in (
        urllib.request.ProxyHandler,
        urllib.request.UnknownHandler,
        urllib.request.HTTPHandler,
        urllib.request.HTTPSHandler,
        urllib.request.HTTPDefaultErrorHandler,
        urllib.request.HTTPRedirectHandler,
        urllib.request.HTTPErrorProcessor,
    ):
        opener.add_handler(handler())
    return opener


def _receive(answer: Any, file: RemoteFile, part: _Part, *, by_hand: str, progress: Progress) -> None:
    """Write what comes behind the part, or in its place if the server starts from the beginning."""
    if answer.headers.get_content_type() == "text/html":
        raise FetchError(f"{file.url} answers with a web page instead of the file; {by_hand}")
    start = part.size if answer.status == 206 else 0
    if start and not str(answer.headers.get("Content-Range")).startswith(f"bytes {start}-"):
        part.remove()
        raise _DroppedError("the server sent another range than was asked for")
    length = answer.headers.get("Content-Length")
    total = start + int(length) if length and length.isdigit() else file.size
    _check_announced(file, part, total, by_hand)
    part.remember_tag(answer.headers.get("ETag"))
    with part.path.open("ab" if start else "wb") as out:
        for block in _blocks(answer, most=None if total is None else total - start):
            out.write(block)
            progress(file.path, out.tell(), total or 0)
        out.flush()
        os.fsync(out.fileno())
    _check_received(file, part, total, by_hand)


def _blocks(answer: Any, *, most: int | None) -> Iterator[bytes]:
    """The body piece by piece, up to one piece behind ``most`` bytes; a server may never stop sending."""
    received = 0
    while most is None or received <= most:
        try:
            block = answer.read(_BLOCK)
        except (http.client.HTTPException, OSError) as error:
            raise _DroppedError(str(error) or type(error).__name__) from error
        if not block:
            return
        received += len(block)
        yield block


def _check_announced(file: RemoteFile, part: _Part, total: int | None, by_hand: str) -> None:
    if file.size is not None and total != file.size:
        part.remove()
        raise FetchError(
            f"{file.url} has {total:,} bytes, expected {file.size:,}: another version; {by_hand}"
        )
    free = shutil.disk_usage(part.path.parent).free
    if total is not None and total - part.size > free:
        raise FetchError(
            f"{file.path} needs {format_size(total - part.size)} but only {format_size(free)} are free at "
            f"{part.path.parent}; make room or choose another folder"
        )


def _check_received(file: RemoteFile, part: _Part, total: int | None, by_hand: str) -> None:
    if total is not None and part.size < total:
        raise _DroppedError(f"{part.size:,} of {total:,} bytes came")
    if total is not None and part.size > total:
        part.remove()
        raise FetchError(f"{file.url} sends more than the {total:,} bytes that were expected; {by_hand}")


def _check(file: RemoteFile, part: _Part, by_hand: str) -> None:
    """Compare with the registered checksum; a wrong file is removed, so that the next try starts clean."""
    if file.sha256 is None:
        return
    found = file_digest(part.path)
    if found != file.sha256:
        part.remove()
        raise FetchError(
            f"{file.url} has SHA-256 {found[:12]}.., expected {file.sha256[:12]}..: damaged or another "
            f"version, and removed; fetch again, {by_hand}"
        )
