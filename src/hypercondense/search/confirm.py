"""How networks are trained that have the last word in a search."""

import math
from typing import Annotated, Any

from msgspec import Meta
from msgspec.structs import asdict

from hypercondense.typed import Count, Value

Dropped = Annotated[float, Meta(ge=0, lt=1)]


class ShortTraining(Value):
    """A training on a candidate.

    Args:
        epochs: Its length.
        looks: How often the network is tried on validation nodes in between; the best counts.
        hidden: Width of the network; ``none`` for its own.
        dropout: Share of hidden features that are dropped; ``none`` for its own.
        input_dropout: Share of inputs that are dropped; ``none`` for its own.
    """

    epochs: Count = 120
    looks: Count = 3
    hidden: Count | None = None
    dropout: Dropped | None = None
    input_dropout: Dropped | None = None

    @property
    def options(self) -> dict[str, Any]:
        """What differs from the defaults of a network."""
        options = asdict(self)
        return {
            name: value
            for name, value in options.items()
            if name not in ("epochs", "looks") and value is not None
        }


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
        {'epochs': 150, 'looks': 7, 'options': {}, 'repeats': 1, 'every_form': True}
        """
        repeats = math.ceil(self.enough_answers / num_validation)
        training = self.quick if repeats == 1 else self.thorough
        return {
            "epochs": training.epochs,
            "looks": training.looks,
            "options": training.options,
            "repeats": min(self.most_repeats, repeats),
            "every_form": True,
        }
