"""The pages of the API: every public name, from its own docstring."""

import hypercondense

#: What a page is about, and which homes (modules) of public names belong to it.
GROUPS = {
    "condensing": ("Condensing", ("catalogue", "condensation", "estimating")),
    "data": ("Hypergraphs and data", ("hypergraph", "hypergraph.statistics", "data")),
    "evaluation": (
        "Evaluating, training and comparing",
        ("evaluation", "evaluation.network", "evaluation.tuning", "comparing"),
    ),
    "interchange": ("Other libraries", ("interchange",)),
}
_PARTS = {
    "recipes": ("Recipes and their parts (hc.recipes)", "hypercondense.condensing.parts"),
    "models": ("Networks (hc.models)", "hypercondense.nn"),
}


def api_pages() -> dict[str, str]:
    """Pages by their place, together with all public names."""
    pages = {f"api/{page}.md": _page(title, _names(homes)) for page, (title, homes) in GROUPS.items()}
    for page, (title, module) in _PARTS.items():
        pages[f"api/{page}.md"] = f"# {title}\n\n::: {module}\n    options:\n      show_root_heading: false\n"
    return {"api/index.md": _index(), **pages}


def _names(homes: tuple[str, ...]) -> list[str]:
    return [name for home in homes if home in hypercondense._HOMES for name in hypercondense._HOMES[home]]


def _page(title: str, names: list[str]) -> str:
    sections = "\n".join(
        f"::: hypercondense.{name}\n    options:\n      heading_level: 2\n" for name in names
    )
    return f"# {title}\n\n`import hypercondense as hc` gives these names.\n\n{sections}"


def _index() -> str:
    lines = [
        "# Public names",
        "",
        "Everything after `import hypercondense as hc`; nothing else is promised.",
        "",
    ]
    lines += ["| name | what it is |", "|---|---|"]
    for page, (_, homes) in GROUPS.items():
        for name in _names(homes):
            what = (getattr(hypercondense, name).__doc__ or "").strip().partition("\n")[0].replace("|", "\\|")
            lines.append(f"| [`hc.{name}`]({page}.md#hypercondense.{name}) | {what} |")
    for page, (title, _) in _PARTS.items():
        lines.append(f"| [`hc.{page}`]({page}.md) | {title.partition(' (')[0]} |")
    return "\n".join([*lines, ""])
