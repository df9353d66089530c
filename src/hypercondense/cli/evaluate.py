"""``hypercondense evaluate``: train networks on a condensed hypergraph and score them on real nodes."""

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from hypercondense.cli import options, output

_WORTH_TELLING = 3.0  # seconds: what takes less is over before it is read

Workers = Annotated[int, typer.Option(help="Processes that share the trainings; 0 chooses.", min=0, max=1024)]


def evaluate(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="What `condense` wrote.")],
    model: options.Model = "hgnn",
    task: Annotated[
        Literal["classify", "cluster", "retrieve"], typer.Option(help="What to judge.")
    ] = "classify",
    over: Annotated[
        Literal["test", "all"], typer.Option(help="Which nodes to cluster and retrieve: test nodes, or all.")
    ] = "test",
    metric: options.Metric = "accuracy",
    runs: Annotated[int, typer.Option(help="Trainings per model.", min=1, max=options.MOST)] = 5,
    whole: Annotated[
        bool, typer.Option("--whole", help="Also train on the whole source, for comparison.")
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
    device: options.Device = "cpu",
    memory: options.SourceMemory = None,
    data_dir: options.DataDir = None,
    json: options.Json = False,
    quiet: options.Quiet = False,
    debug: options.Debug = False,
) -> None:
    """Train networks on a condensed hypergraph and score them on the test nodes of its source."""
    from hypercondense.condensation import load_condensed
    from hypercondense.evaluation import across_models
    from hypercondense.evaluation.protocol import prepare
    from hypercondense.files.storage import user_cache
    from hypercondense.typed import content_of

    options.check_device(device)
    result = load_condensed(folder)
    models = model_names(model)
    hypergraph, parts = source_of(result, source, split, data_dir, memory)
    planned = prepare(
        result,
        hypergraph,
        parts,
        models=models,
        task=task,
        over=over,
        metric=metric,
        runs=runs,
        seed=seed,
        whole=whole,
        device=device,
        cache_dir=user_cache("whole") if cache else None,
        memory=memory,
    )
    with options.opened_engine(engine, address, workers) as machines:
        scores = trained(planned, workers, quiet=quiet, engine=machines)
    for score in scores:
        for line in (*score.notes, *_missing(score)):
            output.warn(f"{score.model}: {line}")
    if json:
        rows = [{**score.to_dict(), "ledger": content_of(result.ledger)} for score in scores]
        output.print_json(rows if len(rows) > 1 or model == "all" else rows[0])
        return
    rows = [_row(score) for score in scores]
    nodes = f"{result.hypergraph.num_nodes:,} condensed nodes"
    title = f"{task} on {hypergraph.name}, {nodes}, {runs} run{'s' * (runs > 1)}"
    output.print_table(rows, title=title, right=[key for key in rows[0] if key != "model"])
    if len(scores) > 1:
        spread = across_models(scores)
        output.answer(f"average over models {spread.mean:.2%}, spread {spread.std:.2%}")
    for score in scores:
        for line in _costs(score, result):
            output.note(f"{score.model}: {line}", quiet=quiet)
    if result.provenance.metric != metric:
        told = result.provenance.metric
        output.note(f"note: this was condensed for {told}; --metric {told} evaluates for it", quiet=quiet)
    for line in hypergraph.notes:
        output.note(f"note: {line}", quiet=quiet)


def _costs(score: Any, result: Any) -> Iterator[str]:
    """What one training cost beside one on the whole, and with it what condensing did."""
    from statistics import fmean

    if not score.whole_seconds or not (whole := fmean(score.whole_seconds)):
        return
    own = fmean(score.train_seconds)
    yield f"one training took {own:.2f} s, and {whole:.2f} s on the whole ({own / whole:.2g} of it)"
    if result.ledger is not None:
        spent = result.ledger.seconds["total"] + own
        yield f"condensing and one training cost {spent / whole:.2g} of one training on the whole (measured)"


def trained(planned: Any, workers: int, *, quiet: bool, engine: Any = None) -> list[Any]:
    """The scores of planned trainings, after telling how long they will take."""
    from hypercondense.evaluation.forecast import forecast, seconds_by_stage, workers_for
    from hypercondense.runtime.estimate import in_words

    planned = forecast(planned)
    left = planned.left()
    expected = seconds_by_stage(left)
    total = sum(expected.values())
    number = workers or workers_for(total, len(left), source=planned.bench.source)
    if total / number > _WORTH_TELLING:
        kept = len(planned.runs) - len(left)
        known = f", {kept} on the whole are known from before" if kept else ""
        shared = f" in {number} processes" if number > 1 else ""
        output.note(f"{len(left)} trainings{shared}{known}: about {in_words(total / number)}", quiet=quiet)
    with output.progress(quiet=quiet, expected=expected) as progress:
        scores: list[Any] = planned.scores(workers=number, engine=engine, progress=progress)
    return scores


def model_names(model: str) -> list[str]:
    """The models of ``a,b`` or ``all``, which leaves out the structure-blind reference."""
    from hypercondense.nn import MODELS, model_class

    if model == "all":
        return [name for name in MODELS if name != "mlp"]
    names = [name.strip() for name in model.split(",")]
    for name in names:
        model_class(name)  # a wrong name is an error that says which exist
    return names


def source_of(
    result: Any,
    given: str | None,
    split_file: Path | None,
    data_dir: Path | None,
    memory: str | None = None,
) -> tuple[Any, Any]:
    """Load the source a result was made from, and its split; both must be the same as then."""
    from hypercondense.errors import ConfigError, DatasetNotFoundError

    provenance = result.provenance
    try:
        hypergraph = options.load_source(
            given or provenance.source_location or provenance.source_name, data_dir, memory
        )
    except DatasetNotFoundError as error:
        hint = "" if given else "; if the source was moved, give its new place with --source"
        raise DatasetNotFoundError(f"{error}{hint}") from error
    if provenance.split_seed is None and split_file is None and hypergraph.parts is None:
        raise ConfigError("this was condensed with a split of your own; give the same file with --split")
    parts = options.read_split(hypergraph, split_file, provenance.split_seed)
    provenance.check(source_digest=hypergraph.digest, split_digest=parts.digest)
    return hypergraph, parts


def _missing(score: Any) -> list[str]:
    if not score.missing_classes:
        return []
    return [f"no condensed node of class {', '.join(map(str, score.missing_classes))}"]


def _row(score: Any) -> dict[str, str]:
    row = {"model": score.model, score.metric: output.spread(score.mean, score.std, score.runs)}
    if score.metric == "macro-f1":
        row["accuracy"] = f"{score.accuracy:.2%}"
    elif score.macro_f1 is not None:
        row["macro F1"] = f"{score.macro_f1:.2%}"
    if score.calibration is not None:
        row["calibration"] = f"{score.calibration:.2%}"
    if score.whole is not None:
        row["whole"] = output.spread(score.whole.mean, score.whole.std, score.runs)
        row["retention"] = "-" if score.retention is None else f"{score.retention:.1%}"
    return row | {"seconds": f"{score.seconds:.1f}"}
