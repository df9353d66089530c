"""HGCPA: GCPA (Li et al., ICML 2025) with the messages of a hypergraph.

GCPA's two stages are kept: features are propagated once and averaged class-wise, then they are adapted so
that they agree with sampled rows of their class and stay different from each other. There is no structure.
docs/baselines.md lists what the description leaves open.
"""

from typing import ClassVar

import torch
from torch import Tensor

from hypercondense.condensing.job import Job, Made
from hypercondense.condensing.leaves import Leaves
from hypercondense.condensing.loop import Objective, optimize
from hypercondense.condensing.losses import PairSampler, fine_loss
from hypercondense.condensing.maps import Map
from hypercondense.condensing.rows import SeenRows, spread
from hypercondense.condensing.starts import Means
from hypercondense.runtime.rng import Stream, generator
from hypercondense.typed import Count, CountOrZero, NotNegative, Positive, Value


class HGCPA(Value):
    """Precomputed class-wise means, adapted by contrast.

    Args:
        hops: Times that messages are passed before everything else: the source rows are ``P^hops X``.
        samples: Rows per mean.
        epochs: Steps of adaptation; 0 is the precomputation alone.
        step: Step of Adam, times the standard deviation of the features at the start.
        negatives: Rows of other classes that each condensed node is contrasted with.
        diversity: Weight of the repulsion between condensed nodes of one class.
        temperature: Divides all similarities, which are cosines.
        looks: How many states besides the start are scored on validation nodes; 0 returns the last.
    """

    empty_structure: ClassVar[None] = None
    one_thread_up_to: ClassVar[int] = 256
    trains_on_whole: ClassVar[None] = None

    hops: CountOrZero = 2
    samples: Count = 20
    epochs: CountOrZero = 50
    step: Positive = 0.03
    negatives: CountOrZero = 10
    diversity: NotNegative = 0.1
    temperature: Positive = 0.2
    looks: CountOrZero = 4

    def run(self, job: Job) -> Made:
        """Precompute, then adapt."""
        material, rows_map = job.material, Map(kernel="power", time=self.hops)
        rows = material.training_rows(rows_map)
        start = Means(samples=self.samples)
        first, members = material.first_features(rows, rows_map, start, job.labels, seed=job.seed)
        seen = SeenRows(rows, material.train_labels, material.device, unit_vectors=True)
        run = optimize(
            job,
            Leaves(first),
            Adaptation(self, seen, job, step=self.step * spread(first)),
            labels=job.labels,
            epochs=self.epochs,
            looks=self.looks,
        )
        return run.made(members)


class Adaptation(Objective):
    """Agreement with sampled rows of the class, and distance from its other nodes."""

    def __init__(self, method: HGCPA, rows: SeenRows, job: Job, *, step: float) -> None:
        self.method, self.rows, self.step = method, rows, step
        self.labels = torch.as_tensor(job.labels, device=job.material.device)
        self.sampler = PairSampler.of(rows.labels, job.labels, method.negatives)
        self.chance = generator(job.seed, Stream.HGCPA)

    def seen(self, features: Tensor, structure: Tensor) -> Tensor:
        """Their directions: there is no structure."""
        return self.rows.directed(features)

    def loss(self, seen: Tensor, shares: Tensor | None, epoch: int) -> tuple[Tensor, dict[str, Tensor]]:
        """Alignment and crowding."""
        temperature = self.method.temperature
        positives, negatives = (self.rows[positions] for positions in self.sampler.draw(self.chance))
        alignment = fine_loss(seen, positives, negatives, temperature=temperature)
        crowd = crowding(seen, self.labels, temperature=temperature)
        loss = alignment + self.method.diversity * crowd
        return loss, {"alignment": alignment, "crowding": crowd}

    def steps(self, epoch: int) -> tuple[float, float]:
        """The same all the time."""
        return self.step, 0.0


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
