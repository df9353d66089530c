"""Condensing from the outside: what goes wrong is explained."""

from typing import Any

import pytest

from hypercondense.catalogue import AHGCDD, AHGCDDX, condense
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


def test_a_recipe_condenses_as_condense_does(
    source: Hypergraph, parts: Split, caplog: pytest.LogCaptureFixture
) -> None:
    recipe, told = AHGCDD(**{"epochs": 1, "structure.warm": None}), []  # it makes no structure, and warns
    for ours in (True, False):
        caplog.clear()
        if ours:
            made = recipe.condense(source, parts, nodes=3, progress=True)
        else:
            made = condense(source, parts, nodes=3, method=recipe)
        warnings = [record.getMessage() for record in caplog.records]
        told.append((made.hypergraph.digest, made.provenance, warnings))
    assert told[0] == told[1] and told[0][2]
    assert AHGCDDX().condense(source, parts, nodes=9, select=False).provenance.method == "ahgcdd-x"
    with pytest.raises(TypeError, match=r"condense\(\) has no argument 'epochs'; there are allocate, "):
        recipe.condense(source, parts, nodes=9, epochs=3)
    with pytest.raises(TypeError, match="source must be a Hypergraph, got a list"):
        recipe.condense([1], parts, nodes=9)  # type: ignore[arg-type]


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
