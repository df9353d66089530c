"""What every line of results tells about the work."""

from hypercondense.experiments.settings import Settings
from hypercondense.experiments.work import failure
from hypercondense.runtime.code_version import code_version


def test_a_line_names_the_code_that_made_it() -> None:
    line = failure(Settings(source="digits", ratio=0.01, method="random"), "broken")
    assert line["code"] == code_version()
