"""Anchor-guided hyperedge generation: every condensed node proposes one hyperedge (Eq. 7 to 9)."""

from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.utils.checkpoint import checkpoint

from hypercondense.hypergraph import Ids

Threshold: TypeAlias = Literal["anchor", "shared", "fixed"]
_PATIENCE = 20  # times the asked steps that a warm-up may take
_ALIVE = 0.9  # share of taught members that must be above their threshold before it ends
_PAIRS_IN_MEMORY = 100_000  # pairs whose activations are kept for the backward pass at once


class AnchorGenerator(nn.Module):
    """Scores (anchor, candidate) pairs with an MLP and keeps what exceeds the anchor's threshold.

    ``H[j, i] = ReLU(sigmoid(MLP([x_i; x_j])) - threshold_i)``: hyperedge ``i`` belongs to anchor ``i`` and
    ``j`` is a candidate member, so the result has shape (nodes, hyperedges) = (n, n) as everywhere else.
    The first layer acts on a concatenation and is split exactly, ``W [x_i; x_j] = A x_i + B x_j``, which
    turns ``n^2`` wide products into ``2 n``.

    Args:
        candidates: Node ids that may join each anchor's hyperedge, shape (n, k). Paper: all nodes.
        num_features: Width of the features.
        hidden: Width of the hidden layers.
        layers: Number of linear layers, at least 2.
        threshold: One learnable threshold per anchor (the paper), one for all, or a constant.
        threshold_start: Where thresholds begin.
        scale: Features are divided by this number before the MLP sees them, so that layers start in their
            working range whether features are tf-idf (0.02) or counts (20).
        basis: Directions, shape (num_features, r), along which the MLP sees the features. Paper: all of them.
        pairs_at_once: Pairs whose activations are kept for the backward pass; of more, blocks are made anew.
    """

    candidates: Tensor
    scale: Tensor
    basis: Tensor | None

    def __init__(
        self,
        candidates: Tensor,
        *,
        num_features: int,
        hidden: int = 256,
        layers: int = 3,
        threshold: Threshold = "anchor",
        threshold_start: float = 0.5,
        scale: float = 1.0,
        basis: Tensor | None = None,
        pairs_at_once: int = _PAIRS_IN_MEMORY,
    ) -> None:
        if layers < 2:
            raise ValueError(f"layers must be at least 2, got {layers}")
        if not 0 <= threshold_start < 1:
            raise ValueError(f"threshold_start must be at least 0 and below 1, got {threshold_start:g}")
        super().__init__()
        self.pairs_at_once = pairs_at_once
        self.register_buffer("candidates", candidates)
        width = num_features if basis is None else basis.shape[1]
        # The same length in fewer directions: each is longer, and is brought back to its working range.
        self.register_buffer("scale", torch.tensor(scale * (num_features / width) ** 0.5))
        self.register_buffer("basis", basis)
        self.from_anchor = nn.Linear(width, hidden)
        self.from_candidate = nn.Linear(width, hidden, bias=False)
        self.inner = nn.ModuleList([nn.Linear(hidden, hidden) for _ in range(layers - 2)])
        self.last = nn.Linear(hidden, 1)
        self.threshold = nn.Parameter(
            torch.full((len(candidates) if threshold == "anchor" else 1,), threshold_start),
            requires_grad=threshold != "fixed",
        )

    def scores(self, features: Tensor) -> Tensor:
        """Logits of the pairs, shape (anchors, candidates per anchor) (Eq. 7 before the sigmoid)."""
        return self.scores_of(self.seen(features))

    def seen(self, features: Tensor) -> Tensor:
        """The features as the MLP reads them: projected on ``basis``, divided by ``scale``."""
        return (features if self.basis is None else features @ self.basis) / self.scale

    def scores_of(self, seen: Tensor) -> Tensor:
        """:meth:`scores` of what is seen of the features."""
        anchor, candidate = self.from_anchor(seen), self.from_candidate(seen)
        num_anchors, num_candidates = self.candidates.shape
        block = max(1, self.pairs_at_once // num_candidates)
        if num_anchors <= block:
            return self._pairs(anchor, candidate, self.candidates)
        # Blocks of anchors, recomputed in the backward pass: memory does not grow with the square of n.
        blocks = [
            checkpoint(self._pairs, anchor[part], candidate, self.candidates[part], use_reentrant=False)
            for part in torch.arange(num_anchors, device=anchor.device).chunk(-(-num_anchors // block))
        ]
        return torch.cat(blocks)

    def _pairs(self, anchor: Tensor, candidate: Tensor, candidate_ids: Tensor) -> Tensor:
        """Logits of a block of anchors (b, hidden) with their candidates (b, k), shape (b, k)."""
        hidden = F.relu(anchor[:, None, :] + F.embedding(candidate_ids, candidate))  # (b, k, hidden)
        for layer in self.inner:
            hidden = F.relu(layer(hidden))
        logits: Tensor = self.last(hidden).squeeze(-1)
        return logits

    def forward(self, features: Tensor) -> Tensor:
        """The incidence matrix, shape (nodes, hyperedges); hyperedges with one member are left out.

        Paper: a hyperedge in which only one node is left is a self-loop of some weight. Message passing
        gives every node a self-loop anyway, so it would only change the weight of that one.
        """
        strength = F.relu(self.scores(features).sigmoid() - self.threshold[:, None])  # (anchors, k), Eq. 9
        strength = strength * (strength.count_nonzero(dim=1) > 1)[:, None]
        return scatter_members(self.candidates, strength)


def scatter_members(candidates: Tensor, strength: Tensor) -> Tensor:
    """The incidence matrix (n, n) of hyperedges given by their candidates and strengths, both (n, k)."""
    by_anchor = strength.new_zeros(len(strength), len(strength)).scatter(1, candidates, strength)
    return by_anchor.T


def span_basis(features: Tensor) -> Tensor | None:
    """Orthonormal directions that span the rows of ``features`` (n, d), shape (d, n); ``None`` if n >= d.

    Few nodes differ in few directions only. Along these the first layer of the MLP has n inputs, not d.
    """
    if len(features) >= features.shape[1]:
        return None
    directions: Tensor = torch.linalg.qr(features.T).Q
    return directions


def nearest_candidates(features: Tensor, size: int) -> Tensor:
    """For each node the ``size`` most similar nodes by cosine, itself first, shape (n, size)."""
    size = min(size, len(features))
    unit = F.normalize(features, dim=1)
    similarity = unit @ unit.T
    similarity.fill_diagonal_(2.0)  # itself always comes first, whatever is equal to it
    return similarity.topk(size, dim=1).indices


def warm_targets(features: Tensor, labels: Tensor, candidates: Tensor, neighbours: int) -> Tensor:
    """1 for an anchor and its most similar candidates of its class, else 0; shaped like ``candidates``."""
    unit = F.normalize(features, dim=1)
    similarity = (unit @ unit.T).gather(1, candidates)
    same_class = labels[candidates] == labels[:, None]
    similarity = similarity.masked_fill(~same_class, -torch.inf)
    similarity[:, 0] = torch.inf  # the anchor
    chosen = torch.zeros_like(similarity)
    chosen.scatter_(1, similarity.topk(min(1 + neighbours, candidates.shape[1]), dim=1).indices, 1.0)
    return chosen * same_class


def warm_start(
    generator: AnchorGenerator, features: Tensor, targets: Tensor, *, steps: int, step_size: float
) -> None:
    """Train the MLP to score ``targets``, for ``steps`` or longer, until they are alive (Paper: not there).

    An untrained MLP scores all pairs alike, so all mixing is across classes, the loss pushes every score
    below its threshold, and a dead ReLU never returns.
    """
    weights = [parameter for name, parameter in generator.named_parameters() if name != "threshold"]
    optimizer = torch.optim.Adam(weights, lr=step_size, fused=True)
    # Members are rare among candidates: weigh them so that both kinds count the same.
    positive_weight = ((1 - targets).sum() / targets.sum()).clamp(min=1.0)
    seen = generator.seen(features)
    for step in range(_PATIENCE * steps):
        scores = generator.scores_of(seen)
        if step >= steps and _share_alive(generator, scores, targets) > _ALIVE:
            break
        loss = F.binary_cross_entropy_with_logits(scores, targets, pos_weight=positive_weight)
        follow_gradient(loss, optimizer)


def follow_gradient(loss: Tensor, optimizer: torch.optim.Optimizer) -> None:
    """Take one step of an optimizer; no parameters but its own get gradients."""
    parameters = [parameter for group in optimizer.param_groups for parameter in group["params"]]
    for parameter in parameters:  # what zero_grad does, in a tenth of its time
        parameter.grad = None
    # Not autograd.grad: fused Adam walks through memory, and only backward lays gradients as parameters lie.
    loss.backward(inputs=parameters)  # type: ignore[no-untyped-call]
    optimizer.step()


def _share_alive(generator: AnchorGenerator, scores: Tensor, targets: Tensor) -> float:
    """Share of the taught members whose score is above the threshold of their anchor."""
    above = scores.detach().sigmoid() > generator.threshold.detach()[:, None]
    return float((above * targets).sum() / targets.sum())


@dataclass(frozen=True)
class StructureHealth:
    """What to watch so that a dying structure is seen."""

    density: float  # share of node and hyperedge pairs that are connected
    mean_hyperedge_size: float  # over hyperedges that have members
    class_purity: float  # share of members that have the class of their anchor
    live_thresholds: float  # share of anchors that still have a hyperedge


def structure_health(incidence: Tensor, labels: Ids) -> StructureHealth:
    """Measure a generated incidence matrix, shape (nodes, hyperedges = anchors)."""
    weights = incidence.detach().cpu().numpy()
    node_ids, anchor_ids = weights.nonzero()
    total, alive = len(node_ids), len(set(anchor_ids.tolist()))
    agreeing = np.count_nonzero(labels[node_ids] == labels[anchor_ids])
    return StructureHealth(
        density=total / weights.size,
        mean_hyperedge_size=total / max(1, alive),
        class_purity=agreeing / max(1, total),
        live_thresholds=alive / weights.shape[1],
    )
