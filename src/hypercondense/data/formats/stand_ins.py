"""What the names in a pickle lead to: stand-ins that check every size against the bytes really there."""

import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from hypercondense.errors import FormatError

_LARGEST_KEY = 2**63  # of numbers that arrays hold
_PLAIN_TYPE = re.compile(r"[<>=|]?([biuf])([1248])")
_OBJECTS = ("O", "O4", "O8", "|O", "|O4", "|O8")  # the digit is the size of an address


class Allowance(Protocol):
    """Whoever runs the pickle counts what it allocates."""

    def spend(self, num_bytes: int) -> None:
        """Fail if too much was allocated."""
        ...


def told(value: Any) -> str:
    """A value in a few words. Never all of it: lists that share lists can be endless to write out.

    >>> told((1, [2])), told("a" * 100)[:9]
    ('(1, a list)', "'aaaaaaaa")
    """
    if isinstance(value, tuple) and len(value) <= 4:
        return f"({', '.join(map(_part_told, value))})"
    return _part_told(value)


def _part_told(value: Any) -> str:
    if isinstance(value, str | bytes):
        return repr(value[:20])
    if isinstance(value, int) and value.bit_length() > 64:
        return "a large number"
    return repr(value) if isinstance(value, int | float | None) else f"a {type(value).__name__}"


class SparseRows:
    """Stand-in for a scipy csr matrix: the attributes as stored, to be checked by whoever uses them."""

    def __init__(self) -> None:
        self.state: dict[str, Any] = {}

    def build(self, state: Any) -> None:
        """Keep the attributes."""
        if not isinstance(state, dict):
            raise FormatError("a csr matrix without attributes")
        self.state = state


class DataType:
    """Stand-in for ``numpy.dtype``: plain numbers, or objects that must turn out to be whole numbers."""

    def __init__(self, text: Any) -> None:
        found = _PLAIN_TYPE.fullmatch(text) if isinstance(text, str) else None
        self.of_objects = isinstance(text, str) and text in _OBJECTS
        if not found and not self.of_objects:
            raise FormatError(f"an array of type {told(text)}; only plain numbers are allowed")
        self.text = found[1] + found[2] if found else "O"
        self.dtype = np.dtype(self.text)

    def build(self, state: Any) -> None:
        """Take the byte order, the second entry of the state."""
        order = state[1]
        if order not in ("<", ">", "=", "|"):
            raise FormatError(f"an array with byte order {told(order)}")
        self.dtype = np.dtype(self.text).newbyteorder(order)


class ArrayContent:
    """Stand-in for an array that gets its content later."""

    def __init__(self) -> None:
        self.content: np.ndarray[Any, Any] | None = None

    def build(self, state: Any) -> None:
        """Take (version, shape, type, column order, bytes)."""
        _, shape, kind, column_order, raw = state
        if isinstance(kind, DataType) and kind.of_objects:
            raw, kind = _whole_numbers(raw), DataType("i8")
        self.content = _array(_python2_bytes(raw), kind, shape, "F" if column_order else "C")


@dataclass(frozen=True)
class Allowed:
    """What an allowed name leads to; ``call`` gets the machine and the arguments."""

    call: Callable[[Allowance, tuple[Any, ...]], Any]


def _python2_bytes(raw: Any) -> Any:
    return raw.encode("latin-1") if isinstance(raw, str) else raw


def _whole_numbers(items: Any) -> bytes:
    """The bytes of a list of whole numbers, which is how an array of objects is stored."""
    if not isinstance(items, list):
        raise FormatError("an array of objects that are not in a list")
    strange = [type(item).__name__ for item in items if type(item) is not int]
    if strange:
        raise FormatError(f"an array of objects; only whole numbers are allowed there, it has a {strange[0]}")
    return np.array(items, np.int64).tobytes()


def _array(raw: Any, kind: Any, shape: Any, order: str) -> "np.ndarray[Any, Any]":
    if not isinstance(raw, bytes | bytearray) or not isinstance(kind, DataType) or kind.of_objects:
        raise FormatError("an array that is not plain numbers")
    if not isinstance(shape, tuple) or not all(type(size) is int and size >= 0 for size in shape):
        raise FormatError(f"an array of shape {told(shape)}")
    if len(shape) > 2 or math.prod(shape) * kind.dtype.itemsize != len(raw):
        raise FormatError(f"an array of shape {told(shape)} in {len(raw)} bytes")
    if order not in ("C", "F"):
        raise FormatError("an array in unknown order")
    return np.frombuffer(raw, kind.dtype).reshape(shape, order=order)  # type: ignore[call-overload, no-any-return]


def _scalar(machine: Allowance, arguments: tuple[Any, ...]) -> Any:
    kind, raw = arguments
    machine.spend(len(raw))
    return _array(_python2_bytes(raw), kind, (1,), "C")[0].item()


def _encode(machine: Allowance, arguments: tuple[Any, ...]) -> bytes:
    text, encoding = arguments
    if not isinstance(text, str) or encoding not in ("latin1", "latin-1"):
        raise FormatError(f"_codecs.encode into {told(encoding)}")
    machine.spend(len(text))
    return text.encode("latin-1")


def _collection(kind: type) -> Callable[[Allowance, tuple[Any, ...]], Any]:
    def call(machine: Allowance, arguments: tuple[Any, ...]) -> Any:
        (items,) = arguments or ([],)
        if not isinstance(items, list | tuple | set | frozenset):
            raise FormatError(f"a {kind.__name__} of a {type(items).__name__}")
        machine.spend(64 * len(items))
        return kind(map(harmless_key, items))

    return call


def _ordered(machine: Allowance, arguments: tuple[Any, ...]) -> dict[Any, Any]:
    (items,) = arguments or ([],)
    machine.spend(128 * len(items))
    return {harmless_key(key): value for key, value in items}


def harmless_key(value: Any) -> Any:
    """``value`` if hashing it is harmless.

    Hashing a deeply nested tuple would overflow the stack. Of large numbers, and of tuples of numbers, so
    many with one hash can be found that a table of Python tells them only by comparing them all.
    """
    if isinstance(value, tuple):
        harmless = all(isinstance(part, str | bytes | None) for part in value)
    elif isinstance(value, int):
        harmless = -_LARGEST_KEY <= value < _LARGEST_KEY
    else:
        harmless = isinstance(value, float | str | bytes | None)
    if not harmless:
        raise FormatError(f"a {type(value).__name__} as key or set member; expected numbers or text")
    return value


def _named_only(_machine: Allowance, _arguments: tuple[Any, ...]) -> Any:
    raise FormatError("a type that is named but must not be made")


_NDARRAY = Allowed(_named_only)
_MULTIARRAY = ("numpy.core.multiarray", "numpy._core.multiarray")
_NUMERIC = ("numpy.core.numeric", "numpy._core.numeric")
_BUILTINS = ("builtins", "__builtin__")
_CSR_MODULES = ("scipy.sparse.csr", "scipy.sparse._csr")

ALLOWED: dict[tuple[str, str], Allowed] = {
    ("numpy", "ndarray"): _NDARRAY,
    ("numpy", "dtype"): Allowed(lambda _, arguments: DataType(arguments[0])),
    ("_codecs", "encode"): Allowed(_encode),
    ("collections", "OrderedDict"): Allowed(_ordered),
    ("collections", "defaultdict"): Allowed(lambda _machine, _factory: {}),  # the factory is never called
    **{(module, "_reconstruct"): Allowed(lambda _machine, _shape: ArrayContent()) for module in _MULTIARRAY},
    **{(module, "scalar"): Allowed(_scalar) for module in _MULTIARRAY},
    **{(module, "_frombuffer"): Allowed(lambda _, given: _array(*given)) for module in _NUMERIC},
    **{
        (module, name): Allowed(lambda _machine, _arguments: SparseRows())
        for module in _CSR_MODULES
        for name in ("csr_matrix", "csr_array")
    },
    **{(module, name): _NDARRAY for module in _BUILTINS for name in ("int", "dict", "object")},
    **{
        (module, kind.__name__): Allowed(_collection(kind))
        for module in _BUILTINS
        for kind in (set, frozenset, list, tuple)
    },
    # Protocol 0 and 1: _reconstructor(class, object, None) makes an empty instance.
    **{
        (module, "_reconstructor"): Allowed(lambda machine, given: given[0].call(machine, ()))
        for module in ("copy_reg", "copyreg")
    },
}


def as_array(value: Any) -> Any:
    """The numpy array inside a stand-in; anything else as it is."""
    return value.content if isinstance(value, ArrayContent) else value
