"""From tables of pandas to predictions by name.

Customers share baskets; the kind of some customers is not known. The result predicts it.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

import hypercondense as hc

rng = np.random.default_rng(1)
names = np.array([f"customer {number}" for number in range(800)])
kinds = rng.choice(["basic", "gold"], 800, p=[0.7, 0.3])
customers = pd.DataFrame(
    {
        "customer": names,
        "spent": rng.gamma(4, np.where(kinds == "gold", 60, 30)),
        "visits": rng.poisson(np.where(kinds == "gold", 9, 6)),
        "kind": np.where(rng.random(800) < 0.25, None, kinds),
    }
)
gold = kinds == "gold"
members = [rng.choice(names[gold if rng.random() < 0.4 else ~gold], 4, replace=False) for _ in range(500)]
baskets = pd.DataFrame({"customer": np.concatenate(members), "basket": np.repeat(np.arange(500), 4)})

source = hc.from_pandas(baskets, customers, node="customer", hyperedge="basket", label="kind")
split = hc.split(source, seed=0)
result = hc.condense(source, split, nodes=16, method="k-means", scale="standard")
network = hc.train(result, source, split, model="hgnn")

unknown = np.flatnonzero(customers["kind"].isna())
predicted = np.array(network.predict(source, nodes=names[unknown].tolist()).labels)
right = np.mean(predicted == kinds[unknown])
print(f"{len(unknown)} customers of unknown kind, {right:.1%} of them predicted rightly")

for kind, colour in (("basic", "#3366cc"), ("gold", "#d9822b")):
    chosen = customers.iloc[unknown][predicted == kind]
    plt.scatter(chosen["spent"], chosen["visits"], s=14, color=colour, label=f"predicted {kind}")
plt.xlabel("spent")
plt.ylabel("visits")
plt.legend()
plt.show()
