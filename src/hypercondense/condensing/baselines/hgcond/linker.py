"""The Neural Hyperedge Linker: a variational model of who shares a hyperedge with whom.

Every node has a latent vector, ``q(z | x) = N(mean(x), variance(x))`` with prior N(0, I). A hyperedge is seen
from one of its members, the anchor: another node belongs to it with probability
``sigmoid(<z_node, W z_anchor> / sqrt(latent) + bias)``. Training maximizes the evidence lower bound on pairs
(anchor, member) drawn from the incidences of the source, so its cost is linear in them.
"""

import math

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from hypercondense.condensing.baselines.hgcond.pairs import MembershipSampler, Pairs
from hypercondense.hypergraph import Dense
from hypercondense.runtime.progress import Progress, silent


class HyperedgeLinker(nn.Module):
    """Makes a dense incidence for any nodes of which only features are known.

    Args:
        center: Mean of the source's features (d,), taken off before a row is scaled to length 1. Condensed
            rows are means and so shorter than those of the source: the direction is what both share.
        hidden: Width of the encoder's hidden layer.
        latent: Width of the latent vectors.
        threshold: A node joins a hyperedge if its probability is above this.
        max_members: Most members of a hyperedge, its anchor included.
    """

    center: Tensor

    def __init__(
        self,
        center: Tensor,
        *,
        hidden: int = 64,
        latent: int = 16,
        threshold: float = 0.5,
        max_members: int = 8,
    ) -> None:
        super().__init__()
        self.register_buffer("center", center)
        self.threshold, self.max_members = threshold, max_members
        self.first = nn.Linear(len(center), hidden)
        self.to_mean = nn.Linear(hidden, latent)
        self.to_log_variance = nn.Linear(hidden, latent)
        self.query = nn.Linear(latent, latent, bias=False)
        self.bias = nn.Parameter(torch.zeros(1))

    def encode(self, features: Tensor) -> tuple[Tensor, Tensor]:
        """Mean and logarithm of the variance of the latent vectors, both (nodes, latent)."""
        unit = F.normalize(features - self.center, dim=1)
        # A unit row has entries of size d^-1/2, so layers get it at the scale they are made for.
        hidden = F.relu(self.first(unit * math.sqrt(unit.shape[1])))
        return self.to_mean(hidden), self.to_log_variance(hidden)

    def logits(self, anchors: Tensor, nodes: Tensor) -> Tensor:
        """How sure it is that a node belongs to an anchor's hyperedge, from latents: (anchors, nodes)."""
        queries: Tensor = self.query(anchors)
        return queries @ nodes.T / math.sqrt(nodes.shape[1]) + self.bias

    def pair_logits(self, anchors: Tensor, nodes: Tensor) -> Tensor:
        """The same for pairs in order, one per row: (pairs,)."""
        queries: Tensor = self.query(anchors)
        return (queries * nodes).sum(1) / math.sqrt(nodes.shape[1]) + self.bias

    def forward(self, features: Tensor) -> Tensor:
        """The incidence (nodes, hyperedges): every node is the anchor of one hyperedge, weight 1 in it.

        Others have their probability as weight, or 0 below the threshold or beyond ``max_members``.
        Hyperedges in which the anchor would be alone are left to the self-loops. Gradients flow to the
        features through the weights; who is a member has none.
        """
        mean, _ = self.encode(features)
        probability = self.logits(mean, mean).sigmoid()  # (anchors, nodes)
        own = torch.eye(len(features), dtype=torch.bool, device=features.device)
        probability = probability.masked_fill(own, 1.0)
        chosen = torch.zeros_like(own)
        chosen.scatter_(1, probability.topk(min(self.max_members, len(features)), dim=1).indices, True)
        chosen &= (probability > self.threshold) | own
        chosen &= (chosen.sum(1) > 1)[:, None]
        return (probability * chosen).T


def gaussian_divergence(mean: Tensor, log_variance: Tensor) -> Tensor:
    """``KL(N(mean, variance) || N(0, I))`` of every row, in nats.

    >>> float(gaussian_divergence(torch.tensor([[1.0, 0.0]]), torch.zeros(1, 2)))
    0.5
    """
    return 0.5 * (mean**2 + log_variance.exp() - 1 - log_variance).sum(1)


def negative_bound(
    linker: HyperedgeLinker, rows: dict[str, Tensor], pairs: Pairs, *, divergence_weight: float
) -> tuple[Tensor, Tensor]:
    """The two terms of the negative evidence lower bound: reconstruction, and weighted divergence.

    Reconstruction is the mean surprise over members plus that over non-members: members are so rare that
    unweighted, "nobody" would be nearly right.

    Args:
        linker: What is trained; draws from torch's global generator.
        rows: Features of ``anchors`` (b, d), ``members`` (b, d) and ``strangers`` (s, d).
        pairs: What was drawn.
        divergence_weight: Weight of the divergence per node.
    """
    coded = {role: linker.encode(features) for role, features in rows.items()}
    latent = {
        role: mean + torch.randn_like(mean) * (0.5 * log_variance).exp()
        for role, (mean, log_variance) in coded.items()
    }
    member = linker.pair_logits(latent["anchors"], latent["members"])  # (b,)
    stranger = linker.logits(latent["anchors"], latent["strangers"])  # (b, s)
    outside = torch.tensor(pairs.outside).to(stranger)  # a copy: what was drawn is read-only
    surprise = F.softplus(-member).mean()
    surprise = surprise + (F.softplus(stranger) * outside).sum() / outside.sum().clamp(min=1)
    divergence = torch.cat([gaussian_divergence(*code) for code in coded.values()]).mean()
    return surprise, divergence_weight * divergence


def train_linker(
    linker: HyperedgeLinker,
    features: Dense,
    sampler: MembershipSampler,
    *,
    steps: int,
    step_size: float,
    divergence_weight: float,
    progress: Progress = silent,
) -> list[float]:
    """Maximize the bound by Adam, then freeze the linker; returns the negative bound of every step.

    Only the drawn rows of ``features`` (source nodes, d) become tensors. Draws from torch's global generator.
    """
    device = linker.center.device
    optimizer = torch.optim.Adam(linker.parameters(), lr=step_size)
    bounds = []
    for step in range(steps):
        pairs = sampler.draw()
        rows = {
            role: torch.from_numpy(np.asarray(features[ids])).to(device)
            for role, ids in pairs.node_ids.items()
        }
        surprise, divergence = negative_bound(linker, rows, pairs, divergence_weight=divergence_weight)
        optimizer.zero_grad()
        (surprise + divergence).backward()  # type: ignore[no-untyped-call]
        optimizer.step()
        bounds.append(float(surprise.detach() + divergence.detach()))
        progress("train linker", step + 1, steps, loss=bounds[-1])
    linker.requires_grad_(False)
    return bounds
