"""Pages of methods: options from the docstrings of their parts, and a picture of what each one makes."""

import re
from pathlib import Path

from pictures import EMPTY, draw_methods

from hypercondense.catalogue import METHODS, make_method
from hypercondense.condensing.describe import field_lines

_MARK = re.compile(r"^<!-- options: ([\w-]+) -->$", flags=re.M)
FOLDER = Path(__file__).parents[2] / "docs" / "methods"


def with_options(markdown: str, page: str) -> str:
    """A page whose marks `<!-- options: NAME -->` are tables of all fields of that method."""
    markdown = _MARK.sub(lambda found: options_table(found[1]), markdown)
    if page == "methods/index.md":
        markdown = markdown.replace("<!-- methods -->", methods_table())
    return markdown


def options_table(name: str) -> str:
    """Every field of a method, its value there, and what it is.

    >>> "goal.temperature" in options_table("ahgcdd")
    True
    """
    rows = [
        f"| `{line.path}` | {_code(line.value)} | {_cell(line.meaning)} |"
        for line in field_lines(make_method(name))
    ]
    if not rows:
        return "It has no options."
    return "\n".join(["| field (`--set FIELD=VALUE`) | value | meaning |", "|---|---|---|", *rows])


def methods_table() -> str:
    """All methods with their pages."""
    rows = [f"| [`{name}`]({name}.md) | {_cell(what)} |" for name, (what, _) in METHODS.items()]
    return "\n".join(["| method | what it is |", "|---|---|", *rows])


def method_pictures(*, run: bool) -> dict[str, bytes]:
    """The picture of every method, at the place its page names."""
    names = [f"methods/{name}.svg" for name in METHODS]
    if not run:
        return dict.fromkeys(names, EMPTY)
    return dict(zip(names, draw_methods(list(METHODS)), strict=True))


def _code(value: str) -> str:
    return f"`{_cell(value)}`" if value else ""


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("<", "&lt;")
