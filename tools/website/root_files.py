"""Pages that are files of the repository's root: changes, and how to work on it."""

from pathlib import Path

from links import PAGES, place_of

ROOT = Path(__file__).parents[2]


def root_pages() -> dict[str, str]:
    """The pages by their place on the site, with their links turned to it."""
    return {place: _turned(ROOT / name, place) for name, place in PAGES.items()}


def _turned(path: Path, place: str) -> str:
    import posixpath
    import re

    def turned(found: re.Match[str]) -> str:
        target = place_of(posixpath.normpath(found[2]))
        if target is None:
            return found[1]
        return f"[{found[1]}]({posixpath.relpath(target, posixpath.dirname(place) or '.')}{found[3] or ''})"

    return re.sub(r"\[([^\]]*)\]\(([^)#:\s]+)(#[^)]*)?\)", turned, path.read_text("utf-8"))
