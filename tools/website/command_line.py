"""The page of the command line, made from what `--help` prints."""

from collections.abc import Iterator
from typing import Any

import typer

from hypercondense.cli.app import app


def command_page() -> str:
    """A section for every command: what it does, its arguments and its options.

    >>> "## condense" in command_page()
    True
    """
    root = typer.main.get_command(app)
    context = root.make_context("hypercondense", [], resilient_parsing=True)
    return "\n".join(
        [
            "# Command line",
            "",
            "Made from the help of the commands: `hypercondense COMMAND --help` prints the same.",
            "",
            "Exit status: 0 done, 1 a bug or a run of a plan that failed, 2 wrong input, 130 interrupted,",
            "141 nobody reads the output any more. Errors are one line; `--debug` shows where they are from.",
            "",
            *_sections(root, context),
        ]
    )


def _sections(group: Any, context: Any) -> Iterator[str]:
    for name, command in getattr(group, "commands", {}).items():
        inner = command.make_context(name, [], parent=context, resilient_parsing=True)
        usage = " ".join([inner.command_path, *command.collect_usage_pieces(inner)])
        yield f"## {inner.command_path.removeprefix('hypercondense ')}\n"
        yield f"{_plain(command.help)}\n"
        yield f"```text\n{usage}\n```\n"
        records = [one.get_help_record(inner) for one in command.params if one.name != "help"]
        yield from _table([record for record in records if record])
        yield from _sections(command, inner)


def _table(records: list[tuple[str, str]]) -> Iterator[str]:
    if records:
        yield "| argument or option | meaning |\n|---|---|"
        for names, meaning in records:
            yield f"| `{names.replace('|', chr(92) + '|')}` | {_cell(meaning)} |"
        yield ""


def _plain(text: str | None) -> str:
    return (text or "").replace("\f", "").strip().replace("<", "&lt;")


def _cell(text: str) -> str:
    return " ".join(_plain(text).split()).replace("|", "\\|").replace("[", "\\[")
