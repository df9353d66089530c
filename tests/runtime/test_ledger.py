"""What a result cost: every second has one kind."""

import pytest

from hypercondense.runtime.ledger import Extent, Ledger, by_kind

SMALL = Extent(nodes=9, hyperedges=9, incidences=9, bytes=500)
LARGE = Extent(nodes=900, hyperedges=400, incidences=2000, bytes=60_000)


def test_kinds_add_up_to_the_total() -> None:
    stages = {"diffuse": 1.0, "start": 0.5, "teach": 3.0, "optimize": 4.0, "select": 1.5, "confirm": 0.5}
    kinds = by_kind({**stages, "total": 11.0, "guard": 7.0, "load": 2.0}, searched=True)
    beside = {"total", "guard", "loading"}
    assert sum(value for name, value in kinds.items() if name not in beside) == pytest.approx(11.0)
    assert kinds["optimization"] == 2.5 and kinds["looks"] == 2.0 and kinds["search"] == 2.0


def test_what_is_left_is_no_search_where_nothing_was_searched_and_never_negative() -> None:
    assert by_kind({"total": 1.0, "diffuse": 1.1}, searched=False) == {
        "diffusion": 1.1,
        "other": 0.0,
        "total": 1.0,
    }


def test_people_are_told_in_a_few_lines() -> None:
    ledger = Ledger(
        seconds={"diffusion": 0.2, "looks": 0.01, "total": 4.2, "guard": 1.0},
        peak_memory_mb=1234.0,
        result=SMALL,
        source=LARGE,
        whole_seconds=35.0,
        share=0.12,
    )
    assert dict(ledger.lines()) == {
        "cost": "4.2 s = 0.12 of one training on everything (estimated 35 s)",
        "of which": "diffusion 0.2 s",
        "besides": "guard 1.0 s",
        "trained on everything": "none",
        "size and memory": "500 B instead of 60 KB, 1,234 MB of memory at most",
    }


def test_nothing_is_made_up_where_the_whole_is_not_known() -> None:
    ledger = Ledger(seconds={"total": 4.2}, peak_memory_mb=1.0, result=SMALL, source=LARGE, whole_trainings=2)
    lines = dict(ledger.lines())
    assert lines["cost"] == "4.2 s" and lines["trained on everything"] == "2 trainings"
    assert "of which" not in lines


@pytest.mark.parametrize(("share", "trainings"), [(1.0, 2), (2.4, 3), (3.0, 4)])
def test_what_costs_more_than_a_training_tells_what_it_is_for(share: float, trainings: int) -> None:
    seconds = {"total": share * 2.0}
    ledger = Ledger(
        seconds=seconds, peak_memory_mb=1.0, result=SMALL, source=LARGE, whole_seconds=2.0, share=share
    )
    # Condensing pays once so many trainings on everything would have cost more.
    assert trainings - 1 <= share < trainings
    assert f"from about {trainings} trainings on" in dict(ledger.lines())["worth it"]
