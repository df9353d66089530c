"""Teachers: networks trained on the whole source, whose opinion of every node is to be predicted as well.

Few training nodes are soon learnt by heart: rows that are optimized long enough for them suit them and no
others. But the features of *all* nodes are known. Teachers say which classes the nodes without a label are
likely to have. A teacher takes as long as a training on everything.
"""

from typing import Literal

import torch
import torch.nn.functional as F
from torch import Tensor

from hypercondense.hypergraph import Split
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
    network: Literal["hgnn", "hcha", "unigcnii", "allset", "edhnn", "mlp"] = "hgnn"


def opinions(
    teachers: Teachers, source: Inputs, split: Split, *, seed: int, progress: Progress = silent
) -> Tensor:
    """Shares of the classes in every node, (nodes, classes): their class, or what teachers think.

    Training nodes have their class. Validation nodes choose the epoch of a teacher.
    """
    seeds = numpy_generator(seed, Stream.TEACHERS).integers(_LARGEST_SEED, size=teachers.number)
    total = torch.zeros(len(source.labels), source.num_classes, device=source.labels.device)
    for done, teacher_seed in enumerate(seeds.tolist(), start=1):
        with one_thread():
            asked = Configuration(model=teachers.network)
            model = train(asked, source, source, split, seed=teacher_seed).model
            with torch.no_grad():
                total += F.softmax(model(source.features, source.structure), dim=1)
        progress("teach", done, teachers.number)
    shares = total / teachers.number
    known = torch.as_tensor(split.train_ids.copy(), device=shares.device)
    shares[known] = F.one_hot(source.labels[known], source.num_classes).to(shares)
    return shares
