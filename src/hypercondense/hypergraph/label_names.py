"""Names of classes that somebody may not have meant."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from hypercondense.hypergraph.hypergraph import Hypergraph

_MISSING = frozenset({"na", "n/a", "nan", "nat", "none", "null", "nil", "?", "-", "."})
_SHOWN, _NAME = 5, 40


def label_warnings(hypergraph: "Hypergraph") -> Iterator[str]:
    """Whether a class is called like a missing value, or two are alike but for case and spaces.

    >>> from hypercondense.hypergraph import Hypergraph
    >>> source = Hypergraph(
    ...     features=[[1.0], [2.0], [3.0]], labels=[0, 1, 1], incidence=([0], [0]), num_hyperedges=1,
    ...     label_names=["yes", "NA"],
    ... )
    >>> next(label_warnings(source))
    "the class 'NA' of 2 nodes looks like a missing value; leave the label of such nodes empty"
    """
    if hypergraph.label_names is None:
        return
    known = hypergraph.labels[hypergraph.labels >= 0]
    counts = np.bincount(known, minlength=len(hypergraph.label_names))
    alike: dict[str, list[str]] = {}
    for name, count in zip(hypergraph.label_names, counts.tolist(), strict=True):
        key = name.strip().casefold()
        alike.setdefault(key, []).append(name)
        if count and key in _MISSING:
            yield (
                f"the class {name!r} of {count:,} nodes looks like a missing value; leave the label of such "
                "nodes empty"
            )
    same = [names for names in alike.values() if len(names) > 1]
    for names in same[:_SHOWN]:
        shown = ", ".join(repr(name[:_NAME]) for name in names[:_SHOWN])
        yield f"the classes {shown} differ in case or spaces only; give them one name if they are one class"
