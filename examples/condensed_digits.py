"""What a condensed digit looks like.

Condensed nodes of images are images: here ten classes of handwritten digits become two nodes each.
They are not images that anybody drew.
"""

import matplotlib.pyplot as plt

import hypercondense as hc

source = hc.load("digits")
split = hc.split(source, seed=0)
result = hc.condense(source, split, ratio=20 / source.num_nodes, method="unrolled")
small = result.hypergraph

images = small.dense_features().reshape(-1, 8, 8)
figure, axes = plt.subplots(2, 10, figsize=(9, 2.4))
for label in range(10):
    for row, node in enumerate((small.labels == label).nonzero()[0][:2]):
        axes[row, label].imshow(images[node], cmap="gray_r")
        axes[row, label].set_title(f"{label}", fontsize=9)
for panel in axes.flat:
    panel.axis("off")

score = hc.evaluate(result, source, split, model="hgnn", runs=1)
print(f"{small.num_nodes} synthetic images instead of {source.num_nodes}: accuracy {score.mean:.1%}")
plt.show()
