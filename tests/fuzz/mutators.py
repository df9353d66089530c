"""Changes of good files: of any bytes, and of what formats are made of."""

import gzip
import hashlib
import io
import json
import pickletools
import re
import struct
import zipfile
from collections.abc import Callable
from random import Random
from typing import Any

import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import load, save

from hypercondense.files.storage import arrays_digest

Files = dict[str, bytes]

_BYTES = [b"\0", b"\xff", b"\n", b",", b'"', b"\x1b[2J", b"\x0c", b"\xff\xff\xff\x7f", b"-1", b"\xed\xa0\x80"]
_VALUES: list[Any] = [
    *(None, True, -1, 0, 2**31, 2**53 + 1, 2**63, 10**400, 0.5, 1e308, float("inf"), float("nan"), "", "1"),
    *(
        "\x1b[31m",
        "a" * 400,
        "\ud800",
        "../x",
        "../escaped/PWNED",
        "none",
        [],
        {},
        [[]],
        {"": None},
        [0] * 50,
    ),
]
_CELLS = [
    *("", " ", "nan", "inf", "1e400", "1e30", "-1", "1_0", "١", "0x10", "99999999999999999999", '"', "''"),
    *("a" * 300, "\x1b[2J", "\x0c", "\u2028", "\u202e", "node", "1.5", "+1", ",", "\t", "\r", "#", "1e-400"),
]
_TOML = [
    *('""', "-1", "1e400", "nan", "[]", "{}", "2020-01-01", "07:32:00", "true", '"\\u001b[2J"', '"../x"'),
    *("1000000000", "1" + "0" * 400, "0x10", "[[1]]", "[" * 900, "'''a\nb'''", '"\\u0000"', "{a = {b = 1}}"),
]


def mutated(files: Files, rng: Random) -> Files:
    """One to four changes of some of the files."""
    changed = dict(files)
    for _ in range(rng.choice((1, 1, 1, 2, 4))):
        if changed:
            rng.choice((_by_structure, _by_structure, _by_bytes, _by_files))(changed, rng)
    if "manifest.json" in changed and rng.random() < 0.7:
        _fit_manifest(changed)
    if "network.safetensors" in changed and rng.random() < 0.7:
        _fit_network(changed)
    return changed


def _by_files(files: Files, rng: Random) -> None:
    one, other = rng.choice(list(files)), rng.choice(list(files))
    rng.choice(
        (
            lambda: files.pop(one),
            lambda: files.update({one: files[other], other: files[one]}),
            lambda: files.update({one: b""}),
            lambda: files.update({one: files[one] + files[other]}),
        )
    )()


def _by_bytes(files: Files, rng: Random) -> None:
    name = rng.choice(list(files))
    files[name] = rng.choice((_flip, _flip, _set, _insert, _cut, _drop, _repeat, _head))(files[name], rng)


def _flip(content: bytes, rng: Random) -> bytes:
    changed = bytearray(content or b"\0")
    for _ in range(rng.choice((1, 1, 3))):
        changed[rng.randrange(len(changed))] ^= 1 << rng.randrange(8)
    return bytes(changed)


def _set(content: bytes, rng: Random) -> bytes:
    place, put = rng.randrange(len(content) + 1), rng.choice(_BYTES)
    return content[:place] + put + content[place + len(put) :]


def _insert(content: bytes, rng: Random) -> bytes:
    place = rng.randrange(len(content) + 1)
    return content[:place] + rng.choice((*_BYTES, rng.randbytes(4))) + content[place:]


def _cut(content: bytes, rng: Random) -> bytes:
    return content[: rng.randrange(len(content) + 1)]


def _drop(content: bytes, rng: Random) -> bytes:
    place = rng.randrange(len(content) + 1)
    return content[:place] + content[place + rng.choice((1, 4, 30)) :]


def _repeat(content: bytes, rng: Random) -> bytes:
    begin = rng.randrange(len(content) + 1)
    part = content[begin : begin + rng.choice((1, 8, 100))]
    return content[:begin] + part * rng.choice((1, 2, 20)) + content[begin:]


def _head(content: bytes, rng: Random) -> bytes:
    """A change near the beginning, where sizes and types are told."""
    return _flip(content[:64], rng) + content[64:]


def _by_structure(files: Files, rng: Random) -> None:
    name = rng.choice(list(files))
    change = _CHANGES.get(name.rpartition(".")[2], _text)
    try:
        files[name] = change(files[name], rng)
    except Exception:  # an earlier change broke its structure, in one of a dozen ways
        _by_bytes(files, rng)


def _json(content: bytes, rng: Random) -> bytes:
    value = json.loads(content)
    holder, key = rng.choice(_places({"": value}))
    _change_at(holder, key, rng)
    top = value if not isinstance(holder, dict) or "" not in holder else holder.get("", value)
    return json.dumps(top, ensure_ascii=rng.random() < 0.5).encode("utf-8", "surrogatepass")


def _places(value: Any) -> list[tuple[Any, Any]]:
    """Every container and key below a value."""
    keys = value.items() if isinstance(value, dict) else enumerate(value)
    found: list[tuple[Any, Any]] = []
    for key, inner in keys:
        found.append((value, key))
        if isinstance(inner, dict | list):
            found += _places(inner)
    return found


def _change_at(holder: Any, key: Any, rng: Random) -> None:
    kind = rng.randrange(5)
    if kind == 0:
        del holder[key]
    elif kind == 1 and isinstance(holder, dict):
        holder[rng.choice(("x", "\x1b", "a" * 300))] = holder.pop(key)
    elif kind == 2:
        nested: Any = 1
        for _ in range(rng.choice((3, 100, 900))):
            nested = [nested]
        holder[key] = nested
    elif kind == 3 and isinstance(holder[key], int | float) and not isinstance(holder[key], bool):
        holder[key] = rng.choice((holder[key] + 1, -holder[key], holder[key] * 10**9, holder[key] / 3))
    else:
        holder[key] = rng.choice(_VALUES)


def _json_lines(content: bytes, rng: Random) -> bytes:
    lines = content.splitlines()
    place = rng.randrange(len(lines))
    lines[place] = _json(lines[place], rng)
    return b"\n".join(lines) + b"\n"


def _text(content: bytes, rng: Random) -> bytes:
    """Lines of cells."""
    lines = content.decode("utf-8", "replace").split("\n")
    place = rng.randrange(len(lines))
    mark = next((mark for mark in ",\t " if mark in lines[place]), ",")
    cells = lines[place].split(mark)
    kind = rng.randrange(6)
    if kind <= 2:
        cells[rng.randrange(len(cells))] = rng.choice(_CELLS)
    elif kind == 3:
        rng.shuffle(cells)
    elif kind == 4:
        cells.pop()
    else:
        lines.insert(place, rng.choice(lines))
    lines[place] = mark.join(cells)
    return "\n".join(lines).encode()


def _toml(content: bytes, rng: Random) -> bytes:
    text = content.decode("utf-8", "replace")
    places = [found.span(1) for found in re.finditer(r"= *([^\n,}]+)", text)]
    begin, end = rng.choice(places)
    kind = rng.randrange(4)
    if kind == 0:
        lines = text.split("\n")
        rng.shuffle(lines)
        return "\n".join(lines).encode()
    if kind == 1:
        return re.sub(rb"\b\w+\b", b'"\\\\u001b"', content, count=rng.randrange(1, 5))
    return (text[:begin] + rng.choice(_TOML) + text[end:]).encode()


_OPCODES = [opcode.code.encode("latin-1") for opcode in pickletools.opcodes]


def _pickle(content: bytes, rng: Random) -> bytes:
    """Other instructions, other lengths, and calls."""
    places = [place for _, _, place in pickletools.genops(content) if place is not None]
    place = rng.choice(places)
    kind = rng.randrange(4)
    if kind == 0:
        return content[:place] + rng.choice(_OPCODES) + content[place + 1 :]
    if kind == 1:
        return content[:place] + rng.choice(_OPCODES) + content[place:]
    if kind == 2:
        claimed = struct.pack("<Q", rng.choice((0, 1, 2**16, 2**31 - 1, 2**33, 2**62)))
        return content[:place] + rng.choice((b"\x8e", b"\x96", b"\x8d", b"\x95")) + claimed + content[place:]
    value = rng.choice(
        (b"cos\nsystem\n", b"cbuiltins\neval\n", b"(lp0\n", b"K\xff", b"\x8a\x09" + b"\xff" * 9)
    )
    return content[:place] + value + content[place:]


def _zip(content: bytes, rng: Random) -> bytes:
    """Members that are missing, renamed, compressed in another way, or changed inside."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    name = rng.choice(list(members))
    how = zipfile.ZIP_STORED
    kind = rng.randrange(6)
    if kind == 0:
        del members[name]
    elif kind == 1:
        members[rng.choice(("x.npy", "../x.npy", "\x1b[2J.npy", "labels.npy"))] = members.pop(name)
    elif kind == 2:
        how = rng.choice((zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA))
    elif kind == 3 and name.endswith(".pkl"):
        members[name] = _pickle(members[name], rng)
    elif name.endswith(".npy"):
        members[name] = _npy(members[name], rng)
    else:
        members[name] = _flip(members[name], rng)
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for member, inside in members.items():
            archive.writestr(zipfile.ZipInfo(member), inside, how)  # of 1980: equal seeds, equal bytes
    return out.getvalue()


def _npy(content: bytes, rng: Random) -> bytes:
    length = struct.unpack("<H", content[8:10])[0]
    header, body = content[10 : 10 + length].decode("latin-1"), content[10 + length :]
    kinds = ("<f4", "<f8", "<i8", "<i2", "|b1", "<c16", "|O", "<U4", "|S4", "<M8[s]", "|V8", ">f4", "<f2")
    shape = rng.choice(
        ("()", "(0,)", "(-1,)", "(4, 2)", "(2, 4)", "(1000000000, 9)", "(1, 1, 1)", "(2147483648,)")
    )
    kind = rng.randrange(4)
    if kind == 0:
        header = re.sub(r"'descr': '[^']*'", f"'descr': '{rng.choice(kinds)}'", header)
    elif kind == 1:
        header = re.sub(r"'shape': \([^)]*\)", f"'shape': {shape}", header)
    elif kind == 2:
        header = header.replace("False", "True")
    else:
        body = rng.choice((body[:-1], body * 2, bytes(len(body)), b"\xff" * len(body)))
    return content[:8] + struct.pack("<H", len(header)) + header.encode("latin-1") + body


def _parquet(content: bytes, rng: Random) -> bytes:
    """Columns of other types, without values, under other names, packed otherwise; and another footer."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    if rng.random() < 0.4:
        length = struct.unpack("<I", content[-8:-4])[0]
        begin = len(content) - 8 - length
        return content[:begin] + _flip(content[begin:-8], rng) + content[-8:]
    table = pq.read_table(io.BytesIO(content))
    place = rng.randrange(table.num_columns)
    name, size = table.column_names[place], table.num_rows
    values = rng.choice(
        (
            pa.nulls(size, pa.int64()),
            pa.array([str(one) for one in range(size)]),
            pa.array([[1.0]] * size),
            pa.array([[[1.0]]] * size),
            pa.array([float("nan")] * size),
            pa.array([1e300] * size),
            pa.array([2**63 + 5] * size, pa.uint64()),
            pa.array([b"\xff\xfe"] * size),
            pa.array([{"a": 1}] * size),
            pa.array(["\x1b[2J"] * size),
            pa.array([-1] * size, pa.int8()),
            pa.array(["a"] * size).dictionary_encode(),
            pa.array([0] * size, pa.timestamp("s")),
            table.column(place),
        )
    )
    called = rng.choice((name, name, name, "label", "features", "\x1b[2J", 'a"b', ""))
    out = io.BytesIO()
    pq.write_table(
        table.set_column(place, called, values),
        out,
        compression=rng.choice(("none", "snappy", "zstd", "gzip")),
        data_page_version=rng.choice(("1.0", "2.0")),
        row_group_size=rng.choice((1, 2, 1000)),
    )
    return out.getvalue()


def _safetensors(content: bytes, rng: Random) -> bytes:
    (length,) = struct.unpack("<Q", content[:8])
    header, body = json.loads(content[8 : 8 + length]), content[8 + length :]
    name = rng.choice(list(header))
    kind = rng.randrange(4)
    if kind == 0:
        types = ("F8_E4M3", "F8_E5M2", "F4", "BF16", "F16", "I8", "U64", "BOOL", "C64", "F64", "I32", "x")
        header[name]["dtype"] = rng.choice(types)
    elif kind == 1:
        header[name]["shape"] = rng.choice(([], [0], [1], [2**62, 4], header[name]["shape"][::-1], [-1]))
    elif kind == 2:
        header[rng.choice(("x", "features", "labels"))] = header.pop(name)
    else:
        body = rng.choice((bytes(len(body)), b"\xff" * len(body), _flip(body, rng)))
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + body


def _fit_manifest(files: Files) -> None:
    """Let the manifest tell the checksum that the tensors have, so that more than checksums is tried."""
    try:
        manifest = json.loads(files["manifest.json"])
        manifest.pop("checksum", None)
        for name in ("hypergraph.safetensors", "condensed.safetensors"):
            if name in files:
                told = hashlib.sha256(files[name]).hexdigest()
                manifest["sha256"] = {name: told} if name.startswith("h") else told
        files["manifest.json"] = json.dumps(manifest).encode()
    except (ValueError, AttributeError, RecursionError, TypeError):
        return


def _fit_network(files: Files) -> None:
    """The same for a network, which tells its own checksum."""
    try:
        arrays = load(files["network.safetensors"])
        arrays.pop("checksum", None)
        arrays["checksum"] = np.frombuffer(arrays_digest(arrays), np.uint8)
        files["network.safetensors"] = save(arrays)
    except (SafetensorError, ValueError, TypeError, KeyError, AttributeError, OverflowError):
        return


def _told_parquet(content: bytes, rng: Random) -> bytes:
    """Columns of other names, types and values, other metadata, and other ways to pack them."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    table = pq.read_table(io.BytesIO(content), use_threads=False, pre_buffer=False)
    place = rng.randrange(table.num_columns)
    name, column = table.column_names[place], table.column(place).to_pylist()
    kind = rng.randrange(5)
    if kind == 0:
        names = ("x", "node", "features", "feature_values", "soft_label:0", "\x1b[2J", "")
        table = table.rename_columns(
            [rng.choice(names) if one == name else one for one in table.column_names]
        )
    elif kind == 1:
        types = (
            pa.string(),
            pa.int8(),
            pa.float64(),
            pa.bool_(),
            pa.null(),
            pa.binary(),
            pa.list_(pa.int64()),
        )
        table = table.set_column(place, name, pa.nulls(len(table), rng.choice(types)))
    elif kind == 2:
        column[rng.randrange(len(column))] = rng.choice(
            [one for one in _VALUES if type(one) is type(column[0])]
        )
        table = table.set_column(place, name, pa.array(column))
    elif kind == 3 and table.schema.metadata:
        told = _json(table.schema.metadata[b"hypercondense"], rng)
        table = table.replace_schema_metadata({"hypercondense": told})
    else:
        table = table.slice(rng.randrange(len(table)))
    out = io.BytesIO()
    packing = rng.choice(("none", "snappy", "gzip", "zstd", "brotli"))
    pq.write_table(table, out, compression=packing, use_dictionary=rng.random() < 0.5)
    return out.getvalue()


def _packed(ending: str) -> Callable[[bytes, Random], bytes]:
    """Changes inside a packed file, and of the packing itself."""

    def change(content: bytes, rng: Random) -> bytes:
        from hypercondense.data.formats.packed import packed, zstandard

        if rng.random() < 0.3:
            return rng.choice((content[:-8], content + content, content + b"x"))
        inside = gzip.decompress(content) if ending == ".gz" else zstandard().decompress(content)
        return packed(_json(inside, rng), ending)

    return change


_CHANGES: dict[str, Callable[[bytes, Random], bytes]] = {
    "json": _json,
    "jsonl": _json_lines,
    "toml": _toml,
    "pickle": _pickle,
    "npz": _zip,
    "pt": _zip,
    "npy": _npy,
    "safetensors": _safetensors,
    "parquet": lambda content, rng: rng.choice((_parquet, _told_parquet))(content, rng),
    "gz": _packed(".gz"),
    "zst": _packed(".zst"),
}
