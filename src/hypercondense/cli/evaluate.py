"""``hypercondense evaluate``: train networks on a condensed hypergraph and score them on real nodes."""

from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from hypercondense.cli import options, output

_NODES_WORTH_A_PROCESS = 5_000  # of the source: below, processes take longer to start than to train

Workers = Annotated[int, typer.Option(help="Processes that share the trainings; 0 chooses.", min=0)]


def evaluate(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="What `condense` wrote.")],
    model: options.Model = "hgnn",
    task: Annotated[
        Literal["classify", "cluster", "retrieve"], typer.Option(help="What to judge.")
    ] = "classify",
    over: Annotated[
        Literal["test", "all"], typer.Option(help="Which nodes to cluster and retrieve: test nodes, or all.")
    ] = "test",
    runs: Annotated[int, typer.Option(help="Trainings per model.", min=1)] = 5,
    whole: Annotated[
        bool, typer.Option("--whole", help="Also train on the whole source, for comparison.")
    ] = False,
    source: Annotated[
        str | None, typer.Option(help="The source, where the folder does not tell where it is.")
    ] = None,
    split: options.SplitFile = None,
    seed: options.Seed = 0,
    workers: Workers = 0,
    device: options.Device = "cpu",
    data_dir: options.DataDir = None,
    json: options.Json = False,
    quiet: options.Quiet = False,
    debug: options.Debug = False,
) -> None:
    """Train networks on a condensed hypergraph and score them on the test nodes of its source."""
    from hypercondense.condensation import load_condensed
    from hypercondense.evaluation import across_models
    from hypercondense.evaluation import evaluate as judge

    options.check_device(device)
    result = load_condensed(folder)
    models = model_names(model)
    hypergraph, parts = source_of(result, source, split, data_dir)
    scores = []
    with output.progress(quiet=quiet) as progress:
        for name in models:
            scores.append(
                judge(
                    result.hypergraph,
                    hypergraph,
                    parts,
                    model=name,
                    task=task,
                    over=over,
                    runs=runs,
                    seed=seed,
                    whole=whole,
                    device=device,
                    workers=worker_count(workers, hypergraph),
                    progress=progress,
                )
            )
    for score in scores:
        for line in (*score.notes, *_missing(score)):
            output.warn(f"{score.model}: {line}")
    if json:
        rows = [score.to_dict() for score in scores]
        output.print_json(rows if len(rows) > 1 or model == "all" else rows[0])
        return
    rows = [_row(score) for score in scores]
    title = f"{task} on {hypergraph.name}, {result.hypergraph.num_nodes:,} condensed nodes, {runs} runs"
    output.print_table(rows, title=title, right=[key for key in rows[0] if key != "model"])
    if len(scores) > 1:
        spread = across_models(scores)
        output.note(f"average over models {spread.mean:.2%}, spread {spread.std:.2%}", quiet=quiet)
    for line in hypergraph.notes:
        output.note(f"note: {line}", quiet=quiet)


def model_names(model: str) -> list[str]:
    """The models of ``a,b`` or ``all``, which leaves out the structure-blind reference."""
    from hypercondense.nn import MODELS, model_class

    if model == "all":
        return [name for name in MODELS if name != "mlp"]
    names = [name.strip() for name in model.split(",")]
    for name in names:
        model_class(name)  # a wrong name is an error that says which exist
    return names


def worker_count(asked: int, source: Any) -> int:
    """Processes to use; where nobody asked, one if a training takes no longer than to start a process.

    Trainings have one thread each, so one process per core is the most that helps.
    """
    import os

    if source.num_nodes < _NODES_WORTH_A_PROCESS:
        return asked or 1
    return asked or max(1, min(4, os.cpu_count() or 1))


def source_of(
    result: Any, given: str | None, split_file: Path | None, data_dir: Path | None
) -> tuple[Any, Any]:
    """Load the source a result was made from, and its split; both must be the same as then."""
    from hypercondense.errors import ConfigError, DatasetNotFoundError

    provenance = result.provenance
    try:
        hypergraph = options.load_source(
            given or provenance.source_location or provenance.source_name, data_dir
        )
    except DatasetNotFoundError as error:
        hint = "" if given else "; if the source was moved, give its new place with --source"
        raise DatasetNotFoundError(f"{error}{hint}") from error
    if provenance.split_seed is None and split_file is None:
        raise ConfigError("this was condensed with a split of your own; give the same file with --split")
    parts = options.read_split(hypergraph, split_file, provenance.split_seed or 0)
    provenance.check(source_digest=hypergraph.digest, split_digest=parts.digest)
    return hypergraph, parts


def _missing(score: Any) -> list[str]:
    if not score.missing_classes:
        return []
    return [f"no condensed node of class {', '.join(map(str, score.missing_classes))}"]


def _row(score: Any) -> dict[str, str]:
    row = {"model": score.model, score.metric: f"{score.mean:.2%} ± {score.std:.2%}"}
    if score.macro_f1 is not None:
        row["macro F1"] = f"{score.macro_f1:.2%}"
    if score.whole is not None:
        row["whole"] = f"{score.whole.mean:.2%} ± {score.whole.std:.2%}"
        row["retention"] = "-" if score.retention is None else f"{score.retention:.1%}"
    return row | {"seconds": f"{score.seconds:.1f}"}
