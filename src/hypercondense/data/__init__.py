"""Reading, making and splitting hypergraphs."""

from hypercondense.data.digits import digits
from hypercondense.data.fetch import fetch
from hypercondense.data.load import load
from hypercondense.data.registry import DATASETS
from hypercondense.data.splits import Split, split, split_from_ids
from hypercondense.data.synthetic import synthetic

__all__ = ["DATASETS", "Split", "digits", "fetch", "load", "split", "split_from_ids", "synthetic"]
