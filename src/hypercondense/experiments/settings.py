"""Everything that determines the result of one run, and when two runs are the same."""

import json
from collections.abc import Mapping
from hashlib import sha256
from typing import Annotated, Any, Literal

from msgspec import Meta, field
from msgspec.structs import asdict

from hypercondense.frozen import frozen
from hypercondense.names import Allocation
from hypercondense.typed import Count, Value, Whole

#: Condensed nodes / all nodes.
Ratio = Annotated[float, Meta(gt=0, le=1)]
#: Which nodes a network is asked about.
Over = Literal["test", "all"]

WHOLE = "whole"  # the source itself, not condensed

_LEFT_OUT = object()
#: Settings that lines may be older than, and what they were before.
_SINCE = {"defaults_version": 1, "allocate": "proportional"}
#: What a condensation depends on; runs that share it share one condensed hypergraph.
_OF_CONDENSATION = (
    "source",
    "generator",
    "split_seed",
    "ratio",
    "method",
    "options",
    "select",
    "allocate",
    "cached",
    "seed",
)


class Settings(Value, kw_only=True):
    """One condensation, and ``runs`` trainings of one model for one task on it.

    Args:
        source: Registered name, or a path.
        generator: Options of the generator where the source is ``synthetic``.
        split_seed: Seed of the split into training, validation and test nodes.
        ratio: Condensed nodes / all nodes; ``None`` for the whole source.
        method: Name of the method, or ``whole``.
        options: Every field of the method by its dotted name, those that have their default value too.
        select: Whether candidates are chosen on validation nodes.
        allocate: How condensed nodes are shared out between classes.
        cached: Whether diffused features may come from the cache, which changes seconds and nothing else.
        seed: Of the condensation and of the trainings on it.
        model: The network.
        defaults_version: Of the network: with which of its defaults it is trained.
        task: What it is asked to do.
        over: Which nodes it is asked about.
        runs: Number of trainings.
    """

    source: str
    generator: Mapping[str, Any] = field(default_factory=dict)
    split_seed: Whole = 0
    ratio: Ratio | None
    method: str
    options: Mapping[str, Any] = field(default_factory=dict)
    select: bool = False
    allocate: Allocation = "proportional"
    cached: bool = True
    seed: Whole = 0
    model: str = "hgnn"
    defaults_version: Count = 1
    task: str = "classify"
    over: Over = "test"
    runs: Count = 5

    @property
    def key(self) -> str:
        """A digest of all settings."""
        return _digest(self._deciding())

    @property
    def condensation(self) -> str:
        """A digest of what the condensed hypergraph depends on."""
        return _digest({name: getattr(self, name) for name in _OF_CONDENSATION})

    @property
    def core(self) -> str:
        """A digest of all settings but the options of the method."""
        return _digest({name: value for name, value in self._deciding().items() if name != "options"})

    def _deciding(self) -> dict[str, Any]:
        """All settings but those that are as they were before there was a choice: older lines lack them."""
        return {
            name: value for name, value in asdict(self).items() if name not in _SINCE or _SINCE[name] != value
        }


def is_same(done: Settings, wanted: Settings, defaults: Mapping[str, Any]) -> bool:
    """Whether a finished run is the one that is wanted.

    Options that the method has got since then must have their default value now. So results stay valid when
    an option is added, and do not when a default changes.

    >>> done = Settings(source="cora", ratio=0.01, method="m", options={"time": 2})
    >>> wanted = Settings(source="cora", ratio=0.01, method="m", options={"time": 2, "new": 0})
    >>> is_same(done, wanted, {"time": 1, "new": 0}), is_same(done, wanted, {"time": 1, "new": 5})
    (True, False)
    """
    if done.core != wanted.core or not set(done.options) <= set(wanted.options):
        return False
    then = {name: _default(name, done, defaults) for name in wanted.options} | dict(done.options)
    return bool(frozen(then) == wanted.options)


def _default(name: str, done: Settings, defaults: Mapping[str, Any]) -> Any:
    """What an option was that a finished run does not know; no value where its part was left out."""
    owner = name
    while owner := owner.rpartition(".")[0]:
        left_out = owner in defaults and not any(other.startswith(f"{owner}.") for other in done.options)
        if left_out:
            return _LEFT_OUT
    return defaults.get(name)


def _digest(content: Mapping[str, Any]) -> str:
    text = json.dumps(content, sort_keys=True, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    return sha256(text.encode()).hexdigest()[:32]
