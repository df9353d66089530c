"""Reading and making hypergraphs."""

from hypercondense.data.digits import digits
from hypercondense.data.fetch import fetch
from hypercondense.data.formats import write_native as save
from hypercondense.data.load import load
from hypercondense.data.registry import DATASETS
from hypercondense.data.synthetic import synthetic

__all__ = ["DATASETS", "digits", "fetch", "load", "save", "synthetic"]
