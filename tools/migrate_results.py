"""Rewrite result lines of release 0.1.0, whose options were flat, to the recipes of 0.2.

    python tools/migrate_results.py docs/results/results.jsonl

Only names change: each line keeps its figures, and says by the new names what made it.
"""

import json
import sys
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from hypercondense.condensing.anchors import Anchors, WarmUp
from hypercondense.condensing.baselines.coresets import Herding, KCenter
from hypercondense.condensing.baselines.embedding import Diffused, HiddenLayer, Raw
from hypercondense.condensing.baselines.hgcond import HGCond
from hypercondense.condensing.baselines.hgcpa import HGCPA
from hypercondense.condensing.bundles import Bundles
from hypercondense.condensing.closed_form import ClosedForm
from hypercondense.condensing.dual_level import DualLevel
from hypercondense.condensing.maps import Map
from hypercondense.condensing.predict import Learnt, Plain, Predict, Smoothed
from hypercondense.condensing.recipe import Recipe
from hypercondense.condensing.starts import KMeans, Means, Single
from hypercondense.condensing.teachers import Teachers
from hypercondense.condensing.unrolled import Unrolled
from hypercondense.experiments.settings import Settings
from hypercondense.typed import content_of, flat, read

_PREDICTING = ("ridge", "unrolled", "taught", "bundled")
_HGCOND = ("hops", "epochs", "linker_steps", "threshold", "max_members", "experts", "expert_steps")


def method_of(name: str, old: dict[str, Any]) -> Any:
    """The value that flat options stood for."""
    if name in ("ahgcdd", "ahgcdd-x"):
        return _dual_level(name, old)
    if name in _PREDICTING:
        return _predicting(name, old)
    if name in ("herding", "k-center"):
        kinds = {
            "raw": Raw(),
            "diffused": Diffused(time=old["time"]),
            "hgnn": HiddenLayer(epochs=old["epochs"]),
        }
        return (Herding if name == "herding" else KCenter)(embedding=kinds[old["embedding"]])
    if name == "hgcpa":
        same = {key: old[key] for key in ("hops", "epochs", "negatives", "diversity", "temperature")}
        return HGCPA(
            samples=old["samples_per_node"], step=old["feature_step"], looks=old["snapshots"], **same
        )
    if name in ("hg-cond", "hg-cond-nhl"):
        weights = {key: old[key] for key in (*_HGCOND, "gradient_weight", "parameter_weight")}
        return HGCond(
            samples=old["samples_per_node"],
            step=old["feature_step"],
            looks=old["snapshots"],
            relink=name == "hg-cond",
            **weights,
        )
    return None


def _map(old: dict[str, Any]) -> Map:
    return Map(kernel=old["propagation"], time=old["time"])


def _start(old: dict[str, Any]) -> Any:
    kinds = {"uniform": Means(samples=old["samples_per_node"]), "single": Single(), "kmeans": KMeans()}
    return kinds[old["start"]]


def _dual_level(name: str, old: dict[str, Any]) -> Recipe:
    same = ("epochs", "negatives", "schedule", "unit_vectors", "centered", "average_others", "temperature")
    goal = DualLevel(
        step=old["feature_step"], relative=old["relative_step"], **{key: old[key] for key in same}
    )
    structure = None
    if name == "ahgcdd":
        kept = ("feature_turns", "structure_turns", "hidden", "layers", "threshold", "threshold_start")
        structure = Anchors(
            step=old["structure_step"],
            candidates=old["candidates"],
            spanned=old["spanned"],
            warm=WarmUp(
                steps=old["warm_steps"],
                neighbours=old["warm_neighbours"],
                step=old["warm_step"],
                sharpen=old["sharpen"],
            ),
            **{key: old[key] for key in kept},
        )
    return Recipe(map=_map(old), start=_start(old), goal=goal, structure=structure, looks=old["snapshots"])


def _predicting(name: str, old: dict[str, Any]) -> Recipe:
    assert old["objective"] == "cross-entropy"
    recipe = Recipe(
        map=_map(old),
        start=_start(old),
        goal=None,
        structure=Anchors() if old["structure"] else None,
        looks=old["snapshots"] if old["self_select"] else 0,
    )
    if name == "bundled":
        recipe = replace(
            recipe, bundles=Bundles(size=old["bundle"], noise=old["noise"], smoothing=old["smoothing"])
        )
    closed = training = None
    if old["epochs"]:
        closed = ClosedForm(epochs=old["epochs"], step=old["feature_step"], strength=old["strength"])
    if old.get("unrolled_epochs"):
        same = {key: old[key] for key in ("window", "horizon", "networks", "hidden")}
        training = Unrolled(epochs=old["unrolled_epochs"], step=old["unrolled_step"], **same)
    if closed is None and training is None:
        return recipe
    raw, half = Map(kernel="none"), Map(time=1.0)
    also = {"nothing": (), "raw": (raw,), "half": (half,), "both": (raw, half)}[old["also"]]
    if old.get("walks"):
        also = (*also, replace(recipe.map, walks=True))
    labels: Any = Plain()
    if old["soft_labels"]:
        labels = Learnt(step=old["label_step"]) if old["label_step"] else Smoothed()
    teachers = Teachers(number=old["teachers"], network=old["teacher"]) if name == "taught" else None
    goal = Predict(
        closed_form=closed,
        training=training,
        also=also,
        teachers=teachers,
        labels=labels,
        batch=old["batch"],
    )
    return replace(recipe, goal=goal)


def migrated(line: dict[str, Any]) -> dict[str, Any]:
    """A line with the names of today; one that has them already stays as it is."""
    settings = dict(line["settings"])
    name, old = settings["method"], settings["options"]
    if any("." in key for key in old) or "looks" in old:
        return line
    if name in (*_PREDICTING, "auto"):  # who chose by themselves whatever `select` was
        settings["select"] = True
    value = method_of(name, old)
    if value is not None:
        settings["options"] = flat(content_of(value))
    return {**line, "key": read(settings, Settings).key, "settings": settings}


def main() -> None:
    """Rewrite a file."""
    path = Path(sys.argv[1])
    lines = [migrated(json.loads(text)) for text in path.read_text("utf-8").splitlines()]
    path.write_text("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines), "utf-8")


if __name__ == "__main__":
    main()
