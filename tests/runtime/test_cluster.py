"""A real Ray: the same bits as here, whatever dies."""

import json
import os
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

import hypercondense as hc
from hypercondense.cli import run
from hypercondense.condensing.recipe import Recipe
from hypercondense.data.formats import read, write_mapped
from hypercondense.diffusion import diffuse, heat_kernel
from hypercondense.errors import ConfigError
from hypercondense.experiments.results import FinishedRuns, ResultsFile, read_lines
from hypercondense.experiments.runner import make_agenda, run_plans
from hypercondense.search.ahead import Ahead
from makers.experiment_cases import plan_of
from makers.processes import Blow, command, left_of, told


@pytest.mark.parametrize("kind", ["dense", "sparse", "mapped"])
def test_blocks_of_columns_have_the_bits_of_one_machine(ray, source, tmp_path, kind):
    if kind == "sparse":
        source = replace(source, features=sp.csr_array(np.maximum(0, source.features)))
    if kind == "mapped":
        write_mapped(source, tmp_path / "source")
        source = read(tmp_path / "source")
    here = diffuse(source, heat_kernel(2.0), threads=1)
    steps = []
    there = diffuse(source, heat_kernel(2.0), engine=ray, progress=lambda *step: steps.append(step[1]))
    assert there.tobytes() == here.tobytes() and steps[-1] == source.num_features and len(steps) > 1
    some = np.array([5, 3, 299])
    assert diffuse(source, heat_kernel(2.0), node_ids=some, engine=ray).tobytes() == here[some].tobytes()
    filed = diffuse(source, heat_kernel(2.0), out=tmp_path / "out.npy", engine=ray)
    assert filed.tobytes() == here.tobytes()


def test_a_path_that_machines_do_not_see_is_told(ray, source, tmp_path):
    write_mapped(source, tmp_path / "source")
    mapped = read(tmp_path / "source")
    (tmp_path / "source").rename(tmp_path / "elsewhere")
    with pytest.raises(ConfigError, match=r"machine of the cluster: .*source is not there.*all machines see"):
        diffuse(mapped, heat_kernel(2.0), engine=ray)


def test_a_search_has_the_trials_and_bits_of_one_machine(ray, source, parts):
    how = {"nodes": 9, "method": "ahgcdd-x-paper", "settings": {"goal.epochs": 3}, "budget": 2}
    here = hc.condense(source, parts, **how)
    there = hc.condense(source, parts, **how, engine=ray)
    assert there.hypergraph.digest == here.hypergraph.digest
    assert there.final_validation == here.final_validation
    scores = [[trial["score"] for trial in result.choice["trials"]] for result in (here, there)]
    assert scores[0] == scores[1] and len(scores[0]) == 2
    assert {"optimize", "diffuse", "confirm"} <= there.seconds.keys()


def test_methods_are_compared_with_the_same_scores(ray, source):
    how = {"nodes": 9, "methods": ["random", "means"], "models": ["mlp"], "seeds": 2, "runs": 1}
    here, there = hc.compare(source, **how), hc.compare(source, **how, engine=ray)
    rows = [[(row.method, row.mean, row.std, row.num_nodes) for row in one] for one in (here, there)]
    assert rows[0] == rows[1]


def test_runs_of_plans_give_the_same_lines(ray, tmp_path):
    plan = plan_of(tmp_path)
    agenda = make_agenda([plan], FinishedRuns(), only={"method": ["random"], "dataset": ["digits"]})
    values = []
    for engine in (None, ray):
        results = ResultsFile(tmp_path / f"{engine is None}.jsonl")
        assert run_plans(agenda, results, engine=engine).done == len(agenda.pending)
        values.append({line.settings.key: line.result.values for line in read_lines(results.path).lines})
    assert values[0] == values[1]


def test_what_a_policy_does_not_ask_for_is_given_up_and_the_rest_is_done_here():
    class Outcomes:
        closed = False

        def __next__(self):
            return "outcome"

        def close(self):
            self.closed = True

    first, second = Recipe(), Recipe(looks=1)
    ahead = Ahead(None, None, None, [first, second])
    ahead.outcomes = Outcomes()
    assert ahead.outcome(first) == "outcome"
    assert ahead.outcome(first) is None and ahead.outcomes.closed
    assert ahead.outcome(second) is None


def test_the_condense_command_takes_an_engine(ray, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    words = [
        "condense",
        "digits",
        "--nodes",
        "10",
        "--method",
        "ahgcdd-x",
        "--set",
        "goal.epochs=2",
        "--json",
    ]
    digests = []
    for number, more in enumerate(([], ["--engine", "ray", "--no-cache"])):
        assert run([*words, "--out", str(tmp_path / str(number)), *more]) == 0, capsys.readouterr().err
        digests.append(hc.load_condensed(tmp_path / str(number)).hypergraph.digest)
    assert digests[0] == digests[1]


@pytest.mark.slow
def test_two_lost_nodes_of_three_cost_time_and_nothing_else():
    script = Path(__file__).parents[1] / "makers" / "three_nodes.py"
    command = [sys.executable, "-W", "ignore", str(script)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    found = json.loads(done.stdout.splitlines()[-1])
    assert found["lost"] == ["diffuse", "search"]
    assert found["here"] == found["there"] and found["trials"][0] == found["trials"][1]


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="signals")
def test_an_interrupted_command_leaves_no_process_of_its_ray(tmp_path):
    words = ["condense", "digits", "--nodes", "10", "--method", "ahgcdd-x", "--engine", "ray", "--no-cache"]
    blow = Blow(signal.SIGINT, "hypercondense.runtime.ray_engine:RayEngine._result")
    running = command([*words, "--out", tmp_path / "out"], folder=tmp_path, blow=blow)
    status, _, err = told(running, tmp_path)
    assert status == 130 and "interrupted" in err and "Traceback" not in err
    assert left_of(running.pid) == []
    assert not (tmp_path / "out").exists()
