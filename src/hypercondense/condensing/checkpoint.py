"""State on disk that an interrupted condensation continues from, to the same bits."""

import json
import shutil
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from hypercondense.errors import CondensationError, FormatError, one_line
from hypercondense.files import storage
from hypercondense.files.drafts import remove_drafts

_FILE = "checkpoint.safetensors"
SIZES = "sizes"  # a folder beside it for what was made of several sizes
_TRIAL, _PART = "trial-", "part-"  # of the names of files that hold a trial of a search, or a part of it
_VERSION = 3  # 1 is that of release 0.1.0, whose options were flat; 2 had no checksum
_RARELY = 20  # times as long as a write takes pass between two of them
_FACTS, _CHECKSUM = "facts", "sha256"  # names of arrays beside the tensors


@dataclass
class Checkpoint:
    """One file in ``folder``, replaced as a whole at most every ``every`` seconds.

    Args:
        folder: Where the file is.
        identity: What must be equal for a state to be continued: source, split, method, options, seed.
        resume: Whether to continue from a state that is there; otherwise it is ignored and overwritten.
        every: Seconds between two writes, and more where these take long; 0 writes at every step.
        file: Its name.
    """

    folder: Path
    identity: Mapping[str, Any]
    resume: bool = False
    every: float = 0.5
    file: str = _FILE
    _written: float = field(default=-np.inf, repr=False)
    _took: float = field(default=0.0, repr=False)

    def load(self) -> tuple[dict[str, torch.Tensor], dict[str, Any]] | None:
        """The saved tensors and facts, or ``None`` where there is nothing to continue."""
        path = self.folder / self.file
        if not self.resume or not path.is_file():
            return None
        arrays = storage.read_tensors(path)
        try:
            facts = json.loads(arrays[_FACTS].tobytes())
            identity, version = facts.pop("identity"), facts.pop("version", 1)
            told = arrays.pop(_CHECKSUM, None)
        except (KeyError, ValueError, TypeError, AttributeError, RecursionError) as error:
            raise self._not_one("it tells nothing of itself") from error
        if version != _VERSION:
            raise CondensationError(
                f"the checkpoint in {self.folder} has version {str(version)[:20]} and this program continues "
                f"version {_VERSION} only; finish it with the program that began it, or start again without "
                "resume"
            )
        if told is None or told.tobytes() != storage.arrays_digest(arrays):
            raise self._not_one("it was changed after it was written")
        del arrays[_FACTS]
        if not isinstance(identity, dict):
            raise self._not_one("its identity is not a table")
        for key, value in json.loads(json.dumps(self.identity)).items():
            if identity.get(key) != value:
                raise CondensationError(
                    f"the checkpoint in {self.folder} was made with {_other(key, identity.get(key), value)}; "
                    "use the same options, or start again without resume"
                )
        return {name: torch.from_numpy(array) for name, array in arrays.items()}, facts

    def of_trial(self, key: str) -> "Checkpoint":
        """A file of its own for one trial of a search, which is known by ``key``."""
        return replace(self, file=f"{_TRIAL}{key[:16]}.safetensors", _written=-np.inf)

    @contextmanager
    def continuing(self) -> Iterator[None]:
        """Where a state is put back: one that lacks something, or has it of another kind, is refused."""
        try:
            yield
        except (LookupError, TypeError, ValueError, AttributeError, RuntimeError) as error:
            raise self._not_one(one_line(error, kind=True)[:100]) from error

    def _not_one(self, why: str) -> FormatError:
        return FormatError(
            f"{self.folder / self.file} is not a checkpoint to continue from ({why}); "
            "remove it and start again"
        )

    def due(self) -> bool:
        """Whether it is time to save."""
        pause = max(self.every, _RARELY * self._took) if self.every else 0.0
        return time.monotonic() - self._written >= pause

    def save(self, tensors: Mapping[str, torch.Tensor], facts: Mapping[str, Any]) -> None:
        """Replace the state on disk."""
        begin = time.monotonic()
        text = json.dumps({**facts, "identity": self.identity, "version": _VERSION})
        arrays: dict[str, NDArray[Any]] = {
            name: tensor.detach().cpu().numpy() for name, tensor in tensors.items()
        }
        arrays[_FACTS] = np.frombuffer(text.encode(), np.uint8)
        arrays[_CHECKSUM] = np.frombuffer(storage.arrays_digest(arrays), np.uint8)
        with storage.replaced_file(self.folder / self.file) as path:
            storage.write_tensors(path, arrays)
        self._written = time.monotonic()
        self._took = self._written - begin

    def part(self, key: str) -> "Checkpoint":
        """A checkpoint beside this one, for a part of the work: under its own name, written when asked."""
        told = json.dumps([self.identity, key], sort_keys=True).encode()
        return replace(self, file=f"{_PART}{sha256(told).hexdigest()[:32]}.safetensors", _written=-np.inf)

    def forget(self) -> None:
        """Remove the state from disk."""
        (self.folder / self.file).unlink(missing_ok=True)


def _other(key: str, was: Any, now: Any) -> str:
    """What a part of the identity was, and is not any more."""
    if not (isinstance(was, list) and isinstance(now, list)):
        return f"{key} {was!r}, not {now!r}"
    if len(was) == len(now):
        return f"other {key} of the condensed nodes"
    return f"{len(was)} condensed nodes, not {len(now)}"


def remove_checkpoint(folder: Path) -> None:
    """Forget the state in ``folder``, once the result is safe; other files in it are left alone."""
    for path in _states(folder):
        path.unlink(missing_ok=True)
        remove_drafts(path)
    for name in (_TRIAL, _PART):  # whose first writer was killed
        for draft in folder.glob(f".{name}*.safetensors.*"):
            remove_drafts(folder / draft.name[1:].rpartition(".")[0])
    shutil.rmtree(folder / SIZES, ignore_errors=True)


def holds_checkpoint(folder: Path) -> bool:
    """Whether a folder holds the state of an interrupted run."""
    return any(path.is_file() for path in _states(folder)) or (folder / SIZES).is_dir()


def _states(folder: Path) -> list[Path]:
    """Files of the state in a folder; the first may be missing."""
    return [
        folder / _FILE,
        *folder.glob(f"{_TRIAL}*.safetensors"),
        *folder.glob(f"{_PART}*.safetensors"),
    ]
