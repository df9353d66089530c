"""``hypercondense demo``: the main job on embedded data, from start to finish."""

import shlex
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any

import typer

from hypercondense.cli import options, output

_RATIO, _RUNS = 0.01, 2
_METHOD = "unrolled"  # one recipe, so that it takes seconds; `auto`, the default of `condense`, tries several


def demo(
    out: Annotated[Path | None, typer.Option(help="Keep the condensed hypergraph in this folder.")] = None,
    json: options.Json = False,
    quiet: options.Quiet = False,
    debug: options.Debug = False,
) -> None:
    """Condense 1,797 handwritten digits to 18 nodes and train on them, on 18 real nodes and on everything."""
    from hypercondense.catalogue import condense, make_method
    from hypercondense.condensation import load_condensed
    from hypercondense.condensing.run import condense_by
    from hypercondense.data import digits
    from hypercondense.hypergraph import split

    if out is not None and out.exists():
        raise FileExistsError(f"{out} exists already; choose another place or remove it first")
    say = not (quiet or json)
    source = digits()
    parts = split(source, seed=0)
    if say:
        output.print_facts(
            {
                "1. the source": f"{source.num_nodes:,} scanned digits, {source.num_features} pixels each, "
                f"{source.num_classes} classes",
                "": f"{source.num_hyperedges:,} hyperedges: every digit with its nearest neighbours",
                "2. condensing": f"to {_RATIO:.0%} of the nodes by {_METHOD}, with half of the labels",
            }
        )
    with output.progress(quiet=not say) as progress, TemporaryDirectory() as temporary:
        folder = out or Path(temporary) / "digits-1pct"
        result = condense(source, parts, ratio=_RATIO, method=_METHOD, progress=progress)
        result.save(folder)
        condensed = load_condensed(folder).hypergraph  # as anybody who gets the folder would
        size = sum(file.stat().st_size for file in folder.glob("*.safetensors"))
        chosen = condense_by(make_method("random"), source, parts, ratio=_RATIO, select=False)
        rows = [
            _train("condensed", condensed, source, parts),
            _train("random nodes", chosen.hypergraph, source, parts),
            _train("everything", source, source, parts),
        ]
    if json:
        output.print_json({"rows": rows, "seconds": result.seconds["total"], "bytes": size})
        return
    if say:
        output.note(
            f"             {condensed.num_nodes} nodes and {condensed.num_hyperedges} hyperedges in "
            f"{result.seconds['total']:.1f} s, {size / 1000:.0f} kB on disk"
        )
    shown = [
        {
            "trained on": row["trained_on"],
            "nodes": f"{row['num_nodes']:,}",
            "accuracy on real test digits": f"{row['mean']:.1%} ± {row['std']:.1%}",
            "seconds per training": f"{row['seconds']:.2f}",
        }
        for row in rows
    ]
    output.print_table(shown, title="3. an HGNN, trained from scratch", right=list(shown[0])[1:])
    if out is None:
        output.note("next: hypercondense condense digits --ratio 0.01 --out digits-1pct", quiet=not say)
    else:
        following = shlex.join(["hypercondense", "evaluate", str(out), "--model", "all"])
        output.note(f"kept in {out}; next: {following}", quiet=not say)


def _train(name: str, graph: Any, source: Any, parts: Any) -> dict[str, Any]:
    from hypercondense.evaluation import evaluate

    begin = time.perf_counter()
    score = evaluate(graph, source, parts, runs=_RUNS)
    seconds = (time.perf_counter() - begin) / _RUNS
    num_nodes = len(parts.train_ids) if graph is source else graph.num_nodes
    return {
        "trained_on": name,
        "num_nodes": num_nodes,
        "mean": score.mean,
        "std": score.std,
        "seconds": seconds,
    }
