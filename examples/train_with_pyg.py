"""Train a PyTorch Geometric network on a condensed hypergraph and use it on the real one."""

import torch
from torch_geometric.nn import HypergraphConv

import hypercondense as hc

source = hc.load("digits")
split = hc.split(source, seed=0)
small = hc.condense(source, split, ratio=0.02).to_pyg()


class Network(torch.nn.Module):
    """Two hypergraph convolutions."""

    def __init__(self) -> None:
        super().__init__()
        self.first = HypergraphConv(source.num_features, 64)
        self.second = HypergraphConv(64, source.num_classes)

    def forward(self, x: torch.Tensor, hyperedge_index: torch.Tensor, num_edges: int) -> torch.Tensor:
        """Scores of the classes."""
        x = self.first(x, hyperedge_index, num_edges=num_edges).relu()
        return self.second(x, hyperedge_index, num_edges=num_edges)


torch.manual_seed(0)
network = Network()
optimizer = torch.optim.Adam(network.parameters(), lr=0.01)
for _ in range(200):
    optimizer.zero_grad()
    scores = network(small.x, small.hyperedge_index, small.num_hyperedges)
    torch.nn.functional.cross_entropy(scores, small.y).backward()
    optimizer.step()

# The real nodes get the same self-loops as the condensed ones.
incidence, num_hyperedges = source.with_self_loops
index = torch.tensor([incidence.node_ids.tolist(), incidence.hyperedge_ids.tolist()])
with torch.no_grad():
    predicted = network(torch.tensor(source.dense_features()), index, num_hyperedges).argmax(1)
test_ids = torch.tensor(split.test_ids)
right = predicted[test_ids] == torch.tensor(source.labels)[test_ids]
print(
    f"trained on {small.num_nodes} nodes, {right.float().mean():.1%} of {len(test_ids)} test nodes are right"
)
