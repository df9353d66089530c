"""How long one training on everything takes, from a few epochs of it."""

import time

from hypercondense.hypergraph import Split
from hypercondense.nn.training import VALIDATE_EVERY, Configuration, Inputs, train
from hypercondense.runtime.threads import one_thread

_LIKE_FIRST = 0.8  # an epoch without its look, of an epoch with it and the begin of a training


def estimated_seconds(source: Inputs, split: Split, *, at_most: float) -> float:
    """Seconds of one training of HGNN on the training nodes of ``source``.

    One epoch is timed, and then, where this stays within ``at_most`` seconds, as many as there are between
    two looks at validation nodes: a training is nothing but many of these.
    """
    configuration = Configuration(model="hgnn").in_each_form()[0]
    assert configuration.epochs is not None
    first = _seconds(source, split, 1)
    one_round = _LIKE_FIRST * VALIDATE_EVERY * first
    if one_round <= at_most:
        one_round = _seconds(source, split, VALIDATE_EVERY)
    return configuration.epochs / VALIDATE_EVERY * one_round


def _seconds(source: Inputs, split: Split, epochs: int) -> float:
    begin = time.perf_counter()
    with one_thread():
        train(Configuration(model="hgnn", epochs=epochs), source, source, split, seed=0)
    return time.perf_counter() - begin
