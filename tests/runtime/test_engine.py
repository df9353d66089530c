"""Whoever shares out work: results in order, errors as they are, and nothing left behind."""

import os
import signal
import socket
import time
from pathlib import Path
from typing import Any

import pytest

from hypercondense.errors import ConfigError, EngineError, FormatError
from hypercondense.runtime import ray_engine
from hypercondense.runtime.engine import Engine, Here, Processes, Threads, engine_named
from hypercondense.runtime.ray_engine import RayEngine

_LONG = 600.0  # seconds


def add(amount: int, number: int) -> int:
    if number == 0:
        time.sleep(0.05)  # the first is the last to end
    return amount + number


def refuse(_shared: object, number: int) -> int:
    raise FormatError(f"no {number}") if number else KeyError("odd")


def dies_once(folder: Path, number: int) -> int:
    """The second task kills its process the first time it is run."""
    mark = folder / "died"
    if number == 1 and not mark.exists():
        mark.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return number


def dies(_shared: object, _task: object) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def sleeps(folder: Path, number: int) -> None:
    if number:
        (folder / "begun").touch()
        try:
            time.sleep(_LONG)
        except BaseException:
            (folder / "ended").touch()
            raise
        (folder / "finished").touch()
    while not (folder / "begun").exists():
        time.sleep(0.01)
    raise FormatError("not this one")


def naps(_shared: object, seconds: float) -> float:
    time.sleep(seconds)
    return seconds


@pytest.fixture(params=["here", "threads", "processes", "ray"])
def engine(request: pytest.FixtureRequest) -> Engine:
    if request.param == "ray":
        return request.getfixturevalue("ray")  # type: ignore[no-any-return]
    return {"here": Here(), "threads": Threads(2), "processes": Processes(2)}[request.param]


def test_results_come_in_the_order_of_the_tasks(engine: Engine) -> None:
    assert list(engine.map(add, range(5), shared=10)) == [10, 11, 12, 13, 14]
    assert list(engine.map(add, [], shared=10)) == []
    with pytest.raises(FormatError, match="no 1"):
        list(engine.map(refuse, [1, 2], shared=None))


def test_torch_has_as_many_threads_afterwards() -> None:
    import torch  # not above: the processes of other tests would wait for it

    before = torch.get_num_threads()
    assert list(Threads(2).map(lambda _, __: torch.get_num_threads(), [0, 1], shared=None)) == [1, 1]
    assert torch.get_num_threads() == before


@pytest.mark.parametrize("name", ["processes", "ray"])
def test_a_task_whose_process_dies_is_run_again(name: str, tmp_path: Path, request: Any) -> None:
    engine = Processes(2) if name == "processes" else request.getfixturevalue("ray")
    assert list(engine.map(dies_once, [0, 1, 2], shared=tmp_path)) == [0, 1, 2]
    assert (tmp_path / "died").exists()


def test_a_task_that_always_kills_its_process_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hypercondense.runtime.engine.ATTEMPTS", 2)
    with pytest.raises(EngineError, match=r"died 2 times at task 1 of 2.*fewer workers"):
        list(Processes(2).map(dies, [0, 1], shared=None))


def test_other_errors_on_a_cluster_are_told_in_one_line(ray: RayEngine) -> None:
    with pytest.raises(EngineError, match="failed on the cluster: KeyError: 'odd'"):
        list(ray.map(refuse, [0], shared=None))


def test_tasks_nobody_wants_any_more_end_by_themselves(ray: RayEngine, tmp_path: Path) -> None:
    begin = time.monotonic()
    with pytest.raises(FormatError, match="not this one"):
        list(ray.map(sleeps, [0, 1, 2, 3], shared=tmp_path))
    assert list(ray.map(add, [1, 2], shared=1)) == [2, 3]  # both processors are free, or will be
    while not (tmp_path / "ended").exists() and time.monotonic() - begin < _LONG / 2:
        time.sleep(0.01)
    assert sorted(file.name for file in tmp_path.iterdir()) == ["begun", "ended"]


def test_tasks_may_end_while_they_are_given_up(ray: RayEngine) -> None:
    """`ray.cancel`, which is not used for it, would sometimes abort this process."""
    for number in range(60):
        first, *_ = seconds = [0, 0.001 * (number % 4), 0.01 * (number % 3), 0.03]
        assert next(iter(ray.map(naps, seconds, shared=None))) == first
    assert list(ray.map(add, [1], shared=1)) == [2]


def test_machines_with_another_version_are_refused(ray: RayEngine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ray_engine, "code_checksum", lambda: "0.0.9 sha256:00")
    with pytest.raises(ConfigError, match=r"another version of hypercondense.*not 0.0.9.*the same on all"):
        list(ray.map(add, [1], shared=1))


def test_an_address_without_a_cluster_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    class Library:
        @staticmethod
        def is_initialized() -> bool:
            return False

        @staticmethod
        def init(**_: Any) -> None:
            raise ConnectionError("Could not find any running Ray instance.")

    monkeypatch.setattr(ray_engine, "_library", Library)
    with pytest.raises(
        ConfigError, match=r"no Ray cluster can be used at 'auto' \(Could not find.*ray start"
    ):
        engine_named("ray", address="auto")


@pytest.mark.parametrize("address", ["127.0.0.1:{}", "ray://127.0.0.1:{}", "127.0.0.1:99999"])
def test_an_address_where_nobody_listens_is_refused_at_once(
    monkeypatch: pytest.MonkeyPatch, address: str
) -> None:
    monkeypatch.setattr("ray.is_initialized", lambda: False)
    monkeypatch.setattr("ray.init", lambda **_: pytest.fail("Ray would try for minutes"))
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))  # and does not listen
        given = address.format(free.getsockname()[1])
        with pytest.raises(ConfigError, match=r"no Ray cluster can be used at '.*' \(.*ray start"):
            engine_named("ray", address=given)


def test_names_of_engines() -> None:
    assert isinstance(engine_named("local"), Here)
    assert isinstance(engine_named("local", workers=2), Processes)
    with pytest.raises(ConfigError, match="local, ray, got 'dask'"):
        engine_named("dask")
    with pytest.raises(ConfigError, match="add --engine ray"):
        engine_named("local", address="auto")
    with pytest.raises(ValueError, match="at least 1, got 0"):
        Processes(0)
