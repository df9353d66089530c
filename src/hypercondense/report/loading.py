"""How to read a result in other programs, as code that can be copied."""

_ARRAYS = """from safetensors.numpy import load_file

arrays = load_file({tensors})
nodes, hyperedges = arrays["incidence.node_ids"], arrays["incidence.hyperedge_ids"]
"""
_PREPARE = """from collections import defaultdict

import hypercondense as hc

small = hc.load_condensed({folder}).hypergraph
members = defaultdict(list)
for node, hyperedge in zip(small.incidence.node_ids.tolist(), small.incidence.hyperedge_ids.tolist()):
    members[hyperedge].append(node)
"""
#: By library: what to install, and code in which {folder} and {tensors} are Python texts.
SNIPPETS = {
    "hypercondense": (
        "hypercondense",
        """import hypercondense as hc

result = hc.load_condensed({folder})
network = hc.train(result, model="hgnn")  # predict(source), save("network.safetensors")
""",
    ),
    "PyTorch Geometric": (
        "hypercondense[pyg]",
        """from torch_geometric.nn import HypergraphConv
from hypercondense.pyg import CondensedDataset, convolve

data = CondensedDataset({folder})[0]  # self-loops and weights are in it
layer = HypergraphConv(data.x.shape[1], 64)
hidden = convolve(layer, data.x, data)  # whole = prepare(yours, like=data) is for real nodes
""",
    ),
    "NumPy, without this program": (
        "safetensors numpy",
        _ARRAYS + 'features, labels = arrays["features"], arrays["labels"]\n',
    ),
    "XGI": (
        "hypercondense xgi",
        _PREPARE
        + """
import xgi

network = xgi.Hypergraph(dict(members))
network.add_nodes_from(range(small.num_nodes))
""",
    ),
    "HyperNetX": (
        "hypercondense hypernetx",
        _PREPARE
        + """
import hypernetx

network = hypernetx.Hypergraph(dict(members))
""",
    ),
    "DHG": (
        "hypercondense dhg",
        _PREPARE
        + """
import dhg

network = dhg.Hypergraph(small.num_nodes, list(members.values()))
""",
    ),
}


def snippets(folder: str) -> dict[str, tuple[str, str]]:
    """By library: what to install, and the code for one folder.

    >>> snippets("small")["hypercondense"][1].splitlines()[2]
    "result = hc.load_condensed('small')"
    """
    places = {"{folder}": repr(folder), "{tensors}": repr(f"{folder}/condensed.safetensors")}
    found = {}
    for library, (packages, code) in SNIPPETS.items():
        for place, text in places.items():
            code = code.replace(place, text)  # noqa: PLW2901
        found[library] = (packages, code)
    return found
