"""Files made to run a command, to eat memory or to crash: refused, and nothing happened."""

import io
import os
import pickle
import struct
import zipfile
from collections import OrderedDict, defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from hypercondense.data.formats import files, read
from hypercondense.errors import FormatError
from makers import format_examples

RECONSTRUCT = np.zeros(0).__reduce__()[0]  # numpy keeps it in another module since version 2
PICKLES = ["features.pickle", "labels.pickle", "hypergraph.pickle"]


class Runs:
    """Unpickling it the usual way runs a command that makes a file."""

    def __init__(self, marker: Path) -> None:
        self.marker = marker

    def __reduce__(self) -> Any:
        return os.system, (f"touch {self.marker}",)


class Reduces:
    """Pickles as whatever call is given."""

    def __init__(self, *reduced: Any) -> None:
        self.reduced = reduced

    def __reduce__(self) -> Any:
        return self.reduced


@pytest.fixture
def little_allowed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Files of any size may take 10 MB."""
    monkeypatch.setattr("hypercondense.data.formats.reader.BASE", 10**7)


def refusal(folder: Path, file: str, content: bytes) -> str:
    """Put ``content`` into a folder of good pickles, read, and return the one line of the error."""
    format_examples.hypergcn(folder)
    (folder / file).write_bytes(content)
    with pytest.raises(FormatError) as caught:
        read(folder)
    assert "\n" not in str(caught.value)
    assert file in str(caught.value)
    return str(caught.value)


@pytest.fixture
def little_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if 20 MB were left."""
    monkeypatch.setattr(files, "available_bytes", lambda: 20 * 10**6)


@pytest.mark.parametrize("file", PICKLES)
@pytest.mark.parametrize("protocol", range(6))
@pytest.mark.parametrize("wrap", [lambda run: run, lambda run: [0, run], lambda run: {"a": [run]}])
def test_a_pickle_that_would_run_a_command_runs_nothing(
    tmp_path: Path, file: str, protocol: int, wrap: Any
) -> None:
    marker = tmp_path / "marker"
    text = refusal(tmp_path, file, pickle.dumps(wrap(Runs(marker)), protocol=protocol))
    assert f"{os.name}.system" in text
    assert not marker.exists()


def test_the_marker_would_be_there_if_the_command_ran(tmp_path: Path) -> None:
    marker = tmp_path / "marker"
    pickle.loads(pickle.dumps(Runs(marker)))
    assert marker.exists()


@pytest.mark.parametrize(
    "program",
    [
        b"(S'touch marker'\nios\nsystem\n.",  # INST
        b"(cos\nsystem\nS'touch marker'\no.",  # OBJ
        b"\x80\x02\x82\x01.",  # EXT1
        b"P1\n.",  # PERSID
        b"cbuiltins\neval\n(S'1'\ntR.",
        b"cbuiltins\ngetattr\n.",
        b"cnumpy\nload\n.",
        b"cnumpy.core.multiarray\nfromfile\n.",
        b"\x80\x04\x8c\x02os\x8c\x06system\x93.",
        b"(lp0\nc__builtin__\nset\nb.",  # BUILD of a name
        b"c__builtin__\nset\n(I1\nI2\ndb.",
        b"cnumpy\nndarray\n(I9\ntR.",
        b"I1\n)R.",
    ],
)
def test_other_ways_to_run_something_are_refused(tmp_path: Path, program: bytes) -> None:
    refusal(tmp_path, "labels.pickle", program)


def test_a_refused_name_is_named(tmp_path: Path) -> None:
    assert "builtins.eval" in refusal(tmp_path, "labels.pickle", b"cbuiltins\neval\n.")


def test_a_factory_is_named_and_never_called(tmp_path: Path) -> None:
    bad = pickle.dumps(defaultdict(os.getcwd, {0: [0, 1]}))
    assert "getcwd" in refusal(tmp_path, "hypergraph.pickle", bad)
    for good in (defaultdict(list, {0: [0, 1]}), OrderedDict({0: (0, 1)}), [[0, 1]], {0: np.array([0, 1])}):
        for protocol in range(6):
            (tmp_path / "hypergraph.pickle").write_bytes(pickle.dumps(good, protocol=protocol))
            assert read(tmp_path).incidence.node_ids.tolist() == [0, 1]


def test_a_list_that_contains_itself_is_refused(tmp_path: Path) -> None:
    cycle: list[Any] = [0, 1]
    cycle.append(cycle)
    for file in PICKLES:
        refusal(tmp_path, file, pickle.dumps(cycle))
    refusal(tmp_path, "hypergraph.pickle", pickle.dumps({0: cycle}))
    only: list[Any] = []
    only.append(only)
    for file in PICKLES:
        refusal(tmp_path, file, pickle.dumps(only))


def test_a_dict_that_contains_itself_is_refused(tmp_path: Path) -> None:
    cycle: dict[Any, Any] = {}
    cycle[0] = cycle
    for file in PICKLES:
        refusal(tmp_path, file, pickle.dumps(cycle))


def test_deep_nesting_does_not_crash(tmp_path: Path) -> None:
    depth = 100_000
    nested_tuple = b")" + b"\x85" * depth
    refusal(tmp_path, "hypergraph.pickle", b"\x80\x02}" + nested_tuple + b"K\x01s.")  # as a key: hashed
    refusal(tmp_path, "labels.pickle", b"\x80\x02" + nested_tuple + b".")
    refusal(tmp_path, "labels.pickle", b"\x80\x02" + b"]" * depth + b"a" * (depth - 1) + b".")
    as_shape = Reduces(RECONSTRUCT, (np.ndarray, (0,), b"b"), (1, (9,), 1, False, b""))
    refusal(tmp_path, "features.pickle", pickle.dumps(as_shape, protocol=4))


@pytest.mark.parametrize(
    "program",
    [
        b"\x80\x02Nr\xff\xff\xff\x7f.",  # store under number 2**31
        b"\x80\x04\x8e" + struct.pack("<Q", 2**50) + b"x.",  # 2**50 bytes follow
        b"\x80\x05\x96" + struct.pack("<Q", 2**50) + b"x.",
        b"\x80\x04\x95" + struct.pack("<Q", 2**62) + b"K\x01.",  # a frame of 2**62 bytes
        b"\x80\x02\x8b" + struct.pack("<i", 2**31 - 1) + b"\x01.",  # a number of 2**31 bytes
        b"I" + b"9" * 100_000 + b"\n.",
    ],
)
def test_sizes_a_pickle_only_claims_are_not_allocated(tmp_path: Path, program: bytes) -> None:
    refusal(tmp_path, "labels.pickle", program)


@pytest.mark.parametrize("program", [b"N" + b"\x94" * 200_000, b"](" + b"N\x85" * 150_000 + b"e"])
def test_what_is_referred_to_and_tuples_are_counted(
    tmp_path: Path, program: bytes, little_allowed: None
) -> None:
    assert "unpacks to more than 1" in refusal(tmp_path, "labels.pickle", b"\x80\x04" + program + b".")


def test_an_array_must_have_the_bytes_it_claims(tmp_path: Path) -> None:
    kind = np.dtype("f8")
    for shape, raw in (((10**12,), b"\0" * 8), ((10**6, 10**6), b""), ((-1,), b"")):
        array = Reduces(RECONSTRUCT, (np.ndarray, (0,), b"b"), (1, shape, kind, False, raw))
        refusal(tmp_path, "features.pickle", pickle.dumps(array))
    huge = Reduces(RECONSTRUCT, (np.ndarray, (10**12,), b"b"))
    refusal(tmp_path, "features.pickle", pickle.dumps(huge))


@pytest.mark.parametrize(
    "array", [np.array([[1, None]]), np.array(["a"]), np.zeros(2, "i4,f4"), np.zeros((1, 1, 1))]
)
def test_arrays_of_other_things_than_numbers_are_refused(tmp_path: Path, array: Any) -> None:
    for protocol in (2, 5):
        refusal(tmp_path, "features.pickle", pickle.dumps(array, protocol=protocol))


def test_an_array_of_objects_runs_nothing_and_takes_no_addresses(tmp_path: Path) -> None:
    marker = tmp_path / "marker"
    objects = np.array([0, 1, 1, Runs(marker)], dtype=object)
    assert "system" in refusal(tmp_path, "labels.pickle", pickle.dumps(objects))
    assert not marker.exists()
    kind = np.dtype("O")
    for shape, raw in (((1,), b"\x01" * 8), ((2,), [0]), ((1,), (0,))):
        array = Reduces(RECONSTRUCT, (np.ndarray, (0,), b"b"), (1, shape, kind, False, raw))
        refusal(tmp_path, "labels.pickle", pickle.dumps(array))
    scalar = Reduces(np.float64(0).__reduce__()[0], (kind, b"\x01" * 8))
    assert "not plain numbers" in refusal(tmp_path, "labels.pickle", pickle.dumps([scalar]))


def test_endless_arrays_of_one_list_of_objects_are_refused(tmp_path: Path, little_allowed: None) -> None:
    items = list(range(10_000))
    arrays = [
        Reduces(RECONSTRUCT, (np.ndarray, (0,), b"b"), (1, (10_000,), np.dtype("O"), False, items))
        for _ in range(200)
    ]
    assert "unpacks to more than 1" in refusal(tmp_path, "hypergraph.pickle", pickle.dumps(arrays))


def test_one_long_list_referred_to_often_is_refused(tmp_path: Path, little_memory: None) -> None:
    members = list(range(1000))
    for shared in (members, np.array(members)):
        refusal(tmp_path, "hypergraph.pickle", pickle.dumps(dict.fromkeys(range(1000), shared)))
        refusal(tmp_path, "features.pickle", pickle.dumps([shared] * 1000))
    refusal(tmp_path, "features.pickle", pickle.dumps([np.zeros((1000, 1000), np.uint8)] * 1000))


def test_endless_copies_are_refused(tmp_path: Path, little_allowed: None) -> None:
    text = b"X" + struct.pack("<I", 100_000) + b"a" * 100_000
    start = b"\x80\x02]c_codecs\nencode\nq\x000" + text + b"q\x010X\x06\0\0\0latin1q\x020("
    copies = b"h\x00h\x01h\x02\x86R" * 1000
    assert "unpacks to more than 1" in refusal(tmp_path, "labels.pickle", start + copies + b"e.")


def _npz(path: Path, **changes: Any) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        arrays = {
            "features": format_examples.FEATURES,
            "labels": np.array(format_examples.LABELS),
            "node_ids": np.array(format_examples.NODE_IDS),
            "hyperedge_ids": np.array(format_examples.HYPEREDGE_IDS),
        }
        for key, value in (arrays | changes).items():
            content = io.BytesIO()
            if isinstance(value, np.ndarray):
                np.lib.format.write_array(content, value, allow_pickle=True)
            else:
                content.write(value)
            archive.writestr(f"{key}.npy", content.getvalue())
    return path


def _npy(shape: str, kind: str = "<f4", content: bytes = b"\0" * 8) -> bytes:
    header = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}, }}\n".encode()
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + content


def npz_refusal(path: Path, **changes: Any) -> str:
    with pytest.raises(FormatError) as caught:
        read(_npz(path, **changes))
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_an_npy_header_that_claims_terabytes_is_refused(tmp_path: Path) -> None:
    text = npz_refusal(tmp_path / "x.npz", features=_npy("(1000000000, 1000)"))
    assert "1000000000" in text
    npz_refusal(tmp_path / "x.npz", features=_npy("(-1, 2)"))
    npz_refusal(tmp_path / "x.npz", features=_npy("(1, 2, 3)"))
    npz_refusal(tmp_path / "x.npz", features=_npy("[2]"))
    npz_refusal(tmp_path / "x.npz", features=_npy("(" * 5000 + ")" * 5000))
    npz_refusal(tmp_path / "x.npz", features=_npy("(1," + " " * 60_000 + ")"))
    npz_refusal(tmp_path / "x.npz", features=_npy("(2,)", kind="|V4"))


def test_an_npz_that_unpacks_to_gigabytes_is_refused(tmp_path: Path, little_memory: None) -> None:
    bomb = _npz(tmp_path / "x.npz", features=np.zeros((4, 10**6), np.float32))
    assert bomb.stat().st_size < 10**6
    with pytest.raises(FormatError, match=r"would need 36 MB .* more than the 10 MB"):
        read(bomb)


def test_an_npz_whose_directory_lies_about_sizes_is_refused(tmp_path: Path) -> None:
    path = _npz(tmp_path / "x.npz")
    content = path.read_bytes()
    size = struct.pack("<I", zipfile.ZipFile(path).getinfo("features.npy").file_size)
    for claimed in (1, 10, 2**31):
        path.write_bytes(content.replace(size, struct.pack("<I", claimed)))
        with pytest.raises(FormatError):
            read(path)


def test_objects_in_an_npz_are_not_unpickled(tmp_path: Path) -> None:
    marker = tmp_path / "marker"
    objects = np.array([Runs(marker)], dtype=object)
    for key in ("features", "labels", "name", "label_names"):
        assert "object" in npz_refusal(tmp_path / "x.npz", **{key: objects})
    assert not marker.exists()


def _tensor_refusal(folder: Path, value: Any) -> str:
    format_examples.tensors(folder)
    torch.save(value, folder / "x_X_vec.pt")
    with pytest.raises(FormatError) as caught:
        read(folder)
    assert "x_X_vec.pt" in str(caught.value)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_a_torch_file_that_would_run_a_command_runs_nothing(tmp_path: Path) -> None:
    marker = tmp_path / "marker"
    _tensor_refusal(tmp_path, Runs(marker))
    _tensor_refusal(tmp_path, [torch.zeros(4, 2), Runs(marker)])
    torch.save(Runs(marker), tmp_path / "x_X_vec.pt", _use_new_zipfile_serialization=False)
    with pytest.raises(FormatError, match=r"torch 1\.6"):
        read(tmp_path)
    assert not marker.exists()


def test_a_torch_file_must_hold_one_dense_tensor(tmp_path: Path) -> None:
    _tensor_refusal(tmp_path, {"weight": torch.zeros(4, 2)})
    _tensor_refusal(tmp_path, [torch.zeros(4, 2)])
    _tensor_refusal(tmp_path, torch.eye(4).to_sparse())
    _tensor_refusal(tmp_path, 3)


def test_a_tensor_larger_than_its_bytes_is_refused(tmp_path: Path) -> None:
    assert "claims" in _tensor_refusal(tmp_path, torch.zeros(1).expand(10**6, 10**6))
    format_examples.tensors(tmp_path)
    file = tmp_path / "x_X_vec.pt"
    torch.save(torch.zeros(4, 1000), file)
    with zipfile.ZipFile(file) as archive:
        entries = {name: archive.read(name) for name in archive.namelist()}
    with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
        for name, content in entries.items():
            archive.writestr(name, content[:8] if name.endswith("data/0") else content)
    with pytest.raises(FormatError):
        read(tmp_path)
