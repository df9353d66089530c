"""A network trained on a result, for use: it predicts classes, is saved and loaded again."""

import csv
import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import torch
from msgspec import Meta
from numpy.typing import NDArray

from hypercondense.condensation import Condensation
from hypercondense.data.load import load
from hypercondense.errors import ConfigError, FormatError, HypercondenseError, one_line
from hypercondense.evaluation.metrics import accuracy, calibration_error
from hypercondense.files.maps import chunks
from hypercondense.files.storage import (
    arrays_digest,
    check_file_target,
    check_json,
    read_tensors,
    replaced_file,
    write_tensors,
)
from hypercondense.frozen import Frozen
from hypercondense.hypergraph import Dense, Hypergraph, Ids, Split
from hypercondense.hypergraph import split as split_by_seed
from hypercondense.hypergraph.given import seed_number
from hypercondense.hypergraph.scaling import Scale
from hypercondense.hypergraph.stored import Size
from hypercondense.nn import HypergraphNetwork, build
from hypercondense.nn.streamed import check_budget, check_networks, inputs_of
from hypercondense.nn.training import Configuration, Inputs
from hypercondense.nn.training import train as fit
from hypercondense.runtime.arguments import must_be, told_arguments
from hypercondense.runtime.bars import watched
from hypercondense.runtime.devices import check_device
from hypercondense.runtime.memory import parse_size
from hypercondense.runtime.progress import Progress
from hypercondense.runtime.rng import seeded
from hypercondense.runtime.threads import one_thread
from hypercondense.typed import Value, content_of, read

FORMAT = "hypercondense.network"
VERSION = 1
_ROWS = 65_536  # nodes that are written together
_ANSWER = 24  # bytes of a node beside its shares: its number, its class, and room for others
_FACTS, _CHECKSUM, _WEIGHTS = "facts", "checksum", "weights."


class NetworkFacts(Value, frozen=True, kw_only=True):
    """What a file of a network tells beside its weights. Scores are ``None`` where nothing was scored."""

    format: str = FORMAT
    version: Annotated[int, Meta(ge=1, le=VERSION)] = VERSION
    model: str
    options: dict[str, Any]
    num_features: Size
    num_classes: Size
    label_names: tuple[str, ...] | None = None
    feature_names: tuple[str, ...] | None = None
    source_name: str
    source_digest: str
    epoch: int
    seed: int
    accuracy: float | None = None
    calibration: float | None = None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False, repr=False)
class Prediction(Frozen):
    """Classes of nodes, and how sure the network is: shares of all classes, which add up to 1.

    ``hypergraph`` is what the nodes with these ``node_ids`` are in.
    """

    hypergraph: Hypergraph
    node_ids: Ids
    classes: Ids
    shares: Dense
    label_names: tuple[str, ...]

    @cached_property
    def nodes(self) -> tuple[str, ...]:
        """The names of the nodes, or their numbers where they have none."""
        return self._named(slice(None))

    @property
    def labels(self) -> tuple[str, ...]:
        """The name of the predicted class of each node."""
        return tuple(self.label_names[label] for label in self.classes)

    def __repr__(self) -> str:
        return f"Prediction({len(self):,} nodes, {len(self.label_names)} classes)"

    def __len__(self) -> int:
        return len(self.node_ids)

    def _named(self, some: slice) -> tuple[str, ...]:
        return tuple(map(self.hypergraph.node_name, self.node_ids[some].tolist()))

    def to_csv(self, path: Path | str, *, overwrite: bool = False) -> None:
        """Write ``node``, ``label`` and the share of every class, a line per node, whole or not at all."""
        path = Path(path)
        check_file_target(path, overwrite=overwrite)
        header = ["node", "label", *(f"share of {name}" for name in self.label_names)]
        with replaced_file(path) as draft, draft.open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(header)
            for some in chunks(len(self), _ROWS):
                labels = (self.label_names[label] for label in self.classes[some])
                rows = zip(self._named(some), labels, self.shares[some].tolist(), strict=True)
                writer.writerows([node, label, *(f"{share:.6g}" for share in of)] for node, label, of in rows)


@dataclass(frozen=True, eq=False, repr=False)
class TrainedNetwork:
    """A network that was trained on a condensed hypergraph.

    It predicts nodes of the source, and of any other hypergraph with the same features: its weights belong to
    features and classes, not to nodes, so it reads the features and hyperedges of whatever it is asked about
    (inductive). Features are scaled first where those of the result were.

    >>> import hypercondense as hc
    >>> source = hc.synthetic(num_nodes=60, num_hyperedges=40, seed=0)
    >>> split = hc.split(source, seed=0)
    >>> result = hc.condense(source, split, nodes=6, method="means")
    >>> network = hc.train(result, source, split, model="mlp")
    >>> len(network.predict(source, nodes=[0, 1]).labels)
    2
    """

    facts: NetworkFacts
    model: HypergraphNetwork
    scale: Scale | None = None
    source: Hypergraph | None = field(default=None)

    def __repr__(self) -> str:
        told = self.facts
        scored = "" if told.accuracy is None else f", accuracy {told.accuracy:.2%} on test nodes"
        sure = "" if told.calibration is None else f", calibration error {told.calibration:.2%}"
        return f"TrainedNetwork({told.model}, of {told.source_name!r}{scored}{sure})"

    def predict(
        self,
        of: Hypergraph | Sequence[Any] | None = None,
        nodes: Sequence[Any] | None = None,
        *,
        memory: int | str | None = None,
    ) -> Prediction:
        """Classes and shares of nodes.

        Args:
            of: The hypergraph the nodes are in: the source, or another one with the same features. A list of
                nodes means those of the source, if the network was trained with it at hand.
            nodes: Which nodes, by name, by number or as a mask of booleans; all of them by default.
            memory: Bytes that this process may take where the hypergraph is mapped, as a number or as
                ``"2GB"``.

        Raises:
            ValueError: A node does not exist, or the features are not those the network knows.
            ConfigError: The memory is too little; the text tells what is needed.
        """
        if of is not None and not isinstance(of, Hypergraph):
            of, nodes = None, of
        if isinstance(nodes, str | bytes) or (nodes is not None and not isinstance(nodes, Iterable)):
            raise TypeError(f"nodes must be a list of names or numbers; for one node give [{nodes!r:.40}]")
        hypergraph = self.source if of is None else of
        if hypergraph is None:
            raise ValueError("of which hypergraph? give it first: predict(source, nodes)")
        ids = np.arange(hypergraph.num_nodes) if nodes is None else _wanted(hypergraph, nodes)
        return self.predict_ids(hypergraph, ids, memory=memory)

    def predict_ids(self, hypergraph: Hypergraph, ids: Ids, *, memory: int | str | None = None) -> Prediction:
        """The same of nodes by their place in the hypergraph, whatever they are called."""
        self._check(hypergraph)
        shares = self._shares(hypergraph, ids, memory)
        names = self.facts.label_names or tuple(str(label) for label in range(self.facts.num_classes))
        return Prediction(
            hypergraph=hypergraph,
            node_ids=ids,
            classes=shares.argmax(1),
            shares=shares,
            label_names=names,
        )

    def save(self, path: Path | str, *, overwrite: bool = False) -> None:
        """Write one file of safetensors: weights, scale and facts, whole or not at all."""
        path = Path(path)
        check_file_target(path, overwrite=overwrite)
        text = json.dumps(content_of(self.facts)).encode()
        arrays: dict[str, NDArray[Any]] = {_FACTS: np.frombuffer(text, np.uint8)}
        arrays |= {} if self.scale is None else self.scale.to_arrays()
        weights = self.model.state_dict()
        arrays |= {f"{_WEIGHTS}{name}": value.cpu().numpy() for name, value in weights.items()}
        arrays[_CHECKSUM] = np.frombuffer(arrays_digest(arrays), np.uint8)
        with replaced_file(path) as draft:
            write_tensors(draft, arrays)

    @torch.no_grad()
    def _shares(self, hypergraph: Hypergraph, ids: Ids, memory: int | str | None) -> Dense:
        most = parse_size(memory) if isinstance(memory, str) else memory
        answers = len(ids) * (4 * self.facts.num_classes + _ANSWER) // hypergraph.num_nodes
        check_budget(hypergraph, most, lists=answers, scaled=self.scale is not None)
        scaled = hypergraph if self.scale is None else self.scale.applied(hypergraph)
        device = next(iter(self.model.parameters())).device
        inputs = inputs_of(scaled, device=device, memory=most)
        with one_thread():
            shares = inputs.scores(self.model.eval(), torch.from_numpy(ids.copy()).to(device)).cpu()
            for some in chunks(len(shares), _ROWS):
                shares[some] = torch.softmax(shares[some], 1)
                if shares[some].isnan().any():
                    raise ValueError("the network gives no numbers for these features; are they very large?")
        return np.asarray(shares.numpy())

    def _check(self, hypergraph: Hypergraph) -> None:
        told = self.facts
        if hypergraph.num_features != told.num_features:
            raise ValueError(
                f"the network knows {told.num_features} features, but {hypergraph.name} has "
                f"{hypergraph.num_features}; give a hypergraph with the same features"
            )
        if told.feature_names is None or hypergraph.feature_names is None:
            return
        for place, (ours, theirs) in enumerate(
            zip(told.feature_names, hypergraph.feature_names, strict=True)
        ):
            if ours != theirs:
                raise ValueError(
                    f"feature {place} must be {ours[:40]!r}, it is {theirs[:40]!r}; give the same features "
                    "in the same order"
                )


@told_arguments
def train(
    result: Condensation,
    source: Hypergraph | None = None,
    split: Split | None = None,
    *,
    model: str | Configuration = "hgnn",
    seed: int = 0,
    device: str = "cpu",
    progress: Progress | bool | None = None,
    memory: int | str | None = None,
) -> TrainedNetwork:
    """Train a network on a result, to predict with.

    Args:
        result: What to train on.
        source: What it was condensed from; its validation nodes choose the epoch and the form of the network,
            and its test nodes tell accuracy and calibration. Without it the result is asked where it is; if
            it is not there, the last epoch is used and nothing is scored, which ``facts.notes`` tell.
        split: The split it was condensed with; not needed where that was made by a seed.
        model: A registered name, or a :class:`Configuration`.
        seed: Equal seeds give equal weights on one machine.
        device: A torch device.
        progress: ``True`` for a bar in a terminal or notebook, or a function that is told.
        memory: Bytes that this process may take where the source is mapped, as a number or as ``"2GB"``.

    >>> from hypercondense.catalogue import condense
    >>> from hypercondense.data import synthetic
    >>> source = synthetic(num_nodes=80, num_hyperedges=50, num_classes=2, seed=0)
    >>> result = condense(source, nodes=6, method="means")
    >>> train(result, source, model="mlp").predict(source, nodes=[7, 3])
    Prediction(2 nodes, 2 classes)
    """
    must_be("result", result, Condensation, like="train(result, source, split, model='hgnn')")
    configuration = model if isinstance(model, Configuration) else Configuration(model=model)
    forms = configuration.in_each_form()  # raises before the long work
    most = parse_size(memory) if isinstance(memory, str) else memory
    check_device(device)
    seed = seed_number(seed)
    notes: tuple[str, ...] = ()
    if source is None:
        source, notes = _located(result)
    if source is not None and split is None:
        split = _own_split(result, source)
    if source is not None and split is not None:
        result.provenance.check(source_digest=source.digest, split_digest=split.digest)
    elif source is not None:
        notes = ("the split was not given, so no validation nodes chose the epoch: it is the last",)
    looks, nodes = result.hypergraph, _NOBODY
    if source is not None and split is not None:
        check_budget(source, most, scaled=result.scale is not None)
        looks, nodes = source if result.scale is None else result.scale.applied(source), split
    seen = inputs_of(looks, device=device, memory=most)
    check_networks(seen, forms)
    with watched(progress) as report, one_thread():
        trained = fit(
            configuration,
            Inputs.of(result.hypergraph, device=device),
            seen,
            nodes,
            seed=seed,
            progress=report,
        )
    made = result.provenance
    facts = NetworkFacts(
        model=trained.configuration.model,
        options=dict(trained.configuration.options),
        num_features=result.hypergraph.num_features,
        num_classes=looks.num_classes,
        label_names=result.hypergraph.label_names,
        feature_names=result.hypergraph.feature_names,
        source_name=made.source_name,
        source_digest=made.source_digest,
        epoch=trained.epoch,
        seed=seed,
        notes=notes,
    )
    network = TrainedNetwork(facts, trained.model, result.scale, source)
    return network if source is None or split is None else _scored(network, source, split, most)


def _wanted(hypergraph: Hypergraph, nodes: Any) -> Ids:
    """Node ids that were given by name, by number or as a mask."""
    given = np.asarray(nodes.detach().cpu() if hasattr(nodes, "detach") else list(nodes))
    if given.ndim != 1:
        raise ValueError(f"nodes must be a flat list of names or numbers, got shape {given.shape}")
    if given.dtype.kind != "b" or not given.size:
        return hypergraph.node_ids(list(nodes))
    if len(given) != hypergraph.num_nodes:
        raise ValueError(
            f"a mask needs an entry for each of the {hypergraph.num_nodes} nodes, got {len(given)}"
        )
    return np.flatnonzero(given)


_NONE: Ids = np.empty(0, np.int64)
_NOBODY = Split(_NONE, _NONE, _NONE)


def _scored(network: TrainedNetwork, source: Hypergraph, split: Split, memory: int | None) -> TrainedNetwork:
    """The network with its accuracy and calibration error on test nodes."""
    from msgspec.structs import replace

    if len(split.test_ids) == 0:
        return network
    shares, labels = network._shares(source, split.test_ids, memory), source.labels[split.test_ids]
    facts = replace(
        network.facts,
        accuracy=accuracy(labels, shares.argmax(1)),
        calibration=calibration_error(labels, shares),
    )
    return TrainedNetwork(facts, network.model, network.scale, source)


def _located(result: Condensation) -> tuple[Hypergraph | None, tuple[str, ...]]:
    """The source where the result says it is, and what to know if it is not there."""
    made = result.provenance
    try:
        source = load(made.source_location or made.source_name)
    except HypercondenseError as error:
        reason = one_line(error)
    else:
        if source.digest == made.source_digest:
            return source, ()
        reason = f"what is at {made.source_location or made.source_name} is another hypergraph"
    return None, (f"no validation nodes chose the epoch, it is the last: {reason}",)


def _own_split(result: Condensation, source: Hypergraph) -> Split | None:
    """The split a result was condensed with, by its seed or as it came with the source; else ``None``."""
    made = result.provenance
    if made.split_seed is not None:
        return split_by_seed(source, seed=made.split_seed)
    own = None if source.parts is None else split_by_seed(source)
    return own if own is not None and own.digest == made.split_digest else None


def load_network(path: Path | str) -> TrainedNetwork:
    """Read what :meth:`TrainedNetwork.save` wrote; every part is checked, and nothing in the file is run.

    >>> import hypercondense as hc
    >>> source = hc.synthetic(num_nodes=60, num_hyperedges=40, seed=0)
    >>> from tempfile import TemporaryDirectory
    >>> split = hc.split(source, seed=0)
    >>> result = hc.condense(source, split, nodes=6, method="means")
    >>> with TemporaryDirectory() as folder:
    ...     hc.train(result, source, split, model="mlp").save(f"{folder}/mlp.safetensors")
    ...     len(load_network(f"{folder}/mlp.safetensors").predict(source, nodes=[0]).labels)
    1
    """
    path = Path(path)
    if not path.is_file():
        raise FormatError(f"there is no file {path}; save a network with TrainedNetwork.save, or `predict`")
    arrays = read_tensors(path)
    told = arrays.pop(_CHECKSUM, None)
    undamaged = told is not None and told.tobytes() == arrays_digest(arrays)
    try:
        facts_text = arrays.pop(_FACTS).tobytes()
        check_json(path, facts_text)
        content = json.loads(facts_text)
    except (KeyError, ValueError, RecursionError) as error:
        raise FormatError(f"{path} is not a network of hypercondense: it has no facts") from error
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise FormatError(f"{path} is not a network of hypercondense: it must say format {FORMAT!r}")
    facts = read(content, NetworkFacts, where=str(path), error=FormatError)
    if not undamaged:
        raise FormatError(f"{path} was changed after it was written; save it again")
    try:
        scale = Scale.from_arrays(arrays, facts.num_features)
        return TrainedNetwork(facts, _restored(facts, arrays), scale)
    except (ValueError, RuntimeError, KeyError, ConfigError) as error:
        raise FormatError(f"{path} does not fit its facts: {one_line(error)}") from error


def _check_facts(facts: NetworkFacts) -> None:
    for what, names, size in (
        ("classes", facts.label_names, facts.num_classes),
        ("features", facts.feature_names, facts.num_features),
    ):
        if names is not None and len(names) != size:
            raise ValueError(f"it has {len(names)} names of {size} {what}")
    if taken := {"num_features", "num_classes"} & facts.options.keys():
        raise ValueError(f"{min(taken)} is no option")


def _restored(facts: NetworkFacts, arrays: Mapping[str, NDArray[Any]]) -> HypergraphNetwork:
    weights = {
        name.removeprefix(_WEIGHTS): torch.from_numpy(array.copy())
        for name, array in arrays.items()
        if name.startswith(_WEIGHTS)
    }
    if not weights:
        raise ValueError("it has no weights")
    if strange := [name for name, value in weights.items() if value.dtype != torch.float32]:
        raise ValueError(f"the weights {strange[0][:60]} are not of 32 bits")
    # A file may claim any size: that of what is there bounds what is made.
    largest = sum(math.prod(value.shape) for value in weights.values())
    claimed = (facts.num_features, facts.num_classes, *(_numbers(facts.options)))
    if max(claimed) > largest:
        raise ValueError(f"it claims sizes up to {max(claimed)}, but holds {largest} numbers")
    _check_facts(facts)
    layers = facts.options.get("layers", 1)
    if isinstance(layers, int) and layers > len(weights):
        raise ValueError(f"it claims {layers} layers, but holds {len(weights)} tensors of weights")
    with seeded(0), torch.device("meta"):
        model = build(
            facts.model, num_features=facts.num_features, num_classes=facts.num_classes, **facts.options
        )
    model.load_state_dict(weights, assign=True)
    for name, value in weights.items():
        if not bool(torch.isfinite(value).all()):
            raise ValueError(f"the weights {name[:60]} are not all finite")
    return model.eval()


def _numbers(options: Mapping[str, Any]) -> list[int]:
    return [value for value in options.values() if isinstance(value, int) and not isinstance(value, bool)]


def check_source(network: TrainedNetwork, result: Condensation) -> None:
    """Refuse a network of another source than that of a result."""
    theirs, ours = network.facts, result.provenance
    if theirs.source_digest != ours.source_digest:
        raise ConfigError(
            f"this network was trained for another source, {theirs.source_name!r} "
            f"({theirs.source_digest[:12]}), not {ours.source_name!r} ({ours.source_digest[:12]}); "
            "train one on this result"
        )
