"""A judge that costs little on large sources: a small network on rows that were diffused before.

Short trainings of HGNN look at a source whose size makes each of them cost more than the steps between two
looks. This judge trains the network of :mod:`hypercondense.nn.learner` on the rows of a candidate as the goal
sees them, and asks it about diffused rows of validation nodes. docs/decisions/0013-few-looks.md shows
how well both agree.
"""

import torch

from hypercondense.condensing.maps import Map
from hypercondense.condensing.material import Material
from hypercondense.condensing.problem import rows_of, targets_of
from hypercondense.condensing.unrolled import Unrolled
from hypercondense.hypergraph import Hypergraph
from hypercondense.nn.inputs import told_classes
from hypercondense.nn.learner import averaged_learner
from hypercondense.nn.scoring import score_of
from hypercondense.runtime.rng import Stream, generator


class RowsJudge:
    """Scores hypergraphs on rows of a sample of the validation nodes.

    Args:
        material: The source; it has a sample where its validation nodes are many.
        rows_map: How its rows, and those of candidates, are diffused.
    """

    def __init__(self, material: Material, rows_map: Map) -> None:
        self.material, self.map = material, rows_map
        device = material.device
        self.rows = torch.from_numpy(material.sampled_rows(rows_map)).to(device)
        self.labels = torch.from_numpy(material.source.labels[material.sampled_ids]).to(device)

    def __call__(self, candidate: Hypergraph) -> float:
        """Score of a network trained on a candidate, always in the same way."""
        rows = rows_of(candidate, self.map.polynomial, like=self.rows)
        targets = targets_of(candidate, num_classes=self.material.source.num_classes, like=self.rows)
        chance = generator(0, Stream.LEARNERS)
        learner = averaged_learner(rows, targets, how=Unrolled().training, chance=chance)
        return score_of(told_classes(learner(self.rows)), self.labels, self.material.metric)
