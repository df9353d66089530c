"""A user of PyTorch Geometric condenses their nodes to 1 % and trains a network of PyG on these."""

import torch
from torch_geometric.nn import HypergraphConv
from torch_geometric.transforms import RandomNodeSplit

import hypercondense as hc
from hypercondense.pyg import Condense, convolve, prepare

# Any Data with x, y, hyperedge_index and masks will do; here it is made of handwritten digits.
torch.manual_seed(0)
data = hc.load("digits").to_pyg(self_loops=False)
data = RandomNodeSplit(num_val=0.25, num_test=0.25)(data)

small = Condense(ratio=0.01)(data)  # 18 nodes
layers = torch.nn.ModuleList([HypergraphConv(data.num_features, 64), HypergraphConv(64, 10)])
optimizer = torch.optim.Adam(layers.parameters(), lr=0.01, weight_decay=5e-4)
for _ in range(200):
    optimizer.zero_grad()
    scores = convolve(layers[1], convolve(layers[0], small.x, small).relu(), small)
    torch.nn.functional.cross_entropy(scores, small.get("y_soft", small.y)).backward()
    optimizer.step()
whole = prepare(data, like=small)  # the same self-loops and scale as the condensed nodes have
predicted = convolve(layers[1], convolve(layers[0], whole.x, whole).relu(), whole).argmax(1)

right = (predicted == data.y)[data.test_mask].float().mean()
print(f"trained on {small.num_nodes} nodes of {data.num_nodes}, {right:.1%} of the test nodes are right")
