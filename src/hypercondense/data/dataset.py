"""What is known about a data set: its files, where they come from, and what is in them."""

from dataclasses import dataclass

NOT_STATED = "not stated"


@dataclass(frozen=True)
class RemoteFile:
    """One file of a data set.

    ``path`` is its name in the folder of the data set; where authors name a file freely it is a pattern such
    as ``*_Y.pt``. Without a ``url`` it has to be put there by hand.
    """

    path: str
    url: str | None = None
    sha256: str | None = None
    size: int | None = None


@dataclass(frozen=True, kw_only=True)
class Expected:
    """Published statistics, named like the attributes of ``Hypergraph``; ``None`` where unknown."""

    num_nodes: int | None = None
    num_hyperedges: int | None = None
    num_incidences: int | None = None
    num_incidences_with_self_loops: int | None = None
    num_features: int | None = None
    num_classes: int | None = None


@dataclass(frozen=True, kw_only=True)
class Dataset:
    """A registered data set.

    ``noise`` and ``width`` are the recipe of features that are made from the labels, else ``None``. An
    ``embedded`` data set has no files: it comes with the package.
    """

    name: str
    title: str
    format: str
    expected: Expected
    files: tuple[RemoteFile, ...] = ()
    aliases: tuple[str, ...] = ()
    source: str = ""
    licence: str = NOT_STATED
    noise: float | None = None
    width: int | None = None
    note: str = ""
    embedded: bool = False

    @property
    def folder(self) -> str:
        """Name of the folder that holds the files."""
        return self.name

    @property
    def label_derived(self) -> bool:
        """Whether the features are made from the labels."""
        return self.noise is not None

    @property
    def verified(self) -> bool:
        """Whether every file is known by its checksum, and so the statistics were seen to be right."""
        return all(file.sha256 is not None for file in self.files)

    @property
    def by_hand(self) -> tuple[RemoteFile, ...]:
        """The files that no address is known for."""
        return tuple(file for file in self.files if file.url is None)
