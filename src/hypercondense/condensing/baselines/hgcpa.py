"""HGCPA: GCPA (Li et al., ICML 2025) with the messages of a hypergraph.

GCPA's two stages are kept: features are propagated once and averaged class-wise, then they are adapted so
that they agree with sampled rows of their class and stay different from each other. There is no structure.
docs/baselines.md lists what the description leaves open.
"""

from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from hypercondense.condensing.base import Condenser, Outcome, Task
from hypercondense.condensing.losses import PairSampler, fine_loss
from hypercondense.condensing.options import check_options, choice
from hypercondense.condensing.refinement import Rows, State, first_features, spread
from hypercondense.condensing.starts import STARTS, Start
from hypercondense.diffusion import vanilla

_SAMPLE_STREAM = 4


@dataclass(frozen=True, kw_only=True)
class HGCPA(Condenser):
    """Precomputed class-wise means, adapted by contrast.

    Args:
        hops: Times that messages are passed before everything else: the source rows are ``P^hops X``.
        start: How rows are aggregated: ``uniform`` (means of sampled rows), ``single`` or ``kmeans``.
        samples_per_node: Rows per mean.
        epochs: Steps of adaptation; 0 is the precomputation alone.
        feature_step: Step of Adam, times the standard deviation of the features at the start.
        negatives: Rows of other classes that each condensed node is contrasted with.
        diversity: Weight of the repulsion between condensed nodes of one class.
        temperature: Divides all similarities, which are cosines.
        snapshots: How many states besides the start are scored by ``select``.
    """

    name: ClassVar[str] = "hgcpa"
    empty_structure: ClassVar[str | None] = None
    one_thread_up_to: ClassVar[int] = 256

    hops: int = 2
    start: Start = choice("uniform", STARTS)
    samples_per_node: int = 20
    epochs: int = 50
    feature_step: float = 0.03
    negatives: int = 10
    diversity: float = 0.1
    temperature: float = 0.2
    snapshots: int = 4

    def __post_init__(self) -> None:
        check_options(self, at_least={"hops": 0, "samples_per_node": 1, "epochs": 0, "snapshots": 1})
        check_options(self, at_least={"negatives": 0, "diversity": 0})
        check_options(self, above={"temperature": 0, "feature_step": 0})

    def run(self, task: Task) -> Outcome:
        """Precompute, then adapt."""
        rows = Rows(task.diffused_rows(vanilla(self.hops)), task.train_labels, task.device, unit_vectors=True)
        first, members = first_features(task, rows, start=self.start, samples=self.samples_per_node)
        step = self.feature_step * spread(first)
        state = State.features_only(task, first, step=step, stream=_SAMPLE_STREAM)
        labels = torch.as_tensor(task.labels, device=task.device)
        sampler = PairSampler.of(rows.labels, task.labels, self.negatives)
        for _ in state.epochs(self.epochs, self.snapshots):
            directions = rows.directed(state.features)
            positives, negatives = (rows[positions] for positions in sampler.draw(state.chance))
            alignment = fine_loss(directions, positives, negatives, temperature=self.temperature)
            crowd = crowding(directions, labels, temperature=self.temperature)
            loss = alignment + self.diversity * crowd
            state.update(loss, state.structure(), features=True, alignment=alignment, crowding=crowd)
        return state.outcome(members)


def crowding(directions: Tensor, labels: Tensor, *, temperature: float) -> Tensor:
    """How close condensed nodes are to others of their class: minimizing it keeps them diverse.

    The mean over nodes i of ``log mean_j exp(<x_i, x_j> / temperature)``, where j are the other nodes of the
    class of i. A node that is alone in its class does not count; if all are, the result is 0.

    >>> float(crowding(torch.eye(4), torch.tensor([0, 0, 1, 2]), temperature=0.5))
    0.0
    """
    mates = labels[:, None] == labels[None, :]
    mates = mates & ~torch.eye(len(labels), dtype=torch.bool, device=labels.device)
    paired = mates.any(1)
    if not paired.any():
        return directions.sum() * 0.0
    scores = directions[paired] @ directions.T / temperature
    mates = mates[paired]
    sums = scores.masked_fill(~mates, -torch.inf).logsumexp(1)
    return (sums - mates.sum(1).log()).mean()
