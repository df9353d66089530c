"""What stands below tables: what was measured, what is missing, and what a reader must know."""

from collections.abc import Sequence

from hypercondense.data.registry import LABEL_DERIVED, lookup
from hypercondense.experiments.cells import SIGNIFICANT, Cell
from hypercondense.experiments.labels import METRICS, label_of
from hypercondense.experiments.plan import Place, Plan


def notes_of(plan: Plan, cells: Sequence[Cell]) -> list[str]:
    """What stands below the tables."""
    notes = list(plan.notes)
    lines = list({line.where: line for cell in cells for line in cell.lines}.values())
    if any(cell.quantity == "score" for cell in cells):
        metrics = " and ".join(METRICS[task] for task in plan.tasks)
        notes.append(
            f"Scores are {metrics} in percent: mean ± standard deviation of all trainings of all "
            "condensations. The best of ours is bold."
        )
    if any(cell.p_value is not None for cell in cells):
        notes.append(f"* p < {SIGNIFICANT}, Welch's t-test with all trainings taken as independent.")
    notes += _source_notes(plan, cells)
    notes += _missing_notes(plan, cells)
    versions = {line.result.version for line in lines}
    if versions:
        notes.append(f"{len(lines)} runs of hypercondense {', '.join(sorted(versions))}.")
    return notes


def _source_notes(plan: Plan, cells: Sequence[Cell]) -> list[str]:
    """What the sources say about themselves, such as that features are made from labels."""
    found: dict[str, None] = {}
    for key in dict.fromkeys(cell.place.dataset for cell in cells):
        dataset = lookup(plan.datasets[key].source)
        own = [LABEL_DERIVED] if dataset is not None and dataset.label_derived else []
        for cell in cells:
            if cell.place.dataset == key:
                own += [note for line in cell.lines for note in line.result.notes]
        found |= dict.fromkeys(f"{plan.datasets[key].label}: {note}" for note in own)
    return list(found)


def _missing_notes(plan: Plan, cells: Sequence[Cell]) -> list[str]:
    """Which cells are empty; a data set without a single line is named once."""
    notes = []
    for key in dict.fromkeys(cell.place.dataset for cell in cells):
        here = [cell for cell in cells if cell.place.dataset == key]
        missing = [cell.place for cell in here if cell.expected and not cell.values]
        label = plan.datasets[key].label
        if len(missing) == len([cell for cell in here if cell.expected]):
            notes.append(f"{label}: not run.")
        elif missing:
            names = dict.fromkeys(_place_name(plan, place) for place in missing)
            notes.append(f"{label}: not run are {', '.join(names)}.")
    return notes


def _place_name(plan: Plan, place: Place) -> str:
    values = {axis: str(value) for axis, value in vars(place).items()}
    axes = ["variant"]
    axes += ["model"] if len(plan.models) > 1 else []
    axes += ["task"] if len(plan.tasks) > 1 else []
    axes += ["ratio"] if len(plan.datasets[values["dataset"]].ratios) > 1 else []
    return " ".join(label_of(plan, axis, values[axis]) for axis in axes)
