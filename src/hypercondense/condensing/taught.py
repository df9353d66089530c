"""Taught: what condensed rows are made for is all of the source, as a network sees it that knows the whole.

Few training nodes are soon learnt by heart: rows that are optimized for them long enough suit them and no
others. But the features of *all* nodes are there. Networks are trained on the whole source, and what they
make of the nodes whose class is not told is to be predicted as well, as shares of classes.

A teacher takes as long as a training on everything, so this is for sources where that is quick.
"""

from dataclasses import dataclass, replace
from typing import ClassVar, Literal

import torch
import torch.nn.functional as F
from torch import Tensor

from hypercondense.condensing import Unrolled
from hypercondense.condensing.base import Task
from hypercondense.condensing.options import check_options
from hypercondense.condensing.problem import Problem
from hypercondense.nn.training import Configuration, Inputs, train
from hypercondense.runtime.rng import numpy_generator
from hypercondense.runtime.threads import one_thread

_TEACHER_STREAM = 10
_LARGEST_SEED = 2**31


@dataclass(frozen=True, kw_only=True)
class Taught(Unrolled):
    """Features optimized through a training, towards the opinion of teachers on all nodes.

    Args:
        teachers: How many networks are trained on the whole source; the mean of their opinions counts.
        teacher: Which network: ``mlp`` where structure misleads.
    """

    name: ClassVar[str] = "taught"
    selects_itself: ClassVar[bool] = True  # validation nodes choose the epoch of a teacher

    epochs: int = 0
    unrolled_epochs: int = 200
    teachers: int = 3
    teacher: Literal["hgnn", "hcha", "unigcnii", "allset", "edhnn", "mlp"] = "hgnn"

    def __post_init__(self) -> None:
        super().__post_init__()
        check_options(self, at_least={"teachers": 1})

    def problem(self, task: Task) -> Problem:
        """All rows of the source, with the classes of training nodes and what teachers say of the others."""
        problem = super().problem(task)
        rows = [  # copies, for files are read-only
            torch.tensor(task.diffused(coefficients, walks=walks)) for coefficients, walks in problem.maps
        ]
        shares = task.shared(("taught", self.teacher, self.teachers), lambda: self.shares(task))
        return replace(
            problem,
            train=tuple(part.to(problem.targets) for part in rows),
            labels=shares.to(problem.targets),
        )

    def shares(self, task: Task) -> Tensor:
        """Shares of the classes in every node of the source, (nodes, classes)."""
        source = Inputs.of(task.source, device=task.device)
        seeds = numpy_generator(task.seed, _TEACHER_STREAM).integers(_LARGEST_SEED, size=self.teachers)
        total = torch.zeros(task.source.num_nodes, task.source.num_classes, device=task.device)
        for done, seed in enumerate(seeds.tolist(), start=1):
            with task.stage("teach"), one_thread():
                model = train(Configuration(model=self.teacher), source, source, task.split, seed=seed).model
                with torch.no_grad():
                    total += F.softmax(model(source.features, source.structure), dim=1)
            task.progress("teach", done, self.teachers)
        shares = total / self.teachers
        known = torch.as_tensor(task.split.train_ids.copy(), device=task.device)
        shares[known] = F.one_hot(source.labels[known], task.source.num_classes).to(shares)
        return shares
