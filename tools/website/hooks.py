"""What mkdocs does with pages of this project: those that are made, and marks that are filled."""

import logging
import re
from typing import Any

from command_line import command_page
from gallery import gallery_files
from links import inside_links
from mathematics import with_formulas
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page
from public_names import api_pages
from recipes import method_pictures, with_options
from root_files import root_pages

logging.getLogger("matplotlib").setLevel(logging.ERROR)

_ROLE = re.compile(r":(?:meth|func|class|mod|data|attr|exc):(?=<code>)")  # of docstrings
#: Sections of the navigation that list whatever is in a folder.
_FOLDERS = {"Gallery": "gallery", "Results": "results", "Decision records": "decisions"}


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages that are made from code: commands, public names, examples, and files of the root."""
    run = bool(config.extra["run_examples"])
    made: dict[str, str | bytes] = {"commands.md": command_page(), **api_pages(), **root_pages()}
    made |= gallery_files(run=run)
    made |= method_pictures(run=run)
    for name, content in made.items():
        files.append(File.generated(config, name, content=content))
    _complete(config.nav, sorted(file.src_uri for file in files))
    return files


def _complete(entries: list[Any], pages: list[str]) -> None:
    """Give sections of the navigation the pages of their folder that nobody lists by hand."""
    for entry in entries:
        for title, inside in entry.items() if isinstance(entry, dict) else ():
            if isinstance(inside, list):
                _complete(inside, pages)
                folder = _FOLDERS.get(title)
                inside += [page for page in pages if folder and _of(page, folder) and page not in inside]


def _of(page: str, folder: str) -> bool:
    return page.startswith(f"{folder}/") and page.endswith(".md")


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Fill in options of methods, write formulas as MathML, and point links at pages of the site."""
    path = page.file.src_uri
    return with_formulas(inside_links(with_options(markdown, path), path))


def on_page_content(html: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Take the marks of Sphinx, which docstrings have, from before names."""
    return _ROLE.sub("", html)
