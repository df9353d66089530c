"""What diffusion does to features, and why condensed nodes are made of diffused rows.

The heat kernel mixes the rows of nodes that share hyperedges. Noise is averaged away and classes come
apart; with too much of it all nodes become alike.
"""

import matplotlib.pyplot as plt
import numpy as np

import hypercondense as hc
from hypercondense.diffusion import diffuse, heat_kernel

source = hc.synthetic(num_nodes=600, num_hyperedges=700, num_classes=3, homophily=0.8, noise=1.2, seed=3)
features = source.dense_features()
centred = features - features.mean(0)
plane = np.linalg.svd(centred, full_matrices=False)[2][:2].T  # the first two principal directions

figure, axes = plt.subplots(1, 3, figsize=(9.5, 3.2))
for panel, time in zip(axes, (0.0, 2.0, 20.0), strict=True):
    rows = features if time == 0 else np.asarray(diffuse(source, heat_kernel(time)))
    between = np.stack([rows[source.labels == label].mean(0) for label in range(3)]).var(0).sum()
    print(f"time {time:4.0f}: {between / rows.var(0).sum():.1%} of the variance is between classes")
    shown = (rows - rows.mean(0)) @ plane
    panel.scatter(*shown.T, c=source.labels, s=6, cmap="viridis")
    panel.set_title("raw features" if time == 0 else f"diffused, time {time:g}", fontsize=9)
    panel.axis("off")
plt.show()
