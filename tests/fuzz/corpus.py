"""Every file that was ever found to break something, made by code."""

import io
import json
import struct
import zipfile
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from safetensors.numpy import load, save

from fuzz.bombs import _npz, _pickled
from fuzz.contract import Case
from fuzz.mutators import _fit_manifest, _fit_network
from fuzz.targets import beginnings


def CORPUS() -> list[Case]:
    """All of them."""
    return [
        *_pickles(),
        *_archives(),
        *_texts(),
        *_parts(),
        *_graphs(),
        *_interchange(),
        *_folders(),
        *_networks(),
        *_plans_and_lines(),
    ]


def _good(reader: str, **changes: bytes | None) -> dict[str, bytes | None]:
    return {**beginnings(reader)[0], **changes}


_SAME_HASH = 2**61 - 1  # of which all multiples have one hash in Python: a table of them compares all


def _pickles() -> Iterator[Case]:
    claimed = b"\x80\x05\x96" + struct.pack("<Q", 9 * 10**9) + b"x."
    yield _pickled("13 bytes that claim 9 GB", "labels.pickle", claimed)
    csr = b"\x80\x02cscipy.sparse._csr\ncsr_matrix\n)R}(X\6\0\0\0_shapeJ%sK\2\x86X\4\0\0\0data%s"
    csr += b"X\7\0\0\0indices%sX\6\0\0\0indptr%sub."
    empty = b"cnumpy._core.numeric\n_frombuffer\n(C\0cnumpy\ndtype\nX\2\0\0\0i8\x85RK\0\x85X\1\0\0\0CtR"
    rows = csr % (struct.pack("<i", -1), empty, empty, empty)
    yield _pickled("csr of -1 rows", "features.pickle", rows)
    rows = csr % (struct.pack("<i", 0), empty, empty, empty)
    yield _pickled("csr without row starts", "features.pickle", rows)
    large = [b"\x8a\x10" + (factor * _SAME_HASH).to_bytes(16, "little") for factor in range(1, 40_001)]
    yield _pickled("numbers of one hash in a set", "labels.pickle", b"\x8f(" + b"".join(large) + b"\x90.")
    keys = b"".join(number + b"]" for number in large)
    yield _pickled("numbers of one hash as keys", "hypergraph.pickle", b"}(" + keys + b"u.")
    yield _pickled("escapes in a name", "labels.pickle", b"cos\x1b[2J\nsystem\x1b]0;x\x07\n.")


def _archives() -> Iterator[Case]:
    yield _npz("text with a letter that does not exist", notes=np.array([0x110000], "<u4").view("<U1"))
    yield _npz("half a letter", label_names=np.array([0xD800, 0x41], "<u4").view("<U1"))
    yield _npz("complex features", features=np.ones((4, 2), complex))
    yield _npz("complex weights", weights=np.ones(2, complex))
    yield _npz("features times 1e30", features=np.full((4, 2), 1e30, np.float32))
    yield _npz("heavy weights", weights=np.full(2, 3e38, np.float32))
    yield _npz("escapes in a name", name=np.array("x[/bold]\x1b[31m"))
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("\x1b[2J.npy", b"")
        archive.writestr("labels.npy", b"")
    yield Case("npz", "escapes in a member", {"x.npz": out.getvalue()})


def _texts() -> Iterator[Case]:
    yield Case("LE/AllSet", "cut after an id", _good("LE/AllSet", **{"x.content": b"0 1 0 b\n1"}))
    for name in ("hyperedges-x.txt", "node-labels-x.txt"):
        for told, content in (("a lone comma", b","), ("a form feed", b"1\n\x0c\n2")):
            yield Case("Cornell", f"{told} in {name}", _good("Cornell", **{name: content}))
    for cell in ("1_0", "١", "\x1b[2J"):
        changed = f"node,wide,tall\nn0,{cell},0\nn1,0,1\nn2,1,1\nn3,0.5,0\n".encode()
        yield Case("tables", f"{cell!r} as a number", _good("tables", **{"features.csv": changed}))
    header = b"node,\x1b]0;x\x07\nn0,cat\n"
    yield Case("tables", "escapes in a header", _good("tables", **{"labels.csv": header}))


def _parts() -> Iterator[Case]:
    def saved(save: Callable[..., None], **arrays: Any) -> bytes:
        out = io.BytesIO()
        save(out, **arrays)
        return out.getvalue()

    complexes = saved(np.save, arr=np.ones((4, 2), complex))
    for told, content in (
        ("an archive", saved(np.savez, a=np.ones(4))),
        ("complex numbers", complexes),
        ("half a file", complexes[:-9]),
        ("no header", b"\x93NUMPY\x01\x00\x04\x00{'a("),
    ):
        files = {**beginnings("parts")[1], "features.npy": content}
        yield Case("parts", f"{told} as features.npy", dict(files))
    for name in beginnings("GraphBolt")[0]:
        if name.endswith(".npy"):
            header = b"\x93NUMPY\x01\x00\x04\x00{'a("
            yield Case("GraphBolt", f"half a header in {name}", _good("GraphBolt", **{name: header}))
    table = io.BytesIO()
    pq.write_table(pa.table({"node": [0, 1], "label": pa.array([2**63 + 5, 1], pa.uint64())}), table)
    files = {**beginnings("parts")[1], "nodes.parquet": table.getvalue()}
    yield Case("parts", "a label of 64 bits", dict(files))


def _graphs() -> Iterator[Case]:
    told = _good("GraphBolt")["metadata.yaml"] or b""

    def graph(label: str, metadata: bytes, **files: bytes) -> Case:
        return Case("GraphBolt", label, _good("GraphBolt", **{"metadata.yaml": metadata, **files}))

    yield graph("lists in lists", told + b"\nx: " + b"[" * 90_000)
    yield graph("a number of base 60", told + b"\nx: 1" + b":1" * 490_000)
    for tag in (b"!!int ''", b"!!bool foo", b"!!timestamp foo", b"1:1" + b":1" * 5000 + b":1.5"):
        yield graph(f"{tag[:20]!r}", told + b"\nx: " + tag)
    yield graph("a NUL in a path", told.replace(b"feat.npy", b'"a\\0.npy"'))
    yield graph("edges without types", told.replace(b'"author:writes:paper"', b"paper"))
    rows = b"{'descr': '<f4', 'fortran_order': False, 'shape': (1000000000, 0), }\n"
    header = b"\x93NUMPY\x01\x00" + struct.pack("<H", len(rows)) + rows
    yield graph(
        "rows of nothing", told.replace(b"paper, num: 4", b"paper, num: 1000000000"), **{"feat.npy": header}
    )
    types = b"".join(b"  - {type: t%d, num: 9007199254740992}\n" % number for number in range(600))
    edges = b"".join(
        b'  - {type: "t%d:a:paper", format: numpy, path: writes.npy}\n' % number for number in range(600)
    )
    declared = told.replace(b"  edges:\n", types + b"  edges:\n" + edges)
    yield graph("too many to be numbered", declared)


def _interchange() -> Iterator[Case]:
    from hypercondense.data.formats.packed import packed

    def hif(label: str, name: str = "x.json", **content: Any) -> Case:
        node = {"node": 1, "attrs": {"x": 1, "label": 0}}
        whole = {"incidences": [{"node": 1, "edge": 1}], "nodes": [node], **content}
        return Case("HIF", label, {name: json.dumps(whole).encode()})

    same = [factor * _SAME_HASH for factor in range(1, 40_001)]
    yield hif("ids of one hash", incidences=[{"node": one, "edge": 1} for one in same])
    rows = [{"node": place, "attrs": {"x": 1, "label": one}} for place, one in enumerate(same)]
    yield hif("labels of one hash", nodes=rows)
    rows = [{"node": place, "attrs": {"x": 1, "label": f"c{place}"}} for place in range(60_000)]
    yield hif("60,000 problems", nodes=rows, metadata={"label_map": {"a": 0}})
    yield hif(
        "a text in a table of numbers", nodes=[{"node": 1, "attrs": {"features": {"a": "x"}, "label": 0}}]
    )
    for ending in (".gz", ".zst"):
        content = packed(b"", f"x{ending}") * 100_000
        yield Case("HIF", f"100,000 packed files in one {ending}", {f"x.json{ending}": content})
    nodes = beginnings("Parquet")[0]["nodes.parquet"]
    required = nodes.replace(b"\x25\x02", b"\x25\x00")  # which its histograms of levels do not fit
    yield Case("Parquet", "histograms of another size", _good("Parquet", **{"nodes.parquet": required}))
    yield Case("Parquet", "no directory", _good("Parquet", **{"nodes.parquet": b"PAR1\x09\0\0\0PAR1"}))
    texts = pa.array(["a" * 1000 + str(place) for place in range(9)] * 30)
    yield _incidences("few bytes for many letters", texts, column_encoding={"node": "DELTA_BYTE_ARRAY"})
    many = {f"c{place}": [1.0] for place in range(8000)}
    table = _table(pa.table({"node": [0], "label": [0], **many}))
    yield Case("Parquet", "8,000 columns", _good("Parquet", **{"nodes.parquet": table}))
    ends = pa.array(np.arange(2_000_001, dtype=np.int32))
    lists = pa.ListArray.from_arrays(ends, pa.array(np.zeros(2_000_000)))
    sparse = {"feature_columns": lists.cast(pa.list_(pa.int64())), "feature_values": lists}
    table = _table(pa.table({"node": pa.nulls(2_000_000, pa.int64()), **sparse}), compression="zstd")
    yield Case("Parquet", "a list for each number", _good("Parquet", **{"nodes.parquet": table}))


def _incidences(label: str, nodes: Any, **options: Any) -> Case:
    table = pa.table({"node": nodes, "hyperedge": pa.array(np.zeros(len(nodes), np.int64))})
    options["column_encoding"] |= {"hyperedge": "PLAIN"}
    content = _table(table, use_dictionary=False, compression="zstd", **options)
    return Case("Parquet", label, _good("Parquet", **{"incidences.parquet": content}))


def _table(table: Any, **options: Any) -> bytes:
    out = io.BytesIO()
    pq.write_table(table, out, **options)
    return out.getvalue()


def _networks() -> Iterator[Case]:
    def network(label: str, kind: Any = np.float32, **changed: Any) -> Case:
        arrays = load(beginnings("network")[0]["network.safetensors"])
        facts = json.loads(arrays["facts"].tobytes()) | changed
        arrays["facts"] = np.frombuffer(json.dumps(facts).encode(), np.uint8)
        weights = {key: array.astype(kind) for key, array in arrays.items() if key.startswith("weights.")}
        files = {"network.safetensors": save(arrays | weights)}
        _fit_network(files)
        return Case("network", label, dict(files))

    yield network("a name of two classes", label_names=["a"])
    yield network("a name of two features", feature_names=["a"])
    yield network("a size as an option", options={"num_features": 3})
    for kind in (np.float16, np.float64):
        yield network(f"weights of {kind.__name__}", kind)


def _folders() -> Iterator[Case]:
    for reader, name in (("native", "hypergraph"), ("condensed", "condensed")):
        for kind in ("F8_E4M3", "F8_E5M2", "F4"):
            header = json.dumps(
                {"labels": {"dtype": kind, "shape": [4], "data_offsets": [0, 4 if kind != "F4" else 2]}}
            )
            content = struct.pack("<Q", len(header)) + header.encode() + bytes(4 if kind != "F4" else 2)
            files = {**beginnings(reader)[0], f"{name}.safetensors": content}
            _fit_manifest(files)
            yield Case(reader, f"tensors of {kind}", dict(files))
    text = beginnings("condensed")[0]["manifest.json"]
    for old, new in (
        (b'"peak_memory_mb": 0.0', b'"peak_memory_mb": 1e400'),
        (b'"name": "', b'"name": "\\ud800'),
    ):
        yield Case(
            "condensed",
            f"{new!r} in a manifest",
            _good("condensed", **{"manifest.json": text.replace(old, new)}),
        )

    text = beginnings("mapped")[0]["manifest.json"]
    for old, new in ((b'"name": "', b'"name": "\\ud800'), (b'"notes": []', b'"notes": ["\\ud800"]')):
        files = {**beginnings("mapped")[0], "manifest.json": text.replace(old, new)}
        _fit_manifest(files)
        yield Case("mapped", f"{new!r} in a manifest", dict(files))


def _plans_and_lines() -> Iterator[Case]:
    plan = beginnings("plan")[0]["plan.toml"]
    for old, new in (
        (b'name = "main"', b'name = "../escaped/PWNED"'),
        (b"seeds = 2", b"seeds = 1000000000"),
        (b"runs = 3", b"runs = 1000000000"),
        (b"[0.01, 0.02]", b"[1" + b"0" * 400 + b"]"),
        (b"noise = 0.5", b"noise = 2020-01-01"),
        (b'"goal.epochs" = 5', b'"goal.epochs" = [1]'),
        (b'["one"]', b"[" * 1000 + b"]" * 1000),
    ):
        yield Case("plan", f"{new[:30]!r}", {"plan.toml": plan.replace(old, new)})
    yield Case("plan", "a pipe", {"plan.toml": None})
    yield Case("nodes", "a pipe", {"nodes.csv": None})
    yield Case("nodes", "many names", {"nodes.csv": b"ab\n" * 8_000_000})
    yield Case("split", "many lists", {"split.json": b'{"train": [' + b"[]," * 7_000_000 + b"1]}"})
    yield Case("tables", "a pipe", _good("tables", **{"incidence.csv": None}))
    lines = beginnings("results")[0]["results.jsonl"]
    for old, new in (
        (b'"values": [0.5]', b'"values": "x"'),
        (b'"versions"', b'"x"'),
        (b'"seed": 0', b'"seed": 1e400'),
    ):
        yield Case("results", f"{new!r} in a line", {"results.jsonl": lines.replace(old, new)})
