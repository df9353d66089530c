"""Tables: means beside published figures, and what must not be averaged."""

import csv
import io
import json
import statistics
from pathlib import Path

import pytest
from msgspec.structs import replace
from scipy import stats

from hypercondense.cli import run
from hypercondense.errors import ConfigError
from hypercondense.experiments.cells import make_cells, welch
from hypercondense.experiments.costs import core_hours, costs
from hypercondense.experiments.grid import Grid, Report, Text, make_report
from hypercondense.experiments.line import Line
from hypercondense.experiments.plan import Plan
from hypercondense.experiments.published import PublishedFigure
from hypercondense.experiments.render import FORMATS, as_csv, as_latex, as_markdown, as_text
from hypercondense.experiments.summary import summarize
from hypercondense.typed import content_of
from makers.experiment_cases import QUICK, content, line, lines_of, plan_of

PUBLISHED = """
[published]
runs = 25
rows = [{ dataset = "digits", values = { random = "70.00 ± 2.00", ahgcdd = "95.00 ± 1.00", whole = "99.0" } }]
"""
SCORES = {"random": [0.70, 0.72], "ahgcdd": [0.90, 0.92], "whole": [0.99]}


@pytest.fixture
def plan(tmp_path: Path) -> Plan:
    return plan_of(tmp_path, QUICK + PUBLISHED)


def call(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    status = run([str(argument) for argument in arguments])
    captured = capsys.readouterr()
    return status, captured.out, captured.err


def body(grid: Grid) -> list[list[str]]:
    return [[text.text for text in row] for row in grid.rows]


def test_cells_hold_mean_deviation_difference_and_the_best(plan: Plan) -> None:
    random, ahgcdd, whole = make_cells(plan, lines_of(plan, SCORES), ["score"])
    values = [70.0, 72.0, 70.0, 72.0]  # two condensations of two trainings
    assert random.values == pytest.approx(values)
    assert random.spread is not None
    assert random.spread.mean == pytest.approx(71.0)
    assert random.spread.std == pytest.approx(statistics.stdev(values))
    assert random.difference == pytest.approx(1.0)
    assert (random.best, ahgcdd.best, whole.best) == (False, True, False)  # the reference does not compete
    assert [cell.expected for cell in (random, ahgcdd, whole)] == [4, 4, 1]


def test_welch_is_what_scipy_says_of_the_samples() -> None:
    ours = [70.1, 71.4, 69.8, 72.0, 70.7]
    theirs = [68.0, 69.5, 70.2, 67.7, 69.0, 68.4]
    published = PublishedFigure("", statistics.fmean(theirs), statistics.stdev(theirs))
    wanted = stats.ttest_ind(ours, theirs, equal_var=False).pvalue
    assert welch(ours, published, len(theirs)) == pytest.approx(wanted)


@pytest.mark.parametrize(
    ("values", "published", "runs"),
    [
        ([1.0], PublishedFigure("", 1.0, 1.0), 25),
        ([1.0, 2.0], PublishedFigure("", 1.0, None), 25),
        ([1.0, 2.0], PublishedFigure("OOM"), 25),
        ([1.0, 2.0], PublishedFigure("", 1.0, 1.0), 0),
        ([1.0, 1.0], PublishedFigure("", 2.0, 0.0), 25),
    ],
)
def test_welch_says_nothing_where_there_is_nothing_to_say(
    values: list[float], published: PublishedFigure, runs: int
) -> None:
    assert welch(values, published, runs) is None


def test_the_table_shows_ours_theirs_and_the_difference(plan: Plan) -> None:
    report = make_report(plan, lines_of(plan, SCORES))
    (grid,) = report.grids
    assert grid.title == "digits"
    assert grid.header == ("method", "1 %", "paper", "difference")
    assert body(grid) == [
        ["random", "71.00 ± 1.15", "70.00 ± 2.00", "+1.00"],
        ["ahgcdd", "91.00 ± 1.15", "95.00 ± 1.00", "-4.00*"],
        ["whole", "99.00", "99.0", "+0.00"],
    ]
    assert [row[1].bold for row in grid.rows] == [False, True, False]
    assert any("Welch" in note for note in report.notes)


def test_missing_runs_are_named_in_one_line_and_no_row_is_made_of_dashes(plan: Plan) -> None:
    lines = [
        one for one in lines_of(plan, SCORES) if one.settings.seed == 0 and one.settings.method != "whole"
    ]
    report = make_report(plan, lines)
    assert body(report.grids[0])[0][1] == "71.00 ± 1.41 [2 of 4]"
    assert [row[0] for row in body(report.grids[0])] == ["random", "ahgcdd"]
    assert "Not run yet: of whole. Rows and columns without a run are left out." in report.notes


def test_before_the_first_run_a_table_shows_what_was_published(plan: Plan, tmp_path: Path) -> None:
    report = make_report(plan, [])
    assert body(report.grids[0])[2][1:] == ["—", "99.0", ""]
    assert "No runs yet." in report.notes
    alone = make_report(plan_of(tmp_path, QUICK), [])
    assert alone.grids == () and "No runs yet." in alone.notes


def test_whatever_a_large_plan_lacks_is_told_in_short(tmp_path: Path) -> None:
    text = (
        'models = ["hgnn", "hcha", "mlp"]\n'
        + QUICK
        + "[datasets.zoo]\nratios = [0.1]\n[datasets.cora]\nratios = [0.01]\n"
        + '[layout]\nsections = ["model"]\nrows = ["dataset"]\ncolumns = ["variant"]\n'
    )
    plan = plan_of(tmp_path, text)
    lines = [
        one
        for one in lines_of(plan, {"random": [0.5, 0.5], "whole": [0.9]})
        if (one.settings.model, one.settings.source) in {("hgnn", "digits"), ("hgnn", "zoo"), ("hcha", "zoo")}
    ]
    report = make_report(
        plan, [one for one in lines if one.settings.method == "random" or one.settings.source == "zoo"]
    )
    assert [grid.title for grid in report.grids] == ["HGNN", "HCHA"]
    assert body(report.grids[0]) == [["digits", "50.00 ± 0.00", "—"], ["zoo", "50.00 ± 0.00", "90.00"]]
    assert body(report.grids[1]) == [["zoo", "50.00 ± 0.00", "90.00"]]
    told = [note for note in report.notes if "run" in note]
    assert told[0] == (
        "Not run yet: on cora; of ahgcdd; with MLP. Rows and columns without a run are left out; "
        "a dash is a planned run."
    )
    assert all(len(row) <= 100 for row in as_markdown(report).splitlines())


def test_published_figures_of_runs_that_are_not_planned_are_shown_too(tmp_path: Path) -> None:
    text = QUICK.replace("[0.01]", "[0.01, 0.02]").replace(
        "[variants.random]", "[variants.random]\nonly = { digits = [0.02] }"
    )
    grid = make_report(plan_of(tmp_path, text + PUBLISHED), []).grids[0]
    assert body(grid)[0] == ["random", "", "70.00 ± 2.00", "", "—", "70.00 ± 2.00", ""]


def test_failed_runs_are_never_averaged(plan: Plan) -> None:
    lines = lines_of(plan, {"random": [0.7]})
    failed = [line(one.settings, [], error="x", number=99) for one in lines_of(plan, {"ahgcdd": [0.5]})]
    cells = make_cells(plan, [*lines, *failed], ["score"])
    assert [len(cell.values) for cell in cells] == [2, 0, 0]


def renamed(one: Line, **more: object) -> Line:
    return line(one.settings, one.result.values, one.number, **more)  # type: ignore[arg-type]


def test_two_versions_in_one_cell_are_refused_and_in_two_cells_not(plan: Plan) -> None:
    lines = lines_of(plan, SCORES)
    mixed = [renamed(lines[0], versions={"hypercondense": "2.0"}), *lines[1:]]
    with pytest.raises(ConfigError, match="two versions of hypercondense would be averaged") as caught:
        make_report(plan, mixed)
    assert "2.0 in made-up.jsonl:1; 1.0 in made-up.jsonl:2" in str(caught.value)
    assert "remove the lines of one of them" in str(caught.value)
    with pytest.raises(ConfigError, match="two versions"):
        summarize(mixed)
    both = [renamed(one, versions={"hypercondense": "2.0"}) for one in lines[:2]] + lines[2:]
    assert any("hypercondense 1.0, 2.0" in note for note in make_report(plan, both).notes)


def test_two_sources_or_splits_are_refused(plan: Plan) -> None:
    lines = lines_of(plan, SCORES)
    with pytest.raises(ConfigError, match="two sources would be averaged"):
        make_report(plan, [renamed(lines[0], source_digest="another"), *lines[1:]])
    # A whole row of another source is no better: it stands beside the others.
    other = [renamed(one, source_digest="another") for one in lines[:2]] + lines[2:]
    with pytest.raises(ConfigError, match="two sources"):
        make_report(plan, other)
    with pytest.raises(ConfigError, match="two splits"):
        make_report(plan, [renamed(lines[0], split_digest="another"), *lines[1:]])


def test_a_run_that_is_there_twice_counts_once(plan: Plan) -> None:
    lines = lines_of(plan, SCORES)
    assert (
        make_cells(plan, [*lines, *lines], ["score"])[0].values
        == make_cells(plan, lines, ["score"])[0].values
    )


def test_other_quantities_are_shown_with_the_smallest_bold(tmp_path: Path) -> None:
    text = QUICK + '[layout]\nsections = ["quantity"]\nquantities = ["seconds", "memory", "training"]\n'
    plan = plan_of(tmp_path, text)
    lines = lines_of(plan, {"random": [0.5, 0.5], "whole": [0.5]})
    lines += lines_of(plan, {"ahgcdd": [0.5, 0.5]}, condense_seconds=1.0, peak_memory_mb=300.0)
    seconds, memory, training = make_report(plan, lines).grids
    assert [row[1] for row in body(seconds)] == ["2.00 ± 0.00", "1.00 ± 0.00"]
    assert [row[1] for row in body(memory)] == ["100.00 ± 0.00", "300.00 ± 0.00"]
    assert [row[1] for row in body(training)] == ["2.00 ± 0.00", "2.00 ± 0.00", "4.00"]
    assert [row[1].bold for row in seconds.rows] == [False, True]
    assert [row[1].bold for row in memory.rows] == [True, False]


def test_many_columns_put_the_paper_below_and_averages_at_the_end(tmp_path: Path) -> None:
    text = (
        'models = ["hgnn", "hcha", "allset", "mlp"]\n'
        + QUICK.replace("seeds = 2", "seeds = 1").replace("runs = 2", "runs = 1")
        + '[layout]\nsections = []\nrows = ["variant"]\ncolumns = ["model"]\naverage = true\n'
        + '[published]\nalong = "model"\nrows = [{ variant = "random", values = { hgnn = "60", hcha = "50", '
        + 'allset = "40", mlp = "30" } }]\n'
    )
    plan = plan_of(tmp_path, text)
    report = make_report(plan, lines_of(plan, {"random": [0.5]}))
    (grid,) = report.grids
    assert grid.header == ("method", "", "HGNN", "HCHA", "AllSet", "MLP", "average", "spread")
    assert body(grid)[:3] == [
        ["random", "ours", "50.00", "50.00", "50.00", "50.00", "50.00", "0.00"],
        ["", "paper", "60", "50", "40", "30", "45.00", "11.18"],
        ["", "difference", "-10.00", "+0.00", "+10.00", "+20.00", "", ""],
    ]
    assert len(grid.rows) == 3, "what was not run has no row"


def test_an_axis_that_is_named_nowhere_is_an_error(tmp_path: Path) -> None:
    plan = plan_of(tmp_path, 'models = ["hgnn", "mlp"]\n' + QUICK + '[layout]\nrows = ["variant"]\n')
    with pytest.raises(ConfigError, match="several models fall into one cell; name model"):
        make_report(plan, [])


def test_every_table_that_shows_walmart_says_where_its_features_come_from(tmp_path: Path) -> None:
    plan = plan_of(tmp_path, QUICK.replace("digits", "walmart"))
    for lines in ([], lines_of(plan, SCORES)):
        report = make_report(plan, lines)
        for name, render in FORMATS.items():
            if name != "csv":
                assert "features are made from the labels" in render(report)


def test_a_readme_layout_shows_a_part(tmp_path: Path) -> None:
    readme = (
        '[readme]\nsections = []\nrows = ["dataset", "ratio"]\ncolumns = ["variant"]\n'
        'datasets = { digits = [0.01] }\nvariants = ["ahgcdd", "whole"]\npaper = ["ahgcdd"]\n'
    )
    plan = plan_of(tmp_path, QUICK + readme + PUBLISHED)
    (grid,) = make_report(plan, lines_of(plan, SCORES), "readme").grids
    assert grid.header == ("data", "ratio", "ahgcdd", "paper", "difference", "whole")
    assert body(grid) == [["digits", "1 %", "91.00 ± 1.15", "95.00 ± 1.00", "-4.00*", "99.00"]]


# --- formats ---

REPORT = Report(
    "A & B",
    (
        Grid(
            "50 %_x",
            1,
            ("m|n", "score"),
            ((Text("a_b"), Text("1.0 ± 0.1*", bold=True)), (Text("c"), Text("—"))),
        ),
    ),
    ("p < 0.05; best of ours is bold",),
)


def test_text_is_aligned_and_marks_the_best() -> None:
    assert as_text(REPORT).splitlines() == [
        "A & B",
        "",
        "50 %_x",
        "m|n         score",
        "---  ------------",
        "a_b  > 1.0 ± 0.1*",
        "c               —",
        "",
        "p < 0.05; best of ours has a > before it",
    ]


def test_markdown_is_escaped() -> None:
    assert as_markdown(REPORT).splitlines() == [
        "## A & B",
        "",
        "### 50 %\\_x",
        "",
        "| m\\|n | score |",
        "| --- | --: |",
        "| a\\_b | **1.0 ± 0.1\\*** |",
        "| c | — |",
        "",
        "- p &lt; 0.05; best of ours is bold",
    ]


def test_latex_is_escaped() -> None:
    latex = as_latex(REPORT)
    assert "\\caption{A \\& B. 50 \\%\\_x.}" in latex
    assert "a\\_b & \\textbf{1.0 $\\pm$ 0.1*} \\\\" in latex
    assert "c & --- \\\\" in latex
    assert latex.count("\\begin{") == latex.count("\\end{") == 2


def test_csv_has_one_row_per_cell_with_all_digits(plan: Plan) -> None:
    rows = list(csv.DictReader(io.StringIO(as_csv(make_report(plan, lines_of(plan, SCORES))))))
    assert [row["variant"] for row in rows] == ["random", "ahgcdd", "whole"]
    assert float(rows[0]["mean"]) == pytest.approx(71.0)
    assert (rows[0]["published_mean"], rows[0]["count"], rows[0]["best"]) == ("70.0", "4", "0")
    assert rows[2]["p_value"] == ""


# --- the command ---


@pytest.fixture
def results(tmp_path: Path, plan: Plan) -> Path:
    path = tmp_path / "results.jsonl"
    texts = [json.dumps(content_of(one.content)) for one in lines_of(plan, SCORES)]
    path.write_text("\n".join(texts) + "\n")
    return path


def test_the_command_writes_every_format(
    tmp_path: Path, results: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in FORMATS:
        status, out, _ = call(capsys, "table", results, "--plan", tmp_path / "plan.toml", "--format", name)
        assert status == 0 and "71.0" in out
    status, out, _ = call(capsys, "table", results, "--plan", tmp_path / "plan.toml", "--json")
    assert json.loads(out)[1]["best"] is True
    file = tmp_path / "table.md"
    status, out, _ = call(capsys, "table", results, "--format", "markdown", "--out", file)
    assert status == 0 and out == "" and "| digits | 1 % | random |" in file.read_text("utf-8")


def test_without_a_plan_runs_are_grouped_by_their_settings(
    results: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    status, out, _ = call(capsys, "table", results)
    assert status == 0
    assert out.splitlines()[4].split() == [
        "digits",
        "1",
        "%",
        "random",
        "HGNN",
        "accuracy",
        "71.00",
        "±",
        "1.15",
        "4",
        "2.00",
    ]


def test_other_defaults_of_a_network_tell_rows_apart(plan: Plan) -> None:
    lines = lines_of(plan, SCORES)
    later = [
        line(replace(one.settings, defaults_version=2), one.result.values)
        for one in lines
        if one.settings.method == "random"
    ]
    rows = body(summarize([*lines, *later]).grids[0])
    assert [row[4] for row in rows if row[2] == "random"] == ["HGNN", "HGNN (defaults 2)"]


def test_options_that_differ_tell_rows_apart(tmp_path: Path) -> None:
    text = (
        QUICK
        + '[variants.longer]\nmethod = "ahgcdd"\n'
        + "options = { epochs = 3, structure.warm.steps = 2, hidden = 8 }\n"
    )
    plan = plan_of(tmp_path, text)
    rows = body(summarize(lines_of(plan, {**SCORES, "longer": [0.5, 0.5]})).grids[0])
    assert [row[3] for row in rows] == ["", "goal.epochs=2", "", "goal.epochs=3"]


def test_an_empty_file_and_a_wrong_layout_are_errors(
    tmp_path: Path, results: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    empty = tmp_path / "empty.jsonl"
    empty.touch()
    status, _, err = call(capsys, "table", empty)
    assert status == 2 and "has no results yet; make some with `hypercondense run" in err
    status, _, err = call(capsys, "table", tmp_path / "none.jsonl")
    assert status == 2 and "No such file" in err
    status, _, err = call(capsys, "table", results, "--plan", tmp_path / "plan.toml", "--layout", "readme")
    assert status == 2 and "has no layout 'readme'" in err
    status, _, err = call(capsys, "table", results, "--json")
    assert status == 2 and "need the plan" in err


def test_a_cut_off_line_and_failures_are_told_and_left_out(
    results: Path, capsys: pytest.CaptureFixture[str], plan: Plan
) -> None:
    run_settings = lines_of(plan, SCORES)[0].settings
    failed = {key: value for key, value in content(run_settings).items() if key != "values"}
    results.write_text(results.read_text() + json.dumps({**failed, "error": "x"}) + '\n{"key": "ab')
    before = results.read_bytes()
    status, _, err = call(capsys, "table", results)
    assert status == 0
    assert "ends in the middle of line 7" in err and "1 lines tell of runs that failed" in err
    assert results.read_bytes() == before  # looking changes nothing


def test_costs_count_a_condensation_once(plan: Plan) -> None:
    lines = lines_of(plan, SCORES)
    again = line(replace(lines[0].settings, model="mlp"), [0.5, 0.5])
    condensing, training = core_hours([*lines, again])
    assert condensing * 3600 == pytest.approx(5 * 2.0)
    assert training * 3600 == pytest.approx(6 * 4.0)
    rows = body(costs([*lines, again]).grids[0])
    assert rows[0][:4] == ["digits", "random", "2", "6"] and rows[-1][:4] == ["all", "", "5", "11"]
