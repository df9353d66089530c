"""How many cores are free, by statistics that are written by hand."""

import os
from pathlib import Path

import pytest

from hypercondense.runtime import threads


def statistics(*idle: int) -> str:
    lines = [f"cpu{core} 100 0 50 {ticks} 5 0 0 0 0 0" for core, ticks in enumerate(idle)]
    return "\n".join([f"cpu 100 0 50 {sum(idle)} 5 0 0 0 0 0", *lines, "intr 1 2 3", "btime 12"])


@pytest.mark.parametrize(
    ("shares", "free"),
    [((1.0, 1.0), 2), ((1.0, 0.0), 1), ((0.9, 0.8), 2), ((0.3, 0.1), 1), ((0.0, 0.0), 1)],
)
def test_a_core_is_free_if_it_was_idle_for_a_moment(
    shares: tuple[float, ...], free: int, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    file, clock = tmp_path / "stat", [10.0]
    file.write_text(statistics(7000, 9000))

    def sleep(seconds: float) -> None:
        clock[0] += seconds
        ticks = seconds * os.sysconf("SC_CLK_TCK")
        file.write_text(statistics(7000 + round(shares[0] * ticks), 9000 + round(shares[1] * ticks)))

    monkeypatch.setattr(threads, "_allowed", lambda: {0, 1})
    monkeypatch.setattr(threads.time, "sleep", sleep)
    monkeypatch.setattr(threads.time, "monotonic", lambda: clock[0])
    assert threads.free_cores(file) == free


@pytest.mark.parametrize(("load", "free"), [(0.2, 4), (1.6, 2), (9.0, 1)])
@pytest.mark.parametrize("content", [None, "", "cpu0 what", "cpu9 1 2 3 4 5"])
def test_where_nobody_tells_the_load_does(
    load: float, free: int, content: str | None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    file = tmp_path / "stat"
    if content is not None:
        file.write_text(content)
    monkeypatch.setattr(threads, "_allowed", lambda: {0, 1, 2, 3})
    monkeypatch.setattr(threads, "_load", lambda: load)
    assert threads.free_cores(file) == free


def test_this_machine_has_a_core() -> None:
    assert 1 <= threads.free_cores() <= (os.cpu_count() or 1)
