"""``to_x`` of a hypergraph: the ways out of it, which lie in a room above this one."""

from importlib import import_module
from typing import Any


class Outward:
    """Ways to other libraries: ``hypercondense.from_x`` is the inverse of each ``to_x``.

    What the other side cannot hold is told in a :class:`~hypercondense.errors.ConversionWarning`. A library
    is imported only when it is used; the error where it is not there names the extra to install.
    """

    def _to(self, library: str, **options: Any) -> Any:
        # By its name: libraries may know hypergraphs, hypergraphs do not know libraries.
        return getattr(import_module("hypercondense.interchange"), f"to_{library}")(self, **options)

    def to_pyg(self, **options: Any) -> Any:
        """A ``Data`` of PyG, or with ``kind="HyperGraphData"`` one of these, with self-loops."""
        return self._to("pyg", **options)

    def to_dhg(self, **options: Any) -> Any:
        """A hypergraph of DHG and a dictionary of its tensors."""
        return self._to("dhg", **options)

    def to_xgi(self) -> Any:
        """A hypergraph of XGI."""
        return self._to("xgi")

    def to_hypernetx(self) -> Any:
        """A hypergraph of HyperNetX."""
        return self._to("hypernetx")

    def to_hypergraphx(self) -> Any:
        """A hypergraph of hypergraphx."""
        return self._to("hypergraphx")

    def to_hypertorch(self, **options: Any) -> Any:
        """An ``HData`` of HyperTorch."""
        return self._to("hypertorch", **options)

    def to_toponetx(self) -> Any:
        """A coloured hypergraph of TopoNetX."""
        return self._to("toponetx")

    def to_topobench(self, **options: Any) -> Any:
        """A ``Data`` of PyG with the names TopoBench has."""
        return self._to("topobench", **options)

    def to_networkx(self) -> Any:
        """A bipartite graph of networkx."""
        return self._to("networkx")

    def to_pandas(self) -> Any:
        """Two tables of pandas: memberships and nodes."""
        return self._to("pandas")

    def to_polars(self) -> Any:
        """Two tables of Polars: memberships and nodes."""
        return self._to("polars")

    def to_arrow(self) -> Any:
        """Two tables of Arrow: memberships and nodes."""
        return self._to("arrow")

    def to_scipy(self) -> Any:
        """The incidence matrix, the features and the labels."""
        return self._to("scipy")

    def to_hyperedges(self) -> Any:
        """Hyperedges, features and labels as dictionaries."""
        return self._to("hyperedges")

    def to_hif(self, path: Any = None, *, overwrite: bool = False) -> Any:
        """A dictionary of the Hypergraph Interchange Format, or with ``path`` a file of it."""
        module = import_module("hypercondense.data.formats.hif")
        return module.to_hif(self, path, overwrite=overwrite)
