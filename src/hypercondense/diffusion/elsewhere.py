"""The diffusion of a source by other machines: blocks of columns are tasks, put together here.

Columns diffuse independently, so a block has the bits it has anywhere. What blocks share, the factors of P
and the features, is sent to each machine once; a source that stays on disk is opened there under its path.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from hypercondense.diffusion.filters import Polynomial
from hypercondense.diffusion.mapped import new_map, open_map
from hypercondense.diffusion.operator import Propagation
from hypercondense.diffusion.plan import fastest_plan
from hypercondense.files.maps import release
from hypercondense.files.storage import replaced_file
from hypercondense.hypergraph import Dense, Hypergraph, Ids
from hypercondense.runtime.engine import Engine
from hypercondense.runtime.progress import Progress


@dataclass(frozen=True, eq=False)
class _Shared:
    """What all blocks need: features as a source in a file, as columns of a sparse matrix, or dense."""

    features: Any
    propagation: Propagation
    polynomial: Polynomial
    node_ids: Ids | None


def diffuse_on(
    engine: Engine,
    source: Hypergraph,
    polynomial: Polynomial,
    *,
    kind: Mapping[str, bool],
    out: Path | None,
    node_ids: Ids | None,
    features: Dense | None,
    progress: Progress,
) -> Dense:
    """What :func:`~hypercondense.diffusion.diffuse` returns, with the same bits; here is one block at a time.

    ``kind`` says which P is meant, as :meth:`Propagation.of` takes it.
    """
    propagation = Propagation.of(source, **kind)
    num_columns = source.num_features if features is None else features.shape[1]
    width = fastest_plan(source, propagation, polynomial, threads=engine.slots).width
    starts = range(0, num_columns, width)
    blocks = [slice(start, min(start + width, num_columns)) for start in starts]
    given: Any = features
    if features is None:
        given = source if source.is_mapped else source.features
        given = given.tocsc() if source.is_sparse else given
    shared = _Shared(given, propagation, polynomial, node_ids)
    num_rows = source.num_nodes if node_ids is None else len(node_ids)
    with _result(out, (num_rows, num_columns)) as result:
        for columns, block in zip(blocks, engine.map(_block, blocks, shared=shared), strict=True):
            result[:, columns] = block
            release(result)
            progress("diffuse", columns.stop, num_columns)
    return result if out is None else open_map(out)


@contextmanager
def _result(out: Path | None, shape: tuple[int, int]) -> Iterator[Dense]:
    """A matrix to be filled, in memory or in a file that appears when it is whole."""
    if out is None:
        yield np.empty(shape, np.float32)
        return
    with replaced_file(out) as draft:
        result = new_map(draft, shape)
        yield result
        result.flush()


def _block(shared: _Shared, columns: slice) -> Dense:
    """The diffused columns, of all nodes or of some."""
    given = shared.features
    given = given.features if isinstance(given, Hypergraph) else given
    block = given[:, columns]
    block = block.toarray(order="C") if sp.issparse(block) else np.asarray(block)
    diffused = shared.propagation.diffuse(block, shared.polynomial)
    return diffused if shared.node_ids is None else diffused.take(shared.node_ids, axis=0)
