import errno
import hashlib
import importlib
import logging
import shutil
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from hypercondense.data.registry import DATASETS, Dataset, Expected, RemoteFile
from hypercondense.errors import DatasetNotFoundError, FetchError
from makers.local_server import LocalServer, dropped, head, ranged, serving, status, whole
from makers.processes import PATIENCE

# The packages' functions have the names of their modules, so modules are asked for by name.
download_module = importlib.import_module("hypercondense.data.download")
fetch_module = importlib.import_module("hypercondense.data.fetch")
fetch = fetch_module.fetch

BODY = bytes(range(256)) * 1000
OTHER = b"label 1\n" * 100


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[LocalServer]:
    monkeypatch.setattr(download_module, "WAITS_SECONDS", (0.0, 0.0))
    monkeypatch.setattr(download_module, "TIMEOUT_SECONDS", 5.0)
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    with serving() as local:
        local.files = {"big.bin": BODY, "small.txt": OTHER}
        yield local


def remote(server: LocalServer, name: str, *, known: bool = True) -> RemoteFile:
    body = server.files[name]
    if not known:
        return RemoteFile(name, server.url(name))
    return RemoteFile(name, server.url(name), hashlib.sha256(body).hexdigest(), len(body))


def dataset(*files: RemoteFile) -> Dataset:
    return Dataset(
        name="toy",
        title="Toy",
        format="npz",
        expected=Expected(),
        files=files,
        source="https://example.org/toy",
    )


def both(server: LocalServer, *, known: bool = True) -> Dataset:
    return dataset(remote(server, "big.bin", known=known), remote(server, "small.txt", known=known))


def part_of(root: Path, name: str = "big.bin") -> Path:
    return root / ".fetch" / "toy" / f"{name}.part"


def start_part(root: Path, content: bytes) -> Path:
    part = part_of(root)
    part.parent.mkdir(parents=True)
    part.write_bytes(content)
    return part


def assert_one_helpful_line(error: pytest.ExceptionInfo[FetchError], *words: str) -> None:
    text = str(error.value)
    assert "\n" not in text
    for word in words:
        assert word in text


def test_files_arrive_whole_with_their_sums_and_nothing_else(server: LocalServer, tmp_path: Path) -> None:
    folder = fetch(both(server), data_dir=tmp_path)
    assert folder == tmp_path / "toy"
    assert (folder / "big.bin").read_bytes() == BODY
    assert (folder / "small.txt").read_bytes() == OTHER
    sums = (folder / "SHA256SUMS").read_text()
    assert f"{hashlib.sha256(OTHER).hexdigest()}  small.txt\n" in sums
    assert sorted(path.name for path in folder.iterdir()) == ["SHA256SUMS", "big.bin", "small.txt"]
    assert not (tmp_path / ".fetch" / "toy").exists()


def test_progress_counts_bytes_up_to_all(server: LocalServer, tmp_path: Path) -> None:
    calls: list[tuple[str, int, int]] = []
    fetch(both(server), data_dir=tmp_path, progress=lambda *call, **_: calls.append(call))
    assert calls[-1] == ("small.txt", len(OTHER), len(OTHER))
    big = [done for stage, done, total in calls if stage == "big.bin" and total == len(BODY)]
    assert big == sorted(big)
    assert big[-1] == len(BODY)


def test_a_complete_data_set_is_not_downloaded_again(server: LocalServer, tmp_path: Path) -> None:
    fetch(both(server), data_dir=tmp_path)
    server.requests.clear()
    shutil.rmtree(tmp_path / ".fetch")
    fetch(both(server), data_dir=tmp_path)
    assert server.requests == []
    assert not (tmp_path / ".fetch").exists()
    fetch(both(server), data_dir=tmp_path, force=True)
    assert len(server.requests) == 2


def test_a_damaged_file_in_place_is_fetched_again_and_strangers_stay(
    server: LocalServer, tmp_path: Path
) -> None:
    folder = fetch(both(server), data_dir=tmp_path)
    (folder / "big.bin").write_bytes(b"damaged")
    (folder / "mine.txt").write_text("keep me")
    server.requests.clear()
    fetch(both(server), data_dir=tmp_path)
    assert [name for name, _ in server.requests] == ["big.bin"]
    assert (folder / "big.bin").read_bytes() == BODY
    assert (folder / "mine.txt").read_text() == "keep me"


def test_a_part_is_continued(server: LocalServer, tmp_path: Path) -> None:
    server.scripts["big.bin"] = [ranged]
    start_part(tmp_path, BODY[:1234])
    fetch(both(server), data_dir=tmp_path)
    assert server.requests[0][1]["Range"] == "bytes=1234-"
    assert (tmp_path / "toy" / "big.bin").read_bytes() == BODY


def test_a_server_without_ranges_starts_from_the_beginning(server: LocalServer, tmp_path: Path) -> None:
    start_part(tmp_path, BODY[:1234])
    fetch(both(server), data_dir=tmp_path)
    assert (tmp_path / "toy" / "big.bin").read_bytes() == BODY


def test_a_part_of_an_older_version_is_thrown_away(server: LocalServer, tmp_path: Path) -> None:
    server.scripts["big.bin"] = [ranged]
    part = start_part(tmp_path, b"x" * 1234)
    part.with_name(f"{part.name}.tag").write_text('"old"')
    fetch(both(server, known=False), data_dir=tmp_path)
    assert server.requests[0][1]["If-Range"] == '"old"'
    assert (tmp_path / "toy" / "big.bin").read_bytes() == BODY


def test_a_part_that_is_too_long_is_thrown_away(server: LocalServer, tmp_path: Path) -> None:
    server.scripts["big.bin"] = [ranged]
    start_part(tmp_path, BODY + b"too long")
    fetch(both(server), data_dir=tmp_path)
    assert (tmp_path / "toy" / "big.bin").read_bytes() == BODY


def test_a_part_without_tag_or_checksum_is_not_trusted(server: LocalServer, tmp_path: Path) -> None:
    server.scripts["big.bin"] = [ranged]
    start_part(tmp_path, b"x" * 1234)
    fetch(both(server, known=False), data_dir=tmp_path)
    assert "Range" not in server.requests[0][1]
    assert (tmp_path / "toy" / "big.bin").read_bytes() == BODY


def test_a_dropped_connection_is_taken_up_again(server: LocalServer, tmp_path: Path) -> None:
    server.scripts["big.bin"] = [dropped(5000, '"one"'), status(503), ranged]
    fetch(both(server), data_dir=tmp_path)
    ranges = [headers.get("Range") for name, headers in server.requests if name == "big.bin"]
    assert ranges == [None, "bytes=5000-", "bytes=5000-"]
    assert (tmp_path / "toy" / "big.bin").read_bytes() == BODY


def test_a_server_that_hangs_up_or_falls_silent_is_asked_again(
    server: LocalServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    over = threading.Event()

    def silent(handler: object, body: bytes) -> None:
        head(handler, 200, Content_Length=len(body), ETag='"one"')
        handler.wfile.write(body[:100])  # type: ignore[attr-defined]
        over.wait(PATIENCE)

    monkeypatch.setattr(download_module, "TIMEOUT_SECONDS", 3.0)
    server.scripts["big.bin"] = [lambda handler, body: None, silent, ranged]
    fetch(both(server), data_dir=tmp_path)
    over.set()
    assert (tmp_path / "toy" / "big.bin").read_bytes() == BODY


def test_a_part_that_is_whole_already_is_only_checked(server: LocalServer, tmp_path: Path) -> None:
    start_part(tmp_path, BODY)
    fetch(both(server), data_dir=tmp_path)
    assert [name for name, _ in server.requests] == ["small.txt"]
    assert (tmp_path / "toy" / "big.bin").read_bytes() == BODY


def test_a_range_that_was_not_asked_for_is_refused(server: LocalServer, tmp_path: Path) -> None:
    def wrong_range(handler: object, body: bytes) -> None:
        head(handler, 206, Content_Range=f"bytes 0-99/{len(body)}", Content_Length=100)
        handler.wfile.write(body[:100])  # type: ignore[attr-defined]

    server.scripts["big.bin"] = [wrong_range, ranged]
    start_part(tmp_path, BODY[:1234])
    fetch(both(server), data_dir=tmp_path)
    assert (tmp_path / "toy" / "big.bin").read_bytes() == BODY


def test_a_connection_that_keeps_breaking_leaves_a_part_to_continue(
    server: LocalServer, tmp_path: Path
) -> None:
    server.scripts["big.bin"] = [dropped(7000)]
    with pytest.raises(FetchError) as error:
        fetch(both(server), data_dir=tmp_path)
    assert_one_helpful_line(error, "127.0.0.1", "broke 3 times", "7,000 of 256,000", "fetch again", "7 KB")
    assert part_of(tmp_path).read_bytes() == BODY[:7000]
    assert not (tmp_path / "toy").exists()


def test_a_missing_page_says_where_to_put_the_file(server: LocalServer, tmp_path: Path) -> None:
    server.scripts["small.txt"] = [status(404)]
    with pytest.raises(FetchError) as error:
        fetch(both(server), data_dir=tmp_path)
    assert_one_helpful_line(error, "404", "put the file small.txt into", str(tmp_path / "toy"))
    assert not (tmp_path / "toy").exists()
    assert sum(name == "small.txt" for name, _ in server.requests) == 1


def test_what_had_arrived_before_a_failure_is_kept(server: LocalServer, tmp_path: Path) -> None:
    server.scripts["small.txt"] = [status(404), whole]
    with pytest.raises(FetchError):
        fetch(both(server), data_dir=tmp_path)
    fetch(both(server), data_dir=tmp_path)
    assert [name for name, _ in server.requests] == ["big.bin", "small.txt", "small.txt"]


def test_a_wrong_checksum_removes_the_file_so_that_the_next_try_is_clean(
    server: LocalServer, tmp_path: Path
) -> None:
    wanted = both(server)
    server.files["big.bin"] = b"!" + BODY[1:]
    with pytest.raises(FetchError) as error:
        fetch(wanted, data_dir=tmp_path)
    assert_one_helpful_line(error, "SHA-256", wanted.files[0].sha256[:12], "fetch again", "by hand")
    assert not part_of(tmp_path).exists()
    assert not (tmp_path / "toy").exists()
    server.files["big.bin"] = BODY
    fetch(wanted, data_dir=tmp_path)
    assert (tmp_path / "toy" / "big.bin").read_bytes() == BODY


def test_another_size_is_refused_before_it_is_downloaded(server: LocalServer, tmp_path: Path) -> None:
    wanted = both(server)
    server.files["big.bin"] = BODY + b"more"
    with pytest.raises(FetchError) as error:
        fetch(wanted, data_dir=tmp_path)
    assert_one_helpful_line(error, "256,004", "256,000", "another version")


def test_a_stream_without_end_is_cut_off(server: LocalServer, tmp_path: Path) -> None:
    def endless(handler: object, body: bytes) -> None:
        head(handler, 200)
        handler.wfile.write(body + bytes(1 << 20))  # type: ignore[attr-defined]

    server.scripts["big.bin"] = [endless]
    with pytest.raises(FetchError) as error:
        fetch(both(server), data_dir=tmp_path)
    assert_one_helpful_line(error, "more than the 256,000 bytes")
    assert not part_of(tmp_path).exists()


def test_a_web_page_is_not_taken_for_the_file(server: LocalServer, tmp_path: Path) -> None:
    server.scripts["big.bin"] = [
        lambda handler, body: head(handler, 200, Content_Type="text/html; charset=utf-8", Content_Length=0)
    ]
    with pytest.raises(FetchError, match="web page"):
        fetch(both(server, known=False), data_dir=tmp_path)


def test_no_network_is_said_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", fail)
    for variable in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(variable, raising=False)
    with pytest.raises(FetchError) as error:
        fetch(dataset(RemoteFile("a.bin", "http://data.invalid/a.bin")), data_dir=tmp_path)
    assert_one_helpful_line(error, "cannot find data.invalid", "network", "put the file a.bin into")


def test_a_refused_connection_is_an_error_after_some_tries(server: LocalServer, tmp_path: Path) -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{unused.getsockname()[1]}/a.bin"
        with pytest.raises(FetchError, match="refused"):
            fetch(dataset(RemoteFile("a.bin", address)), data_dir=tmp_path)


@pytest.mark.parametrize("address", ["file:///etc/passwd", "ftp://example.org/a", "/etc/passwd"])
def test_only_web_addresses_are_fetched(address: str, tmp_path: Path) -> None:
    with pytest.raises(FetchError, match="only http and https"):
        fetch(dataset(RemoteFile("a.bin", address)), data_dir=tmp_path)


def test_a_redirection_is_followed_but_not_to_a_file(server: LocalServer, tmp_path: Path) -> None:
    server.scripts["big.bin"] = [lambda handler, _: head(handler, 302, Location=server.url("moved.bin"))]
    server.files["moved.bin"] = BODY
    server.scripts["small.txt"] = [lambda handler, _: head(handler, 302, Location="file:///etc/passwd")]
    with pytest.raises(FetchError, match=r"small\.txt"):
        fetch(both(server), data_dir=tmp_path)
    assert (tmp_path / ".fetch" / "toy" / "big.bin").read_bytes() == BODY


def test_too_little_room_is_noticed_before_downloading(
    server: LocalServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda _: shutil._ntuple_diskusage(10**6, 10**6, 1000))  # type: ignore[attr-defined]
    with pytest.raises(FetchError) as error:
        fetch(both(server), data_dir=tmp_path)
    assert_one_helpful_line(error, "257 KB are needed", "1 KB are free", "make room")
    assert server.requests == []
    with pytest.raises(FetchError, match="make room"):
        fetch(both(server, known=False), data_dir=tmp_path)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
def test_a_disk_that_fills_up_is_one_clear_line(server: LocalServer, tmp_path: Path) -> None:
    part = start_part(tmp_path, b"")
    part.unlink()
    part.symlink_to("/dev/full")
    with pytest.raises(FetchError) as error:
        fetch(both(server), data_dir=tmp_path)
    assert_one_helpful_line(error, "disk is full", str(tmp_path), "make room")
    assert error.value.__cause__.errno == errno.ENOSPC  # type: ignore[union-attr]
    assert not (tmp_path / "toy").exists()


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = shutil.which("mount")
    options = ["-t", "tmpfs", "-o", "size=128k", "tmpfs", str(disk)]
    if not mount or subprocess.run([mount, *options], capture_output=True, check=False).returncode:
        pytest.skip("mounting a small disk is not permitted here")
    try:
        yield disk
    finally:
        subprocess.run(["umount", str(disk)], check=True)


def test_a_really_full_disk_can_be_continued_elsewhere_on_it(server: LocalServer, small_disk: Path) -> None:
    def unannounced(handler: object, body: bytes) -> None:
        head(handler, 200)
        handler.wfile.write(body)  # type: ignore[attr-defined]

    server.scripts["big.bin"] = [unannounced]
    wanted = dataset(remote(server, "big.bin", known=False))
    with pytest.raises(FetchError, match="disk is full"):
        fetch(wanted, data_dir=small_disk)
    assert not (small_disk / "toy").exists()


def test_a_place_that_cannot_be_written_is_one_clear_line(server: LocalServer, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("not a folder")
    with pytest.raises(FetchError) as error:
        fetch(both(server), data_dir=tmp_path / "file")
    assert_one_helpful_line(error, "cannot write toy", "choose another folder")


def test_an_interruption_keeps_the_part(server: LocalServer, tmp_path: Path) -> None:
    def interrupt(stage: str, done: int, total: int, /, **_: float) -> None:
        if done >= 100_000:
            raise KeyboardInterrupt

    server.scripts["big.bin"] = [ranged]
    with pytest.raises(KeyboardInterrupt):
        fetch(both(server), data_dir=tmp_path, progress=interrupt)
    kept = part_of(tmp_path).stat().st_size
    assert 100_000 <= kept < len(BODY)
    fetch(both(server), data_dir=tmp_path)
    assert server.requests[1][1]["Range"] == f"bytes={kept}-"
    assert server.requests[1][1]["If-Range"] == '"one"'
    assert (tmp_path / "toy" / "big.bin").read_bytes() == BODY


def test_a_second_fetch_at_the_same_time_is_turned_away(server: LocalServer, tmp_path: Path) -> None:
    arrived, go_on = threading.Event(), threading.Event()

    def wait(handler: object, body: bytes) -> None:
        arrived.set()
        go_on.wait(PATIENCE)
        whole(handler, body)

    server.scripts["big.bin"] = [wait]
    first = threading.Thread(target=fetch, args=(both(server),), kwargs={"data_dir": tmp_path})
    first.start()
    assert arrived.wait(PATIENCE)
    try:
        with pytest.raises(FetchError, match="another process is fetching toy"):
            fetch(both(server), data_dir=tmp_path)
    finally:
        go_on.set()
        first.join()
    assert (tmp_path / "toy" / "big.bin").read_bytes() == BODY


@pytest.mark.skipif(sys.platform == "win32", reason="uses a POSIX lock from another process")
def test_another_process_holds_the_lock(server: LocalServer, tmp_path: Path) -> None:
    (tmp_path / ".fetch").mkdir()
    code = (
        "import fcntl, sys; lock = open(sys.argv[1], 'a'); fcntl.flock(lock, fcntl.LOCK_EX); "
        "print('held', flush=True); sys.stdin.read()"
    )
    command = [sys.executable, "-c", code, str(tmp_path / ".fetch" / "toy.lock")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as holder:
        assert holder.stdout is not None
        holder.stdout.readline()
        with pytest.raises(FetchError, match="wait for it"):
            fetch(both(server), data_dir=tmp_path)
    fetch(both(server), data_dir=tmp_path)


def test_an_unknown_checksum_is_recorded_with_a_warning(
    server: LocalServer, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING):
        folder = fetch(both(server, known=False), data_dir=tmp_path)
    assert "no checksum is registered for big.bin, small.txt" in caplog.text
    assert f"{hashlib.sha256(BODY).hexdigest()}  big.bin\n" in (folder / "SHA256SUMS").read_text()


def test_files_without_an_address_are_put_there_by_hand_first(server: LocalServer, tmp_path: Path) -> None:
    mixed = dataset(remote(server, "big.bin"), RemoteFile("*_manual.csv"))
    with pytest.raises(FetchError) as error:
        fetch(mixed, data_dir=tmp_path)
    assert_one_helpful_line(
        error, "put *_manual.csv from https://example.org/toy into", str(tmp_path / "toy")
    )
    assert server.requests == []
    (tmp_path / "toy").mkdir()
    (tmp_path / "toy" / "my_manual.csv").write_text("1")
    folder = fetch(mixed, data_dir=tmp_path)
    assert (folder / "big.bin").read_bytes() == BODY
    assert (folder / "my_manual.csv").read_text() == "1"


def test_embedded_and_unknown_data_sets_are_not_fetched(tmp_path: Path) -> None:
    with pytest.raises(FetchError, match="comes with the package"):
        fetch("digits", data_dir=tmp_path)
    with pytest.raises(DatasetNotFoundError, match="not a registered data set"):
        fetch("nothing", data_dir=tmp_path)
    with pytest.raises(FetchError, match="HyperUFG"):
        fetch(DATASETS["actor"], data_dir=tmp_path)
    assert list(tmp_path.iterdir()) == []
