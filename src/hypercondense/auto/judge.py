"""What candidates are worth, on validation nodes: a cheap look at all, networks for the last few."""

from collections.abc import Sequence
from dataclasses import dataclass

from hypercondense.diffusion import identity, vanilla
from hypercondense.hypergraph import Hypergraph
from hypercondense.methods.base import Task
from hypercondense.methods.learner import Training, learner_accuracy
from hypercondense.methods.problem import Problem
from hypercondense.rng import generator

#: What a network of two convolutions sees of a node, and what one sees that does not trust the structure.
VIEWS = (vanilla(2), identity())
_STREAM = 8
_TRAINING = Training(hidden=64)


@dataclass(frozen=True)
class Judge:
    """Accuracy on validation rows of small networks trained on candidates, under the view that suits best.

    Where structure helps that is the diffused view, for all candidates; where it misleads, the raw one.
    """

    problems: Sequence[Problem]

    @classmethod
    def of(cls, task: Task) -> "Judge":
        """Prepare the rows once."""
        return cls([Problem.of(task, [view]) for view in VIEWS])

    def __call__(self, candidate: Hypergraph) -> float:
        """Always the same training, so that equal candidates score the same."""
        scores = [
            learner_accuracy(
                problem.view_of(candidate),
                problem.targets_of(candidate),
                problem.validation,
                problem.validation_labels,
                how=_TRAINING,
                chance=generator(0, _STREAM),
            )
            for problem in self.problems
        ]
        return max(scores)
