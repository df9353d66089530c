"""Pages about several results: methods side by side, and configurations in their order."""

from collections.abc import Sequence

from hypercondense.comparing import WHOLE, Compared
from hypercondense.evaluation.tuning import RankedConfiguration, Ranking
from hypercondense.hypergraph import Hypergraph
from hypercondense.report import charts
from hypercondense.report.blocks import Column, Facts, Headline, Notes, Page, Section, Table
from hypercondense.report.words import cut, percent, points, seconds

_SURE = 1.96  # standard errors on either side of 95 %


def compare_page(source: Hypergraph, rows: Sequence[Compared], *, metric: str) -> Page:
    """Methods and networks side by side."""
    models = list(dict.fromkeys(row.model for row in rows))
    best = max((row for row in rows if row.method != WHOLE), key=lambda row: row.mean, default=rows[0])
    whole = {row.model: row.mean for row in rows if row.method == WHOLE}
    methods = len({row.method for row in rows})
    headline = Headline(
        percent(best.mean),
        f"{metric} on real test nodes is the best of these: {cut(best.method)} with {best.model.upper()}, "
        f"{best.num_nodes:,} nodes"
        + (
            f", which is {percent(best.mean / whole[best.model])} of everything."
            if whole.get(best.model)
            else "."
        ),
    )
    warnings = [f"{row.method}, {line}" for row in rows if row.model == models[0] for line in row.warnings]
    sections = [_of_network(model, rows, metric) for model in models]
    sections.append(_costs(rows, models[0]))
    if warnings:
        told = Notes([cut(line, 500) for line in warnings], "warnings")
        sections.append(Section("warnings", "Warnings", "", [told]))
    return Page(
        f"{cut(source.name)}: {methods} methods",
        f"{source.num_nodes:,} nodes, {source.num_hyperedges:,} hyperedges, {source.num_classes} classes",
        headline,
        sections,
        [cut(note, 500) for note in source.notes],
    )


def _of_network(model: str, rows: Sequence[Compared], metric: str) -> Section:
    own = sorted((row for row in rows if row.model == model), key=lambda row: -row.mean)
    whole = next((row.mean for row in own if row.method == WHOLE), None)
    errors = [_SURE * row.std / max(1, row.trainings) ** 0.5 for row in own]
    low = min(row.mean - error for row, error in zip(own, errors, strict=True)) - 0.01
    high = max(row.mean + error for row, error in zip(own, errors, strict=True)) + 0.01
    shown = [
        [
            cut(row.method),
            f"{row.num_nodes:,}",
            f"{100 * row.mean:.2f} ± {100 * row.std:.2f} %" if row.trainings > 1 else percent(row.mean, 2),
            charts.interval(
                row.mean - error,
                row.mean,
                row.mean + error,
                of=(low, high),
                kind="whole" if row.method == WHOLE else "own",
            ),
            percent(row.mean / whole if whole else None),
            points(row.mean - own[0].mean),
        ]
        for row, error in zip(own, errors, strict=True)
    ]
    columns = [Column("method"), Column("nodes", "number"), Column(metric, "number")]
    columns += [Column(f"{percent(low)} to {percent(high)}", "wide"), Column("retention", "number")]
    columns += [Column("to the best", "number")]
    caption = (
        f"{model.upper()}, {own[0].trainings} trainings of a method; bands are 95 % intervals of the mean, "
        "as if trainings were independent"
    )
    return Section(f"network-{model}", model.upper(), "", [Table(caption, columns, shown)])


def _costs(rows: Sequence[Compared], model: str) -> Section:
    own = [row for row in rows if row.model == model and row.method != WHOLE]
    longest = max((row.seconds for row in own), default=0.0) or 1.0
    shown = [[cut(row.method), seconds(row.seconds), charts.bar(row.seconds / longest, "own")] for row in own]
    columns = [Column("method"), Column("condensing", "number"), Column("", "wide")]
    return Section("cost", "What it cost", "", [Table("Mean seconds of one condensation", columns, shown)])


def tune_page(source: Hypergraph, ranking: Ranking, *, nodes: int) -> Page:
    """Configurations, best first."""
    best = ranking.trials[0]
    headline = Headline(
        percent(best.validation),
        f"on validation nodes has the best of {len(ranking.trials)} configurations, trained on {nodes:,} "
        f"condensed nodes in {seconds(ranking.seconds)}: {_words(best)}.",
    )
    facts = {"time": seconds(ranking.seconds)}
    if ranking.whole_seconds is not None:
        facts["time on everything"] = seconds(ranking.whole_seconds)
        facts["Kendall's tau"] = "not defined" if ranking.tau is None else f"{ranking.tau:.2f}"
        facts["regret"] = f"{points(ranking.regret)} percentage points of test accuracy"
    columns = [Column("configuration"), Column("validation", "number"), Column("", "wide")]
    columns += [Column("everything: validation", "number"), Column("everything: test", "number")]
    values = [one.validation for one in ranking.trials]
    low, span = min(values) - 0.02, (max(values) - min(values) + 0.02) or 1.0
    rows = [
        [
            _words(one),
            percent(one.validation, 2),
            charts.bar((one.validation - low) / span, "own"),
            percent(one.whole_validation, 2),
            percent(one.whole_test, 2),
        ]
        for one in ranking.trials
    ]
    table = Table(f"Best first; bars begin at {percent(low)}", columns, rows)
    return Page(
        f"{cut(source.name)}: {len(ranking.trials)} configurations",
        f"Trained on {nodes:,} condensed nodes in place of {source.num_nodes:,}",
        headline,
        [
            Section("ranking", "Configurations", "", [table]),
            Section("time", "Time and agreement", "", [Facts(facts)]),
        ],
    )


def _words(trial: RankedConfiguration) -> str:
    told = {**trial.configuration.options, "step": f"{trial.configuration.learning_rate:g}"}
    return f"{trial.configuration.model.upper()} " + " ".join(
        f"{name}={value}" for name, value in told.items()
    )
