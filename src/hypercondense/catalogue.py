"""Every way to condense, by name, and the one function that does it."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from hypercondense.condensation import Condensation
from hypercondense.condensing.allotment import RatioOf
from hypercondense.condensing.baselines.coresets import Herding, KCenter, Random
from hypercondense.condensing.baselines.hgcond import HGCond
from hypercondense.condensing.baselines.hgcpa import HGCPA
from hypercondense.condensing.describe import summary_of
from hypercondense.condensing.job import Method
from hypercondense.condensing.presets import PRESETS, name_of
from hypercondense.condensing.recipe import Recipe
from hypercondense.condensing.run import condense_material, material_of, tell_warnings
from hypercondense.condensing.settings import changed
from hypercondense.errors import ConfigError, FormatError
from hypercondense.files.storage import read_json
from hypercondense.hypergraph import Hypergraph, Split
from hypercondense.hypergraph.scaling import Scaling
from hypercondense.names import DEFAULT_METHOD, SEARCHES, WITH_GRID, Allocation, Metric
from hypercondense.runtime.arguments import must_be, must_be_flags, told_arguments
from hypercondense.runtime.engine import Engine
from hypercondense.runtime.progress import Progress
from hypercondense.search.auto import Auto
from hypercondense.search.grid import PaperGrid
from hypercondense.search.retain import CONFIDENCE, condense_to_retain
from hypercondense.typed import read

RECIPE_VERSION = 1  # of recipe files

#: What each method is, in a line, and the method itself: a value that may be changed by settings.
METHODS: dict[str, tuple[str, Any]] = {
    "auto": (summary_of(Auto), Auto()),
    **PRESETS,
    "random": (summary_of(Random), Random()),
    "herding": (summary_of(Herding), Herding()),
    "k-center": (summary_of(KCenter), KCenter()),
    "hgcpa": (summary_of(HGCPA), HGCPA()),
    "hg-cond": (summary_of(HGCond), HGCond()),
    "hg-cond-nhl": ("The same with the hyperedges of the start.", HGCond(relink=False)),
}


#: What a method may be, besides a name.
_KINDS: tuple[type, ...] = (PaperGrid, *dict.fromkeys(type(one) for _, one in METHODS.values()))


def make_method(
    name: str = DEFAULT_METHOD, settings: Mapping[str, Any] | None = None, *, budget: str | int | None = None
) -> Method:
    """The method of a name, or of a recipe file (``.json``), with fields changed, perhaps given as texts.

    >>> make_method("ahgcdd-x", {"goal.epochs": "50"}).goal.epochs
    50
    """
    method: Any = changed(_named(name), settings or {})
    if budget is None:
        return method  # type: ignore[no-any-return]
    if isinstance(method, Auto):
        return changed(method, {"budget": str(budget)})
    if name not in WITH_GRID:
        raise ConfigError(f"a budget is for methods that search ({', '.join(SEARCHES)}); {name} does not")
    try:
        return PaperGrid(base=method, budget=str(budget))
    except ValueError as error:
        raise ConfigError(str(error)) from error


def method_from(name: str, content: Mapping[str, Any]) -> Method:
    """The method that was recorded under a name, with all its fields."""
    kind = type(METHODS[name][1]) if name in METHODS else Recipe
    method: Method = read(content, PaperGrid if "base" in content else kind)
    return method


def recorded_name(method: str | Method) -> str:
    """What provenance calls a method: its name if it has one, else ``recipe``.

    >>> recorded_name(Auto(budget=5)), recorded_name(HGCond(relink=False))
    ('auto', 'hg-cond-nhl')
    """
    if isinstance(method, str):
        return method if method in METHODS else "recipe"
    if isinstance(method, PaperGrid):
        return name_of(method.base)
    if isinstance(method, Recipe):
        return name_of(method)
    named = {name: one for name, (_, one) in METHODS.items() if type(one) is type(method)}
    return next((name for name, one in named.items() if one == method), next(iter(named)))


def given_method(
    method: str | Method, settings: Mapping[str, Any] | None, budget: str | int | None
) -> tuple[Method, str]:
    """A method by its name or as a value, with fields changed, and what provenance calls it."""
    if isinstance(method, str):
        return make_method(method, settings, budget=budget), recorded_name(method)
    if not isinstance(method, _KINDS):
        kind = getattr(method, "__name__", "")
        hint = f"; call it: {kind}()" if any(method is one for one in (AHGCDD, AHGCDDX, *_KINDS)) else ""
        raise TypeError(
            f"method must be the name of a method, a recipe, or a method with options, "
            f"got {type(method).__name__}{hint}"
        )
    if budget is not None and not isinstance(method, Auto | PaperGrid):
        raise ConfigError("a budget is for methods that search; a recipe does not")
    given: Any = method
    value = changed(given, {**(settings or {}), **({} if budget is None else {"budget": str(budget)})})
    return value, recorded_name(value)


def _named(name: str) -> Any:
    if name in METHODS:
        return METHODS[name][1]
    if name.endswith(".json"):
        if not Path(name).is_file():
            raise ConfigError(f"there is no recipe file {name}; give the name of a method or a file")
        try:
            content = read_json(Path(name))
        except FormatError as error:
            raise ConfigError(str(error)) from error
        version = content.pop("recipe_version", RECIPE_VERSION)
        if version != RECIPE_VERSION:
            raise ConfigError(
                f"{name} has recipe_version {repr(version)[:20]}, and this program reads {RECIPE_VERSION}; "
                "use the version of hypercondense that wrote it, or a newer one"
            )
        return read(content, Recipe, where=name)
    hint = ""
    if name == "whole":
        hint = " (whole is what they are compared with: by evaluate, or among the methods of compare)"
    raise ConfigError(f"unknown method {name!r}; the methods are {', '.join(METHODS)}{hint}")


@told_arguments
def condense(
    source: Hypergraph,
    split: Split | None = None,
    *,
    ratio: float | None = None,
    nodes: int | None = None,
    ratio_of: RatioOf = "all",
    retain: float | None = None,
    confidence: float | None = None,
    allocate: Allocation = "proportional",
    metric: Metric = "accuracy",
    method: str | Method = DEFAULT_METHOD,
    settings: Mapping[str, Any] | None = None,
    budget: str | int | None = None,
    seed: int = 0,
    select: bool = True,
    whole_training: bool = True,
    memory: int | str | None = None,
    cache_dir: Path | str | None = None,
    device: str = "cpu",
    threads: int | None = None,
    engine: Engine | None = None,
    scale: Scaling = "none",
    progress: Progress | bool | None = None,
    checkpoint: Path | str | None = None,
    resume: bool = False,
    checkpoint_every: float = 0.5,
) -> Condensation:
    """Condense a hypergraph to ``ratio`` of its nodes, to ``nodes`` nodes, or to as few as ``retain`` wants.

    Args:
        source: The hypergraph.
        split: Its training, validation and test nodes; by default half, a quarter and a quarter, by seed 0.
            Only training labels are read; those of validation nodes choose between candidates.
        ratio: Condensed nodes / all source nodes (or of the training nodes, see ``ratio_of``).
        nodes: The number of condensed nodes, instead of ``ratio``.
        ratio_of: ``"all"`` or ``"train"``.
        retain: Instead of ``ratio``: the share of what HGNN scores when it is trained on everything that is
            to be kept, as 0.99. The smallest size that keeps it is searched for on validation nodes.
        confidence: How probable it must be that a size keeps that share; 0.8 unless given.
        allocate: How nodes are shared out between classes: ``"proportional"`` to their training nodes,
            ``"equal"``, or ``"adaptive"``: more for classes whose nodes differ more.
        metric: What is chosen for on validation nodes, ``"accuracy"`` or ``"macro-f1"``.
        method: The name of a method (``hypercondense methods`` lists them), a recipe file, a recipe, or
            another method with options, such as ``Auto`` of ``hypercondense.search.auto``.
        settings: Fields of the method to change, such as ``{"goal.epochs": 80}``.
        budget: For a search: at most so many trials, as ``7``, or a time, as ``"60s"``.
        seed: Equal seeds give equal bits on one machine.
        select: Whether validation nodes may choose between candidates and guard the result. Without it no
            validation label is read.
        whole_training: Whether networks may be trained on everything, as teachers are.
        memory: Bytes the diffusion of the source may use, as a number or as ``"2GB"``.
        cache_dir: Folder where diffused features are kept between runs; ``None`` keeps nothing.
        device: Any torch device.
        threads: Of torch; 1 by default, because more gain nothing where matrices are small.
        engine: Other machines that share the diffusion and the trials of a search, with the same bits.
        scale: ``"standard"`` gives every feature mean 0 and deviation 1 over the nodes of the source, and
            makes that a part of the result: whatever reads it does the same.
        progress: ``True`` for a bar in a terminal or notebook, or a function that is called as work goes on.
        checkpoint: Folder for the state of an interrupted run.
        resume: Continue from the state in ``checkpoint`` if there is one.
        checkpoint_every: Seconds between two writes of the state, and more where these take long.

    >>> from hypercondense.data import synthetic
    >>> result = condense(synthetic(num_nodes=200, seed=0), ratio=0.05, budget=1)
    >>> result.hypergraph.num_nodes
    10
    """
    if settings is not None:
        must_be("settings", settings, Mapping, like='condense(source, ratio=0.01, settings={"looks": 1})')
    must_be_flags(select=select, whole_training=whole_training, resume=resume)
    if resume and checkpoint is None:
        raise ConfigError("resume needs the folder of the state to continue from: give checkpoint, too")
    chosen, name = given_method(method, settings, budget)
    if retain is None and confidence is not None:
        raise ConfigError("confidence is about retain; without it, leave it out")
    if retain is not None and (ratio, nodes, ratio_of) != (None, None, "all"):
        raise ConfigError("retain decides on the size; leave ratio, nodes and ratio_of out")
    how: dict[str, Any] = {
        "name": name,
        "allocate": allocate,
        "seed": seed,
        "select": select,
        "checkpoint": checkpoint,
        "resume": resume,
        "checkpoint_every": checkpoint_every,
    }
    with material_of(
        source,
        split,
        metric=metric,
        whole_training=whole_training,
        memory=memory,
        cache_dir=cache_dir,
        device=device,
        threads=threads,
        engine=engine,
        scale=scale,
        progress=progress,
    ) as material:
        if retain is None:
            size: dict[str, Any] = {"ratio": ratio, "nodes": nodes, "ratio_of": ratio_of}
            result = condense_material(chosen, material, **size, **how)
        else:
            sure = CONFIDENCE if confidence is None else confidence
            result = condense_to_retain(chosen, material, retain=retain, confidence=sure, **how)
    tell_warnings(result)
    return result


def AHGCDD(**changes: Any) -> Recipe:
    """The recipe of the paper's method, with fields changed by name.

    >>> AHGCDD(time=3.0).map.time
    3.0
    """
    return changed(PRESETS["ahgcdd"][1], changes)


def AHGCDDX(**changes: Any) -> Recipe:
    """The recipe of AHGCDD-X, which has no structure, with fields changed by name.

    >>> AHGCDDX(epochs=20).structure is None
    True
    """
    return changed(PRESETS["ahgcdd-x"][1], changes)
