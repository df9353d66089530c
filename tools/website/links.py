"""Links that leave docs/ are right in the repository; on the site they lead to its own pages."""

import posixpath
import re

#: Files of the repository that have a page.
PAGES = {"CHANGELOG.md": "changes.md", "CONTRIBUTING.md": "development/contributing.md"}
_LINK = re.compile(r"(?<!!)\[([^\]]*)\]\(([^)#:\s]+)(#[^)]*)?\)")


def inside_links(markdown: str, page: str) -> str:
    """A page whose links out of docs/ lead to pages of the site, or are plain text where there is none.

    >>> inside_links("[changes](../CHANGELOG.md), [a plan](../experiments/main.toml)", "a.md")
    '[changes](changes.md), a plan'
    """
    folder = posixpath.dirname(page)

    def inside(found: re.Match[str]) -> str:
        if found[2].endswith("/"):  # a folder, whose page is its README
            return f"[{found[1]}]({found[2]}README.md)"
        target = posixpath.normpath(posixpath.join(folder, found[2]))
        if not target.startswith("../"):
            return found[0]
        place = place_of(target[3:])
        if place is None:
            return found[1]
        return f"[{found[1]}]({posixpath.relpath(place, folder or '.')}{found[3] or ''})"

    return _LINK.sub(inside, markdown)


def place_of(path: str) -> str | None:
    """The page of a file of the repository, if it has one.

    >>> place_of("examples/own_data.py"), place_of("docs/trust.md"), place_of("Makefile")
    ('gallery/own_data.md', 'trust.md', None)
    """
    if path.startswith("docs/"):
        return path[len("docs/") :]
    if path.startswith("examples/") and path.endswith(".py"):
        return f"gallery/{path[len('examples/') : -len('.py')]}.md"
    return PAGES.get(path)
