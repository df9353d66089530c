"""The command line: parsing and printing only. One file per command."""

import io
import os
import sys
from collections.abc import Sequence
from typing import NoReturn

OK, BUG, WRONG, INTERRUPTED, PIPE_CLOSED = 0, 1, 2, 130, 141


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run the command line and exit: 0 done, 2 wrong input, 130 interrupted, 141 nobody reads, 1 a bug."""
    sys.exit(run(sys.argv[1:] if arguments is None else arguments))


def run(arguments: Sequence[str]) -> int:
    """Run one command and return its exit status; errors are one line on standard error."""
    _prepare_streams()
    try:
        status = _run(arguments)
    except BrokenPipeError:  # the reader of our output, `head` say, has gone
        status = PIPE_CLOSED
    _settle_streams()
    return status


def _run(arguments: Sequence[str]) -> int:
    import typer

    from hypercondense.cli.app import app
    from hypercondense.errors import HypercondenseError, one_line

    try:
        status = typer.main.get_command(app).main(
            list(arguments), prog_name="hypercondense", standalone_mode=False
        )
        sys.stdout.flush()  # here an error still gets its line
        # typer turns Ctrl-C into this status and says nothing.
        return _interrupted(arguments) if status == INTERRUPTED else status if isinstance(status, int) else OK
    except (KeyboardInterrupt, typer.Abort):
        return _interrupted(arguments)
    except BrokenPipeError:
        raise
    except SystemExit as error:  # what typer makes of a closed pipe, and of nothing else here
        raise BrokenPipeError from error
    except (HypercondenseError, ValueError, OSError, MemoryError) as error:
        _show_traceback(arguments)
        return _fail(one_line(error), WRONG)
    except Exception as error:
        if hasattr(error, "format_message") and hasattr(error, "exit_code"):  # wrong usage, found by typer
            return _fail(f"{error.format_message()} (hypercondense --help shows what there is)", WRONG)
        _show_traceback(arguments)
        return _fail(f"this is a bug ({one_line(error, kind=True)}); please report what --debug shows", BUG)


def _prepare_streams() -> None:
    """Whatever the terminal cannot show becomes a question mark; a stream the caller closed takes all."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: PTH123, SIM115 (stays open)
        elif isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")


def _settle_streams() -> None:
    """Write out what waits, or drop it: at the end of the program Python would try again and complain."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _interrupted(arguments: Sequence[str]) -> int:
    kept = "; what is finished is kept, and "
    continues = {"condense": "--resume continues from there", "run": "the same command continues from there"}
    how = continues.get(arguments[0]) if arguments else None
    more = f"{kept}{how}" if how else ""
    return _fail(f"interrupted{more}", INTERRUPTED)


def _fail(message: str, status: int) -> int:
    sys.stderr.write(f"error: {message}\n")
    return status


def _show_traceback(arguments: Sequence[str]) -> None:
    if "--debug" in arguments:
        import traceback

        traceback.print_exc()
