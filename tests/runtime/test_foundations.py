"""Randomness, threads, memory and progress: small things that everything stands on."""

import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from hypercondense.cli import output
from hypercondense.errors import ConfigError
from hypercondense.runtime import bars
from hypercondense.runtime.memory import format_size, parse_size, peak_bytes, reset_peak
from hypercondense.runtime.rng import generator, numpy_generator, seeded
from hypercondense.runtime.threads import one_thread


def test_a_seeded_block_repeats_and_leaves_the_global_generator_alone() -> None:
    before = torch.random.get_rng_state()
    with seeded(3):
        first = torch.rand(4)
    with seeded(3):
        assert torch.equal(torch.rand(4), first)
    assert torch.equal(torch.random.get_rng_state(), before)


def test_streams_of_a_seed_are_independent() -> None:
    draws = [torch.rand(4, generator=generator(seed, stream)) for seed in (0, 1) for stream in (0, 1)]
    assert len({tuple(draw.tolist()) for draw in draws}) == 4
    assert torch.equal(torch.rand(4, generator=generator(0, 1)), draws[1])
    assert not np.array_equal(numpy_generator(0).random(3), numpy_generator(0, 1).random(3))


def test_one_thread_is_set_back_even_after_an_error() -> None:
    torch.set_num_threads(2)
    try:
        with pytest.raises(KeyError), one_thread():
            assert torch.get_num_threads() == 1
            raise KeyError
        assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(1)


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("4096", 4096),
        ("1k", 1000),
        ("500MB", 500_000_000),
        ("2GB", 2 * 10**9),
        ("1.5 GiB", 1610612736),
        ("1tb", 10**12),
    ],
)
def test_sizes_are_read_as_people_write_them(text: str, size: int) -> None:
    assert parse_size(text) == size


@pytest.mark.parametrize("text", ["", "lots", "-1GB", "2 apples", "GB", "1iB", "nan"])
def test_other_sizes_are_refused(text: str) -> None:
    with pytest.raises(ConfigError, match="500MB or 2GB"):
        parse_size(text)


def test_sizes_are_written_as_people_read_them() -> None:
    assert [format_size(size) for size in (0, 999, 1500, 2_340_000, 5 * 10**9, 7 * 10**12)] == [
        "0 B", "999 B", "1.5 KB", "2.34 MB", "5 GB", "7 TB",
    ]  # fmt: skip


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux can reset the peak")
def test_the_peak_of_memory_sees_a_large_array_and_forgets_it() -> None:
    reset_peak()
    before = peak_bytes()
    block = np.ones(25_000_000)
    assert peak_bytes() - before > 150e6
    del block
    reset_peak()
    assert peak_bytes() - before < 100e6


def test_progress_is_a_line_now_and_then_where_there_is_no_terminal(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    now = 0.0
    monkeypatch.setattr(bars.time, "monotonic", lambda: now)
    with output.progress(quiet=False) as report:
        for done in range(1, 6):
            now += 3
            report("work", done, 10, run=2, loss=0.5)
    lines = capsys.readouterr().err.splitlines()
    told = "run 2 loss 0.5"
    assert lines == [f"work 2/10, about 24 s left: {told}", f"work 4/10, about 18 s left: {told}"]


def test_a_notebook_has_bars_of_html_without_widgets_drawn_now_and_then(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now, told = 0.0, []
    shown = SimpleNamespace(update=told.append)
    display = SimpleNamespace(HTML=str, display=lambda _, display_id: shown)
    monkeypatch.setitem(sys.modules, "IPython.display", display)
    monkeypatch.setattr(bars, "_in_notebook", lambda: True)
    monkeypatch.setattr(bars.time, "monotonic", lambda: now)
    with bars.shown() as report:
        for done in range(1, 11):
            now += 0.125
            report("<b>work", done, 10, loss=0.5)
    assert len(told) == 6, "every second time, and at the end"
    assert "&lt;b&gt;work" in told[0] and "<b>" not in told[0]
    assert '<progress value="3" max="10"' in told[1] and " left<" in told[1]
    assert "10/10" in told[-1] and "left" not in told[-1].replace("text-align:left", "")


def test_quiet_progress_says_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    with output.progress(quiet=True) as report:
        report("work", 1, 2, loss=0.5)
    assert capsys.readouterr() == ("", "")


def test_tables_are_not_cut_where_there_is_no_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    output.print_table([{"method": "m" * 60, "accuracy": "50.00% ± 1.00%"}], right=["accuracy"])
    assert "m" * 60 in capsys.readouterr().out


def test_available_memory_is_less_than_all_there_is_or_not_known(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from hypercondense.runtime import memory

    (tmp_path / "told").write_text("MemTotal: 9 kB\nMemAvailable: 7 kB\n")
    free = memory.available_bytes()
    assert free is not None and 0 < free < 2**60
    assert memory.available_bytes(tmp_path / "told") == 7 * 1024
    everything = memory.available_bytes(tmp_path / "not there")
    assert everything is not None and free <= everything < 2**60
    monkeypatch.delattr(memory.os, "sysconf")
    assert memory.available_bytes(tmp_path / "not there") is None
