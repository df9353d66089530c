"""The command line: parsing and printing only. One file per command."""

import gc
import io
import os
import signal
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import NoReturn

from hypercondense.runtime.clock import command

_COMPLETE = "_HYPERCONDENSE_COMPLETE"  # set by the shell that completes a command
OK, BUG, WRONG, INTERRUPTED, PIPE_CLOSED = 0, 1, 2, 130, 141


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run the command line and exit: 0 done, 2 wrong input, 130 interrupted, 141 nobody reads, 1 a bug."""
    status = run(sys.argv[1:] if arguments is None else arguments)
    if "_duckdb" not in sys.modules:  # what is frozen it calls leaked, in fifty lines
        gc.freeze()  # the collections at the end of Python would look at all of torch, for half a second
    sys.exit(status)


def run(arguments: Sequence[str]) -> int:
    """Run one command and return its exit status; errors are one line on standard error."""
    _prepare_streams()
    with command(), _interrupts_noted():
        try:
            status = _run(arguments)
        except BrokenPipeError:  # the reader of our output, `head` say, has gone
            status = PIPE_CLOSED
        except SystemExit:  # a shell asked what could stand here
            status = OK
        except (KeyboardInterrupt, Exception):
            if not _noted:
                raise
            status = _interrupted(arguments)  # Ctrl-C before there was a command, while all is imported
    _settle_streams()
    return status


def _run(arguments: Sequence[str]) -> int:
    import typer

    from hypercondense.cli.app import app
    from hypercondense.cli.output import show_logs
    from hypercondense.errors import HypercondenseError, one_line

    show_logs()
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
    except SystemExit as error:
        if _COMPLETE in os.environ:
            raise
        raise BrokenPipeError from error  # what typer makes of a closed pipe, and of nothing else here
    except Exception as error:
        if _noted:  # libraries make other errors of it while they are imported
            return _interrupted(arguments)
        if isinstance(error, (HypercondenseError, ValueError, OSError, MemoryError)):
            _show_traceback(arguments)
            return _fail(one_line(error), WRONG)
        if hasattr(error, "format_message") and hasattr(error, "exit_code"):  # wrong usage, found by typer
            told = " ".join(error.format_message().split())
            return _fail(f"{told} (hypercondense --help shows what there is)", WRONG)
        _show_traceback(arguments)
        return _fail(f"this is a bug ({one_line(error, kind=True)}); please report what --debug shows", BUG)


_noted: list[int] = []  # signals of Ctrl-C that came during the command


@contextmanager
def _interrupts_noted() -> Iterator[None]:
    """Remember that Ctrl-C came, whatever error becomes of it on its way up."""
    _noted.clear()
    usual = signal.default_int_handler
    if threading.current_thread() is not threading.main_thread() or signal.getsignal(signal.SIGINT) != usual:
        yield
        return
    signal.signal(signal.SIGINT, _note)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, usual)


def _note(number: int, frame: object) -> NoReturn:
    _noted.append(number)
    raise KeyboardInterrupt


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
    from hypercondense.errors import safe

    sys.stderr.write(f"error: {safe(message)}\n")
    return status


def _show_traceback(arguments: Sequence[str]) -> None:
    if "--debug" in arguments:
        import traceback

        traceback.print_exc()
