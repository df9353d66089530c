"""Networks answer for a source in a file as they do for one in memory."""

import pickle

import numpy as np
import pytest
import torch

from hypercondense.data import synthetic
from hypercondense.data.formats import read
from hypercondense.data.formats.opened import write_mapped
from hypercondense.errors import ConfigError
from hypercondense.hypergraph import split
from hypercondense.nn import build
from hypercondense.nn.inputs import Inputs
from hypercondense.nn.short_trainings import ShortTrainings
from hypercondense.nn.streamed import MappedInputs, check_budget, inputs_of

WAYS = [
    ("hgnn", {}),
    ("hgnn", {"layers": 3, "hidden": 7}),
    ("hcha", {"hidden": 5}),
    ("hcha", {"hidden": 5, "attention": True}),
    ("mlp", {}),
    ("unigcnii", {}),
]


@pytest.fixture(scope="module")
def held():
    return synthetic(num_nodes=400, num_hyperedges=100, num_classes=3, num_features=6, seed=4)


@pytest.fixture
def mapped(held, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    write_mapped(held, tmp_path / "source")
    return read(tmp_path / "source")


@pytest.mark.parametrize(("name", "options"), WAYS)
@pytest.mark.parametrize("asked", [[3, 390, 17], range(400)])
def test_answers_are_those_of_the_source_in_memory(held, mapped, tmp_path, name, options, asked):
    torch.manual_seed(0)
    model = build(name, num_features=6, num_classes=3, **options).eval()
    ids = torch.tensor(list(asked))
    whole, filed = Inputs.of(held), MappedInputs(mapped, memory=4 * 10**9, scratch=tmp_path, rows=50)
    for way in ("scores", "embeddings"):
        torch.testing.assert_close(getattr(filed, way)(model, ids), getattr(whole, way)(model, ids))


def test_a_budget_changes_no_bit_and_no_tensor_of_everything_is_made(mapped, tmp_path):
    torch.manual_seed(0)
    model = build("hgnn", num_features=6, num_classes=3).eval()
    for ids in (torch.arange(400), torch.tensor([5, 6])):
        seen = [MappedInputs(mapped, memory=memory, scratch=tmp_path) for memory in (None, 4 * 10**9)]
        first, second = (one.scores(model, ids) for one in seen)
        assert torch.equal(first, second)
        assert not any({"features", "structure"} & vars(one).keys() for one in seen)


def test_short_trainings_look_at_the_file(held, mapped, tmp_path):
    parts = split(held, seed=0)
    scores = [ShortTrainings(seen, parts, epochs=8)(held) for seen in (Inputs.of(held), inputs_of(mapped))]
    assert scores[0] == pytest.approx(scores[1], abs=0.02)


def test_another_process_opens_the_file_itself(mapped, tmp_path):
    seen = MappedInputs(mapped, memory=10**9, scratch=tmp_path)
    again = pickle.loads(pickle.dumps(seen))
    assert again.source.is_mapped and again.memory == 10**9
    np.testing.assert_array_equal(again.labels, seen.labels)


def test_what_needs_more_than_the_budget_is_refused_with_what_it_needs(mapped, tmp_path):
    with pytest.raises(ConfigError, match=r"400 nodes and 100 hyperedges need at least .* MB"):
        check_budget(mapped, 10**6)
    with pytest.raises(ConfigError, match=r"needs the source in memory, about .*--memory"):
        _ = MappedInputs(mapped, memory=10**6).structure
