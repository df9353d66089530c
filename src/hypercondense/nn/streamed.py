"""A mapped source as networks see it: answered for layer by layer, in blocks of rows, from files.

A network of convolutions, ``relu(P X W + b)`` in turn, needs P X once, which is kept in a file, and then for
every further layer a product of P and a narrow matrix. Where few nodes are asked, the hyperedges around them
are all that the last of these products needs. Every row has its bits whatever the budget is.
"""

import shutil
import weakref
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2b
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import numpy as np
import scipy.sparse as sp
import torch
from torch import Tensor

from hypercondense.diffusion import diffuse
from hypercondense.diffusion.filed import bytes_to_make, filed_propagation
from hypercondense.diffusion.mapped import new_map
from hypercondense.diffusion.plan import least_bytes
from hypercondense.diffusion.shards import Filed
from hypercondense.errors import ConfigError
from hypercondense.files.maps import chunks, release
from hypercondense.hypergraph import Dense, Hypergraph, Ids
from hypercondense.nn import build
from hypercondense.nn.base import Convolutions, HypergraphNetwork
from hypercondense.nn.inputs import Inputs
from hypercondense.nn.message_passing import Structure
from hypercondense.nn.sparse import Input, input_features
from hypercondense.nn.training import Configuration
from hypercondense.runtime.memory import (
    available_bytes,
    format_size,
    give_back,
    parse_size,
    resident_bytes,
)
from hypercondense.runtime.rng import seeded
from hypercondense.runtime.threads import free_cores

ROWS = 65_536  # that go through a linear map together, whatever the budget: bits may depend on it
_AROUND = 0.5  # of all nodes: where more are seen from those that are asked, all are computed
_DEFAULT = 4 * 10**9
SPARE = 10**8  # bytes for blocks of rows and what libraries take
_MEMBERSHIP, _NODE = 500, 2100  # bytes in memory of a source as tensors, with the hidden layer of a network
_P = (0.0, 1.0)
_STREAMED = "use hgnn, hcha or mlp, which read it from its file"


def bytes_left(memory: int) -> int:
    """Of a budget for this process, what it has not taken yet."""
    return memory - resident_bytes() - SPARE


def bytes_in_memory(source: Hypergraph) -> int:
    """Roughly what a source takes as tensors while a network is trained on it."""
    per_node = _NODE + 12 * source.num_features
    return _MEMBERSHIP * source.num_incidences + per_node * source.num_nodes


def check_budget(source: Hypergraph, memory: int | None, *, lists: int = 0, scaled: bool = False) -> None:
    """Refuse a budget for this process that is below what the smallest pieces of a mapped source take.

    Args:
        source: It.
        memory: Bytes that this process may take.
        lists: Bytes for every node that are needed beside.
        scaled: Whether its features are to be scaled, which makes others in memory.

    Raises:
        ConfigError: The text tells what is needed.
    """
    if memory is None or not source.is_mapped:
        return
    give_back()
    needed = resident_bytes() + SPARE + lists * source.num_nodes + least_bytes(source)
    if needed > memory:
        raise ConfigError(
            f"{source.num_nodes} nodes and {source.num_hyperedges} hyperedges need at least "
            f"{format_size(needed)} of memory, and {format_size(memory)} are allowed; allow more (--memory)"
        )
    if scaled:
        MappedInputs(source, memory=memory).check_room("standardizing", instead="standardize the tables")


def within(
    source: Hypergraph,
    memory: int | str | None,
    *,
    scratch: Path | None = None,
    threads: int | None = None,
) -> dict[str, Any]:
    """How to diffuse on a mapped source where this process may take so many bytes (or half of all)."""
    most = parse_size(memory) if isinstance(memory, str) else memory
    free = most or max(_DEFAULT, (available_bytes() or 0) // 2)
    return {
        "memory": max(bytes_left(free), bytes_to_make(source) if most is None else 0),
        "threads": threads or free_cores(),
        "scratch": scratch,
    }


def check_networks(source: Inputs, forms: Iterable[Configuration]) -> None:
    """Refuse networks that need a mapped source in memory where a budget does not allow it."""
    if not isinstance(source, MappedInputs) or source.memory is None:
        return
    for form in forms:
        with seeded(0):
            model = build(form.model, num_features=1, num_classes=2, **form.options)
        if model.reach != 0 and model.convolutions is None:
            source.check_room(form.model)


class MappedInputs(Inputs):
    """A source whose arrays stay in their file.

    Networks that are convolutions, or see nodes alone, answer from files. Tensors of everything are made for
    others only, and for trainings on everything.

    Args:
        source: A mapped hypergraph.
        memory: Bytes that this process may take; by default half of what is free.
        scratch: Folder for files that are needed meanwhile.
        rows: That go through a linear map together.
    """

    def __init__(
        self,
        source: Hypergraph,
        *,
        memory: int | None = None,
        scratch: Path | None = None,
        rows: int = ROWS,
    ) -> None:
        self.__dict__.update(
            source=source,
            memory=memory,
            scratch=scratch,
            rows=rows,
            labels=torch.as_tensor(np.array(source.labels)),
            num_classes=source.num_classes,
            soft_labels=None,
            _asked={},
        )

    source: Hypergraph
    memory: int | None
    scratch: Path | None
    rows: int
    _asked: dict[tuple[bool, bytes], "_Around | None"]

    def __reduce__(self) -> Any:
        """Another process opens the file itself."""
        return _again, (self.source, self.memory, self.scratch, self.rows)

    @property
    def num_features(self) -> int:
        """Number of feature columns."""
        return self.source.num_features

    @cached_property
    def features(self) -> Input:
        """All of them in memory."""
        self.check_room("what is asked for")
        return input_features(self.source)

    @cached_property
    def structure(self) -> Structure:
        """All of it in memory."""
        self.check_room("what is asked for")
        return Structure.of(self.source)

    def check_room(self, who: str, *, instead: str = _STREAMED) -> None:
        """Refuse to hold the source in memory where a budget does not allow it.

        Args:
            who: What needs it.
            instead: What to do otherwise.

        Raises:
            ConfigError: The text tells what is needed.
        """
        needed = resident_bytes() + bytes_in_memory(self.source)
        if self.memory is not None and needed > self.memory:
            raise ConfigError(
                f"{who} needs the source in memory, about {format_size(needed)}, and "
                f"{format_size(self.memory)} are allowed; allow more (--memory), or {instead}"
            )

    def seen_by(self, node_ids: Tensor, reach: int | None) -> Callable[[HypergraphNetwork], Tensor]:
        """Scores of these nodes, from files where the network can."""
        return lambda model: self.scores(model, node_ids)

    @torch.no_grad()
    def scores(self, model: HypergraphNetwork, node_ids: Tensor) -> Tensor:
        """Class scores of some nodes, (nodes, C)."""
        return self._answers(model, node_ids, embedded=False)

    @torch.no_grad()
    def embeddings(self, model: HypergraphNetwork, node_ids: Tensor) -> Tensor:
        """What the last linear map reads of some nodes, (nodes, hidden)."""
        return self._answers(model, node_ids, embedded=True)

    def _answers(self, model: HypergraphNetwork, node_ids: Tensor, *, embedded: bool) -> Tensor:
        ids = node_ids.numpy()
        if model.reach == 0:
            return self._alone(model, ids, embedded=embedded)
        if (how := model.convolutions) is None:
            whole = super().embeddings if embedded else super().scores
            return whole(model, node_ids)
        around = None if len(how.layers) > 2 else self._around(ids, walks=how.walks)
        if around is not None:
            return around.answers(
                lambda rows: self._narrow(how, rows, embedded=embedded), how, embedded=embedded
            )
        return self._everywhere(how, ids, embedded=embedded)

    def _alone(self, model: HypergraphNetwork, ids: Ids, *, embedded: bool) -> Tensor:
        """Of a network without structure."""
        nothing, answers = Structure(sp.csr_array((1, 0), dtype=np.float32)), []
        for some in chunks(len(ids), self.rows):
            rows = torch.from_numpy(self.source.dense_features(ids[some]).copy())
            release(self.source.features)
            answers.append(model.embed(rows, nothing) if embedded else model(rows, nothing))
        return torch.cat(answers) if answers else torch.empty(0, self.num_classes)

    def _everywhere(self, how: Convolutions, ids: Ids, *, embedded: bool) -> Tensor:
        """Layer by layer for all nodes, the last one for those that are asked."""
        given, last = self._propagated(how.walks), len(how.layers) - 1
        for number in range(1, last + 1):
            linear = how.layers[number]
            plain = embedded and number == last
            width = linear.in_features if plain else linear.out_features
            narrow = new_map(self._folder / f"layer-{number}.npy", (self.source.num_nodes, width))
            for some in chunks(len(narrow), self.rows):
                hidden = _hidden(given[some], how, number - 1)
                narrow[some] = (hidden if plain else hidden @ linear.weight.t()).numpy()
                release(narrow)
                release(given)
            options: dict[str, Any] = {"features": narrow, **self._how(how.walks)}
            if number == last:
                answers = torch.from_numpy(diffuse(self.source, _P, node_ids=ids, **options))
                return answers if embedded else answers.add_(linear.bias)
            given = diffuse(self.source, _P, out=self._folder / f"propagated-{number}.npy", **options)
        raise AssertionError("a network of convolutions has two layers or more")

    def _narrow(self, how: Convolutions, ids: Ids, *, embedded: bool) -> Tensor:
        """What the last of two layers propagates, for some nodes."""
        given, weight = self._propagated(how.walks), how.layers[-1].weight
        parts = []
        for some in chunks(len(ids), self.rows):
            hidden = _hidden(given[ids[some]], how, 0)
            release(given)
            parts.append(hidden if embedded else hidden @ weight.t())
        return torch.cat(parts)

    def _around(self, ids: Ids, *, walks: bool) -> "_Around | None":
        """What some nodes see in a step; ``None`` where that is most of everything."""
        key = walks, blake2b(np.ascontiguousarray(ids).data).digest()
        if key not in self._asked:
            self._asked[key] = self._made_around(ids, walks=walks)
        return self._asked[key]

    def _made_around(self, ids: Ids, *, walks: bool) -> "_Around | None":
        source = self.source
        number, nodes = source.num_incidences, source.num_nodes
        if len(ids) * (number / nodes) * (number / max(1, source.num_hyperedges)) > _AROUND * nodes:
            return None
        propagation = filed_propagation(source, **self._how(walks))
        forth, back, active = propagation.to_hyperedges, propagation.to_nodes, propagation.active_ids
        assert isinstance(forth, Filed) and isinstance(back, Filed)
        place = np.searchsorted(active, ids)
        moves = (
            np.flatnonzero(active[np.minimum(place, len(active) - 1)] == ids) if len(active) else place[:0]
        )
        lengths, hyperedges, values = back.rows(place[moves])
        used, columns = np.unique(hyperedges, return_inverse=True)
        counts = np.zeros(len(ids), np.int64)
        counts[moves] = lengths
        to_nodes = sp.csr_array((values, columns, _starts(counts)), shape=(len(ids), len(used)))
        lengths, members, values = forth.rows(used)
        seen = np.union1d(active[members], ids)
        columns = np.searchsorted(seen, active[members])
        to_hyperedges = sp.csr_array((values, columns, _starts(lengths)), shape=(len(used), len(seen)))
        return _Around(
            node_ids=seen,
            own=np.searchsorted(seen, ids),
            to_hyperedges=to_hyperedges,
            to_nodes=to_nodes,
            loop=propagation.loop[ids][:, None],
        )

    def _propagated(self, walks: bool) -> Dense:
        """P X, in a file."""
        name = f"_propagated_{walks}"
        if name not in self.__dict__:
            file = self._folder / f"features-{walks}.npy"
            self.__dict__[name] = diffuse(self.source, _P, out=file, **self._how(walks))
        kept: Dense = self.__dict__[name]
        return kept

    def _how(self, walks: bool) -> dict[str, Any]:
        how = within(self.source, self.memory, scratch=self.scratch, threads=self._threads)
        return {"walks": walks, **how}

    @cached_property
    def _threads(self) -> int:
        return free_cores()

    @cached_property
    def _folder(self) -> Path:
        if self.scratch is not None:
            self.scratch.mkdir(parents=True, exist_ok=True)
        folder = Path(mkdtemp(prefix="hypercondense-layers-", dir=self.scratch))
        weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)
        return folder


@dataclass(frozen=True, eq=False)
class _Around:
    """The rows of P of some nodes: ``to_nodes @ to_hyperedges @ x + loop * x[own]``, x of ``node_ids``."""

    node_ids: Ids
    own: Ids
    to_hyperedges: Any
    to_nodes: Any
    loop: Dense

    def answers(self, narrow: Callable[[Ids], Tensor], how: Convolutions, *, embedded: bool) -> Tensor:
        x = narrow(self.node_ids).numpy()
        received = torch.from_numpy(self.to_nodes @ (self.to_hyperedges @ x) + self.loop * x[self.own])
        return received if embedded else received.add_(how.layers[-1].bias)


def _hidden(propagated: Dense, how: Convolutions, layer: int) -> Tensor:
    """``relu(P X W + b)`` of the first layer; of later ones P X W is given."""
    x, linear = torch.from_numpy(np.array(propagated)), how.layers[layer]
    product = x @ linear.weight.t() if layer == 0 else x
    return torch.relu_(product + linear.bias)


def _starts(lengths: Any) -> Ids:
    return np.append(0, np.cumsum(lengths))


def _again(source: Hypergraph, memory: int | None, scratch: Path | None, rows: int) -> MappedInputs:
    return MappedInputs(source, memory=memory, scratch=scratch, rows=rows)


def inputs_of(
    source: Hypergraph,
    *,
    device: torch.device | str = "cpu",
    memory: int | None = None,
    scratch: Path | None = None,
) -> Inputs:
    """A source as networks see it: from its file where it is mapped, else as tensors."""
    if source.is_mapped and str(device) == "cpu":
        return MappedInputs(source, memory=memory, scratch=scratch)
    return Inputs.of(source, device=device)
