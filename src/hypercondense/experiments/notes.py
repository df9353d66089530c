"""What stands below tables: what was measured, what is missing, and what a reader must know."""

from collections.abc import Sequence

from hypercondense.data.label_features import DERIVED
from hypercondense.data.registry import LABEL_DERIVED, lookup
from hypercondense.experiments.cells import SIGNIFICANT, Cell
from hypercondense.experiments.labels import METRICS, label_of
from hypercondense.experiments.plan import Plan

#: By what a table may lack runs, and how that is said.
_WITHOUT = {"dataset": "on", "variant": "of", "task": "measured by", "model": "with"}


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
    done = [cell for cell in cells if cell.values] or cells
    for key in dict.fromkeys(cell.place.dataset for cell in done):
        dataset = lookup(plan.datasets[key].source)
        own = [LABEL_DERIVED] if dataset is not None and dataset.label_derived else []
        lines = [line for cell in done if cell.place.dataset == key for line in cell.lines]
        told = [note for line in lines for note in line.result.notes]
        own += [note for note in told if not (own and note.startswith(DERIVED))]
        found |= dict.fromkeys(f"{plan.datasets[key].label}: {note}" for note in own)
    return list(found)


def _missing_notes(plan: Plan, cells: Sequence[Cell]) -> list[str]:
    """What has no run at all, in one line, and what a dash means."""
    left = [cell for cell in cells if cell.expected]
    if not any(cell.values for cell in left):
        return ["No runs yet."]
    if all(cell.values for cell in left):
        return []
    found = []
    for axis, word in _WITHOUT.items():
        groups: dict[str, list[Cell]] = {}
        for cell in left:
            groups.setdefault(cell.coordinates[axis], []).append(cell)
        empty = [value for value, group in groups.items() if not any(cell.values for cell in group)]
        left = [cell for cell in left if cell.coordinates[axis] not in empty]
        if empty:
            found.append(f"{word} {_listed([label_of(plan, axis, value) for value in empty])}")
    named = f"Not run yet: {'; '.join(found)}. " if found else ""
    dash = "; a dash is a planned run" if any(not cell.values for cell in left) else ""
    return [f"{named}Rows and columns without a run are left out{dash}."]


def _listed(names: Sequence[str]) -> str:
    """Names as a sentence has them."""
    return " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))
