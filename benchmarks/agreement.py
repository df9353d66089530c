r"""Networks of other libraries, trained on exported results and tested on exported sources, beside ours.

    PYTHONPATH=tests python benchmarks/agreement.py [RESULT] [--fill docs/interchange.md]

RESULT is a condensed folder of a data set in the registry. In the document that of cora is by ``auto`` at
2 %, and that of wordnet by

    hypercondense condense wordnet --ratio 0.005 --method ahgcdd --set map.kernel=none \
        --set goal.epochs=5 --set looks=1

and on wordnet ``--every 20`` was given. Ours are trained without weights of memberships too, which some
libraries do not see. A line is written after each training, and what is there already is not done again: it
may be stopped at any time, and the libraries may live in environments of their own.
"""

import argparse
import json
import statistics
from pathlib import Path
from typing import Any

import hypercondense as hc
from interchange.networks import LIBRARIES, VALIDATE_EVERY, accuracy

BEGIN, END = "<!-- made by `benchmarks/agreement.py` -->\n", "<!-- /made -->"
OURS, UNWEIGHTED = "ours", ", without weights"
LINES = Path(__file__).with_suffix(".jsonl")


def main() -> None:
    """Do the trainings that are left for a result, if one is given; print the table of all lines."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("result", nargs="?", help="a condensed folder")
    parser.add_argument("--lines", type=Path, default=LINES, help="file of lines to add to and to read")
    parser.add_argument("--fill", type=Path, help="document whose table is made anew")
    parser.add_argument("--data-dir", help="where the data sets are")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--every", type=int, default=VALIDATE_EVERY, help="epochs between two looks")
    options = parser.parse_args()
    if options.result is not None:
        measure(options)
    lines = read(options.lines)
    print(table(lines))
    if options.fill is not None:
        before, _, rest = options.fill.read_text("utf-8").partition(BEGIN)
        options.fill.write_text(f"{before}{BEGIN}{table(lines)}\n{END}{rest.partition(END)[2]}", "utf-8")


def read(path: Path) -> list[dict[str, Any]]:
    """All lines so far."""
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()] if path.exists() else []


def measure(options: argparse.Namespace) -> None:
    """All trainings on one result that have no line yet."""
    result = hc.load_condensed(options.result)
    if result.scale is not None:
        raise SystemExit("give a result whose features are not scaled")
    made = result.provenance
    source = hc.load(made.source_name, data_dir=options.data_dir)
    split = hc.split(source, seed=made.split_seed)
    made.check(source_digest=source.digest, split_digest=split.digest)
    about = {"source": made.source_name, "method": made.method, "nodes": result.hypergraph.num_nodes}
    done = {tuple(line[key] for key in (*about, "who", "run")) for line in read(options.lines)}

    def write(who: str, run: int, every: int, score: float) -> None:
        line = {**about, "who": who, "run": run, "every": every, "accuracy": round(score, 6)}
        with options.lines.open("a", encoding="utf-8") as file:
            print(json.dumps(line), file=file)

    for model in ("hgnn", "hcha"):
        for small, how in ((result.hypergraph, ""), (without_weights(result.hypergraph), UNWEIGHTED)):
            who = f"{OURS} {model}{how}"
            left = [run for run in range(options.runs) if (*about.values(), who, run) not in done]
            if left:
                scores = hc.evaluate(small, source, split, model=model, runs=options.runs).values
                for run in left:
                    write(who, run, VALIDATE_EVERY, scores[run])
    for run in range(options.runs):
        for who, library in LIBRARIES.items():
            if library.is_open and (*about.values(), who, run) not in done:
                score = accuracy(library, result.hypergraph, source, split, seed=run, every=options.every)
                write(who, run, options.every, score)


def without_weights(hypergraph: hc.Hypergraph) -> hc.Hypergraph:
    """The same with weight 1 for every membership."""
    return hc.Hypergraph(
        features=hypergraph.features,
        labels=hypergraph.labels,
        incidence=hypergraph.incidence[:2],
        num_nodes=hypergraph.num_nodes,
        num_hyperedges=hypergraph.num_hyperedges,
        soft_labels=hypergraph.soft_labels,
        label_names=hypergraph.label_names,
    )


def table(lines: list[dict[str, Any]]) -> str:
    """Rows of libraries, columns of results; each beside ``evaluate`` of the network of ours it is like."""
    results = list(dict.fromkeys((line["source"], line["method"], line["nodes"]) for line in lines))
    heads = [f"{source}, {nodes} nodes by `{method}`" for source, method, nodes in results]
    rows = ["| | like | " + " | ".join(heads) + " |", "|---|---|" + "--:|" * len(heads)]
    for how in ("", UNWEIGHTED):
        for model in ("hgnn", "hcha"):
            cells = [_cell(lines, result, f"{OURS} {model}{how}") for result in results]
            rows.append(f"| `hypercondense evaluate`{how} | `{model}` | " + " | ".join(cells) + " |")
    for who, library in LIBRARIES.items():
        cells = [_cell(lines, result, who, f"{OURS} {library.like}") for result in results]
        like = f"`{library.like}`" if library.alike else f"none, beside `{library.like}`"
        rows.append(f"| {who} | {like} | " + " | ".join(cells) + " |")
    return "\n".join(rows)


def _cell(lines: list[dict[str, Any]], result: tuple[Any, ...], who: str, like: str | None = None) -> str:
    scores = _scores(lines, result, who)
    if not scores:
        return "not run"
    spread = f" ± {100 * statistics.stdev(scores):.1f}" if len(scores) > 1 else ""
    text = f"{100 * statistics.fmean(scores):.1f}{spread} ({len(scores)})"
    ours = _scores(lines, result, like) if like is not None else []
    return f"{text}, {100 * (statistics.fmean(scores) - statistics.fmean(ours)):+.1f}" if ours else text


def _scores(lines: list[dict[str, Any]], result: tuple[Any, ...], who: str) -> list[float]:
    return [
        line["accuracy"]
        for line in lines
        if (line["source"], line["method"], line["nodes"]) == result and line["who"] == who
    ]


if __name__ == "__main__":
    main()
