"""What a format is: a name, how to recognise it, and how to read it."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from hypercondense.data.formats.files import check_memory
from hypercondense.files.regular import BASE, GROWTH
from hypercondense.hypergraph import Hypergraph


@dataclass(frozen=True, kw_only=True)
class Reading:
    """How to read: how features are made from labels, for formats that store none, and within what memory."""

    noise: float = 0.6
    width: int = 100
    seed: int = 0
    memory: int | None = None  # bytes that a file may take, where that is more than its size allows

    def check(self, what: object, num_bytes: int, *, file_size: int) -> None:
        """Refuse, before anything is made, what would take much more than the file that asks for it.

        Raises:
            FormatError: The text tells the size, what is allowed, and what allows more.
        """
        check_memory(what, num_bytes, allowed=self.allowed(file_size))

    def allowed(self, file_size: int) -> int:
        """Bytes that a file of this size may take."""
        return max(BASE + GROWTH * file_size, self.memory or 0)


@dataclass(frozen=True, kw_only=True)
class Reader:
    """One format.

    Attributes:
        name: Short name.
        looks_for: The files it needs, for people.
        recognises: Whether a file or folder is, or is meant to be, of this format; does not change anything.
        read: Reads it; gets the path, what to call the result (if given) and how to read it.
    """

    name: str
    looks_for: str
    recognises: Callable[[Path], bool]
    read: Callable[[Path, str | None, Reading], Hypergraph]
