"""The command line: parsing and printing only. One file per command."""

import os
import signal
import sys
from collections.abc import Sequence
from typing import NoReturn

OK, BUG, WRONG, INTERRUPTED = 0, 1, 2, 130


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run the command line and exit: 0 done, 2 wrong input, 130 interrupted, 1 a bug of ours."""
    sys.exit(run(sys.argv[1:] if arguments is None else arguments))


def run(arguments: Sequence[str]) -> int:
    """Run one command and return its exit status; errors are one line on standard error."""
    import typer

    from hypercondense.cli.app import app
    from hypercondense.errors import HypercondenseError

    try:
        status = typer.main.get_command(app).main(
            list(arguments), prog_name="hypercondense", standalone_mode=False
        )
        # typer turns Ctrl-C into this status and says nothing.
        return _interrupted(arguments) if status == INTERRUPTED else status if isinstance(status, int) else OK
    except (KeyboardInterrupt, typer.Abort):
        return _interrupted(arguments)
    except BrokenPipeError:  # the reader of our output, `head` say, has gone
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 128 + signal.SIGPIPE
    except (HypercondenseError, ValueError, OSError, MemoryError) as error:
        _show_traceback(arguments)
        return _fail(_one_line(error), WRONG)
    except Exception as error:
        if hasattr(error, "format_message") and hasattr(error, "exit_code"):  # wrong usage, found by typer
            return _fail(f"{error.format_message()} (hypercondense --help shows what there is)", WRONG)
        _show_traceback(arguments)
        kind = type(error).__name__
        return _fail(f"this is a bug ({kind}: {_one_line(error)}); please report what --debug shows", BUG)


def _interrupted(arguments: Sequence[str]) -> int:
    resumes = "condense" in arguments[:1]
    more = "; what is finished is kept, and --resume continues from there" if resumes else ""
    return _fail(f"interrupted{more}", INTERRUPTED)


def _fail(message: str, status: int) -> int:
    sys.stderr.write(f"error: {message}\n")
    return status


def _show_traceback(arguments: Sequence[str]) -> None:
    if "--debug" in arguments:
        import traceback

        traceback.print_exc()


def _one_line(error: BaseException) -> str:
    if isinstance(error, OSError) and error.strerror:
        place = f"{error.filename}: " if error.filename else ""
        return f"{place}{error.strerror}"
    return " ".join(str(error).split()) or type(error).__name__
