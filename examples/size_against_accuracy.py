"""How accuracy grows with the number of condensed nodes.

Synthetic nodes and as many real ones, drawn at random, from one node per class upwards; the line is what
training on everything gives.
"""

import matplotlib.pyplot as plt

import hypercondense as hc

source = hc.load("digits")
split = hc.split(source, seed=0)
sizes = [10, 20, 40, 80]
whole = None
for method in ("k-means", "random"):
    means = []
    for nodes in sizes:
        result = hc.condense(source, split, nodes=nodes, method=method)
        score = hc.evaluate(result, source, split, model="hgnn", runs=1, whole=whole is None)
        whole = whole or score.whole
        means.append(score.mean)
        print(f"{method:8} {nodes:3} nodes: {score.mean:.1%}")
    plt.plot(sizes, means, marker="o", label=method)

print(f"everything, {source.num_nodes:,} nodes: {whole.mean:.1%}")
plt.axhline(whole.mean, color="black", linestyle="--", label="everything")
plt.xscale("log", base=2)
plt.xlabel("condensed nodes")
plt.ylabel("accuracy on test nodes")
plt.legend()
plt.show()
