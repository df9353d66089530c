"""Teachers: networks trained on the whole source, whose opinion of every node is to be predicted as well.

Where training nodes are few, rows that are optimized for long predict these nodes and no others. But the
features of *all* nodes are known, and teachers say which classes nodes without a label are likely to have.
A teacher takes as long as a training on everything.
"""

from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import Tensor

from hypercondense.condensing.checkpoint import Checkpoint
from hypercondense.errors import CondensationError
from hypercondense.hypergraph import Split
from hypercondense.names import Metric, NetworkName
from hypercondense.nn.training import Configuration, Inputs, train
from hypercondense.runtime.progress import Progress, silent
from hypercondense.runtime.rng import Stream, numpy_generator
from hypercondense.runtime.threads import one_thread
from hypercondense.typed import Count, Value

_LARGEST_SEED = 2**31


class Teachers(Value):
    """Which networks are asked.

    Args:
        number: How many are trained on the whole source; the mean of their opinions counts.
        network: Which network; ``mlp`` where structure misleads.
    """

    number: Count = 3
    network: NetworkName = "hgnn"


def opinions(
    teachers: Teachers,
    source: Inputs,
    split: Split,
    *,
    seed: int,
    metric: Metric = "accuracy",
    progress: Progress = silent,
    warn: Callable[[str], None] = lambda warning: None,
    checkpoint: Checkpoint | None = None,
) -> Tensor:
    """Shares of the classes in every node, (nodes, classes): their class, or what teachers think.

    Training nodes have their class. Validation nodes choose the epoch of a teacher by ``metric``. A teacher
    that diverged is not asked, and ``warn`` is told.

    Raises:
        CondensationError: All teachers diverged.
    """
    seeds = numpy_generator(seed, Stream.TEACHERS).integers(_LARGEST_SEED, size=teachers.number)
    asked_so_far = 0
    total = torch.zeros(len(source.labels), source.num_classes, device=source.labels.device)
    for done, teacher_seed in enumerate(seeds.tolist(), start=1):
        key = f"teacher {teachers.network} {teacher_seed} {len(split.validation_ids)}"
        part = checkpoint and checkpoint.part(key)
        if part and (saved := part.load()):
            with part.continuing():
                told = saved[0]["opinion"].to(total).reshape(total.shape)
        else:
            under_way = checkpoint and checkpoint.part(f"{key}, not finished")
            told = _opinion(teachers, source, split, seed=teacher_seed, metric=metric, store=under_way)
            if part and under_way:
                part.save({"opinion": told}, {})
                under_way.forget()
        if told.isfinite().all():
            total, asked_so_far = total + told, asked_so_far + 1
        progress("teach", done, teachers.number)
    diverged = f"{teachers.number - asked_so_far} of {teachers.number} teachers ({teachers.network}) diverged"
    if asked_so_far == 0:
        raise CondensationError(
            f"{diverged}: what they say of nodes are no numbers; scale the features, or use a method "
            "without teachers"
        )
    if asked_so_far < teachers.number:
        warn(f"{diverged} and were not asked; scale the features")
    shares = total / asked_so_far
    known = torch.as_tensor(split.train_ids.copy(), device=shares.device)
    shares[known] = F.one_hot(source.labels[known], source.num_classes).to(shares)
    return shares


def _opinion(
    teachers: Teachers,
    source: Inputs,
    split: Split,
    *,
    seed: int,
    metric: Metric,
    store: Checkpoint | None,
) -> Tensor:
    """What one teacher thinks of every node."""
    with one_thread():
        asked = Configuration(model=teachers.network)
        model = train(asked, source, source, split, seed=seed, metric=metric, store=store).model
        with torch.no_grad():
            return F.softmax(model(source.features, source.structure), dim=1)
