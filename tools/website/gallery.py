"""The gallery: every script in examples/ with what it prints and the pictures it draws."""

import ast
import contextlib
import io
import os
import tempfile
from pathlib import Path

EXAMPLES = Path(__file__).parents[2] / "examples"


def gallery_files(*, run: bool) -> dict[str, str | bytes]:
    """A page for each example, its pictures, and the page that shows all of them."""
    made: dict[str, str | bytes] = {}
    cards: dict[bool, list[str]] = {True: [], False: []}  # with a picture, and without
    for script in sorted(EXAMPLES.glob("*.py")):
        code = script.read_text("utf-8")
        title, text = _told(code)
        printed, pictures = run_example(code, script.stem) if run else ("(examples were not run)", [])
        names = [f"gallery/{script.stem}-{number}.png" for number in range(len(pictures))]
        made.update(zip(names, pictures, strict=True))
        drawn = [f"![{title}]({Path(picture).name})\n" for picture in names]
        made[f"gallery/{script.stem}.md"] = _page(
            script.name, [f"# {title}\n", text, "", *drawn], code, printed
        )
        cards[bool(names)].append(_card(script.stem, title, names, printed))
    shown = _cards(cards[True] + cards[False])
    made["gallery/index.md"] = f"# Gallery\n\n{_INTRODUCTION}\n\n{shown}\n"
    return made


_INTRODUCTION = """Every script is in `examples/`, has at most 60 lines and runs by itself on data that come
with the package; what is shown here was printed and drawn when this site was built."""


def run_example(code: str, name: str) -> tuple[str, list[bytes]]:
    """What a script prints, warnings included, and its figures as PNG; it runs in a folder of its own."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt
    import torch

    pictures: list[bytes] = []

    def show(*_: object, **__: object) -> None:
        for number in plt.get_fignums():
            target = io.BytesIO()
            plt.figure(number).savefig(target, dpi=110, bbox_inches="tight")
            pictures.append(target.getvalue())
        plt.close("all")

    usual, plt.show = plt.show, show
    here, printed = Path.cwd(), io.StringIO()
    try:
        with (
            tempfile.TemporaryDirectory() as folder,
            contextlib.redirect_stdout(printed),
            contextlib.redirect_stderr(printed),  # warnings, which a terminal would show too
            torch.random.fork_rng(),
        ):
            os.chdir(folder)
            exec(compile(code, f"{name}.py", "exec"), {"__name__": "__main__"})
            show()
    finally:
        os.chdir(here)
        plt.show = usual
    return printed.getvalue(), pictures


def _told(code: str) -> tuple[str, str]:
    first, _, rest = (ast.get_docstring(ast.parse(code)) or "An example.").partition("\n")
    return first.rstrip("."), rest.strip()


def _page(name: str, told: list[str], code: str, printed: str) -> str:
    body = code.split('"""', 2)[2].strip()
    output = f"```text\n{printed.rstrip()}\n```\n"
    return "\n".join([*told, f"`python examples/{name}` prints\n", output, f"```python\n{body}\n```\n"])


def _card(stem: str, title: str, pictures: list[str], printed: str) -> str:
    """A title, and the picture of an example or the last line that it prints."""
    last = printed.strip().splitlines()[-1:] or [""]
    seen = f"![{title}]({Path(pictures[0]).name})" if pictures else f"*{last[0].replace('*', '')}*"
    return f"[**{title}**]({stem}.md)\n\n{seen}\n"


def _cards(cards: list[str]) -> str:
    inside = "\n".join(f"<div markdown>\n\n{card}\n</div>" for card in cards)
    return f'<div class="gallery" markdown>\n{inside}\n</div>'
