"""Through every library and back: equal, or what is lost was told."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings

from hypercondense.hypergraph import Hypergraph
from interchange.ways import ASPECTS, WAYS, gone, row, same
from makers.strategies import hypergraphs

ROOT = Path(__file__).parents[2]


def open_way(name: str) -> None:
    if not WAYS[name].is_open:
        pytest.skip(f"{WAYS[name].needs} is not installed; `make peers` runs this where it is")


@pytest.mark.parametrize("name", WAYS)
@pytest.mark.parametrize("aspect", ASPECTS)
def test_what_does_not_come_back_is_told(name: str, aspect: str) -> None:
    open_way(name)
    back, told = gone(WAYS[name], ASPECTS[aspect])
    assert same(back, ASPECTS[aspect]) or told


@pytest.mark.parametrize("name", WAYS)
def test_the_document_tells_what_survives(name: str) -> None:
    open_way(name)
    assert row(name) in (ROOT / "docs" / "interchange.md").read_text("utf-8").splitlines()


@pytest.mark.parametrize("name", WAYS)
@settings(max_examples=15, suppress_health_check=[HealthCheck.too_slow])
@given(hypergraph=hypergraphs(with_parts=True))
def test_any_hypergraph_comes_back_or_the_loss_is_told(name: str, hypergraph: Hypergraph) -> None:
    open_way(name)
    back, told = gone(WAYS[name], hypergraph)
    assert same(back, hypergraph) or told
