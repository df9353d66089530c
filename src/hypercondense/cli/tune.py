"""``hypercondense tune``: choose a configuration on the condensed hypergraph."""

from pathlib import Path
from typing import Annotated, Any

import typer

from hypercondense.cli import options, output
from hypercondense.cli.evaluate import Workers, model_names, source_of
from hypercondense.cli.report import Html, Open, check_page, finish


def tune(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="What `condense` wrote.")],
    models: options.Models = "hgnn,mlp",
    runs: Annotated[int, typer.Option(help="Trainings per configuration.", min=1, max=options.MOST)] = 2,
    whole: Annotated[
        bool, typer.Option("--whole", help="Also rank on the whole source: is the order the same?")
    ] = False,
    source: Annotated[
        str | None, typer.Option(help="The source, where the folder does not tell where it is.")
    ] = None,
    split: options.SplitFile = None,
    seed: options.Seed = 0,
    workers: Workers = 0,
    engine: options.Engine = "local",
    address: options.Address = None,
    cache: options.Scores = True,
    memory: options.SourceMemory = None,
    data_dir: options.DataDir = None,
    html: Html = None,
    open_page: Open = False,
    json: options.Json = False,
    quiet: options.Quiet = False,
    debug: options.Debug = False,
) -> None:
    """Rank configurations of networks by training them on a condensed hypergraph."""
    from hypercondense.condensation import load_condensed
    from hypercondense.evaluation.tuning import configurations, rank
    from hypercondense.files.storage import user_cache

    check_page(html, open_page=open_page)
    result = load_condensed(folder)
    recipes = configurations(model_names(models))
    hypergraph, parts = source_of(result, source, split, data_dir, memory)
    with (
        options.opened_engine(engine, address, workers) as machines,
        output.progress(quiet=quiet) as progress,
    ):
        ranking = rank(
            recipes,
            result,
            hypergraph,
            parts,
            runs=runs,
            whole=whole,
            seed=seed,
            workers=workers,
            engine=machines,
            progress=progress,
            cache_dir=user_cache("whole") if cache else None,
            memory=memory,
        )
    if html is not None:
        from hypercondense.report.render import write_page
        from hypercondense.report.several import tune_page

        write_page(tune_page(hypergraph, ranking, nodes=result.hypergraph.num_nodes), html)
        finish(html, quiet=quiet, open_page=open_page)
    rows = [_row(trial) for trial in ranking.trials]
    if json:
        facts = {"seconds": ranking.seconds, "whole_seconds": ranking.whole_seconds}
        output.print_json({"trials": rows, **facts, "tau": ranking.tau, "regret": ranking.regret})
        return
    title = f"{len(rows)} configurations on {result.hypergraph.num_nodes} condensed nodes, best first"
    shown = [_shown(trial) for trial in ranking.trials]
    if not any(row["form"] for row in shown):  # of networks that have one form only
        shown = [{name: text for name, text in row.items() if name != "form"} for row in shown]
    output.print_table(shown, title=title, right=[key for key in shown[0] if key not in ("model", "form")])
    if ranking.whole_seconds is not None:
        tau = "not defined" if ranking.tau is None else f"{ranking.tau:.2f}"
        output.answer(f"Kendall's tau {tau}, regret {ranking.regret:.2%} of test accuracy")
        output.answer(
            f"{ranking.seconds:.0f} s instead of {ranking.whole_seconds:.0f} s, "
            f"{ranking.whole_seconds / ranking.seconds:.1f} times faster"
        )


def _shown(trial: Any) -> dict[str, str]:
    """A row for people; what tells the forms of a network apart is one text."""
    options = dict(trial.configuration.options)
    plain = {name: str(options.pop(name)) for name in ("hidden", "dropout") if name in options}
    scores = {
        "validation": trial.validation,
        "whole: val.": trial.whole_validation,
        "test": trial.whole_test,
    }
    return {
        "model": trial.configuration.model,
        "form": " ".join(f"{name}={value}" for name, value in options.items()),
        **plain,
        "step": f"{trial.configuration.learning_rate:g}",
        **{name: f"{value:.2%}" for name, value in scores.items() if value is not None},
    }


def _row(trial: Any) -> dict[str, Any]:
    return {
        "model": trial.configuration.model,
        **trial.configuration.options,
        "step": trial.configuration.learning_rate,
        "validation": trial.validation,
        "whole_validation": trial.whole_validation,
        "whole_test": trial.whole_test,
    }
