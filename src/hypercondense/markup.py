"""How values show themselves in notebooks: a small table, in which text from files can do nothing."""

from collections.abc import Mapping
from html import escape

from hypercondense.errors import safe

_LONGEST = 400  # letters of a value


def fact_table(title: str, facts: Mapping[str, object]) -> str:
    """A title, and names with values, as HTML.

    >>> fact_table("T", {"name": "<b>"})
    '<table><caption><strong>T</strong></caption><tr><th scope="row">name</th><td>&lt;b&gt;</td></tr></table>'
    """
    rows = "".join(
        f'<tr><th scope="row">{_shown(name)}</th><td>{_shown(value)}</td></tr>'
        for name, value in facts.items()
    )
    return f"<table><caption><strong>{_shown(title)}</strong></caption>{rows}</table>"


def _shown(value: object) -> str:
    text = safe(str(value)[: _LONGEST + 1])
    return escape(text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…")
