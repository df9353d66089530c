"""What is told beside arrays and attributes so that nothing has to be guessed on the way back."""

from collections.abc import Mapping
from typing import Any

from hypercondense.errors import ConversionError
from hypercondense.hypergraph import UNKNOWN, Hypergraph
from hypercondense.hypergraph.stored import Size
from hypercondense.interchange.problems import Problems, shown
from hypercondense.typed import Value, content_of, read

#: Under this name other libraries and files keep it.
KEY = "hypercondense"
#: What may be lost.
SPARSE = "that features are sparse"
NAMES = "names of classes, which are empty, alike or have blanks around them"


class Facts(Value, frozen=True, kw_only=True):
    """About a hypergraph of ours that went through another library.

    Args:
        name: What it is called.
        notes: What readers must know.
        num_features: Columns of features, where a file leaves out zeros.
        num_classes: Classes; some may have no node.
        label_names: Their names.
        feature_names: Names of the columns.
        sparse: Whether features are stored sparse.
        weighted: Whether memberships have weights, where a library has no other way to say it.
        provenance: How it was made, for condensed ones.
        scale: What was done to features of the source first: two lists, means and deviations.
    """

    name: str = "unnamed"
    notes: tuple[str, ...] = ()
    num_features: Size | None = None
    num_classes: Size | None = None
    label_names: tuple[str, ...] | None = None
    feature_names: tuple[str, ...] | None = None
    sparse: bool = False
    weighted: bool = False
    provenance: Mapping[str, Any] | None = None
    scale: tuple[tuple[float, ...], tuple[float, ...]] | None = None

    @property
    def classes(self) -> tuple[str, ...] | None:
        """Names of classes where they tell classes apart."""
        names = self.label_names
        clear = names is not None and len(set(names)) == len(names)
        return names if clear and all(name and name == name.strip() for name in names or ()) else None

    def content(self) -> dict[str, Any]:
        """JSON-ready, without what is not there."""
        return {name: given for name, given in content_of(self).items() if given not in (None, [], ())}


def facts_of(hypergraph: Hypergraph) -> Facts:
    """What is told beside a hypergraph."""
    return Facts(
        name=hypergraph.name,
        notes=hypergraph.notes,
        num_features=hypergraph.num_features,
        num_classes=hypergraph.num_classes,
        label_names=hypergraph.label_names,
        feature_names=hypergraph.feature_names,
        sparse=hypergraph.is_sparse,
        weighted=hypergraph.incidence.weights is not None,
    )


def read_facts(given: Any, where: str, problems: Problems) -> Facts | None:
    """What was told, or ``None``; something else under our name is one more problem."""
    if given is None:
        return None
    if not isinstance(given, Mapping):
        problems.add(f"{where}: it must be a table, as to_... of hypercondense writes it; got {shown(given)}")
        return None
    return problems.add_raised(lambda: read(dict(given), Facts, where=where, error=ConversionError))


def lost_without_facts(hypergraph: Hypergraph) -> list[str]:
    """What is in no column and no attribute: told where a library has no other place for it."""
    lost = ["the notes"] if hypergraph.notes else []
    lost += [SPARSE] if hypergraph.is_sparse else []
    weights = hypergraph.incidence.weights
    lost += ["that there are weights, all of 1"] if weights is not None and (weights == 1).all() else []
    if hypergraph.label_names is not None and facts_of(hypergraph).classes is None:
        lost.append(NAMES)
    present = sorted({int(label) for label in hypergraph.labels[hypergraph.labels != UNKNOWN]})
    names = hypergraph.label_names
    if present != list(range(hypergraph.num_classes)):
        lost.append("classes without nodes")
    elif names is not None and list(names) != sorted(names):
        lost.append("the order of classes")
    return lost
