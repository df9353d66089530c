"""State on disk that an interrupted condensation continues from, to the same bits."""

import json
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from hypercondense.errors import CondensationError, FormatError
from hypercondense.files import storage

_FILE = "checkpoint.safetensors"
_VERSION = 2  # 1 is that of release 0.1.0, whose options were flat


@dataclass
class Checkpoint:
    """One file in ``folder``, replaced as a whole at most every ``every`` seconds.

    Args:
        folder: Where the file is.
        identity: What must be equal for a state to be continued: source, split, method, options, seed.
        resume: Whether to continue from a state that is there; otherwise it is ignored and overwritten.
        every: Seconds between two writes.
    """

    folder: Path
    identity: Mapping[str, Any]
    resume: bool = False
    every: float = 5.0
    _written: float = field(default=-np.inf, repr=False)

    def load(self) -> tuple[dict[str, torch.Tensor], dict[str, Any]] | None:
        """The saved tensors and facts, or ``None`` where there is nothing to continue."""
        path = self.folder / _FILE
        if not self.resume or not path.is_file():
            return None
        arrays = storage.read_tensors(path)
        try:
            facts = json.loads(arrays.pop("facts").tobytes())
            identity, version = facts.pop("identity"), facts.pop("version", 1)
        except (KeyError, ValueError) as error:
            raise FormatError(f"{path} is not a checkpoint; remove it and start again") from error
        if version != _VERSION:
            raise CondensationError(
                f"the checkpoint in {self.folder} has version {version} and this program continues version "
                f"{_VERSION} only; finish it with the program that began it, or start again without --resume"
            )
        for key, value in json.loads(json.dumps(self.identity)).items():
            if identity.get(key) != value:
                raise CondensationError(
                    f"the checkpoint in {self.folder} was made with {_other(key, identity.get(key), value)}; "
                    "use the same options, or start again without --resume"
                )
        return {name: torch.from_numpy(array) for name, array in arrays.items()}, facts

    def due(self) -> bool:
        """Whether it is time to save."""
        return time.monotonic() - self._written >= self.every

    def save(self, tensors: Mapping[str, torch.Tensor], facts: Mapping[str, Any]) -> None:
        """Replace the state on disk."""
        text = json.dumps({**facts, "identity": self.identity, "version": _VERSION})
        arrays: dict[str, NDArray[Any]] = {
            name: tensor.detach().cpu().numpy() for name, tensor in tensors.items()
        }
        arrays["facts"] = np.frombuffer(text.encode(), np.uint8)
        with storage.replaced_file(self.folder / _FILE) as path:
            storage.write_tensors(path, arrays)
        self._written = time.monotonic()


def _other(key: str, was: Any, now: Any) -> str:
    """What a part of the identity was, and is not any more."""
    if not (isinstance(was, list) and isinstance(now, list)):
        return f"{key} {was!r}, not {now!r}"
    if len(was) == len(now):
        return f"other {key} of the condensed nodes"
    return f"{len(was)} condensed nodes, not {len(now)}"


def remove_checkpoint(folder: Path) -> None:
    """Forget the state in ``folder``, once the result is safe; other files in it are left alone."""
    path = folder / _FILE
    path.unlink(missing_ok=True)
    storage.remove_drafts(path)


def pack_optimizer(prefix: str, optimizer: torch.optim.Optimizer) -> dict[str, torch.Tensor]:
    """The running averages and step counts of Adam as named tensors."""
    state = optimizer.state_dict()["state"]
    return {f"{prefix}.{index}.{key}": value for index, row in state.items() for key, value in row.items()}


def unpack_optimizer(
    prefix: str, optimizer: torch.optim.Optimizer, tensors: Mapping[str, torch.Tensor]
) -> None:
    """Put back what :func:`pack_optimizer` took."""
    state: dict[int, dict[str, torch.Tensor]] = {}
    for name, value in tensors.items():
        if name.startswith(f"{prefix}."):
            _, index, key = name.rsplit(".", 2)
            state.setdefault(int(index), {})[key] = value
    optimizer.load_state_dict({**optimizer.state_dict(), "state": state})
