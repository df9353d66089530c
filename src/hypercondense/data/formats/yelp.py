"""The five CSV files of Yelp as AllSet publishes them; ids from 1.

``yelp_restaurant_latlong.csv`` (coordinates), ``..._locations.csv`` (state_int, city_int), ``..._name.csv``,
``..._business_stars.csv`` (the classes) and ``..._incidence_H.csv`` (node, he). Every file has a header and,
but for the last, a row per restaurant.
"""

import csv
import io
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from hypercondense.data.formats.csv_table import CsvTable
from hypercondense.data.formats.files import containing_folder, default_name, file_names, read_text
from hypercondense.data.formats.membership import renumbered, without_duplicates
from hypercondense.data.formats.reader import Reader, Reading
from hypercondense.data.formats.text import encode_labels
from hypercondense.errors import FormatError
from hypercondense.hypergraph import Hypergraph, Ids

_PREFIX = "yelp_restaurant_"
_COORDINATES, _LOCATIONS, _NAMES, _STARS, _INCIDENCE = _FILES = tuple(
    f"{_PREFIX}{part}.csv" for part in ("latlong", "locations", "name", "business_stars", "incidence_H")
)
NUM_NAME_WORDS = 1000


def _recognises(path: Path) -> bool:
    return any(name in _FILES for name in ([path.name] if path.is_file() else file_names(path)))


def _read(path: Path, name: str | None, _reading: Reading) -> Hypergraph:
    folder = containing_folder(path)
    features, feature_names = _features(folder)
    labels, label_names = _stars(folder / _STARS)
    node_ids, hyperedge_ids = _pairs(folder / _INCIDENCE, features.shape[0])
    hyperedge_ids, num_hyperedges = renumbered(hyperedge_ids)
    node_ids, hyperedge_ids, notes = without_duplicates(node_ids, hyperedge_ids)
    return Hypergraph(
        features=features,
        labels=labels,
        incidence=(node_ids, hyperedge_ids),
        num_hyperedges=num_hyperedges,
        label_names=label_names,
        feature_names=feature_names,
        name=name or default_name(folder),
        notes=notes,
    )


def _features(folder: Path) -> tuple[Any, list[str]]:
    """Coordinates, one-hot state and city, and counts of the most frequent words in names; sparse."""
    coordinates = CsvTable(folder / _COORDINATES)
    locations = CsvTable(folder / _LOCATIONS)
    words, word_names = _word_counts(CsvTable(folder / _NAMES))
    num_nodes = locations.num_rows
    for table, rows in ((coordinates.path, coordinates.num_rows), (folder / _NAMES, words.shape[0])):
        if rows != num_nodes:
            raise FormatError(f"{table} has {rows} rows, but {_LOCATIONS} has {num_nodes}")
    state, city = _one_hot(locations, "state_int"), _one_hot(locations, "city_int")
    numbers = sp.csr_array(coordinates.numbers(range(len(coordinates.header))))
    names = [
        *coordinates.header,
        *(f"state {number + 1}" for number in range(state.shape[1])),
        *(f"city {number + 1}" for number in range(city.shape[1])),
        *(f"name {word}" for word in word_names),
    ]
    return sp.csr_array(sp.hstack([numbers, state, city, words], format="csr", dtype=np.float32)), names


def _one_hot(table: CsvTable, column: str) -> Any:
    numbers = table.whole_numbers(column)
    num_rows = len(numbers)
    bad = np.flatnonzero((numbers < 1) | (numbers > num_rows))
    if len(bad):
        raise FormatError(
            f"{table.path}, row {bad[0] + 1}: {column} must be 1 to {num_rows}, got {numbers[bad[0]]}"
        )
    places = (np.arange(num_rows), numbers - 1)
    return sp.csr_array((np.ones(num_rows, np.float32), places), shape=(num_rows, int(numbers.max())))


def _word_counts(table: CsvTable) -> tuple[Any, list[str]]:
    """Counts of English words other than stop words, without accents, in lower case."""
    from sklearn.feature_extraction.text import CountVectorizer

    texts = table.column("name") if len(table.header) > 1 else table.texts(0)
    vectorizer = CountVectorizer(max_features=NUM_NAME_WORDS, stop_words="english", strip_accents="ascii")
    analyze = vectorizer.build_analyzer()
    if not any(analyze(text) for text in texts):
        return sp.csr_array((len(texts), 0), dtype=np.float32), []
    counts = vectorizer.fit_transform(texts)
    return counts, [str(word) for word in vectorizer.get_feature_names_out()]


def _stars(path: Path) -> tuple[Ids, tuple[str, ...]]:
    return encode_labels([text.strip() for text in CsvTable(path).texts(-1)])


def _pairs(path: Path, num_nodes: int) -> tuple[Ids, Ids]:
    """Node ids and hyperedge ids from 0. The file has millions of rows, so numpy parses it."""
    header, _, body = read_text(path).partition("\n")
    columns = [column.strip() for column in next(csv.reader([header]))]
    missing = [column for column in ("node", "he") if column not in columns]
    if missing or not body.strip():
        raise FormatError(
            f"{path} must have columns node and he and at least one row; its header is {header[:80]!r}"
        )
    used = [columns.index("node"), columns.index("he")]
    pairs = np.loadtxt(io.StringIO(body), delimiter=",", usecols=used, comments=None, quotechar='"', ndmin=2)
    bad = np.argwhere(~((pairs >= 1) & (pairs < 2**53) & (pairs == np.floor(pairs))))
    if len(bad):
        row, column = bad[0]
        raise FormatError(f"{path}, row {row + 1}: expected ids from 1, got {pairs[row, column]:g}")
    node_ids, hyperedge_ids = pairs.astype(np.int64).T - 1
    if node_ids.max() >= num_nodes:
        row = int(node_ids.argmax())
        raise FormatError(f"{path}, row {row + 1}: node {node_ids[row] + 1}, but there are {num_nodes} nodes")
    return node_ids, hyperedge_ids


YELP = Reader(name="Yelp CSV", looks_for=", ".join(_FILES), recognises=_recognises, read=_read)
