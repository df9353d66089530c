"""Small files that declare much: random changes never find them."""

import io
import json
import pickle
import re
import struct
import zipfile
from collections.abc import Callable
from functools import cache
from random import Random

import numpy as np
from safetensors.numpy import load, save

from fuzz.contract import Case
from fuzz.mutators import _fit_manifest, _fit_network
from fuzz.targets import WRITERS, beginnings

LABELS, HYPEREDGES, FEATURES = "labels.pickle", "hypergraph.pickle", "features.pickle"


def _pickled(label: str, file: str, content: bytes) -> Case:
    return Case("HyperGCN", label, {**beginnings("HyperGCN")[0], file: content})


def claimed_bytes(rng: Random) -> Case:
    """A length, and no bytes."""
    code = rng.choice((b"\x96", b"\x96", b"\x8e", b"\x8d", b"\x95"))
    size = rng.choice((10**9, 9 * 10**9, 2**33, 2**40))
    return _pickled("claimed bytes", LABELS, b"\x80\x05" + code + struct.pack("<Q", size) + b"x.")


def shared_lists(rng: Random) -> Case:
    """Lists that hold a list twice, which holds a list twice: endless to write out, as arguments of calls."""
    depth = rng.randrange(25, 60)
    nested = b"]" + b"".join(b"q%c0]h%ch%c\x86a" % (n, n, n) for n in range(depth))
    programs = (
        b"c_codecs\nencode\nX\1\0\0\0a" + nested + b"\x86R.",
        b"cnumpy\ndtype\nX\2\0\0\0f4\x85R(K\3" + nested + b"tb.",
        b"cnumpy.core.multiarray\n_reconstruct\n)R(K\1"
        + nested
        + b"\x85cnumpy\ndtype\nX\2\0\0\0f4\x85R\x89C\0tb.",
        b"cnumpy.core.numeric\n_frombuffer\n(C\0cnumpy\ndtype\nX\2\0\0\0f4\x85R"
        + nested
        + b"\x85X\1\0\0\0CtR.",
        b"cnumpy\ndtype\n" + nested + b"\x85R.",
        nested + b".",
    )
    return _pickled("shared lists", LABELS, b"\x80\x04" + rng.choice(programs))


def references(rng: Random) -> Case:
    """One list of members, named very often."""
    members, times = rng.choice(((1000, 100_000), (3000, 30_000), (20_000, 5_000)))
    start = pickle.dumps(list(range(members)), protocol=2)[:-1]
    file = rng.choice((HYPEREDGES, FEATURES))
    return _pickled("references", file, start + b"q\xff0](" + b"h\xff" * times + b"e.")


def containers(rng: Random) -> Case:
    """A set for every byte."""
    count = rng.choice((10**5, 3 * 10**6))
    return _pickled("containers", LABELS, b"\x80\x04](" + rng.choice((b"\x8f", b"}", b"]")) * count + b"e.")


def large_number(rng: Random) -> Case:
    """A number of very many digits as a label."""
    size = rng.choice((300, 5000, 10**5))
    return _pickled(
        "large number", LABELS, b"\x80\x02](\x8b" + struct.pack("<i", size) + b"\x7f" * size + b"e."
    )


@cache
def _zeros(kind: str, count: int, how: int) -> bytes:
    """The part of an archive that unpacks to so many zeros."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", how, compresslevel=1) as archive:
        header = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': ({count},), }}".encode() + b"\n"
        entry = zipfile.ZipInfo("x.npy")
        entry.compress_type = how
        with archive.open(entry, "w", force_zip64=True) as file:
            file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header)
            left = count * np.dtype(kind).itemsize
            while left:
                left -= file.write(bytes(min(left, 1 << 22)))
    return out.getvalue()


def _npz(label: str, **arrays: object) -> Case:
    given = {"features": np.ones((4, 2), np.float32), "labels": np.array([0, 1, 1, 0])}
    given |= {"node_ids": np.array([0, 1]), "hyperedge_ids": np.array([0, 0])}
    out = io.BytesIO()
    np.savez_compressed(out, **{**given, **arrays})  # type: ignore[arg-type]
    return Case("npz", label, {"x.npz": out.getvalue()})


def widened(rng: Random) -> Case:
    """Bytes that become numbers of eight bytes, many times: the sorting of memberships."""
    kind, count = rng.choice((("|i1", 30_000_000), ("|u1", 40_000_000)))
    how = rng.choice((zipfile.ZIP_DEFLATED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2))
    name = rng.choice(("node_ids", "labels", "weights"))
    return Case("npz", f"widened {name}", {"x.npz": _renamed(_zeros(kind, count, how), name)})


def _renamed(content: bytes, name: str) -> bytes:
    """An archive of one member under another name; lengths of names stand in both of its directories."""
    old, new = b"x.npy", f"{name}.npy".encode()
    begin = content.index(b"PK\x01\x02")
    local, central = content[:begin], content[begin:]
    local = local[:26] + struct.pack("<H", len(new)) + local[28:30] + new + local[30 + len(old) :]
    end = central.index(b"PK\x05\x06")
    record = central[:28] + struct.pack("<H", len(new)) + central[30:46] + new + central[46 + len(old) : end]
    tail = central[end:]
    return local + record + tail[:12] + struct.pack("<II", len(record), len(local)) + tail[20:]


def many_texts(rng: Random) -> Case:
    """Names of one letter, each of which becomes a text of Python."""
    count = rng.choice((20_000_000, 30_000_000))
    content = _zeros("|S1", count, zipfile.ZIP_DEFLATED)
    return Case("npz", "many texts", {"x.npz": _renamed(content, rng.choice(("notes", "label_names")))})


def many_columns(rng: Random) -> Case:
    """Sparse features with hardly an entry and very many columns."""
    columns = rng.choice((2**31 - 1, 10**8, 5 * 10**6))
    parts = {"features_data": np.ones(1, np.float32), "features_indices": np.zeros(1, np.int32)}
    parts |= {"features_indptr": np.array([0, 1, 1, 1, 1]), "features_shape": np.array([4, columns])}
    case = _npz("many columns", **parts)
    with zipfile.ZipFile(io.BytesIO(case.files["x.npz"] or b"")) as archive:
        members = {name: archive.read(name) for name in archive.namelist() if name != "features.npy"}
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return Case("npz", "many columns", {"x.npz": out.getvalue()})


def deep_json(rng: Random) -> Case:
    depth = rng.choice((500, 1000, 100_000))
    reader, name = rng.choice(
        (("recipe", "recipe.json"), ("split", "split.json"), ("native", "manifest.json"))
    )
    mark = rng.choice(("[", '{"a":'))
    closing = {"[": "]", '{"a":': "}"}[mark]
    text = mark * depth + "1" + closing * depth
    files = dict(beginnings(reader)[0])
    if reader == "native":
        text = files[name].decode().replace('"notes": []', f'"notes": {text}')
    else:
        text = f'{{"train": {text}, "goal": {text}}}'
    return Case(reader, "deep JSON", {**files, name: text.encode()})


def large_plan(rng: Random) -> Case:
    """Plans of more runs than anybody can make, and of numbers that are none."""
    text = (beginnings("plan")[0]["plan.toml"]).decode()
    old, new = rng.choice(
        (
            ("seeds = 2", f"seeds = {10 ** rng.randrange(6, 30)}"),
            ("runs = 3", f"runs = {10 ** rng.randrange(7, 30)}"),
            ("[0.01, 0.02]", f"[1{'0' * 400}]"),
            ("[0, 1]", str(list(range(20_000)))),
            ('notes = ["one"]', f"notes = {'[' * 1000}{']' * 1000}"),
            ("noise = 0.5", "noise = 2020-01-01"),
            ("budget = 3", f"budget = {10**400}"),
            ('"goal.epochs" = 5', '"goal.epochs" = 1e30'),
            ('"goal.epochs" = 5', '"goal.epochs" = [1, 2]'),
            ('name = "main"', 'name = "../escaped/PWNED"'),
        )
    )
    return Case("plan", "large plan", {"plan.toml": text.replace(old, new).encode()})


def pipes(rng: Random) -> Case:
    """A pipe in place of a file, which nobody ever writes to."""
    reader = rng.choice(list(WRITERS))
    files = beginnings(reader)[0]
    return Case(reader, "pipe", {**files, rng.choice(list(files)): None})


def many_labels(rng: Random) -> Case:
    """A line of two bytes for each node, of which a hundred features are made."""
    nodes = rng.choice((1_500_000, 2_000_000))
    return Case("Cornell", "many labels", {"hyperedges-x.txt": b"1,2\n", "node-labels-x.txt": b"1\n" * nodes})


def deep_network(rng: Random) -> Case:
    """A million layers of a network, and numbers enough that no single size is too large."""
    arrays = load(beginnings("network")[0]["network.safetensors"])
    facts = json.loads(arrays["facts"].tobytes())
    facts |= {"model": rng.choice(("hgnn", "mlp", "unigcnii", "allset")), "options": {"layers": 10**6}}
    arrays["facts"] = np.frombuffer(json.dumps(facts).encode(), np.uint8)
    arrays["weights.more"] = np.zeros(10**6, np.float32)
    files = {"network.safetensors": save(arrays)}
    _fit_network(files)
    return Case("network", "deep network", dict(files))


def many_lines(rng: Random) -> Case:
    """Lines of results that are all compared with each other."""
    line = beginnings("results")[0]["results.jsonl"].splitlines(keepends=True)[0]
    return Case("results", "many lines", {"results.jsonl": line * rng.choice((5000, 6000))})


@cache
def _packed(kind: str) -> bytes:
    """A table of Parquet with hardly a byte for each of its many values."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    count = 20_000_000
    zeros = np.zeros(count, np.int64)
    if kind == "lists":
        ends = pa.array([0, count, 2 * count], pa.int32())
        lists = pa.ListArray.from_arrays(ends, pa.array(np.zeros(2 * count, np.float32)))
        table = pa.table({"node": [0, 1], "label": [0, 1], "features": lists})
    elif kind == "texts":
        rows = pa.array(np.zeros(300_000, np.int32))
        texts = pa.DictionaryArray.from_arrays(rows, pa.array(["a" * 50_000]))
        table = pa.table({"node": np.arange(300_000), "label": texts, "x": np.zeros(300_000)})
    elif kind == "nodes":
        table = pa.table({"node": np.arange(count), "label": zeros})
    else:
        table = pa.table({"node": zeros, "hyperedge": zeros})
    out = io.BytesIO()
    numbers = {"node": "DELTA_BINARY_PACKED"} if kind == "nodes" else None
    pq.write_table(
        table,
        out,
        compression="zstd",
        use_dictionary=[name for name in table.column_names if numbers is None or name != "node"],
        column_encoding=numbers,
    )
    return out.getvalue()


def many_rows(rng: Random) -> Case:
    """Tables of Parquet that declare many values, or hide how many."""
    kind = rng.choice(("lists", "texts", "nodes", "memberships"))
    content = _packed(kind)
    if rng.random() < 0.3:
        content = _hidden(content)
    name = "incidences.parquet" if kind == "memberships" else "nodes.parquet"
    good = dict(beginnings("parts")[1])
    if kind in ("lists", "texts"):
        del good["features.npy"]
    return Case("parts", f"many rows: {kind}", {**good, name: content})


def _hidden(content: bytes) -> bytes:
    """Every count of more than a million in the footer becomes one, in as many bytes."""
    length = struct.unpack("<I", content[-8:-4])[0]
    footer = content[-8 - length : -8]
    small = re.sub(rb"[\x80-\xff]{3}[\x01-\x7f]", b"\x82\x80\x80\x00", footer)
    return content[: -8 - length] + small + content[-8:]


def many_table_columns(rng: Random) -> Case:
    """A table of a few bytes for each of its columns, which take thousands."""
    names = ",".join(map(str, range(rng.choice((30_000, 100_000)))))
    good = beginnings("parts")[0]
    return Case("parts", "many columns", {**good, "nodes.csv": f"node,label,{names}\na,0,1\n".encode()})


def wrong_types(rng: Random) -> Case:
    """Tensors of numbers that numpy does not have, and torch views that it cannot show."""
    import torch

    if rng.random() < 0.5:
        made = rng.choice(
            (
                torch.view_as_complex(torch.ones(4, 2, 2)).conj(),
                torch.view_as_complex(torch.ones(4, 2, 2)).conj().imag,
                torch.ones(4, 2).to(torch.float8_e4m3fn),
                torch.ones(1).expand(10**5, 10**5),
            )
        )
        out = io.BytesIO()
        torch.save(made, out)
        return Case("MAG-PM", "strange tensor", {**beginnings("MAG-PM")[0], "x_X_vec.pt": out.getvalue()})
    kind, size = rng.choice((("F8_E4M3", 8), ("F8_E5M2", 8), ("F4", 4), ("BF16", 16), ("C64", 64)))
    header = json.dumps({"features": {"dtype": kind, "shape": [4, 2], "data_offsets": [0, size]}}).encode()
    content = struct.pack("<Q", len(header)) + header + bytes(size)
    reader, name = rng.choice((("native", "hypergraph"), ("condensed", "condensed")))
    files = {**beginnings(reader)[0], f"{name}.safetensors": content}
    _fit_manifest(files)
    return Case(reader, "strange tensor", dict(files))


def packed_json(rng: Random) -> Case:
    """HIF that is packed a thousand times smaller, of blanks, tables, names or numbers."""
    from hypercondense.data.formats.packed import packed

    unit = rng.choice((b"    ", b"{},", b"[[[]]],", b'{"a":{"b":{}}},', b'"a",', b"1.5,"))
    times = rng.choice((40, 100))  # several packed files in one are one
    before, after = (b"", b"") if unit == b"    " else (b'{"incidences": [], "metadata": {"a": [', b"0]}}")
    name = rng.choice(("x.json.gz", "x.json.zst"))
    block = packed(unit * (4_000_000 // len(unit)), name)
    content = packed(before, name) + block * times + packed(after, name)
    return Case("HIF", f"packed {unit!r}", {name: content})


def nested_attributes(rng: Random) -> Case:
    """HIF of very many attributes: nested, or another one for each node, which would be a large matrix."""
    count = rng.choice((100_000, 1_000_000))
    if rng.random() < 0.5:
        attrs = b'{"a":' * count + b"1" + b"}" * count
        text = b'{"incidences": [], "nodes": [{"node": 1, "attrs": %s}]}' % attrs
    else:
        nodes = b",".join(b'{"node":%d,"attrs":{"a%d":1,"label":0}}' % (n, n) for n in range(count // 10))
        text = b'{"incidences": [], "nodes": [%s]}' % nodes
    return Case("HIF", "nested attributes", {"x.json": text})


def repeated_columns(rng: Random) -> Case:
    """Parquet in which one value, or one long text, stands for very many."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    rows = rng.choice((5_000_000, 20_000_000))
    text = pa.DictionaryArray.from_arrays(np.zeros(rows, np.int32), ["a" * rng.choice((1, 10**6))])
    number = pa.array(np.zeros(rows, np.int8))
    out = io.BytesIO()
    pq.write_table(pa.table({"node": rng.choice((text, number)), "hyperedge": number}), out)
    return Case("Parquet", "repeated", {**beginnings("Parquet")[0], "incidences.parquet": out.getvalue()})


BOMBS: tuple[Callable[[Random], Case], ...] = (
    claimed_bytes,
    shared_lists,
    references,
    containers,
    large_number,
    widened,
    many_texts,
    many_columns,
    deep_json,
    large_plan,
    pipes,
    many_labels,
    many_rows,
    many_table_columns,
    deep_network,
    many_lines,
    wrong_types,
    packed_json,
    nested_attributes,
    repeated_columns,
)
