"""Through every format of files and back: what survives, and small data sets with equal digests."""

from pathlib import Path

import pytest

import hypercondense as hc
from hypercondense.data.formats import read
from interchange.file_ways import FORMATS, HEADER, NO, SURVIVES, row, survives
from interchange.ways import ASPECTS

DOCUMENT = Path(__file__).parents[2] / "docs" / "interchange.md"
KEEP_ALL = ("native folder", "npz", "HIF", "Parquet", "hub")


def test_the_document_tells_what_survives() -> None:
    lines = DOCUMENT.read_text("utf-8").splitlines()
    assert f"| {' | '.join(HEADER)} |" in lines
    assert [name for name in FORMATS if row(name) not in lines] == []


@pytest.mark.parametrize("name", FORMATS)
def test_nothing_is_lost_silently(name: str) -> None:
    assert SURVIVES.keys() == ASPECTS.keys()
    if "read only" not in name:
        assert NO not in [survives(name, aspect) for aspect in ASPECTS]
    assert "SILENT" not in row(name)


def test_a_data_set_goes_through_all_formats_that_keep_everything(tmp_path: Path) -> None:
    source = hc.synthetic(num_nodes=60, seed=3)
    back = source
    for number, name in enumerate((*KEEP_ALL, *KEEP_ALL[::-1])):
        write, place = FORMATS[name]
        (tmp_path / str(number)).mkdir()
        write(back, tmp_path / str(number) / place)
        back = read(tmp_path / str(number) / place)
        assert back == source
