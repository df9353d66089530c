"""The same tiny hypergraph in every format: hyperedges {0, 1, 2} and {2, 3}, classes 0, 1, 1, 0."""

import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
import torch

from hypercondense.condensation import Condensation, Provenance
from hypercondense.data.formats import read, write_native, write_parquet
from hypercondense.errors import FormatError
from hypercondense.hypergraph import Hypergraph

FEATURES = np.array([[1, 0], [0, 1], [1, 1], [0.5, 0]], np.float32)
LABELS = [0, 1, 1, 0]
NODE_IDS = [0, 1, 2, 2, 3]
HYPEREDGE_IDS = [0, 0, 0, 1, 1]


def tiny(**changes: object) -> Hypergraph:
    options: dict[str, object] = {
        "features": FEATURES,
        "labels": LABELS,
        "incidence": (NODE_IDS, HYPEREDGE_IDS),
        "num_hyperedges": 2,
    }
    return Hypergraph(**(options | changes))  # type: ignore[arg-type]


def _files(folder: Path, **contents: str) -> Path:
    for name, content in contents.items():
        (folder / name).write_text(content, "utf-8")
    return folder


def native(folder: Path) -> Path:
    write_native(tiny(name="tiny"), folder, overwrite=True)
    return folder


def hypergcn(folder: Path, protocol: int = 4) -> Path:
    contents = {
        "features.pickle": sp.csr_matrix(FEATURES),
        "labels.pickle": LABELS,
        "hypergraph.pickle": {"a": [0, 1, 2], np.int32(7): {np.int64(2), 3}},
    }
    for name, content in contents.items():
        (folder / name).write_bytes(pickle.dumps(content, protocol=protocol))
    return folder


def cornell(folder: Path) -> Path:
    return _files(
        folder,
        **{
            "hyperedges-x.txt": "1,2,3\n3,4\n",
            "node-labels-x.txt": "1\n2\n2\n1\n",
            "label-names-x.txt": "cats\ndögs\n",
        },
    )


def content_edges(folder: Path) -> Path:
    rows = "0 1 0 b\n1 0 1 c\n2 1 1 c\n3 0.5 0 b\n4 0 0 0\n5 0 0 0\n"
    return _files(folder, **{"x.content": rows, "x.edges": "0 4\n1 4\n2 4\n2 5\n3 5\n"})


def tensors(folder: Path) -> Path:
    torch.save(torch.tensor(FEATURES), folder / "x_X_vec.pt")
    torch.save(torch.tensor(LABELS), folder / "x_Y.pt")
    torch.save(torch.tensor([NODE_IDS, HYPEREDGE_IDS]), folder / "x_E.pt")
    return folder


def npz(folder: Path) -> Path:
    np.savez(
        folder / "x.npz",
        features=FEATURES,
        labels=np.array(LABELS),
        node_ids=np.array(NODE_IDS),
        hyperedge_ids=np.array(HYPEREDGE_IDS),
    )
    return folder / "x.npz"


def tables(folder: Path) -> Path:
    return _files(
        folder,
        **{
            "incidence.csv": "node,hyperedge\nn0,e\nn1,e\nn2,e\nn2,f\nn3,f\n",
            "features.csv": "node,wide,tall\nn0,1,0\nn1,0,1\nn2,1,1\nn3,0.5,0\n",
            "labels.csv": "node,label\nn0,cat\nn1,dög\nn2,dög\nn3,cat\n",
        },
    )


def condensed(folder: Path) -> Path:
    condensation(tiny()).save(folder, overwrite=True)
    return folder


def condensation(hypergraph: Hypergraph) -> Condensation:
    provenance = Provenance(
        method="random",
        settings={},
        seed=0,
        source_name="source",
        source_digest="a" * 64,
        num_source_nodes=9,
        split_digest="b" * 64,
        split_seed=0,
        ratio=0.5,
        ratio_of="all",
        versions={},
    )
    members = tuple(np.array([node]) for node in range(hypergraph.num_nodes))
    return Condensation(hypergraph=hypergraph, members=members, provenance=provenance)


def yelp(folder: Path) -> Path:
    start = "yelp_restaurant_"
    return _files(
        folder,
        **{
            f"{start}latlong.csv": "latitude,longitude\n1.5,-2\n0,3\n4,5\n6,7\n",
            f"{start}locations.csv": "city_int,zip_int,state_int\n1,9,1\n2,9,1\n3,9,2\n1,9,2\n",
            f"{start}name.csv": '"name"\n"Café Roma"\n"Roma, the Grill"\n"Pizza"\n"Pizza Pizza"\n',
            f"{start}business_stars.csv": "business_stars\n3\n7\n7\n3\n",
            f"{start}incidence_H.csv": '"he","node","val"\n1,1,1\n1,2,1\n1,3,1\n2,3,1\n2,4,1\n',
        },
    )


def wordnet(folder: Path) -> Path:
    """A lemma that three synsets share is the first hyperedge, one that two share is the second."""
    licence = "  1 This software and database is being provided to you.  \n"
    return _files(
        folder,
        **{
            "data.noun": f"{licence}00000060 00 n 01 run 0 000 | a quick score  \n",
            "data.verb": f"{licence}00000060 01 v 01 run 0 000 01 + 02 00 | move with quick steps  \n",
            "data.adj": f"{licence}00000060 01 a 02 Run(p) 0 well 1 001 \\ 00000060 r 0101 | done  \n",
            "data.adv": f"{licence}00000060 00 r 01 well 0 000 | in a good way  \n",
        },
    )


def hif(folder: Path) -> Path:
    tiny(name="tiny").to_hif(folder / "x.json", overwrite=True)
    return folder / "x.json"


def parquet(folder: Path) -> Path:
    write_parquet(tiny(name="tiny"), folder, overwrite=True)
    return folder


EXAMPLES: dict[str, Callable[[Path], Path]] = {
    "native": native,
    "condensed": condensed,
    "HyperGCN pickles": hypergcn,
    "Yelp CSV": yelp,
    "Cornell text": cornell,
    "WordNet": wordnet,
    "LE/AllSet text": content_edges,
    "MAG-PM tensors": tensors,
    "npz": npz,
    "tables": tables,
    "Parquet": parquet,
    "HIF": hif,
}


def refuses(path: Path, message: str, **options: Any) -> None:
    """Reading must end in one line that matches."""
    with pytest.raises(FormatError, match=message) as caught:
        read(path, **options)
    assert "\n" not in str(caught.value)


def graphbolt(folder: Path) -> None:
    """Four papers, of which two authors wrote some, in GraphBolt's layout."""
    np.save(folder / "writes.npy", np.array([[0, 0, 0, 1, 1], [0, 1, 2, 2, 3]]))
    np.save(folder / "feat.npy", tiny().dense_features())
    for part, ids, labels in (("train", [0, 1], [0, 1]), ("validation", [2], [1]), ("test", [3], [0])):
        np.save(folder / f"{part}-ids.npy", np.array(ids))
        np.save(folder / f"{part}-labels.npy", np.array(labels))
    sets = "".join(
        f"""
    {part}_set:
    - type: paper
      data:
      - {{name: seeds, format: numpy, path: {part}-ids.npy}}
      - {{name: labels, format: numpy, path: {part}-labels.npy}}"""
        for part in ("train", "validation", "test")
    )
    text = f"""dataset_name: four
graph:
  nodes:
  - {{type: paper, num: 4}}
  - {{type: author, num: 2}}
  edges:
  - {{type: "author:writes:paper", format: numpy, path: writes.npy}}
feature_data:
- {{domain: node, type: paper, name: feat, format: numpy, path: feat.npy}}
tasks:
  - name: node_classification
    num_classes: 2{sets}
"""
    (folder / "metadata.yaml").write_text(text)
