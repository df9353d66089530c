"""What a method will cost from sizes alone, to tell how long a command takes: only ratios matter."""

from hypercondense.condensing.job import Method
from hypercondense.condensing.recipe import Recipe
from hypercondense.search import costs
from hypercondense.search.auto import Auto

#: Stages of condensing that tell how far it is.
COUNTING = ("search", "condense")


def recipes_of(method: Auto, sizes: costs.Sizes, *, whole_training: bool = True) -> list[Recipe]:
    """What a search will carry out at most, in order; without ``whole_training`` nothing with teachers."""
    facts = method.facts(sizes, whole_training=whole_training, chooses=sizes.validation > 0, seed=0)
    entries = method.race.entries(facts)
    most = 1 if sizes.validation == 0 else int(min(method.allowed.trials, len(entries)))
    return [entry.recipe for entry in entries[:most]]


def condensing(method: Method, sizes: costs.Sizes, *, whole_training: bool = True) -> float:
    """Nominal seconds of one condensation, with the guard; of a search, of all it may carry out."""
    guard = costs.judging(sizes, trainings=2, epochs=200, looks=4)
    if isinstance(method, Auto):
        recipes = recipes_of(method, sizes, whole_training=whole_training)
        asking = len(recipes) * guard if len(recipes) > 1 else 0.0
        return guard + asking + sum(costs.condensing(one, sizes) for one in recipes)
    return guard + (costs.condensing(method, sizes) if isinstance(method, Recipe) else 0.0)
