"""How values show themselves in notebooks: a small table, in which text from files can do nothing."""

from collections.abc import Mapping
from html import escape

from hypercondense.errors import safe

_LONGEST = 400  # letters of a value
_LEFT = 'style="text-align:left"'  # notebooks put numbers, and all else, to the right


def fact_table(title: str, facts: Mapping[str, object]) -> str:
    """A title, and names with values, as HTML.

    >>> fact_table("T", {"name": "<b>"}).replace(f" {_LEFT}", "")
    '<table><caption><strong>T</strong></caption><tr><th scope="row">name</th><td>&lt;b&gt;</td></tr></table>'
    """
    rows = "".join(
        f'<tr><th scope="row" {_LEFT}>{_shown(name)}</th><td {_LEFT}>{_shown(value)}</td></tr>'
        for name, value in facts.items()
    )
    return f"<table><caption><strong>{_shown(title)}</strong></caption>{rows}</table>"


def _shown(value: object) -> str:
    text = safe(str(value)[: _LONGEST + 1])
    return escape(text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…")
