"""What condensing returns: the condensed hypergraph and everything that tells where it came from."""

import platform
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

import msgspec
import numpy as np
from msgspec import Meta
from numpy.typing import NDArray

from hypercondense.errors import ConfigError, FormatError
from hypercondense.files.manifest import read_manifest
from hypercondense.files.storage import (
    MANIFEST,
    file_digest,
    read_tensors,
    replaced_folder,
    write_json,
    write_tensors,
)
from hypercondense.hypergraph import Hypergraph, Ids
from hypercondense.hypergraph.stored import Size, StoredFacts, restored
from hypercondense.runtime.code_version import code_version
from hypercondense.typed import NotNegative, Value, content_of
from hypercondense.version import __version__

FORMAT = "hypercondense.condensed"
FORMAT_VERSION = 3  # 1 and 2 (with soft labels) were written by release 0.1.0
TENSORS = "condensed.safetensors"


def package_versions(packages: Sequence[str] = ("torch", "numpy", "scipy", "scikit-learn")) -> dict[str, str]:
    """Versions of this package, of Python and of what results depend on."""
    from importlib.metadata import version

    found = {package: version(package) for package in packages}
    return {"hypercondense": __version__, "python": platform.python_version(), **found}


class Provenance(Value, kw_only=True):
    """Which source, split, method, options and versions made a condensed hypergraph."""

    method: str
    settings: dict[str, Any]  # every option of the method: a JSON object of any shape
    seed: int
    source_name: str
    source_digest: str
    num_source_nodes: Size
    split_digest: str
    split_seed: int | None
    ratio: float | None  # as given; None where the number of nodes was given
    ratio_of: str
    source_location: str | None = None  # what to load it by, where it is not a registered name
    code: str | None = msgspec.field(default_factory=code_version)  # None in folders of release 0.1.0
    versions: dict[str, str] = msgspec.field(default_factory=package_versions)
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
                "format_version": FORMAT_VERSION,
                "name": self.hypergraph.name,
                "notes": self.hypergraph.notes,
                "sha256": write_tensors(folder / TENSORS, arrays),
                "digest": self.hypergraph.digest,
                "hypergraph": facts,
                "provenance": content_of(self.provenance),
                **{name: getattr(self, name) for name in Record.__struct_fields__},
            }
            write_json(folder / MANIFEST, manifest)
            _read(folder)  # what could not be read again is not left for somebody to find

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
    manifest = _read(folder)
    if file_digest(folder / TENSORS) != manifest.sha256:
        raise FormatError(f"{folder / TENSORS} was changed or cut off after it was written; condense again")
    arrays = read_tensors(folder / TENSORS)
    try:
        return _restored(arrays, manifest)
    except (TypeError, ValueError, OverflowError) as error:
        raise FormatError(f"{folder / MANIFEST} does not fit its tensors: {error}") from error


class Record(Value, frozen=True, kw_only=True):
    """What a manifest says about the work, under the names a :class:`Condensation` has for it."""

    seconds: dict[str, float]
    peak_memory_mb: NotNegative
    start_validation: float | None
    final_validation: float | None
    warnings: tuple[str, ...]
    choice: dict[str, Any] | None = None  # folders written before there was a search have none
    history: tuple[dict[str, int | float], ...]


class CondensedManifest(Record, frozen=True, kw_only=True):
    """``manifest.json`` of a condensed folder."""

    format: str
    format_version: Annotated[int, Meta(ge=1, le=FORMAT_VERSION)]
    name: str
    notes: tuple[str, ...]
    sha256: str
    digest: str
    hypergraph: StoredFacts
    provenance: Provenance


def _read(folder: Path) -> CondensedManifest:
    return read_manifest(
        folder,
        CondensedManifest,
        format=FORMAT,
        version_field="format_version",
        newest=FORMAT_VERSION,
        prepare=_as_told,
    )


def _as_told(content: dict[str, Any]) -> None:
    """Keep defaults of :class:`Provenance`, which are about the code that runs now, out of what is read."""
    if isinstance(content.get("provenance"), dict):
        for name in ("code", "versions", "preprocessing"):
            content["provenance"].setdefault(name, None)  # where it may not be none, that is an error


def _restored(arrays: dict[str, NDArray[Any]], manifest: CondensedManifest) -> Condensation:
    hypergraph = restored(
        arrays, manifest.hypergraph, digest=manifest.digest, name=manifest.name, notes=manifest.notes
    )
    return Condensation(
        hypergraph=hypergraph,
        members=_members(arrays, hypergraph.num_nodes, manifest.provenance.num_source_nodes),
        provenance=manifest.provenance,
        **{name: getattr(manifest, name) for name in Record.__struct_fields__},
    )


def _members(arrays: dict[str, NDArray[Any]], num_nodes: int, num_source_nodes: int) -> tuple[Ids, ...]:
    """The source nodes of every condensed node, after checking the two arrays that hold them."""
    ids, starts = _flat(arrays, "members.source_ids"), _flat(arrays, "members.row_starts")
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


def _flat(arrays: dict[str, NDArray[Any]], key: str) -> Ids:
    array = arrays.get(key)
    if array is None:
        raise ValueError(f"the tensors lack {key}")
    if array.ndim != 1 or array.dtype != np.int64:
        raise ValueError(f"{key} must be a flat list of int64, got {array.dtype} {array.shape}")
    return array
