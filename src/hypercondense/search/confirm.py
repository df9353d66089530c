"""How networks are trained that have the last word in a search."""

import math
from typing import Any

from hypercondense.typed import Count, Value


class ShortTraining(Value):
    """A training on a candidate.

    Args:
        epochs: Its length.
        looks: How often the network is tried on validation nodes in between; the best counts.
    """

    epochs: Count = 120
    looks: Count = 3


class Confirm(Value):
    """How candidates are confirmed: by one quick training, or by several thorough ones.

    Args:
        enough_answers: Trainings are repeated until validation nodes have given so many answers; where one
            training is enough it is the quick one.
        most_repeats: But not more often than this.
        quick: Where validation nodes are many, and looks at them take long.
        thorough: Where they are few: as networks are trained later, with fewer looks.
    """

    enough_answers: Count = 4000
    most_repeats: Count = 1
    quick: ShortTraining = ShortTraining(epochs=120, looks=3)
    thorough: ShortTraining = ShortTraining(epochs=150, looks=7)

    def with_nodes(self, num_validation: int) -> dict[str, Any]:
        """Arguments of :class:`~hypercondense.nn.short_trainings.ShortTrainings`.

        >>> Confirm().with_nodes(2000)
        {'epochs': 150, 'looks': 7, 'repeats': 1, 'every_form': True}
        """
        repeats = math.ceil(self.enough_answers / num_validation)
        training = self.quick if repeats == 1 else self.thorough
        return {
            "epochs": training.epochs,
            "looks": training.looks,
            "repeats": min(self.most_repeats, repeats),
            "every_form": True,
        }
