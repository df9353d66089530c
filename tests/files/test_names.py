"""Names that become files."""

import pytest

from hypercondense.files.names import check_file_name


@pytest.mark.parametrize("name", ["main", "a", "table 2", "x.y-z_1", "größe", "a" * 100])
def test_plain_names_are_taken(name: str) -> None:
    assert check_file_name(name) == name


@pytest.mark.parametrize(
    "name",
    [
        "",
        ".",
        "..",
        "../escaped/PWNED",
        "/etc/x",
        "a/b",
        "a\\b",
        ".hidden",
        "a\n",
        "a\0",
        "a ",
        "CON",
        "nul.md",
        "a" * 101,
    ],
)
def test_others_are_not(name: str) -> None:
    with pytest.raises(ValueError, match="must be a plain file name"):
        check_file_name(name)


def test_a_name_that_is_taken_is_refused_in_any_case() -> None:
    with pytest.raises(ValueError, match="and not README"):
        check_file_name("ReadMe", taken=("README",))
