"""What a manifest tells about a stored hypergraph, and the hypergraph made and checked from it."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from msgspec import Meta
from numpy.typing import NDArray

from hypercondense.hypergraph.hypergraph import Hypergraph
from hypercondense.typed import Value, content_of, read

Size = Annotated[int, Meta(ge=0, le=2**53)]  # what every reader of JSON can tell apart


class StoredFacts(Value, frozen=True, kw_only=True):
    """Sizes and names: what :meth:`Hypergraph.to_arrays` tells beside the arrays."""

    num_nodes: Size
    num_hyperedges: Size
    num_features: Size
    label_names: tuple[str, ...] | None = None
    feature_names: tuple[str, ...] | None = None


def restored(
    arrays: Mapping[str, NDArray[Any]], facts: StoredFacts, *, digest: str, name: str, notes: Sequence[str]
) -> Hypergraph:
    """The hypergraph of stored arrays.

    Raises:
        ValueError: It is not one, or not the one that ``facts`` and ``digest`` tell of.
    """
    try:
        hypergraph = Hypergraph.from_arrays(arrays, content_of(facts), name=name, notes=notes)
    except KeyError as error:
        raise ValueError(f"the tensors lack {error.args[0]}") from None
    if (found := read(hypergraph.to_arrays()[1], StoredFacts)) != facts:
        raise ValueError(f"the tensors have other sizes or names: {_difference(found, facts)}")
    if hypergraph.digest != digest:
        raise ValueError(f"the digest of the content is {hypergraph.digest}, the manifest says {digest[:64]}")
    return hypergraph


def _difference(found: StoredFacts, told: StoredFacts) -> str:
    name = next(name for name in StoredFacts.__struct_fields__ if getattr(found, name) != getattr(told, name))
    return f"{name} is {str(getattr(found, name))[:60]}, the manifest says {str(getattr(told, name))[:60]}"
