"""Old numpy and scipy pickles, read by a machine that never calls anything a file names.

A pickle is a small program. Here it runs with an allow-list of instructions, and the names it may look up
(:data:`~hypercondense.data.formats.stand_ins.ALLOWED`) lead to stand-ins, not to the real functions. The
machine is Python's own one written in Python: the one written in C allocates whatever size a file claims.
"""

import io
import pickle
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

from hypercondense.data.formats.files import check_memory, read_bytes
from hypercondense.data.formats.reader import Reading
from hypercondense.data.formats.stand_ins import (
    ALLOWED,
    Allowed,
    ArrayContent,
    DataType,
    SparseRows,
    as_array,
    harmless_key,
)
from hypercondense.errors import FormatError, one_line
from hypercondense.runtime.memory import format_size

# Bytes that an instruction makes at most, with its place in a list: an empty set, an entry of the table of
# what is referred to again, a tuple, a number or a short text, and the place alone.
_CONTAINER, _REFERENCE, _TUPLE, _VALUE, _PLACE = 216, 120, 88, 64, 20

_INSTRUCTIONS = (  # noqa: SIM905 (sixty quoted words are harder to read)
    "PROTO FRAME STOP MARK POP POP_MARK NONE NEWTRUE NEWFALSE INT BININT BININT1 BININT2 LONG LONG1 LONG4 "
    "FLOAT BINFLOAT STRING BINSTRING SHORT_BINSTRING BINBYTES SHORT_BINBYTES BINBYTES8 BYTEARRAY8 UNICODE "
    "BINUNICODE SHORT_BINUNICODE BINUNICODE8 EMPTY_TUPLE TUPLE TUPLE1 TUPLE2 TUPLE3 EMPTY_LIST LIST APPEND "
    "APPENDS EMPTY_DICT DICT SETITEM SETITEMS EMPTY_SET ADDITEMS FROZENSET GLOBAL STACK_GLOBAL INST REDUCE "
    "NEWOBJ BUILD PUT BINPUT LONG_BINPUT GET BINGET LONG_BINGET MEMOIZE"
).split()


_COSTS = {
    **dict.fromkeys(("EMPTY_LIST", "EMPTY_DICT", "EMPTY_SET", "LIST", "MARK", "FROZENSET"), _CONTAINER),
    **dict.fromkeys(("MEMOIZE", "PUT", "BINPUT", "LONG_BINPUT"), _REFERENCE),
    **dict.fromkeys(("TUPLE", "TUPLE1", "TUPLE2", "TUPLE3"), _TUPLE),
    **dict.fromkeys(("NONE", "NEWTRUE", "NEWFALSE", "EMPTY_TUPLE", "BININT1", "GET", "BINGET"), _PLACE),
    **dict.fromkeys(("LONG_BINGET", "POP", "POP_MARK", "PROTO", "FRAME", "STOP"), _PLACE),
}


def _counted(name: str) -> "Callable[[_Machine], None]":
    """An instruction that is paid for before what it makes is made."""
    usual: Any = pickle._Unpickler.dispatch[getattr(pickle, name)[0]]
    cost = _COSTS.get(name, _VALUE)

    def make(machine: "_Machine") -> None:
        machine.spend(cost)
        usual(machine)

    return make


class _Machine(pickle._Unpickler):
    """Python's unpickler without the instructions that call, import or set attributes freely."""

    # What the base class has, and its type stubs do not tell.
    stack: list[Any]
    append: Callable[[Any], None]
    read: Callable[[int], bytes]
    pop_mark: Callable[[], list[Any]]
    readline: Callable[[], bytes]

    def __init__(self, content: bytes, allowed: int) -> None:
        super().__init__(io.BytesIO(content), encoding="latin1")
        self.spent, self.allowed = 0, allowed

    def spend(self, num_bytes: int) -> None:
        """Count what is allocated beyond the file itself: a short file could ask for endless copies."""
        self.spent += num_bytes
        if self.spent > self.allowed:
            raise FormatError(
                f"it unpacks to more than {format_size(self.allowed)}; if it is right, allow more with "
                "--memory (memory=... in Python)"
            )

    def _make_bytearray(self) -> None:
        """The base class takes the claimed size before it looks whether so many bytes follow."""
        (size,) = struct.unpack("<Q", self.read(8))
        content = self.read(size)  # the bytes of the file, no more
        if len(content) != size:
            raise FormatError(f"it claims {size} bytes and has {len(content)}")
        self.append(bytearray(content))

    def find_class(self, module: str, name: str) -> Any:
        """The stand-in for an allowed name; every other name is refused."""
        allowed = ALLOWED.get((module, name))
        if allowed is None:
            raise FormatError(
                f"it wants to use {module[:80]}.{name[:80]}, which is not allowed; nothing was run"
            )
        return allowed

    def _call(self) -> None:
        arguments = self.stack.pop()
        target = self.stack[-1]
        if not isinstance(target, Allowed) or not isinstance(arguments, tuple):
            raise FormatError("a call of something that is no allowed name")
        self.stack[-1] = target.call(self, arguments)

    def _build(self) -> None:
        state = self.stack.pop()
        target = self.stack[-1]
        if not isinstance(target, SparseRows | DataType | ArrayContent):
            raise FormatError(f"it sets attributes of a {type(target).__name__}")
        if isinstance(target, ArrayContent):
            self.spend(8 * len(state[-1]))  # an entry of a list of objects becomes 8 bytes
        target.build(state)

    def _set_items(self, pairs: list[Any]) -> None:
        target = self.stack[-1]
        if type(target) is not dict:
            raise FormatError(f"it sets entries of a {type(target).__name__}")
        for position in range(0, len(pairs), 2):
            target[harmless_key(pairs[position])] = pairs[position + 1]

    def _set_item(self) -> None:
        value, key = self.stack.pop(), self.stack.pop()
        self._set_items([key, value])

    def _set_marked_items(self) -> None:
        self._set_items(self.pop_mark())

    def _make_dict(self) -> None:
        pairs = self.pop_mark()
        self.append({})
        self._set_items(pairs)

    def _extend(self, items: list[Any]) -> None:
        target = self.stack[-1]
        if type(target) is not list:
            raise FormatError(f"it appends to a {type(target).__name__}")
        target.extend(items)

    def _append(self) -> None:
        self._extend([self.stack.pop()])

    def _append_marked(self) -> None:
        self._extend(self.pop_mark())

    def _add_items(self) -> None:
        items = self.pop_mark()
        target = self.stack[-1]
        if type(target) is not set:
            raise FormatError(f"it adds to a {type(target).__name__}")
        target.update(map(harmless_key, items))

    def _make_frozenset(self) -> None:
        self.append(frozenset(map(harmless_key, self.pop_mark())))

    def _instance(self) -> None:
        self.find_class(self.readline()[:-1].decode("latin-1"), self.readline()[:-1].decode("latin-1"))
        raise FormatError("an instance in the style of protocol 0")

    # The name and form are those of the base class.
    dispatch: ClassVar[dict[int, Any]] = {
        **{getattr(pickle, name)[0]: _counted(name) for name in _INSTRUCTIONS},
        pickle.BYTEARRAY8[0]: _make_bytearray,
        pickle.REDUCE[0]: _call,
        pickle.NEWOBJ[0]: _call,
        pickle.BUILD[0]: _build,
        pickle.SETITEM[0]: _set_item,
        pickle.SETITEMS[0]: _set_marked_items,
        pickle.DICT[0]: _make_dict,
        pickle.APPEND[0]: _append,
        pickle.APPENDS[0]: _append_marked,
        pickle.ADDITEMS[0]: _add_items,
        pickle.FROZENSET[0]: _make_frozenset,
        pickle.INST[0]: _instance,
    }


def read_pickle(path: Path, reading: Reading) -> tuple[Any, int]:
    """The content of a pickle: numbers, text, lists, dicts, sets, arrays and :class:`SparseRows`; its memory.

    What it makes is counted while it is made.
    """
    content = read_bytes(path)
    if not content:
        raise FormatError(f"{path} is empty")
    check_memory(path, 8 * len(content))
    machine = _Machine(content, reading.allowed(len(content)))
    try:
        value = machine.load()
    except FormatError as error:
        raise FormatError(f"{path} holds something that is not data: {error}") from error
    except KeyError as error:
        raise FormatError(f"{path} is no whole pickle of plain data (instruction {error})") from error
    except Exception as error:  # a broken program may fail in any way, and all of them mean the same
        raise FormatError(f"{path} is no whole pickle ({one_line(error, longest=160)})") from error
    return as_array(value), machine.spent
