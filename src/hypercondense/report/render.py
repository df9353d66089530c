"""A page as one HTML file that asks nothing of anybody: no request can leave it."""

import base64
import hashlib
import json
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from hypercondense.errors import ConfigError, safe
from hypercondense.files.storage import check_file_target, replaced_file
from hypercondense.report.blocks import Page
from hypercondense.version import __version__

GENERATOR = '<meta name="generator" content="hypercondense'
_BEGINNING = 4000  # letters in which a file tells who made it


def html(page: Page) -> str:
    """The page as text.

    Everything that is not made here is escaped by the template, after :func:`hypercondense.errors.safe` made
    marks visible that would turn or hide what stands beside them.
    """
    environment = _environment()
    style, script = (environment.loader.get_source(environment, name)[0] for name in ("page.css", "page.js"))  # type: ignore[union-attr]
    return environment.get_template("page.html").render(
        page=page,
        style=Markup(style),
        script=Markup(script),
        policy=f"default-src 'none'; style-src '{_hash(style)}'; script-src '{_hash(script)}'; "
        "img-src data:; base-uri 'none'; form-action 'none'",
        version=__version__,
    )


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("hypercondense.report"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_visible,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters["json_data"] = json_data
    return environment


def _visible(value: Any) -> Any:
    return safe(value, keep="\n") if isinstance(value, str) and not isinstance(value, Markup) else value


def json_data(value: Any) -> Markup:
    r"""JSON for a script element: nothing in it can end the element.

    >>> json_data({"name": "</script>"})
    Markup('{"name":"\\u003c/script\\u003e"}')
    """
    text = json.dumps(value, separators=(",", ":"), allow_nan=False)
    for letter in "<>&":
        text = text.replace(letter, f"\\u{ord(letter):04x}")
    return Markup(text)


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def check_page_target(path: Path, *, overwrite: bool = False) -> None:
    """Refuse to replace a file, unless it is such a page or ``overwrite`` says so."""
    if path.is_dir():
        raise ConfigError(f"{path} is a folder; give the name of a file with --out, such as report.html")
    check_file_target(path, overwrite=overwrite or (path.is_file() and _is_ours(path)))


def _is_ours(path: Path) -> bool:
    with path.open(encoding="utf-8", errors="replace") as file:
        return GENERATOR in file.read(_BEGINNING)


def write_page(page: Page, path: Path, *, overwrite: bool = False) -> None:
    """Write the file, whole or not at all; a page of before is replaced, another file is not."""
    check_page_target(path, overwrite=overwrite)
    text = html(page)
    with replaced_file(path) as draft:
        draft.write_text(text, "utf-8")
