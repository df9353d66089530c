"""What must work where the package alone is installed: run by `make wheel`, far from the source tree.

The commands are asked for their help, a hypergraph is condensed and evaluated, and a way that needs a
library which is not here must name the extra that installs it.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

import typer

import hypercondense as hc
from hypercondense.cli.app import app


def command(*words: str, folder: str) -> str:
    """What a command prints; it must end well."""
    done = subprocess.run(
        [sys.executable, "-m", "hypercondense", *words],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise SystemExit(f"hypercondense {' '.join(words)} ended with {done.returncode}: {done.stderr}")
    return done.stdout


def all_commands() -> list[list[str]]:
    """Every command and every command below one."""
    found: list[list[str]] = []
    for name, one in typer.main.get_command(app).commands.items():
        found += [[name], *([name, inner] for inner in getattr(one, "commands", {}))]
    return found


def named_extra(extra: str) -> None:
    """Fail unless the error of a missing library says how to install it."""
    try:
        hc.load("digits").to_pyg()
    except ImportError as error:
        if f"hypercondense[{extra}]" not in str(error):
            raise SystemExit(f"the error does not name the extra {extra}: {error}") from error
    else:
        raise SystemExit("this environment was to be without torch_geometric")


def main() -> None:
    """Try everything in an empty folder."""
    if "site-packages" not in str(Path(hc.__file__)):
        raise SystemExit(f"this is the source tree, not an installed package: {hc.__file__}")
    with tempfile.TemporaryDirectory() as folder:
        for words in all_commands():
            command(*words, "--help", folder=folder)
        command("demo", "--quiet", folder=folder)
        command("condense", "digits", "--nodes", "20", "--method", "means", "--out", "small", folder=folder)
        command("evaluate", "small", "--runs", "1", folder=folder)
        command("report", "small", "--no-train", "--quiet", folder=folder)
        named_extra("pyg")
    sys.stdout.write(f"hypercondense {hc.__version__} works where it is installed alone\n")


if __name__ == "__main__":
    main()
