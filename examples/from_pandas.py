"""Two tables of pandas in, a column of predicted classes out: customers who share baskets."""

import numpy as np
import pandas

import hypercondense as hc

# Made up here; replace the two tables by yours.
rng = np.random.default_rng(0)
kinds = rng.choice(["family", "office", "student"], 400)
spent = {"family": 90.0, "office": 40.0, "student": 15.0}
customers = pandas.DataFrame(
    {
        "customer": [f"C{number:03}" for number in range(400)],
        "spent": [rng.normal(spent[kind], 20) for kind in kinds],
        "visits": rng.poisson(3, 400),
        "kind": np.where(np.arange(400) < 200, kinds, None),  # known of half of them
    }
)
alike = [rng.choice(np.flatnonzero(kinds == kind), 4, replace=False) for kind in rng.choice(kinds, 300)]
baskets = pandas.DataFrame(
    {
        "basket": np.repeat([f"b{number}" for number in range(300)], 4),
        "customer": [f"C{number:03}" for number in np.concatenate(alike)],
    }
)

source = hc.from_pandas(baskets, customers, node="customer", hyperedge="basket", label="kind")
split = hc.split(source, seed=0)
result = hc.condense(source, split, ratio=0.03, scale="standard")
network = hc.train(result, source, split)
customers["predicted"] = network.predict(source).labels

unknown = customers["kind"].isna()
right = (customers["predicted"] == kinds)[unknown].mean()
print(f"{result.hypergraph.num_nodes} nodes for {len(customers)} customers; the first of them began as")
print(", ".join(result.members_by_name()[0][:5]), "...")
print(f"{right:.1%} of {unknown.sum()} customers of unknown kind are right")
