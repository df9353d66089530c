"""What trainings on a whole source scored, kept between commands: nobody trains on everything twice."""

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from hypercondense.condensation import package_versions
from hypercondense.errors import FormatError, HypercondenseError, one_line
from hypercondense.files.manifest import sealed, unsealed
from hypercondense.files.storage import read_json, replaced_file, write_json
from hypercondense.frozen import Frozen
from hypercondense.nn import model_class
from hypercondense.nn.training import Configuration
from hypercondense.runtime.code_version import code_checksum
from hypercondense.typed import Value, digest_of, read

_log = logging.getLogger(__name__)


class KeptScore(Value, frozen=True, kw_only=True):
    """One training on a whole source: what :class:`hypercondense.evaluation.parallel.Finished` holds."""

    format: str = "hypercondense.whole-score"
    value: float
    macro_f1: float | None
    calibration: float | None
    predicted: tuple[int, ...]
    validation: float | None
    epoch: int
    options: dict[str, Any]
    seconds: float


@dataclass(frozen=True)
class Shelf(Frozen):
    """A folder of scores, each under the digest of everything it depends on.

    Args:
        folder: Where they are.
        origin: The digests of source and split, the scale, the task, the metric and the device.
    """

    folder: Path
    origin: Mapping[str, Any]

    def path(self, configuration: Configuration, seed: int) -> Path:
        """The file of one training."""
        facts = {
            **self.origin,
            "model": configuration.model,
            "options": dict(configuration.options),
            "optimization": [configuration.learning_rate, configuration.weight_decay, configuration.epochs],
            "defaults": model_class(configuration.model).defaults_version,
            "seed": seed,
            "code": code_checksum(),
            "versions": package_versions(),
        }
        return self.folder / f"{digest_of(facts)}.json"

    def load(self, configuration: Configuration, seed: int) -> KeptScore | None:
        """What was kept of a training; ``None`` if nothing was, or nothing that can be read."""
        path = self.path(configuration, seed)
        if not path.is_file():
            return None
        try:
            content = unsealed(read_json(path))
            if content is None:
                raise FormatError(f"{path} was changed after it was written")
            return read(content, KeptScore, where=str(path), error=FormatError)
        except (HypercondenseError, OSError) as error:
            _log.warning("a kept score cannot be used (%s); training again", one_line(error))
            return None

    def save(self, configuration: Configuration, seed: int, score: KeptScore) -> None:
        """Keep the score of a training; where that cannot be done the work goes on."""
        try:
            with replaced_file(self.path(configuration, seed)) as draft:
                write_json(draft, sealed(msgspec.to_builtins(score)))
        except OSError as error:
            _log.warning("scores cannot be kept (%s); going on without", one_line(error))
