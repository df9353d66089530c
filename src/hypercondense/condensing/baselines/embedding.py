"""Spaces in which coresets measure distance: features, diffused features, what a trained HGNN sees."""

from typing import Any, ClassVar, TypeAlias

import numpy as np
import torch

from hypercondense.condensing.job import Job
from hypercondense.condensing.maps import Map
from hypercondense.condensing.starts import Matrix
from hypercondense.diffusion import SelectedRows
from hypercondense.hypergraph import Dense, Split
from hypercondense.nn.training import Configuration, train
from hypercondense.typed import Count, Positive, Value


class Raw(Value, tag_field="kind", tag="raw"):
    """The features as they are."""

    trains_on_whole: ClassVar[None] = None

    def rows(self, job: Job) -> Any:
        """One row per training node, sparse if the source's are."""
        source, ids = job.material.source, job.material.split.train_ids
        return SelectedRows(source.features, ids) if source.is_mapped else source.features[ids]


class Diffused(Value, tag_field="kind", tag="diffused"):
    """The features smoothed by the heat kernel (Eq. 4).

    Args:
        time: Diffusion time.
    """

    trains_on_whole: ClassVar[None] = None

    time: Positive = 2.0

    def rows(self, job: Job) -> Matrix:
        """One row per training node."""
        return job.material.training_rows(Map(time=self.time))


class HiddenLayer(Value, tag_field="kind", tag="trained"):
    """What the last layer of an HGNN reads, after training on the source's training nodes.

    Args:
        epochs: Of the training, of which the last is kept.
    """

    trains_on_whole: ClassVar[str] = "a network (embedding.kind=trained)"

    epochs: Count = 100

    def rows(self, job: Job) -> Dense:
        """One row per training node."""
        material = job.material
        nobody = np.empty(0, np.int64)
        only_training = Split(material.split.train_ids, nobody, nobody)
        how = Configuration(model="hgnn", epochs=self.epochs)
        material.begin_whole_training(self.trains_on_whole, 1)
        with material.clock.stage("embed"):
            inputs = material.inputs
            model = train(how, inputs, inputs, only_training, seed=job.seed, progress=job.progress).model
            with torch.no_grad():
                embedded = model.embed(inputs.features, inputs.structure)
        rows: Dense = embedded.cpu().numpy()[material.split.train_ids]
        return rows


Embedding: TypeAlias = Raw | Diffused | HiddenLayer
