"""In and out of other libraries: one file for each, with ``from_x`` and ``to_x``.

None of them is imported before it is used. What the other side cannot hold is told in one
:class:`~hypercondense.errors.ConversionWarning`; what cannot be converted in one
:class:`~hypercondense.errors.ConversionError` with all reasons.
"""

from hypercondense.interchange.dhg import from_dhg, to_dhg
from hypercondense.interchange.hypergraphx import from_hypergraphx, to_hypergraphx
from hypercondense.interchange.hypernetx import from_hypernetx, to_hypernetx
from hypercondense.interchange.hypertorch import from_hypertorch, to_hypertorch
from hypercondense.interchange.lists import from_hyperedges, to_hyperedges
from hypercondense.interchange.matrices import from_scipy, to_scipy
from hypercondense.interchange.networkx import from_networkx, to_networkx
from hypercondense.interchange.pyg import from_pyg, to_pyg
from hypercondense.interchange.tables import (
    from_arrow,
    from_pandas,
    from_polars,
    to_arrow,
    to_pandas,
    to_polars,
)
from hypercondense.interchange.topobench import from_topobench, to_topobench
from hypercondense.interchange.toponetx import from_toponetx, to_toponetx
from hypercondense.interchange.xgi import from_xgi, to_xgi

__all__ = [
    "from_arrow",
    "from_dhg",
    "from_hyperedges",
    "from_hypergraphx",
    "from_hypernetx",
    "from_hypertorch",
    "from_networkx",
    "from_pandas",
    "from_polars",
    "from_pyg",
    "from_scipy",
    "from_topobench",
    "from_toponetx",
    "from_xgi",
    "to_arrow",
    "to_dhg",
    "to_hyperedges",
    "to_hypergraphx",
    "to_hypernetx",
    "to_hypertorch",
    "to_networkx",
    "to_pandas",
    "to_polars",
    "to_pyg",
    "to_scipy",
    "to_topobench",
    "to_toponetx",
    "to_xgi",
]
