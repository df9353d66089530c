"""What condensing returns: the condensed hypergraph and everything that tells where it came from."""

import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

import msgspec
import numpy as np
from msgspec import Meta
from numpy.typing import NDArray

from hypercondense.errors import ConfigError, FormatError
from hypercondense.files.manifest import read_manifest, write_manifest
from hypercondense.files.storage import (
    MANIFEST,
    TENSORS_OF,
    file_digest,
    read_tensors,
    replaced_folder,
    write_tensors,
)
from hypercondense.frozen import Frozen
from hypercondense.hypergraph import Hypergraph, Ids
from hypercondense.hypergraph.names import from_text_arrays, to_text_arrays
from hypercondense.hypergraph.scaling import Scale
from hypercondense.hypergraph.stored import Size, StoredFacts, restored
from hypercondense.interchange.pyg import to_pyg
from hypercondense.markup import fact_table
from hypercondense.runtime.code_version import code_version
from hypercondense.runtime.ledger import Ledger
from hypercondense.telling import aligned, structure_line
from hypercondense.typed import NotNegative, Share, Value, content_of
from hypercondense.version import __version__

FORMAT = "hypercondense.condensed"
TENSORS = TENSORS_OF[FORMAT]
FORMAT_VERSION = 4  # of results with scaled features, which older programs must not read as they are
_UNSCALED_VERSION = 3  # 1 and 2 (with soft labels) were written by release 0.1.0
_MEMBER_NAMES = "members.names"
#: What to do to a source and to a result before a network sees them.
UNSCALED = (
    "features: none, use the source's as they are",
    "incidence: give every node without a singleton hyperedge one of weight 1, on source and condensed",
)
SCALED = (
    "features: from those of the source subtract scale.means, and divide them by scale.deviations, which are "
    "among the tensors; the condensed ones are scaled already"
)


def package_versions(packages: Sequence[str] = ("torch", "numpy", "scipy", "scikit-learn")) -> dict[str, str]:
    """Versions of this package, of Python and of what results depend on."""
    from importlib.metadata import version

    found = {package: version(package) for package in packages}
    return {"hypercondense": __version__, "python": platform.python_version(), **found}


class Provenance(Value, kw_only=True):
    """Which source, split, method, options and versions made a condensed hypergraph."""

    method: str
    settings: Mapping[str, Any]  # every option of the method: a JSON object of any shape
    seed: int
    source_name: str
    source_digest: str
    num_source_nodes: Size
    split_digest: str
    split_seed: int | None
    ratio: float | None  # as given; None where the number of nodes was given
    ratio_of: str
    allocate: str = "proportional"  # folders written before there was a choice have none
    metric: str = "accuracy"
    whole_training: bool = True
    retain: float | None = None  # the share of what everything gives that decided on the size, if any did
    confidence: float | None = None
    source_location: str | None = None  # what to load it by, where it is not a registered name
    code: str | None = msgspec.field(default_factory=code_version)  # None in folders of release 0.1.0
    versions: Mapping[str, str] = msgspec.field(default_factory=package_versions)
    preprocessing: tuple[str, ...] = UNSCALED

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


class CurvePoint(Value, kw_only=True):
    """What a size keeps, on validation nodes.

    Args:
        nodes: Condensed nodes.
        score: Of networks trained on them.
        whole: Of the same networks trained on everything.
        retention: The one over the other.
        standard_error: Of the retention.
        probability: That the retention is at least the one that was asked for.
    """

    nodes: Size
    score: float
    whole: float
    retention: float
    standard_error: NotNegative
    probability: Share


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Condensation(Frozen):
    """A condensed hypergraph with its provenance, history and cost.

    ``members[i]`` are the ids of the source nodes that condensed node ``i`` started from, and
    ``members_by_name()[i]`` what the source calls them. ``history`` holds one row of figures per epoch. The
    validation scores are ``None`` where nothing was scored. ``choice`` says what a search chose and among
    what: ``method`` and ``settings`` that make the same bits, and ``trials``.
    ``ledger`` is what all of it cost. ``curve`` has the sizes that were tried to retain a share.
    ``scale`` is what was done to the features of the source first, and must be done to whatever a network
    that was trained on the result is asked about; ``None`` for nothing. ``member_names`` are names of the
    source nodes that are members, each once and in the order of their ids, where the source has names.

    >>> import hypercondense as hc
    >>> source = hc.synthetic(num_nodes=60, num_hyperedges=40, seed=0)
    >>> result = hc.condense(source, nodes=6, method="means")
    >>> result.hypergraph.num_nodes, len(result.members), result.provenance.method
    (6, 6, 'means')
    """

    hypergraph: Hypergraph
    members: tuple[Ids, ...]
    provenance: Provenance
    history: tuple[Mapping[str, float], ...] = ()
    seconds: Mapping[str, float] = field(default_factory=dict)
    peak_memory_mb: float = 0.0
    start_validation: float | None = None
    final_validation: float | None = None
    warnings: tuple[str, ...] = ()
    choice: Mapping[str, Any] | None = None
    ledger: Ledger | None = None
    curve: tuple[CurvePoint, ...] | None = None
    scale: Scale | None = None
    member_names: tuple[str, ...] | None = None

    def __repr__(self) -> str:
        made = self.provenance
        scored = "" if self.final_validation is None else f", {self.final_validation:.1%} on validation nodes"
        warned = f", {len(self.warnings)} warnings" if self.warnings else ""
        return (
            f"Condensation({made.source_name!r}, {self.hypergraph.num_nodes:,} of "
            f"{made.num_source_nodes:,} nodes by {made.method}{scored}{warned})"
        )

    def _repr_html_(self) -> str:
        """What a notebook shows: the lines of :meth:`summary`."""
        made = self.provenance
        return fact_table(f"{made.source_name}, condensed by {made.method}", self.facts())

    def summary(self) -> str:
        """What this is, in a few lines: size, structure and why, scores, cost, what was chosen, warnings."""
        return aligned(self.facts())

    def facts(self) -> dict[str, str]:
        """The lines of :meth:`summary`, by name."""
        made, condensed = self.provenance, self.hypergraph
        share = condensed.num_nodes / max(1, made.num_source_nodes)
        scores = (self.start_validation, self.final_validation)
        scored = "not scored" if None in scores else f"{scores[0]:.1%} at the start, {scores[1]:.1%} now"
        facts = {
            "condensed nodes": f"{condensed.num_nodes:,} of {made.num_source_nodes:,} ({share:.2%})",
            "structure": structure_line(condensed, made.settings, self.choice),
            "on validation nodes": scored,
            **self._cost(),
        }
        if self.scale is not None:
            facts["features"] = "standardized; the result has the scale, and all that reads it applies it"
        if self.choice is not None:
            facts["chosen"] = str(self.choice["why"])
        for number, warning in enumerate(self.warnings, start=1):
            facts[f"warning {number}"] = warning
        return facts

    def _cost(self) -> dict[str, str]:
        """What it cost; folders written before there was a ledger have the total only."""
        if self.ledger is not None:
            return dict(self.ledger.lines())
        return {
            "time and memory": f"{self.seconds.get('total', 0):.1f} s, {self.peak_memory_mb:,.0f} MB at most"
        }

    def members_by_name(self) -> tuple[tuple[str, ...], ...]:
        """For each condensed node the names of the source nodes it started from, in the order of ``members``.

        These are the ids the source came with: its own, or numbers where it had none.
        """
        if self.member_names is None:
            return tuple(tuple(map(str, own.tolist())) for own in self.members)
        names = dict(zip(distinct_members(self.members), self.member_names, strict=True))
        return tuple(tuple(names[one] for one in own.tolist()) for own in self.members)

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
        arrays |= {} if self.scale is None else self.scale.to_arrays()
        arrays |= to_text_arrays(_MEMBER_NAMES, self.member_names)
        with replaced_folder(Path(path), overwrite=overwrite) as folder:
            manifest = {
                "format": FORMAT,
                "format_version": _UNSCALED_VERSION if self.scale is None else FORMAT_VERSION,
                "name": self.hypergraph.name,
                "notes": self.hypergraph.notes,
                "sha256": write_tensors(folder / TENSORS, arrays),
                "digest": self.hypergraph.digest,
                "hypergraph": facts,
                "provenance": content_of(self.provenance),
                **{name: getattr(self, name) for name in Record.__struct_fields__},
                "ledger": content_of(self.ledger),
                "curve": content_of(self.curve),
            }
            write_manifest(folder, manifest)
            _read(folder)  # what could not be read again is not left for somebody to find

    def to_pyg(self) -> Any:
        """The condensed hypergraph as a ``Data`` of PyG: :func:`hypercondense.interchange.to_pyg`.

        Where features are scaled, so must be those of real nodes: subtract ``scale_mean`` and divide by
        ``scale_deviation``.
        """
        return to_pyg(self.hypergraph, scale=self.scale)


def load_condensed(path: Path | str) -> Condensation:
    """Read what :meth:`Condensation.save` wrote, checking that nothing was changed or cut off.

    >>> import hypercondense as hc
    >>> source = hc.synthetic(num_nodes=60, num_hyperedges=40, seed=0)
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     hc.condense(source, nodes=6, method="means").save(f"{folder}/small")
    ...     load_condensed(f"{folder}/small").hypergraph.num_nodes
    6
    """
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

    seconds: Mapping[str, float]
    peak_memory_mb: NotNegative
    start_validation: float | None
    final_validation: float | None
    warnings: tuple[str, ...]
    choice: Mapping[str, Any] | None = None  # folders written before there was a search have none
    ledger: Ledger | None = None  # nor this, nor the next
    curve: tuple[CurvePoint, ...] | None = None
    history: tuple[Mapping[str, int | float], ...]


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
        scale=Scale.from_arrays(arrays, hypergraph.num_features),
        member_names=_member_names(arrays, arrays["members.source_ids"]),
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


def distinct_members(members: Sequence[Ids]) -> list[int]:
    """Every member once, in the order of their ids.

    >>> distinct_members([np.array([7, 2]), np.array([2])])
    [2, 7]
    """
    return [int(one) for one in np.unique(np.concatenate([*members, np.empty(0, np.int64)]))]


def _member_names(arrays: dict[str, NDArray[Any]], members: Ids) -> tuple[str, ...] | None:
    """Names of source nodes that are members; folders written before there were such have none."""
    names = from_text_arrays(_MEMBER_NAMES, arrays)
    if names is not None and len(names) != (number := len(distinct_members([members]))):
        raise ValueError(f"{_MEMBER_NAMES} must have a name for each of {number} members, got {len(names)}")
    return names


def _flat(arrays: dict[str, NDArray[Any]], key: str) -> Ids:
    array = arrays.get(key)
    if array is None:
        raise ValueError(f"the tensors lack {key}")
    if array.ndim != 1 or array.dtype != np.int64:
        raise ValueError(f"{key} must be a flat list of int64, got {array.dtype} {array.shape}")
    return array
