"""Condensing from the outside: what goes wrong is explained."""

from typing import Any

import pytest

from hypercondense.condensing.job import Job, Made
from hypercondense.condensing.run import condense_by
from hypercondense.errors import CondensationError
from hypercondense.hypergraph import Hypergraph, Split
from hypercondense.nn.short_trainings import ShortTrainings
from hypercondense.nn.training import Inputs
from hypercondense.typed import Value
from makers.jobs import quick


class Failing(Value):
    """A method that fails as torch or numpy does."""

    message: str = ""
    of_python: bool = False

    @property
    def empty_structure(self) -> str | None:
        return None

    @property
    def one_thread_up_to(self) -> int:
        return 0

    @property
    def trains_on_whole(self) -> str | None:
        return None

    def run(self, job: Job) -> Made:
        raise (MemoryError if self.of_python else RuntimeError)(self.message)


TORCH = "[enforce fail at alloc_cpu.cpp:1] DefaultCPUAllocator: can't allocate memory: you tried\nand more"


@pytest.mark.parametrize("failing", [Failing(message=TORCH), Failing(message="5 GiB", of_python=True)])
def test_running_out_of_memory_says_what_lowers_the_need(
    failing: Any, source: Hypergraph, parts: Split
) -> None:
    with pytest.raises(CondensationError, match=r"out of memory .*structure\.candidates") as caught:
        condense_by(failing, source, parts, nodes=9)
    assert "\n" not in str(caught.value)


def test_other_errors_are_left_alone(source: Hypergraph, parts: Split) -> None:
    with pytest.raises(RuntimeError, match="shapes do not fit"):
        condense_by(Failing(message="shapes do not fit"), source, parts, nodes=9)


def test_the_metric_is_what_is_chosen_and_guarded_for(source: Hypergraph, parts: Split) -> None:
    found = {}
    for metric in ("accuracy", "macro-f1"):
        result = condense_by(quick("ahgcdd-x"), source, parts, nodes=9, metric=metric)  # type: ignore[arg-type]
        score = ShortTrainings(Inputs.of(source), parts, metric=metric)  # type: ignore[arg-type]
        assert result.final_validation == score(result.hypergraph)
        assert result.provenance.metric == metric
        found[metric] = result.final_validation
    assert found["accuracy"] != found["macro-f1"]
