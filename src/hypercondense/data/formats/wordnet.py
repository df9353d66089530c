"""WordNet as a hypergraph: synsets, the words of their glosses, and what they share.

Nodes are the synsets in the order of ``data.noun``, ``data.verb``, ``data.adj`` and ``data.adv``. The class
of a synset is its lexicographer file; neither features nor hyperedges are made from that.
"""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from hypercondense.data.formats.files import check_memory, containing_folder, default_name, file_names
from hypercondense.data.formats.reader import Reader, Reading
from hypercondense.data.formats.wordnet_lines import PARTS, Synset, read_synsets
from hypercondense.errors import FormatError
from hypercondense.hypergraph import Hypergraph, Ids

NUM_WORDS = 2000
_WORD = re.compile(r"[a-z]{3,}")
_SMALLEST_RELATION = 3
_GROWTH = 40  # bytes of memory for a byte of the files, while they are read

#: The lexicographer files by their number, as lexnames(5WN) lists them.
CLASSES = tuple(
    f"{part}.{name}"
    for part, names in (
        ("adj", "all pert"),
        ("adv", "all"),
        (
            "noun",
            "Tops act animal artifact attribute body cognition communication event feeling food group "
            "location motive object person phenomenon plant possession process quantity relation shape "
            "state substance time",
        ),
        (
            "verb",
            "body change cognition communication competition consumption contact creation emotion motion "
            "perception possession social stative weather",
        ),
        ("adj", "ppl"),
    )
    for name in names.split()
)


def _recognises(path: Path) -> bool:
    return any(name in PARTS for name in ([path.name] if path.is_file() else file_names(path)))


def _read(path: Path, name: str | None, _reading: Reading) -> Hypergraph:
    folder = containing_folder(path)
    sizes = [(folder / part).stat().st_size for part in PARTS if (folder / part).is_file()]
    check_memory(folder, _GROWTH * sum(sizes))
    synsets = list(read_synsets(folder))
    if not synsets:
        raise FormatError(f"{folder} has no synset: {', '.join(PARTS)} hold nothing but the licence")
    features, words = _features(folder, synsets)
    hyperedges = [*_shared_lemmas(synsets), *_relations(folder, synsets)]
    sizes = list(map(len, hyperedges))
    node_ids = np.fromiter(chain.from_iterable(hyperedges), np.int64, sum(sizes))
    return Hypergraph(
        features=features,
        labels=_labels(folder, synsets),
        incidence=(node_ids, np.repeat(np.arange(len(hyperedges)), sizes)),
        num_hyperedges=len(hyperedges),
        label_names=CLASSES,
        feature_names=words,
        name=name or default_name(folder),
    )


def _labels(folder: Path, synsets: Sequence[Synset]) -> Ids:
    labels = np.array([synset.lexicographer_file for synset in synsets], np.int64)
    bad = np.flatnonzero(labels >= len(CLASSES))
    if len(bad):
        raise FormatError(
            f"{_place(folder, synsets[bad[0]])}: lexicographer files are 00 to {len(CLASSES) - 1}, "
            f"got {labels[bad[0]]}"
        )
    return labels


def _features(folder: Path, synsets: Sequence[Synset]) -> tuple[Any, list[str]]:
    """1 where a word is in the gloss, sparse; the words that are in most glosses, in alphabetical order."""
    from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

    glosses = [set(_WORD.findall(synset.gloss.lower())) - ENGLISH_STOP_WORDS for synset in synsets]
    counts = Counter(chain.from_iterable(glosses))
    words = sorted(sorted(counts, key=lambda word: (-counts[word], word))[:NUM_WORDS])
    if not words:
        raise FormatError(f"{folder} has glosses without words; expected English text")
    columns = {word: column for column, word in enumerate(words)}
    rows = [sorted(columns[word] for word in gloss if word in columns) for gloss in glosses]
    row_starts = np.concatenate([[0], np.cumsum(list(map(len, rows)))])
    indices = np.fromiter(chain.from_iterable(rows), np.int32, row_starts[-1])
    shape = (len(synsets), len(words))
    return sp.csr_array((np.ones(len(indices), np.float32), indices, row_starts), shape=shape), words


def _shared_lemmas(synsets: Sequence[Synset]) -> Iterable[list[int]]:
    """The synsets of every lemma that has two or more, by the first place of the lemma."""
    members: dict[str, dict[int, None]] = {}
    for node, synset in enumerate(synsets):
        for lemma in synset.lemmas:
            members.setdefault(lemma, {})[node] = None
    return (list(group) for group in members.values() if len(group) > 1)


def _relations(folder: Path, synsets: Sequence[Synset]) -> Iterable[list[int]]:
    """Every synset with all targets of one pointer symbol, where these are three or more synsets."""
    nodes = _node_ids(folder, synsets)
    for node, synset in enumerate(synsets):
        members: dict[str, dict[int, None]] = {}
        for symbol, kind, offset in synset.pointers:
            target = nodes.get((kind, offset))
            if target is None:
                raise FormatError(
                    f"{_place(folder, synset)}: {symbol} points to synset {offset} of type {kind}, "
                    f"which is not there; are all files whole and of one release?"
                )
            members.setdefault(symbol, {node: None})[target] = None
        yield from (list(group) for group in members.values() if len(group) >= _SMALLEST_RELATION)


def _node_ids(folder: Path, synsets: Sequence[Synset]) -> dict[tuple[str, str], int]:
    """Nodes by type and offset; an adjective is found by either of its types."""
    nodes: dict[tuple[str, str], int] = {}
    for node, synset in enumerate(synsets):
        for kind in PARTS[synset.file]:
            if nodes.setdefault((kind, synset.offset), node) != node:
                raise FormatError(f"{_place(folder, synset)}: synset {synset.offset} is there twice")
    return nodes


def _place(folder: Path, synset: Synset) -> str:
    return f"{folder / synset.file}, line {synset.line}"


WORDNET = Reader(name="WordNet", looks_for=", ".join(PARTS), recognises=_recognises, read=_read)
