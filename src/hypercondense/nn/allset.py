"""AllSet: two learned multiset functions per layer (Chien et al., 2022)."""

from typing import ClassVar

import torch
from torch import Tensor, nn
from torch.nn import functional

from hypercondense.diffusion.compressed import Compressed
from hypercondense.nn.base import Form, HypergraphNetwork, InputLinear, Optimization, check_sizes
from hypercondense.nn.message_passing import SOFTMAX_RANGE, Layer, Receivers, Structure
from hypercondense.nn.sparse import Input, SparseMatrix, drop

_SLOPE = 0.2  # of the leaky ReLU on attention scores


class AllSet(HypergraphNetwork):
    """``E = relu(f(nodes of e))``, ``X' = relu(g(hyperedges of v))`` in every layer, then a linear map.

    AllSetTransformer (``attention=True``): f and g pool by attention with one learned seed per head,

        ``S = softmax over members u of leaky(x_u . k)``, ``Y = norm(seed + sum_u S_u x_u V)``,
        ``norm(Y + relu(feedforward(Y)))``.

    AllDeepSets (``attention=False``): f and g are ``mlp(norm(mean of mlp(x_u)))``.

    Shapes: X (N, d), E (M, hidden), V (d, hidden) split into heads, k (d, heads), seed (hidden,).
    Incidence weights multiply the terms of the softmax, or weigh the mean: a member of weight 2 counts twice.
    """

    optimization: ClassVar[Optimization] = Optimization(learning_rate=0.001, weight_decay=0.01, epochs=200)
    defaults_version: ClassVar[int] = 3
    #: Dropped inputs keep it from learning single features by heart; condensed rows, being means, want all.
    forms: ClassVar[tuple[Form, ...]] = (
        Form(options={"input_dropout": 0.2}),
        Form(options={"input_dropout": 0.0}),
    )

    def __init__(
        self,
        *,
        num_features: int,
        num_classes: int,
        hidden: int = 128,
        layers: int = 1,
        heads: int = 4,
        dropout: float = 0.5,
        input_dropout: float = 0.2,
        attention: bool = True,
    ) -> None:
        super().__init__()
        check_sizes(layers=layers, hidden=hidden, dropout=dropout)
        check_sizes(layers=layers, hidden=hidden, dropout=input_dropout)
        if heads < 1 or hidden % heads:
            raise ValueError(f"hidden must be a multiple of heads, got hidden {hidden} and heads {heads}")
        widths = [num_features, *[hidden] * (2 * layers - 1)]
        self.pools = nn.ModuleList(
            AttentionPool(width, hidden, heads) if attention else MeanPool(width, hidden) for width in widths
        )
        self.classifier = nn.Linear(hidden, num_classes)
        self.dropout, self.input_dropout = dropout, input_dropout

    @property
    def reach(self) -> int | None:
        """A step for every two pools, to hyperedges and back."""
        return len(self.pools) // 2

    def embed(self, features: Input, structure: Structure, receivers: Receivers | None = None) -> Tensor:
        """The last hidden layer, (N, hidden)."""
        x = drop(features, self.input_dropout, training=self.training)
        for number, pool in enumerate(self.pools):
            here = (receivers or structure).layer((len(self.pools) - 1 - number) // 2)
            pooled = pool(x, here, to_hyperedges=number % 2 == 0)
            x = functional.dropout(torch.relu(pooled), self.dropout, self.training)
        assert isinstance(x, Tensor)
        return x

    def forward(self, features: Input, structure: Structure, receivers: Receivers | None = None) -> Tensor:
        """Class scores, (N, C)."""
        scores: Tensor = self.classifier(self.embed(features, structure, receivers))
        return scores


class AttentionPool(nn.Module):
    """Pooling by multi-head attention with a learned seed."""

    def __init__(self, width: int, hidden: int, heads: int) -> None:
        super().__init__()
        self.values = InputLinear(width, hidden)
        self.scores = InputLinear(width, heads)
        self.seed = nn.Parameter(torch.empty(1, hidden))
        nn.init.xavier_uniform_(self.seed)
        self.first_norm, self.second_norm = nn.LayerNorm(hidden), nn.LayerNorm(hidden)
        self.feedforward = two_layers(hidden, hidden)
        self.heads = heads

    def forward(self, x: Input, structure: Layer, *, to_hyperedges: bool) -> Tensor:
        """One row per hyperedge or per node, (M or N, hidden)."""
        shares = functional.leaky_relu(self.scores(x), _SLOPE)
        incidence = structure.senders.incidence if to_hyperedges else structure.incidence
        pooled = attend(self.values(x), shares, incidence, transposed=to_hyperedges)
        y = self.first_norm(self.seed + pooled)
        result: Tensor = self.second_norm(y + torch.relu(self.feedforward(y)))
        return result


class MeanPool(nn.Module):
    """Pooling by a mean between two small networks."""

    def __init__(self, width: int, hidden: int) -> None:
        super().__init__()
        self.before = two_layers(width, hidden)
        self.norm = nn.LayerNorm(hidden)  # without it eight maps in a row hardly learn
        self.after = two_layers(hidden, hidden)

    def forward(self, x: Input, structure: Layer, *, to_hyperedges: bool) -> Tensor:
        """One row per hyperedge or per node, (M or N, hidden)."""
        mean = structure.senders.hyperedge_mean if to_hyperedges else structure.node_mean
        result: Tensor = self.after(self.norm(mean @ self.before(x)))
        return result


def attend(values: Tensor, scores: Tensor, incidence: SparseMatrix, *, transposed: bool) -> Tensor:
    """Weighted softmax of ``scores`` (members, heads) over each set, times ``values`` (members, hidden).

    A score belongs to a member, not to a pair: while all scores of a head are within ``SOFTMAX_RANGE`` of
    each other one maximum serves every set, numerator and denominator are two plain sums over the set, and
    nothing of the size of the incidence is stored. Scores further apart need the maximum of each set and
    one number per pair and head. A set without members gives 0.
    """
    sets = incidence.by_column if transposed else incidence.by_row
    if len(sets.columns) == 0:  # every set is empty
        return values.new_zeros(len(sets.starts) - 1, values.shape[1])
    lowest, highest = scores.detach().aminmax(dim=0)
    if (highest - lowest > SOFTMAX_RANGE).any():
        return _attend_by_pair(values, scores, sets)
    terms = (scores - highest).exp()
    heads = terms.shape[1]
    width = values.shape[1] // heads
    weighted = (values.view(-1, heads, width) * terms[:, :, None]).flatten(1)
    together = torch.cat([weighted, terms], dim=1)
    sums = incidence.transposed_times(together) if transposed else incidence @ together
    totals = sums[:, -heads:].clamp_min(torch.finfo(sums.dtype).tiny)
    return (sums[:, :-heads].view(-1, heads, width) / totals[:, :, None]).flatten(1)


def _attend_by_pair(values: Tensor, scores: Tensor, sets: Compressed) -> Tensor:
    """The same with the maximum of each set; the largest term of a set is its weight, so no total is 0."""
    members, num_sets = sets.columns.long(), len(sets.starts) - 1
    owners = torch.arange(num_sets, device=members.device).repeat_interleave(sets.starts.diff())
    of_pairs = scores.index_select(0, members)
    lowest = scores.new_full((num_sets, scores.shape[1]), -torch.inf)
    peaks = lowest.scatter_reduce(0, owners[:, None].expand_as(of_pairs), of_pairs.detach(), "amax")
    terms = sets.values[:, None] * (of_pairs - peaks[owners]).exp()
    totals = torch.zeros_like(lowest).index_add(0, owners, terms)
    shares = terms / totals.index_select(0, owners)
    pooled = [
        functional.embedding_bag(
            members,
            part.contiguous(),
            sets.starts.long(),
            mode="sum",
            per_sample_weights=share.contiguous(),
            include_last_offset=True,
        )
        for part, share in zip(values.chunk(shares.shape[1], dim=1), shares.unbind(1), strict=True)
    ]
    return torch.cat(pooled, dim=1)


def two_layers(width: int, hidden: int) -> nn.Sequential:
    """``relu(x W + b) W' + b'``."""
    return nn.Sequential(InputLinear(width, hidden), nn.ReLU(), nn.Linear(hidden, hidden))
