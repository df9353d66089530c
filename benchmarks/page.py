"""Run the benchmarks and fill what they print, lines of Markdown, into docs/performance.md.

    python benchmarks/page.py [NAME ...] [--data-dir DIR] [--before OLD/src]

What a benchmark prints replaces what is between ``<!-- bench NAME -->`` and ``<!-- /bench -->``, as soon as
it is done; a section whose benchmark was not run stays as it is. ``since`` needs a tree of an older version.
All of them together take some minutes of one idle core.
"""

import argparse
import datetime
import os
import platform
import re
import subprocess
import sys
import textwrap
from pathlib import Path

HERE = Path(__file__).parent
PAGE = HERE.parent / "docs" / "performance.md"
#: What is run for each section.
SECTIONS = {
    "diffusion": ["diffusion.py", "--speed", "--repetitions", "2"],
    "looks": ["looks.py"],
    "condensation": ["condensation.py"],
    "models": ["models.py", "--epochs", "3", "--threads", "1"],
    "steps": ["steps.py"],
    "lossless": ["lossless.py", "--datasets", "cora,pubmed,coauthor_dblp,walmart-trips,wordnet"],
    "since": [
        "since.py",
        "--sources",
        "dblp",
        "walmart",
        "--works",
        "diffusion",
        "training",
        "--repeats",
        "3",
    ],
}
WITH_DATA = ("diffusion", "looks", "condensation", "lossless", "since")


def filled(page: str, name: str, text: str) -> str:
    r"""The page with another text between two markers.

    >>> filled("<!-- bench a -->\nold\n<!-- /bench -->", "a", "new")
    '<!-- bench a -->\nnew\n<!-- /bench -->'
    """
    begin = f"<!-- bench {name} -->\n"
    found, times = re.subn(
        f"{re.escape(begin)}.*?<!-- /bench -->",
        lambda _: f"{begin}{text.strip()}\n<!-- /bench -->",
        page,
        count=1,
        flags=re.S,
    )
    if not times:
        raise SystemExit(f"the page has no {begin.strip()} with its end <!-- /bench -->; add both")
    return found


def wrapped(text: str) -> str:
    r"""Lines of at most 100 characters, but for those of tables.

    >>> wrapped("- " + "word " * 24).count("\n  ")
    1
    """
    lines = [
        line
        if line.startswith("|")
        else textwrap.fill(line, 100, subsequent_indent="  " * line.startswith("- "))
        for line in text.splitlines()
    ]
    return "\n".join(lines)


def machine() -> str:
    """Where and when, for those who compare."""
    import torch

    model = platform.processor() or platform.machine()
    if (known := Path("/proc/cpuinfo")).exists():
        model = next(
            (line.split(": ")[1].strip() for line in known.open() if line.startswith("model name")), model
        )
    today = datetime.datetime.now(tz=datetime.timezone.utc).date()
    load = os.getloadavg()[0]
    return (
        f"*{today}, {model}, {os.cpu_count()} cores with a load of {load:.0f}, torch {torch.__version__}, "
        "one thread.*"
    )


def main() -> None:
    """Run what is asked for."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(SECTIONS)}; all by default")
    parser.add_argument("--data-dir", type=Path)
    parser.add_argument("--before", type=Path, help="folder `src` of an older version")
    asked = parser.parse_args()
    if unknown := set(asked.names) - set(SECTIONS):
        parser.error(f"there is no {', '.join(sorted(unknown))}; there are {', '.join(SECTIONS)}")
    names = asked.names or [name for name in SECTIONS if name != "since" or asked.before]
    for name in names:
        script, *options = SECTIONS[name]
        if asked.data_dir and name in WITH_DATA:
            options += ["--data-dir", str(asked.data_dir)]
        if asked.before and name == "since":
            options += ["--before", str(asked.before)]
        done = subprocess.run(
            [sys.executable, str(HERE / script), *options],
            check=True,
            env={**os.environ, "OMP_NUM_THREADS": "1"},
            stdout=subprocess.PIPE,
            text=True,
        )
        print(done.stdout, flush=True)
        page = filled(PAGE.read_text("utf-8"), name, f"{machine()}\n\n{wrapped(done.stdout)}")
        PAGE.write_text(page, "utf-8")


if __name__ == "__main__":
    main()
