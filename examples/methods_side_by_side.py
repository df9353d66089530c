"""Several methods on the same data, split and size.

`hc.compare` condenses with each and trains the same network on all of them; the command `hypercondense
compare` does the same and writes a page with `--html`.
"""

import matplotlib.pyplot as plt

import hypercondense as hc

source = hc.synthetic(num_nodes=800, num_hyperedges=700, homophily=0.6, num_classes=4, noise=1.5, seed=1)
split = hc.split(source, seed=0)
methods = ["random", "herding", "means", "k-means", "ridge", "ahgcdd"]

scores = {}
for method in methods:
    result = hc.condense(source, split, ratio=0.03, method=method)
    scores[method] = hc.evaluate(result, source, split, model="hgnn", runs=2)
    seconds = result.seconds["total"]
    print(f"{method:8} {scores[method].mean:.1%} ± {scores[method].std:.1%}, condensed in {seconds:.1f} s")

plt.barh(methods, [scores[method].mean for method in methods], xerr=[scores[m].std for m in methods])
plt.xlabel("accuracy on test nodes")
plt.xlim(left=0.4)
plt.show()
