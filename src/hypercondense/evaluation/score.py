"""What trainings scored, as values: of one network, and over several networks or condensations."""

import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from hypercondense.frozen import Frozen
from hypercondense.markup import fact_table


@dataclass(frozen=True)
class Spread:
    """Mean and standard deviation (of the sample; 0 for one value)."""

    mean: float
    std: float

    @classmethod
    def of(cls, values: Sequence[float]) -> "Spread":
        """Summarize values.

        >>> Spread.of([0.25, 0.5, 0.75])
        Spread(mean=0.5, std=0.25)
        """
        return cls(statistics.fmean(values), statistics.stdev(values) if len(values) > 1 else 0.0)


@dataclass(frozen=True, kw_only=True, repr=False)
class Score(Frozen):
    """What ``runs`` trainings on a condensed hypergraph scored on the test nodes; fractions in 0..1.

    ``metric`` is what ``mean`` and ``values`` measure. ``retention`` is ``mean / whole.mean``.
    ``missing_classes`` are in the source's training labels but not in the condensed hypergraph: no network
    can learn them. ``validation``, ``epochs`` and ``options`` (of the network, with those of its form) are
    per run, and so are ``train_seconds`` and ``whole_seconds``, of one training on the condensed hypergraph
    and on the whole, whenever that was; ``seconds`` are those that were spent now. ``calibration`` is the
    expected calibration error. ``predicted`` has the class of every test node by each training, and
    ``whole_predicted`` by those on the whole (classification only). ``notes`` begin with those of the source.

    >>> import hypercondense as hc
    >>> source = hc.synthetic(num_nodes=60, num_hyperedges=40, seed=0)
    >>> split = hc.split(source, seed=0)
    >>> result = hc.condense(source, split, nodes=6, method="means")
    >>> score = hc.evaluate(result, source, split, model="mlp", runs=2)
    >>> score.runs, len(score.values), score.metric
    (2, 2, 'accuracy')
    """

    model: str
    task: str
    metric: str
    mean: float
    std: float
    values: tuple[float, ...]
    runs: int
    macro_f1: float | None
    calibration: float | None
    validation: tuple[float, ...]
    epochs: tuple[int, ...]
    options: tuple[Mapping[str, Any], ...]
    seconds: float
    whole: Spread | None = None
    retention: float | None = None
    accuracy: float | None = None
    train_seconds: tuple[float, ...] = ()
    whole_seconds: tuple[float, ...] = ()
    missing_classes: tuple[int, ...] = ()
    predicted: tuple[tuple[int, ...], ...] = ()
    whole_predicted: tuple[tuple[int, ...], ...] = ()
    notes: tuple[str, ...] = ()

    def __repr__(self) -> str:
        spread = f" ± {self.std:.2%}" if self.runs > 1 else ""
        whole = "" if self.whole is None else f", whole {self.whole.mean:.2%}"
        kept = "" if self.retention is None else f", retention {self.retention:.1%}"
        runs = f"{self.runs} run{'s' * (self.runs > 1)}"
        return f"Score({self.model}, {self.metric} {self.mean:.2%}{spread} in {runs}{whole}{kept})"

    def _repr_html_(self) -> str:
        """What a notebook shows."""
        spread = f" ± {self.std:.2%}" if self.runs > 1 else ""
        facts = {
            self.metric: f"{self.mean:.2%}{spread}",
            "trained on everything": None if self.whole is None else f"{self.whole.mean:.2%}",
            "retention": None if self.retention is None else f"{self.retention:.1%}",
            "calibration error": None if self.calibration is None else f"{self.calibration:.2%}",
            "trainings": str(self.runs),
            **{f"note {number}": note for number, note in enumerate(self.notes, start=1)},
        }
        known = {name: value for name, value in facts.items() if value is not None}
        return fact_table(f"{self.model}, {self.task}", known)

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready content but for predictions; a validation score that does not exist is ``None``."""
        content = asdict(replace(self, predicted=(), whole_predicted=()))
        del content["predicted"], content["whole_predicted"]
        content["validation"] = [None if math.isnan(value) else value for value in self.validation]
        return content


def across_models(scores: Sequence[Score]) -> Spread:
    """Average and spread of the means of different models on the same condensed hypergraph."""
    if not scores:
        raise ValueError("there are no scores to average; evaluate at least one model")
    return Spread.of([score.mean for score in scores])


def across_condensations(scores: Sequence[Score]) -> Spread:
    """Mean and deviation over all runs of several condensations (the paper's 5 x 5), of equal weight."""
    if not scores:
        raise ValueError("there are no scores to average; evaluate at least one condensed hypergraph")
    return Spread.of([value for score in scores for value in score.values])
