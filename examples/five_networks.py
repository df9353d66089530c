"""One condensed hypergraph, five networks.

A result is not made for one network: others learn from it, too. Networks that look at single nodes
first (AllSet, ED-HNN) make less of it, for condensed nodes are smoother than real ones.
"""

import matplotlib.pyplot as plt
import numpy as np

import hypercondense as hc

source = hc.synthetic(num_nodes=600, num_hyperedges=500, num_classes=4, homophily=0.7, noise=1.5, seed=2)
split = hc.split(source, seed=0)
results = {name: hc.condense(source, split, nodes=24, method=name) for name in ("ridge", "random")}

networks = ["hgnn", "hcha", "unigcnii", "allset", "edhnn"]
places = np.arange(len(networks))
for number, (method, result) in enumerate(results.items()):
    means = [hc.evaluate(result, source, split, model=name, runs=1).mean for name in networks]
    told = ", ".join(f"{name} {mean:.1%}" for name, mean in zip(networks, means, strict=True))
    print(f"{method:6}: {told}")
    plt.bar(places + 0.4 * number - 0.2, means, width=0.4, label=method)

plt.xticks(places, networks)
plt.ylabel("accuracy on test nodes")
plt.legend(loc="lower right")
plt.show()
