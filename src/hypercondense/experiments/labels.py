"""How coordinates of tables are written for people."""

from hypercondense.experiments.plan import Plan

MODEL_LABELS = {
    "hgnn": "HGNN",
    "hcha": "HCHA",
    "unigcnii": "UniGCNII",
    "allset": "AllSet",
    "edhnn": "ED-HNN",
    "mlp": "MLP",
}
METRICS = {"classify": "accuracy", "cluster": "NMI", "retrieve": "MAP"}
QUANTITY_LABELS = {
    "score": "Score, percent",
    "seconds": "Seconds of a condensation",
    "memory": "Peak memory of a condensation, MB",
    "training": "Seconds of a training",
}
HEADERS = {
    "dataset": "data",
    "ratio": "ratio",
    "variant": "method",
    "model": "network",
    "task": "task",
    "quantity": "",
}


def label_of(plan: Plan, axis: str, value: str) -> str:
    """How a coordinate is written for people."""
    if axis == "dataset":
        return plan.datasets[value].label
    if axis == "variant":
        return plan.variants[value].label
    if axis == "ratio":
        return f"{100 * float(value):g} %"
    names = {"model": MODEL_LABELS, "task": METRICS, "quantity": QUANTITY_LABELS}
    return names[axis].get(value, value)
