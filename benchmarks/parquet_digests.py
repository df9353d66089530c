"""Digests of data sets from Parquet beside those from their own formats.

``python benchmarks/parquet_digests.py --data-dir DIR wordnet dblp walmart`` writes each as Parquet in parts
and out of order, converts it to a mapped folder, and compares digests. A mapped folder has dense features, so
the digest of a data set with sparse ones is taken with the same numbers written out.
"""

import argparse
import dataclasses
import tempfile
from pathlib import Path

import duckdb
import numpy as np
import pandas as pd

from hypercondense.data.formats import read
from hypercondense.data.gathering import gather
from hypercondense.data.load import load
from hypercondense.hypergraph import Hypergraph

PARTS, ROWS = 4, 5_000


def write_parts(source: Hypergraph, folder: Path) -> None:
    """Memberships and nodes in parts; rows are shuffled, and no part begins where another ends."""
    folder.mkdir()
    node_ids, hyperedge_ids, weights = source.incidence
    memberships = pd.DataFrame({"node": node_ids, "hyperedge": hyperedge_ids})
    if weights is not None:
        memberships["weight"] = weights
    memberships = memberships.sample(frac=1, random_state=0)
    with duckdb.connect() as base:
        for part in range(PARTS):
            chosen = memberships.iloc[part::PARTS]
            base.from_df(chosen).write_parquet(str(folder / f"incidences-{part}.parquet"))
        order = np.random.default_rng(0).permutation(source.num_nodes)
        for part, begin in enumerate(range(0, source.num_nodes, ROWS)):
            ids = order[begin : begin + ROWS]
            rows = pd.DataFrame({"node": ids, "label": source.labels[ids]})
            rows["features"] = list(source.dense_features(ids))
            base.from_df(rows).write_parquet(str(folder / f"nodes-{part:05d}.parquet"))


def main() -> None:
    """Compare all that are asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="+")
    parser.add_argument("--data-dir", type=Path)
    parser.add_argument("--memory", type=int, default=2 * 10**9)
    asked = parser.parse_args()
    for name in asked.names:
        source = load(name, data_dir=asked.data_dir)
        kind = "sparse" if source.is_sparse else "dense"
        if source.is_sparse:
            source = dataclasses.replace(source, features=source.dense_features())
        # Names of classes and features are no part of the tables.
        bare = dataclasses.replace(source, label_names=None, feature_names=None)
        with tempfile.TemporaryDirectory() as folder:
            write_parts(bare, Path(folder) / "tables")
            gather(Path(folder) / "tables", Path(folder) / "mapped", memory=asked.memory)
            found = read(Path(folder) / "mapped").digest
        same = found == bare.digest
        print(
            f"{name} ({kind} features): {found[:16]} {'same' if same else 'NOT ' + bare.digest[:16]}",
            flush=True,
        )
        if not same:
            raise SystemExit(1)


if __name__ == "__main__":
    main()
