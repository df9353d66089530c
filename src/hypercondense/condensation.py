"""What condensing returns: the condensed hypergraph and everything that tells where it came from."""

import platform
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from types import NoneType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hypercondense.errors import ConfigError, FormatError
from hypercondense.files.storage import (
    MANIFEST,
    file_digest,
    read_json,
    read_tensors,
    replaced_folder,
    write_json,
    write_tensors,
)
from hypercondense.hypergraph import Hypergraph, Ids
from hypercondense.version import __version__

FORMAT = "hypercondense.condensed"
SOFT_VERSION = 2  # of folders with soft labels, which a program that reads 1 only would not train on
FORMAT_VERSIONS = (1, SOFT_VERSION)
TENSORS = "condensed.safetensors"


def package_versions(packages: Sequence[str] = ("torch", "numpy", "scipy", "scikit-learn")) -> dict[str, str]:
    """Versions of this package, of Python and of what results depend on."""
    from importlib.metadata import version

    found = {package: version(package) for package in packages}
    return {"hypercondense": __version__, "python": platform.python_version(), **found}


@dataclass(frozen=True)
class Provenance:
    """Which source, split, method, options and versions made a condensed hypergraph."""

    method: str
    settings: dict[str, Any]  # every option of the method
    seed: int
    source_name: str
    source_digest: str
    num_source_nodes: int
    split_digest: str
    split_seed: int | None
    ratio: float | None  # as given; None where the number of nodes was given
    ratio_of: str
    source_location: str | None = None  # what to load it by, where it is not a registered name
    versions: dict[str, str] = field(default_factory=package_versions)
    preprocessing: tuple[str, ...] = (
        "features: none, use the source's as they are",
        "incidence: give every node without a singleton hyperedge one of weight 1, on source and condensed",
    )

    def check(self, *, source_digest: str, split_digest: str) -> None:
        """Refuse another source or split than the ones condensed from: test nodes would be known already."""
        if source_digest != self.source_digest:
            raise ConfigError(
                f"this is not the hypergraph it was condensed from: its digest is {source_digest[:12]}, that "
                f"of the source ({self.source_name}) was {self.source_digest[:12]}; give the right one"
            )
        if split_digest != self.split_digest:
            same = "ids" if self.split_seed is None else f"seed, {self.split_seed}"
            raise ConfigError(
                "the split is not the one this was condensed with, so training nodes could be among the test "
                f"nodes; use the same {same}"
            )


@dataclass(frozen=True, kw_only=True, eq=False)
class Condensation:
    """A condensed hypergraph with its provenance, history and cost.

    ``members[i]`` are the ids of the source nodes that condensed node ``i`` started from. ``history`` holds
    one row of figures per epoch. The validation scores are ``None`` where nothing was scored. ``choice`` says
    what a search chose and among what: ``method`` and ``settings`` that make the same bits, and ``trials``.
    """

    hypergraph: Hypergraph
    members: tuple[Ids, ...]
    provenance: Provenance
    history: tuple[dict[str, float], ...] = ()
    seconds: dict[str, float] = field(default_factory=dict)
    peak_memory_mb: float = 0.0
    start_validation: float | None = None
    final_validation: float | None = None
    warnings: tuple[str, ...] = ()
    choice: dict[str, Any] | None = None

    @property
    def density(self) -> float:
        """Share of (node, hyperedge) pairs that are connected."""
        pairs = self.hypergraph.num_nodes * self.hypergraph.num_hyperedges
        return self.hypergraph.num_incidences / pairs if pairs else 0.0

    @property
    def mean_hyperedge_size(self) -> float:
        """Mean number of members of a hyperedge."""
        return self.hypergraph.num_incidences / max(1, self.hypergraph.num_hyperedges)

    def save(self, path: Path | str, *, overwrite: bool = False) -> None:
        """Write a folder with ``condensed.safetensors`` and ``manifest.json``, whole or not at all."""
        arrays, facts = self.hypergraph.to_arrays()
        starts = np.cumsum([0, *(len(ids) for ids in self.members)], dtype=np.int64)
        arrays["members.source_ids"] = np.concatenate([*self.members, np.empty(0, np.int64)])
        arrays["members.row_starts"] = starts
        with replaced_folder(Path(path), overwrite=overwrite) as folder:
            manifest = {
                "format": FORMAT,
                "format_version": 1 if self.hypergraph.soft_labels is None else SOFT_VERSION,
                "name": self.hypergraph.name,
                "notes": list(self.hypergraph.notes),
                "sha256": write_tensors(folder / TENSORS, arrays),
                "digest": self.hypergraph.digest,
                "hypergraph": facts,
                "provenance": asdict(self.provenance),
                "seconds": self.seconds,
                "peak_memory_mb": self.peak_memory_mb,
                "start_validation": self.start_validation,
                "final_validation": self.final_validation,
                "warnings": list(self.warnings),
                "choice": self.choice,
                "history": list(self.history),
            }
            write_json(folder / MANIFEST, manifest)

    def to_pyg(self) -> Any:
        """The condensed hypergraph as ``torch_geometric.data.Data`` with its self-loops.

        ``hyperedge_index`` is what ``HypergraphConv`` wants, ``incidence_weight`` has one weight for each of
        its columns, and ``num_nodes`` and ``num_hyperedges`` are set, never guessed. Soft labels, where there
        are any, are ``y_soft``.
        """
        import torch

        try:
            from torch_geometric.data import Data
        except ImportError as error:
            raise ImportError("to_pyg needs torch_geometric: pip install 'hypercondense[pyg]'") from error

        incidence, num_hyperedges = self.hypergraph.with_self_loops
        weights = incidence.weights
        if weights is None:
            weights = np.ones(incidence.num_incidences, np.float32)
        soft = self.hypergraph.soft_labels
        return Data(
            x=torch.tensor(self.hypergraph.dense_features()),
            y=torch.tensor(self.hypergraph.labels),
            hyperedge_index=torch.tensor(np.stack([incidence.node_ids, incidence.hyperedge_ids])),
            incidence_weight=torch.tensor(weights),
            num_nodes=self.hypergraph.num_nodes,
            num_hyperedges=num_hyperedges,
            **({} if soft is None else {"y_soft": torch.tensor(soft)}),
        )


def load_condensed(path: Path | str) -> Condensation:
    """Read what :meth:`Condensation.save` wrote, checking that nothing was changed or cut off."""
    folder = Path(path)
    for name in (MANIFEST, TENSORS):
        if not (folder / name).is_file():
            raise FormatError(
                f"{folder} is not a condensed hypergraph: it has no {name}; make one with `condense`"
            )
    manifest = read_json(folder / MANIFEST)
    if manifest.get("format") != FORMAT:
        raise FormatError(f"{folder}: the manifest says format {manifest.get('format')!r}, not {FORMAT!r}")
    if manifest.get("format_version") not in FORMAT_VERSIONS:
        raise FormatError(
            f"{folder}: format version {manifest.get('format_version')} cannot be read by hypercondense "
            f"{__version__}, which reads 1 to {FORMAT_VERSIONS[-1]}; use the version that wrote it"
        )
    if file_digest(folder / TENSORS) != manifest.get("sha256"):
        raise FormatError(f"{folder / TENSORS} was changed or cut off after it was written; condense again")
    try:
        return _from_manifest(read_tensors(folder / TENSORS), manifest)
    except (KeyError, TypeError, ValueError) as error:
        raise FormatError(f"{folder / MANIFEST} does not fit its tensors: {error}") from error


_MANIFEST_KINDS: dict[str, tuple[type, ...]] = {
    "name": (str,),
    "notes": (list,),
    "hypergraph": (dict,),
    "provenance": (dict,),
    "history": (list,),
    "seconds": (dict,),
    "peak_memory_mb": (int, float),
    "start_validation": (int, float, NoneType),
    "final_validation": (int, float, NoneType),
    "warnings": (list,),
    "choice": (dict, NoneType),
}
_PROVENANCE_KINDS: dict[str, tuple[type, ...]] = {
    "method": (str,),
    "settings": (dict,),
    "seed": (int,),
    "source_name": (str,),
    "source_digest": (str,),
    "num_source_nodes": (int,),
    "split_digest": (str,),
    "split_seed": (int, NoneType),
    "ratio": (int, float, NoneType),
    "ratio_of": (str,),
    "source_location": (str, NoneType),
    "versions": (dict,),
    "preprocessing": (list,),
}


def _from_manifest(arrays: dict[str, NDArray[Any]], manifest: dict[str, Any]) -> Condensation:
    manifest = {"choice": None, **manifest}  # folders written before there was a search have none
    _check_kinds(manifest, _MANIFEST_KINDS)
    provenance = dict(manifest["provenance"])
    _check_kinds(provenance, _PROVENANCE_KINDS)
    if not all(isinstance(row, dict) for row in manifest["history"]):
        raise ValueError("every row of history must be an object")
    hypergraph = Hypergraph.from_arrays(
        arrays, manifest["hypergraph"], name=manifest["name"], notes=manifest["notes"]
    )
    if hypergraph.digest != manifest["digest"]:
        raise ValueError("the digest of the content is another one")
    provenance["preprocessing"] = tuple(provenance["preprocessing"])
    return Condensation(
        hypergraph=hypergraph,
        members=_members(arrays, hypergraph.num_nodes, provenance["num_source_nodes"]),
        provenance=Provenance(**provenance),
        history=tuple(manifest["history"]),
        seconds=manifest["seconds"],
        peak_memory_mb=manifest["peak_memory_mb"],
        start_validation=manifest["start_validation"],
        final_validation=manifest["final_validation"],
        warnings=tuple(str(warning) for warning in manifest["warnings"]),
        choice=manifest["choice"],
    )


def _check_kinds(content: dict[str, Any], kinds: dict[str, tuple[type, ...]]) -> None:
    for key, allowed in kinds.items():
        if key not in content:
            raise ValueError(f"{key} is missing")
        if type(content[key]) not in allowed:
            words = " or ".join("null" if kind is NoneType else kind.__name__ for kind in allowed)
            raise ValueError(f"{key} must be {words}, got {str(content[key])[:60]!r}")


def _members(arrays: dict[str, NDArray[Any]], num_nodes: int, num_source_nodes: int) -> tuple[Ids, ...]:
    """The source nodes of every condensed node, after checking the two arrays that hold them."""
    ids, starts = arrays["members.source_ids"], arrays["members.row_starts"]
    for key, array in (("source_ids", ids), ("row_starts", starts)):
        if array.ndim != 1 or array.dtype != np.int64:
            raise ValueError(f"members.{key} must be a flat list of int64, got {array.dtype} {array.shape}")
    if (
        len(starts) != num_nodes + 1
        or starts[0] != 0
        or starts[-1] != len(ids)
        or (np.diff(starts) < 0).any()
    ):
        raise ValueError(f"members.row_starts must be {num_nodes + 1} numbers that rise from 0 to {len(ids)}")
    bad = np.flatnonzero((ids < 0) | (ids >= num_source_nodes))
    if len(bad):
        raise ValueError(f"members.source_ids must be 0 to {num_source_nodes - 1}: got {ids[bad[0]]}")
    return tuple(np.split(ids, starts[1:-1]))
