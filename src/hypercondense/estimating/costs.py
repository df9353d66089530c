"""Seconds, memory and disk of ``condense`` and ``evaluate``, from sizes and pieces of the work itself."""

from collections.abc import Mapping, Sequence
from contextlib import closing
from typing import Any

from msgspec import structs

from hypercondense.catalogue import given_method
from hypercondense.condensing.allotment import RatioOf, condensed_labels
from hypercondense.condensing.dual_level import DualLevel
from hypercondense.condensing.job import Method
from hypercondense.condensing.material import MANY
from hypercondense.condensing.predict import Predict
from hypercondense.condensing.recipe import Recipe
from hypercondense.condensing.starts import Better
from hypercondense.errors import ConfigError
from hypercondense.estimating.pieces import Measured, OfNetwork, Pieces
from hypercondense.estimating.room import condensing_bytes, disk_bytes, evaluating_bytes
from hypercondense.hypergraph import Hypergraph, Split
from hypercondense.hypergraph import split as split_by_seed
from hypercondense.names import DEFAULT_METHOD
from hypercondense.nn.looks import SAMPLING, VALIDATE_EVERY
from hypercondense.nn.training import Configuration
from hypercondense.runtime.arguments import must_be, told_arguments
from hypercondense.runtime.clock import TOTAL
from hypercondense.runtime.memory import parse_size
from hypercondense.search.ahead import maps_of
from hypercondense.search.auto import Auto
from hypercondense.search.budget import Budget
from hypercondense.search.costs import Sizes, condensing, diffusing, judging
from hypercondense.search.nominal import recipes_of
from hypercondense.typed import NotNegative, Value, Whole

_GROWTH = 1.05  # exponent of what grows with the source: beyond a cache nodes cost more
_SAMPLED_FROM, _LOOKED_AT = SAMPLING.worth * SAMPLING.nodes, 12  # the latter as nn.epochs has it, about
_USUAL = 0.01  # condensed nodes / source nodes, where only the order matters
_POSSIBLY = 12.0  # nominal seconds that may be a minute on a machine that is busy or slow
_SHORT, _SHORT_LOOKS = 80, 4  # of the short trainings that judge dual-level recipes and baselines


class Cost(Value):
    """What a command takes.

    Args:
        seconds: Of its stages, in their order, and of all as ``total``.
        memory: The most bytes of memory.
        disk: Bytes that are written.
    """

    seconds: Mapping[str, NotNegative]
    memory: Whole
    disk: Whole

    @property
    def shares(self) -> dict[str, float]:
        """Of each stage in all seconds.

        >>> Cost(seconds={"a": 1.0, "b": 3.0, "total": 4.0}, memory=0, disk=0).shares
        {'a': 0.25, 'b': 0.75}
        """
        total = self.seconds[TOTAL] or 1.0
        return {stage: value / total for stage, value in self.seconds.items() if stage != TOTAL}


class Estimate(Value):
    """What ``condense`` and then ``evaluate`` will take.

    Args:
        nodes: Condensed nodes that were asked for.
        condense: Of condensing.
        evaluate: Of the trainings on the result.

    >>> import hypercondense as hc
    >>> hc.estimate(hc.synthetic(num_nodes=200, seed=0), nodes=10, method="means").nodes
    10
    """

    nodes: Whole
    condense: Cost
    evaluate: Cost


@told_arguments
def estimate(
    source: Hypergraph,
    split: Split | None = None,
    *,
    ratio: float | None = None,
    nodes: int | None = None,
    ratio_of: RatioOf = "all",
    method: str | Method = DEFAULT_METHOD,
    settings: Mapping[str, Any] | None = None,
    budget: str | int | None = None,
    memory: int | str | None = None,
    models: Sequence[str] = ("hgnn",),
    runs: int = 5,
    cached: bool = True,
    pieces: Pieces | None = None,
) -> Estimate:
    """What ``condense`` and ``evaluate`` will take here, from about two seconds of the real work.

    Args:
        source: The hypergraph.
        split: Its training, validation and test nodes.
        ratio: Condensed nodes / all source nodes.
        nodes: The number of condensed nodes, instead of ``ratio``.
        ratio_of: ``"all"`` or ``"train"``.
        method: A recipe or the name of one, or ``auto``; others are not known.
        settings: Fields of the method to change.
        budget: Of a search.
        memory: Bytes the work may use; more is written to disk.
        models: Networks of ``evaluate``.
        runs: Trainings of each.
        cached: Whether diffused features are kept in a file.
        pieces: Seconds of pieces of work; measured unless given.

    >>> from hypercondense.data import synthetic
    >>> told = estimate(synthetic(num_nodes=200, seed=0), ratio=0.05, method="means")
    >>> told.nodes, list(told.condense.seconds)
    (10, ['diffusion', 'start', 'guard', 'ledger', 'total'])
    """
    must_be("source", source, Hypergraph, like="estimate(source, ratio=0.01)")
    chosen, _ = given_method(method, settings, budget)
    split = split_by_seed(source) if split is None else split
    labels = condensed_labels(
        source.labels[split.train_ids],
        num_nodes=source.num_nodes,
        ratio=ratio,
        nodes=nodes,
        ratio_of=ratio_of,
    )
    sizes = Sizes.of(source, split, len(labels))
    allowed = parse_size(memory) if isinstance(memory, str) else memory
    recipes = _recipes(chosen, sizes, teachers=allowed is None or not source.is_mapped)
    if pieces is None:
        with closing(Measured(source, split, labels, cached=cached)) as measured:
            return _Work(source, sizes, measured, cached).estimate(chosen, recipes, allowed, models, runs)
    return _Work(source, sizes, pieces, cached).estimate(chosen, recipes, allowed, models, runs)


def estimable(method: Method, source: Hypergraph, split: Split) -> bool:
    """Whether stages of a method are known, and a minute is possible by nominal costs: then it pays."""
    if not isinstance(method, (Auto, Recipe)):
        return False
    sizes = Sizes.of(source, split, max(source.num_classes, round(_USUAL * source.num_nodes)))
    recipes = _recipes(method, sizes)
    asking = len(recipes) * judging(sizes, trainings=1, epochs=200, looks=8)
    maps = sum(len(set(maps_of(recipe))) for recipe in recipes)
    nominal = sum(condensing(recipe, sizes) for recipe in recipes) + asking + diffusing(maps, sizes)
    return nominal > _POSSIBLY


def _recipes(method: Method, sizes: Sizes, *, teachers: bool = True) -> list[Recipe]:
    """What will be carried out, in order.

    Raises:
        ConfigError: It is not known.
    """
    if isinstance(method, Recipe):
        return [method]
    if not isinstance(method, Auto):
        raise ConfigError(
            "estimates are of recipes and of auto, whose stages are known; `hypercondense methods` tells "
            "which methods are recipes"
        )
    return recipes_of(method, sizes, whole_training=teachers)


def _with_total(seconds: Mapping[str, float]) -> dict[str, float]:
    told = {stage: value for stage, value in seconds.items() if value > 0}
    return {**told, TOTAL: sum(told.values())}


class _Work:
    """Puts pieces together."""

    def __init__(self, source: Hypergraph, sizes: Sizes, pieces: Pieces, cached: bool) -> None:
        self.source, self.sizes, self.pieces, self.cached = source, sizes, pieces, cached
        self.growth = float(pieces.growth**_GROWTH)
        self.known: dict[str, OfNetwork] = {}

    def estimate(
        self, method: Method, recipes: Sequence[Recipe], memory: int | None, models: Sequence[str], runs: int
    ) -> Estimate:
        """Of both commands; ``memory`` is what they may use."""
        condense = self.condensing(method, recipes)
        evaluate = {model: runs * self.training(model) for model in models}
        maps = len({one for recipe in recipes for one in maps_of(recipe)})
        working = self.pieces.working_bytes
        taught = any(recipe.trains_on_whole for recipe in recipes)
        room = condensing_bytes(
            self.source, self.sizes, working=working, maps=maps, cached=self.cached, taught=taught
        )
        room_to_evaluate = evaluating_bytes(self.source, self.sizes, working=working)
        within = [one if memory is None else min(memory, one) for one in (room, room_to_evaluate)]
        disk = disk_bytes(self.sizes, maps=maps if self.cached or memory is not None else 0)
        return Estimate(
            nodes=self.sizes.condensed,
            condense=Cost(seconds=_with_total(condense), memory=within[0], disk=disk),
            evaluate=Cost(seconds=_with_total(evaluate), memory=within[1], disk=0),
        )

    def condensing(self, method: Method, recipes: Sequence[Recipe]) -> dict[str, float]:
        """Seconds by stage."""
        stages = dict.fromkeys(("diffusion", "start", "optimization", "looks", "teachers", "confirm"), 0.0)
        judge = 0.0
        for recipe in recipes:
            for stage, seconds in self._recipe(recipe).items():
                stages[stage] += seconds
            judge = self._judge(recipe)
        if isinstance(method, Auto) and len(recipes) > 1:
            judge = self._asking(method)
            stages["confirm"] = len(recipes) * judge
            if (limit := self._limit(method)) is not None:
                stages = {stage: min(1.0, limit / sum(stages.values())) * s for stage, s in stages.items()}
        scored = any(isinstance(recipe.goal, (DualLevel, Predict)) and recipe.looks for recipe in recipes)
        stages["guard"] = (1 if scored else 2) * judge if self.sizes.validation else 0.0
        if not self.source.is_mapped:  # an epoch on everything, with its look, tells what a training costs
            one = self.growth * self.pieces.whole_step("hgnn")
            stages["ledger"] = one + self._looks(self._network("hgnn"), 1)
        return stages

    def training(self, model: str) -> float:
        """One training that is evaluated, in each form of the network, and its score on test nodes."""
        epochs = Configuration(model=model).in_each_form()[0].epochs
        assert epochs is not None
        of = self._network(model)
        looks = self._looks(of, -(-epochs // VALIDATE_EVERY)) if self.sizes.validation else 0.0
        return epochs * of.step + looks + self.growth * of.look

    def _recipe(self, recipe: Recipe) -> dict[str, float]:
        stages = dict.fromkeys(("diffusion", "start", "optimization", "looks", "teachers"), 0.0)
        looked = recipe.looks + 1 if recipe.looks and self.sizes.validation else 0
        for part, epochs in goal_parts(recipe):
            of = self.pieces.recipe(part)
            stages["diffusion"] += self.growth * of.diffusing
            stages["start"] = self.growth * of.starting + of.preparing
            stages["optimization"] += epochs * of.epoch
            if isinstance(recipe.goal, Predict):
                stages["looks"] = looked * of.look
                if isinstance(recipe.start, Better) and self.sizes.validation:
                    closed = 0 if recipe.goal.closed_form is None else recipe.goal.closed_form.epochs
                    stages["start"] += 2 * of.look + (2 * closed * of.epoch if epochs == closed else 0.0)
        if isinstance(recipe.goal, DualLevel):
            stages["looks"] = looked * self._judge(recipe)
        if isinstance(recipe.goal, Predict) and (teachers := recipe.goal.teachers) is not None:
            stages["teachers"] = teachers.number * self._whole(teachers.network)
        return stages

    def _judge(self, recipe: Recipe) -> float:
        """One score of a candidate by who judges a recipe."""
        if isinstance(recipe.goal, Predict):
            (*_, (part, _)) = goal_parts(recipe)
            return self.pieces.recipe(part).look
        if isinstance(recipe.goal, DualLevel) and self.sizes.validation >= MANY:
            return self.pieces.rows_judge()
        of = self._network("hgnn")
        return _SHORT * of.step + self._looks(of, _SHORT_LOOKS)

    def _asking(self, method: Auto) -> float:
        """Networks that are trained on a candidate of a search."""
        how = method.confirm.with_nodes(self.sizes.validation)
        each = [self._network(model) for model in method.networks]
        epochs, looks, repeats = (int(how[name]) for name in ("epochs", "looks", "repeats"))
        return repeats * sum(epochs * of.step + self._looks(of, looks) + self.growth * of.look for of in each)

    def _limit(self, method: Auto) -> float | None:
        budget = Budget() if method.budget is None else Budget.parse(str(method.budget))
        return budget.seconds if budget.is_time else None

    def _whole(self, model: str) -> float:
        of, epochs = self._network(model), Configuration(model=model).in_each_form()[0].epochs or 0
        step = self.growth * self.pieces.whole_step(model)
        return epochs * step + self._looks(of, -(-epochs // VALIDATE_EVERY))

    def _looks(self, of: OfNetwork, number: int) -> float:
        """So many looks at the source: where validation nodes are many, at a sample of them, then at all."""
        one = self.growth * of.look
        if number == 1 or self.sizes.validation < _SAMPLED_FROM:
            return number * one
        degree = self.sizes.incidences / self.sizes.nodes
        seen = min(1.0, SAMPLING.nodes * (1 + degree**2) / self.sizes.nodes)
        return (min(number, _LOOKED_AT) * seen + -(-number // SAMPLING.due)) * one

    def _network(self, model: str) -> OfNetwork:
        if model not in self.known:
            self.known[model] = self.pieces.network(model)
        return self.known[model]


def goal_parts(recipe: Recipe) -> list[tuple[Recipe, int]]:
    """The recipe once for each part of its goal, which differ in what an epoch takes, with their epochs."""
    goal = recipe.goal
    if not isinstance(goal, Predict):
        return [(recipe, 0 if goal is None else goal.epochs)]
    parts = []
    for name, other in (("closed_form", "training"), ("training", "closed_form")):
        if (part := getattr(goal, name)) is not None:
            parts.append((structs.replace(recipe, goal=structs.replace(goal, **{other: None})), part.epochs))
    return parts
