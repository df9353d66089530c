"""The command line from end to end, as a stranger would use it."""

import importlib
import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hypercondense import __version__, load_condensed
from hypercondense.cli import run
from hypercondense.files.locking import exclusive
from hypercondense.runtime.progress import silent
from makers.processes import PATIENCE, Blow, command, left_of, told

SOURCE = Path(__file__).parents[2] / "src"
FAST = ["--method", "ahgcdd", "--set", "epochs=4", "--set", "structure.warm.steps=4", "--set", "hidden=8"]
_EXPERIMENTS = ("run", "table", "publish")
COLUMNS = [
    f"num_{what}"
    for what in ("nodes", "hyperedges", "incidences", "incidences_with_self_loops", "features", "classes")
]


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("HYPERCONDENSE_DATA", raising=False)


def call(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    status = run([str(argument) for argument in arguments])
    captured = capsys.readouterr()
    return status, captured.out, captured.err


def call_json(capsys: pytest.CaptureFixture[str], *arguments: object) -> Any:
    status, out, err = call(capsys, *arguments, "--json")
    assert status == 0, err
    assert out.count("\n") == 1  # exactly one value
    return json.loads(out)


def test_version_and_datasets_do_not_wait_for_torch() -> None:
    code = (
        "import sys; from hypercondense.cli import run; status = run(['--version']);"
        "assert status == 0 and 'torch' not in sys.modules and 'scipy' not in sys.modules;"
        "sys.stdout = sys.stderr; status = run(['datasets', '--quiet']);"
        "assert status == 0 and 'torch' not in sys.modules"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        check=False,
        env={**os.environ, "PYTHONPATH": str(SOURCE)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == f"hypercondense {__version__}\n"


def test_import_and_help_load_few_packages() -> None:
    code = (
        "import sys; before = set(sys.modules);"
        "loaded = lambda: {name.split('.')[0] for name in set(sys.modules) - before}"
        " - set(sys.stdlib_module_names) - {'hypercondense'};"
        "import hypercondense; print(*sorted(loaded()));"
        "from hypercondense.cli import run; sys.stdout = sys.stderr; run(['--help']);"
        "sys.stdout = sys.__stdout__; print(*sorted(loaded()))"
    )
    environment = {**os.environ, "PYTHONPATH": str(SOURCE)}
    done = subprocess.run(
        [sys.executable, "-c", code], check=True, env=environment, capture_output=True, text=True
    )
    of_import, of_help = (set(line.split()) for line in done.stdout.split("\n")[:2])
    assert of_import == set()
    heavy = {"torch", "numpy", "scipy", "sklearn", "matplotlib", "pandas", "msgspec", "safetensors"}
    assert {"typer", "rich"} <= of_help and not of_help & heavy


def test_every_command_has_help(capsys: pytest.CaptureFixture[str]) -> None:
    for name in (
        "demo",
        "datasets",
        "info",
        "condense",
        "evaluate",
        "compare",
        "convert",
        "export",
        *_EXPERIMENTS,
    ):
        status, out, _ = call(capsys, name, "--help")
        assert status == 0 and "--help" in out


# --- info, convert, datasets ---


def test_info_has_the_promised_keys(capsys: pytest.CaptureFixture[str]) -> None:
    facts = call_json(capsys, "info", "digits")
    for key in ("name", *COLUMNS, "num_isolated_nodes", "class_counts", "homophily", "digest"):
        assert key in facts
    assert facts["num_nodes"] == 1797 and sum(facts["class_counts"].values()) == 1797
    status, out, _ = call(capsys, "info", "digits")
    assert status == 0 and "1,797" in out and facts["digest"] in out


@pytest.mark.data
@pytest.mark.parametrize(
    ("name", "numbers"),
    {
        "cora": (2708, 1579, 4786, 7494, 1433, 7),
        "pubmed": (19717, 7963, 34629, 54346, 500, 3),
        "dblp": (41302, 22363, 99561, 140863, 1425, 6),
        "walmart": (88860, 69906, 460630, 549490, 100, 11),
        "zoo": (101, 43, 1717, None, 16, 7),
    }.items(),
)
def test_info_of_real_data_matches_the_published_table(
    capsys: pytest.CaptureFixture[str], shared_data: Path, name: str, numbers: tuple[int | None, ...]
) -> None:
    facts = call_json(capsys, "info", name, "--data-dir", shared_data)
    for key, number in zip(COLUMNS, numbers, strict=True):
        assert number is None or facts[key] == number, key
    assert bool(facts["notes"]) == (name == "walmart")  # its features are made from the labels: said so


def test_convert_writes_a_folder_that_is_the_same_hypergraph(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    made = call_json(capsys, "convert", "digits", tmp_path / "native")
    assert call_json(capsys, "info", tmp_path / "native")["digest"] == made["digest"]
    status, _, err = call(capsys, "convert", "digits", tmp_path / "native")
    assert status == 2 and "exists already" in err
    assert call(capsys, "convert", "digits", tmp_path / "native", "--force", "--quiet") == (0, "", "")


def test_datasets_shows_what_is_here(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    rows = call_json(capsys, "datasets", "--data-dir", tmp_path)
    by_name = {row["name"]: row for row in rows}
    assert by_name["cora"]["num_nodes"] == 2708 and by_name["cora"]["path"] is None
    assert by_name["digits"]["embedded"]
    status, out, _ = call(capsys, "datasets")
    assert status == 0 and "walmart-trips" in out and "built in" in out


def test_fetching_an_unknown_or_embedded_name_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("nonsense", "digits"):
        status, out, err = call(capsys, "datasets", "fetch", name)
        assert status == 2 and out == "" and err.startswith("error: ") and err.count("\n") == 1


@pytest.mark.parametrize("options_first", [True, False])
def test_options_of_fetch_count_before_and_after_its_name(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options_first: bool
) -> None:
    def pretend(name: str, *, data_dir: Path, progress: Any, force: bool) -> Path:
        progress("download", 1, 1)
        assert progress is silent
        return data_dir / name

    module = importlib.import_module("hypercondense.data.fetch")  # the package has a function of this name
    monkeypatch.setattr(module, "fetch", pretend)
    options = ["--data-dir", tmp_path, "--json", "--quiet"]
    words = [*options, "fetch", "zoo"] if options_first else ["fetch", "zoo", *options]
    status, out, err = call(capsys, "datasets", *words)
    assert (status, err) == (0, "")
    assert json.loads(out) == {"name": "zoo", "path": str(tmp_path / "zoo")}


def test_quiet_datasets_leaves_the_notes_out(capsys: pytest.CaptureFixture[str]) -> None:
    assert "note: " in call(capsys, "datasets")[2]
    assert call(capsys, "datasets", "--quiet")[2] == ""


# --- condense, evaluate, compare, demo ---


def test_condense_then_evaluate(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    out = tmp_path / "small"
    made = call_json(capsys, "condense", "digits", "--ratio", "0.01", "--out", out, *FAST)
    promised = "out method seed num_nodes num_hyperedges num_incidences density mean_hyperedge_size seconds"
    for key in (*promised.split(), "peak_memory_mb", "start_validation", "final_validation"):
        assert key in made
    assert made["num_nodes"] == 18
    assert made["final_validation"] >= made["start_validation"] > 0.3
    assert not (tmp_path / "small.partial").exists()
    facts = call_json(capsys, "info", out)
    assert facts["num_nodes"] == 18 and facts["digest"] == load_condensed(out).hypergraph.digest
    score = call_json(capsys, "evaluate", out, "--runs", "1", "--whole", "--workers", "1", "--quiet")
    for key in ("model", "task", "metric", "mean", "std", "runs", "whole", "retention"):
        assert key in score
    assert 0.5 < score["mean"] < score["whole"]["mean"] <= 1
    assert score["retention"] == pytest.approx(score["mean"] / score["whole"]["mean"])


def test_a_manifest_tells_how_to_make_the_same_again(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    call_json(capsys, "condense", "digits", "--nodes", "20", "--seed", "5", "--out", tmp_path / "one", *FAST)
    first = load_condensed(tmp_path / "one")
    manifest = json.loads((tmp_path / "one" / "manifest.json").read_text())["provenance"]
    recipe = tmp_path / "recipe.json"
    recipe.write_text(json.dumps(manifest["settings"]))
    seed, nodes = manifest["seed"], first.hypergraph.num_nodes
    words = ["condense", "digits", "--nodes", nodes, "--seed", seed, "--method", recipe]
    call_json(capsys, *words, "--out", tmp_path / "two")
    assert load_condensed(tmp_path / "two").hypergraph.digest == first.hypergraph.digest


def test_compare_lists_methods_and_the_whole(capsys: pytest.CaptureFixture[str]) -> None:
    rows = call_json(
        capsys, "compare", "synthetic", "--ratio", "0.01", "--methods", "random,ahgcdd-x,whole",
        "--seeds", "1", "--runs", "1", "--workers", "1", "--no-select",
    )  # fmt: skip
    assert [row["method"] for row in rows] == ["random", "ahgcdd-x", "whole"]
    assert set(rows[0]) == {"method", "model", "mean", "std", "seconds", "num_nodes"}
    assert rows[0]["num_nodes"] == rows[1]["num_nodes"] == 20


@pytest.mark.slow
def test_demo_goes_the_whole_way(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    facts = call_json(capsys, "demo", "--out", tmp_path / "kept")
    rows = {row["trained_on"]: row for row in facts["rows"]}
    assert rows["condensed"]["num_nodes"] == 18
    assert rows["random nodes"]["mean"] < rows["condensed"]["mean"] <= rows["everything"]["mean"]
    assert load_condensed(tmp_path / "kept").hypergraph.num_nodes == 18


def test_own_split_and_own_folder(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    call_json(capsys, "convert", "synthetic", tmp_path / "mine")
    ids = np.arange(2000)
    parts = {"train": ids[:900].tolist(), "validation": ids[900:1400].tolist(), "test": ids[1400:].tolist()}
    file = tmp_path / "split.json"
    file.write_text(json.dumps(parts))
    out = tmp_path / "out"
    call_json(capsys, "condense", tmp_path / "mine", "--nodes", "10", "--out", out, "--split", file, *FAST)
    status, _, err = call(capsys, "evaluate", out)
    assert status == 2 and "--split" in err
    score = call_json(capsys, "evaluate", out, "--split", file, "--runs", "1")
    assert 0 < score["mean"] <= 1
    file.write_text(json.dumps({**parts, "test": parts["train"][:5], "train": parts["train"][5:]}))
    status, _, err = call(capsys, "evaluate", out, "--split", file)
    assert status == 2 and "not the one this was condensed with" in err


# --- Wrong input: one line, exit 2, nothing half-written ---


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["info", "nowhere"], "'nowhere' is neither a registered data set nor an existing file or folder"),
        (["info", "corra"], "did you mean cora"),
        (["info", "no/where"], "no file or folder"),
        (["info"], "Missing argument"),
        (["inof"], "No such command 'inof'"),
        (["condense", "digits", "--out", "OUT"], "give a ratio, as 0.01, or a number of nodes, as 20"),
        (
            ["condense", "digits", "--out", "OUT", "--ratio", "0.1", "--nodes", "20"],
            "either ratio or nodes, and not both",
        ),
        (
            ["condense", "digits", "--out", "/", "--nodes", "20", "--force"],
            "is the current folder or holds it",
        ),
        (
            ["condense", "digits", "--out", "OUT", "--nodes", "20", "--seed", "99999999999999999999"],
            "Invalid value for '--seed'",
        ),
        (
            ["condense", "digits", "--out", "OUT", "--nodes", "20", "--split-seed", "99999999999999999999"],
            "Invalid value for '--split-seed'",
        ),
        (
            ["condense", "digits", "--out", "OUT", "--ratio", "0"],
            "ratio must be above 0 and at most 1, got 0",
        ),
        (
            ["condense", "digits", "--out", "OUT", "--ratio", "1.5"],
            "ratio must be above 0 and at most 1, got 1.5",
        ),
        (["condense", "digits", "--out", "OUT", "--ratio", "0.001"], "use at least ratio 0.0056 or 10 nodes"),
        (["condense", "digits", "--out", "OUT", "--ratio", "half"], "Invalid value for '--ratio'"),
        (["condense", "digits", "--out", "OUT", "--nodes", "9"], "fewer than the 10 classes"),
        (
            ["condense", "digits", "--out", "OUT", "--nodes", "20", "--method", "magic"],
            "the methods are auto, ",
        ),
        (
            ["condense", "digits", "--out", "OUT", "--nodes", "20", "--set", "epochs"],
            "--set takes FIELD=VALUE",
        ),
        (
            ["condense", "digits", "--out", "OUT", "--nodes", "20", "--set", "epoch=3"],
            "unknown option 'epoch'",
        ),
        (
            ["condense", "digits", "--out", "OUT", "--nodes", "20", "--budget", "soon"],
            "budget must be a number of trials, as 8, or a time, as 60s, 2m or 1h; got 'soon'",
        ),
        (
            ["condense", "digits", "--out", "OUT", "--nodes", "20", "--method", "ridge", "--budget", "8"],
            "a budget is for methods that search (auto, ahgcdd-paper, ahgcdd-x-paper); ridge does not",
        ),
        (
            ["condense", "digits", "--out", "OUT", "--nodes", "20", "--device", "abacus"],
            "cannot be used here",
        ),
        (
            ["condense", "digits", "--out", "OUT", "--nodes", "20", "--device", "meta"],
            "device 'meta' cannot be used here",
        ),
        (["evaluate", "nowhere", "--device", "abacus"], "device 'abacus' cannot be used here"),
        (
            ["compare", "digits", "--ratio", "0.01", "--device", "abacus"],
            "device 'abacus' cannot be used here",
        ),
        (["condense", "digits", "--out", "OUT", "--nodes", "20", "--memory", "lots"], "500MB or 2GB"),
        (["condense", "digits", "--out", "OUT", "--nodes", "20", "--split", "no.json"], "No such file"),
        (["evaluate", "nowhere"], "is not a condensed hypergraph"),
        (["compare", "digits", "--ratio", "0.01", "--methods", "magic"], "unknown method 'magic'"),
        (["compare", "digits", "--ratio", "0.01", "--models", "gpt"], "unknown model 'gpt'"),
    ],
)
def test_wrong_input_is_one_clear_line(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, arguments: list[str], message: str
) -> None:
    arguments = [str(tmp_path / "out") if argument == "OUT" else argument for argument in arguments]
    status, out, err = call(capsys, *arguments)
    assert status == 2, err
    assert out == ""
    assert err.startswith("error: ") and err.count("\n") == 1 and message in err
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("ids", "message"),
    [
        ([[1, 2], [3]], "validation[0] must be a whole number, got [1, 2]"),
        ([1, 2.0], "validation[1] must be a whole number, got 2.0"),
        ([1, True], "validation[1] must be a whole number, got True"),
        ([1, "2"], "validation[1] must be a whole number, got '2'"),
        ([1, None], "validation[1] must be a whole number, got None"),
        ([-1], "validation[0] must be a whole number >= 0, got -1"),
        ([10**30], "validation[0] must be "),
        ("123", "validation must be a list, got '123'"),
        ({"1": 2}, "validation must be a list, got "),
        (5, "validation must be a list, got 5"),
    ],
)
def test_an_odd_split_file_is_named_with_its_part(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, ids: Any, message: str
) -> None:
    file = tmp_path / "split.json"
    file.write_text(json.dumps({"train": [0], "validation": ids, "test": [5]}))
    words = ["condense", "digits", "--nodes", "10", "--out", tmp_path / "out", "--split", file]
    status, _, err = call(capsys, *words)
    assert status == 2 and err.startswith(f"error: {file}: {message}")


def test_debug_shows_where_an_error_comes_from(capsys: pytest.CaptureFixture[str]) -> None:
    _, _, err = call(capsys, "info", "nowhere", "--debug")
    assert "Traceback" in err and err.splitlines()[-1].startswith("error: ")


def test_a_condensed_folder_of_another_source_is_refused(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    call_json(capsys, "condense", "digits", "--nodes", "10", "--out", tmp_path / "out", *FAST)
    status, _, err = call(capsys, "evaluate", tmp_path / "out", "--source", "synthetic")
    assert status == 2 and "not the hypergraph it was condensed from" in err


def test_a_source_that_was_moved_is_asked_for(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    here, there = tmp_path / "here", tmp_path / "there"
    call_json(capsys, "convert", "digits", here)
    call_json(capsys, "condense", here, "--nodes", "10", "--out", tmp_path / "out", *FAST)
    here.rename(there)
    status, _, err = call(capsys, "evaluate", tmp_path / "out", "--runs", "1")
    assert status == 2 and "if the source was moved, give its new place with --source" in err
    assert call(capsys, "evaluate", tmp_path / "out", "--runs", "1", "--source", there)[0] == 0
    assert "was moved" not in call(capsys, "evaluate", tmp_path / "out", "--source", tmp_path / "gone")[2]


def test_an_existing_result_is_never_overwritten_by_accident(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "precious").write_text("data")
    status, _, err = call(capsys, "condense", "digits", "--nodes", "10", "--out", tmp_path / "out")
    assert status == 2 and "--force" in err
    assert (tmp_path / "out" / "precious").read_text() == "data"


def test_other_files_beside_a_checkpoint_are_left_alone(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    (tmp_path / "out.partial").mkdir()
    (tmp_path / "out.partial" / "notes.txt").write_text("mine")
    call_json(capsys, "condense", "digits", "--nodes", "10", "--out", tmp_path / "out", *FAST)
    assert [path.name for path in (tmp_path / "out.partial").iterdir()] == ["notes.txt"]


def test_two_processes_cannot_condense_into_one_folder(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    with exclusive(tmp_path / "out.partial" / "lock"):
        status, _, err = call(capsys, "condense", "digits", "--nodes", "10", "--out", tmp_path / "out")
    assert status == 2 and "another process is condensing into" in err


# --- Streams that cannot take everything ---


def shell(command: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run ``command`` with bash, in which ``$H`` is the program; the status is that of its first part."""
    program = f"{sys.executable} -m hypercondense"
    environment = {**os.environ, "PYTHONPATH": str(SOURCE), "H": program, **variables}
    line = f"{command}; exit ${{PIPESTATUS[0]}}"
    return subprocess.run(
        ["bash", "-c", line], check=False, env=environment, capture_output=True, text=True, timeout=PATIENCE
    )


def test_what_an_ascii_terminal_cannot_show_is_replaced(tmp_path: Path) -> None:
    code = "from hypercondense.cli import run, output; run(['--version']); output.{}"
    for line, shown in (
        ("print_table([{'score': '90 ± 1'}])", "90 ? 1"),
        ("print_json('ö')", '"\\u00f6"'),
    ):
        done = shell(f'{sys.executable} -c "$CODE"', CODE=code.format(line), PYTHONIOENCODING="ascii")
        assert done.returncode == 0 and done.stderr == "" and shown in done.stdout


@pytest.mark.parametrize("command", ["$H datasets --quiet >&-", "$H datasets >&- 2>&-"])
def test_closed_streams_are_no_bug(command: str) -> None:
    done = shell(command)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.parametrize("words", ["datasets --json", "info synthetic --quiet", "--help"])
def test_a_reader_who_has_gone_ends_the_command_quietly(words: str) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    command = [sys.executable, "-m", "hypercondense", *words.split()]
    environment = {**os.environ, "PYTHONPATH": str(SOURCE)}
    with os.fdopen(writer, "w") as gone:
        done = subprocess.run(
            command, check=False, env=environment, stdout=gone, stderr=subprocess.PIPE, text=True
        )
    assert (done.returncode, done.stderr) == (141, "")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_full_disk_is_one_line() -> None:
    done = shell("$H datasets --quiet > /dev/full")
    assert done.returncode == 2
    assert done.stderr == "error: No space left on device\n"


# --- Interrupting ---


LONG = ["condense", "digits", "--nodes", "20", "--method", "ahgcdd", "--set", "epochs=8"]
LONG += ["--no-cache", "--checkpoint-every", "0"]


@pytest.fixture(scope="module")
def uninterrupted(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The digest of what ``LONG`` makes when nobody disturbs it."""
    out = tmp_path_factory.mktemp("uninterrupted") / "whole"
    assert run([*LONG, "--out", str(out), "--quiet"]) == 0
    return load_condensed(out).hypergraph.digest


@pytest.mark.slow
@pytest.mark.parametrize(("how", "status"), [(signal.SIGINT, 130), (signal.SIGKILL, -9)])
def test_an_interrupted_condensation_resumes_to_the_same_bits(
    uninterrupted: str, tmp_path: Path, how: signal.Signals, status: int
) -> None:
    blow = Blow(how, "hypercondense.condensing.checkpoint:Checkpoint.save", calls=4)
    running = command([*LONG, "--out", tmp_path / "cut"], folder=tmp_path, blow=blow)
    ended, _, err = told(running, tmp_path)
    assert ended == status, err
    assert not (tmp_path / "cut").exists()
    if how == signal.SIGINT:
        assert err.splitlines()[-1].startswith("error: interrupted") and "Traceback" not in err
        assert "--resume" in err
    assert run([*LONG, "--out", str(tmp_path / "cut"), "--resume", "--quiet"]) == 0
    assert load_condensed(tmp_path / "cut").hypergraph.digest == uninterrupted
    assert not (tmp_path / "cut.partial").exists()


@pytest.mark.slow
@pytest.mark.parametrize(
    "moment", ["multiprocessing.process:BaseProcess.start", "hypercondense.evaluation.parallel:Count.ended"]
)  # while workers start, and while they train
def test_an_interrupt_with_workers_is_one_line(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, moment: str
) -> None:
    call_json(capsys, "condense", "digits", "--nodes", "10", "--out", tmp_path / "out", "--method", "random")
    options = ["evaluate", tmp_path / "out", "--runs", "200", "--workers", "2", "--quiet"]
    blow = Blow(signal.SIGINT, moment, to_group=True)  # as a terminal does: everybody gets it
    running = command(options, folder=tmp_path, blow=blow)
    assert told(running, tmp_path) == (130, "", "error: interrupted\n")
    assert left_of(running.pid) == []
