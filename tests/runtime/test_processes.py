"""Ctrl-C that waits."""

import signal
import threading

import pytest

from hypercondense.runtime.processes import interrupts_held_back

pytestmark = pytest.mark.skipif(not hasattr(signal, "pthread_sigmask"), reason="signals of POSIX")


def _interrupt_taken_by_another_thread() -> None:
    """A signal to the process that a thread takes which does not block it, before this function returns."""
    ready, taken = threading.Event(), threading.Event()

    def take() -> None:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
        ready.set()
        taken.wait()

    thread = threading.Thread(target=take)
    thread.start()
    ready.wait()
    signal.pthread_kill(thread.ident or 0, signal.SIGINT)
    taken.set()
    thread.join()


def test_an_interrupt_waits_for_the_end_of_the_block() -> None:
    reached = []
    with pytest.raises(KeyboardInterrupt), interrupts_held_back():
        signal.pthread_kill(threading.get_ident(), signal.SIGINT)
        reached.append("end")
    assert reached == ["end"]


def test_an_interrupt_waits_also_where_another_thread_takes_it() -> None:
    reached = []
    with pytest.raises(KeyboardInterrupt), interrupts_held_back():
        _interrupt_taken_by_another_thread()
        reached.append("end")
    assert reached == ["end"]


def test_nothing_is_raised_and_all_is_as_before_where_nobody_interrupts() -> None:
    before = signal.getsignal(signal.SIGINT), signal.pthread_sigmask(signal.SIG_BLOCK, ())
    with interrupts_held_back():
        pass
    assert (signal.getsignal(signal.SIGINT), signal.pthread_sigmask(signal.SIG_BLOCK, ())) == before


def test_an_error_of_the_block_is_not_hidden() -> None:
    with pytest.raises(ValueError, match="of the block"), interrupts_held_back():
        raise ValueError("of the block")


def test_other_threads_may_hold_back_too() -> None:
    failures: list[BaseException] = []

    def work() -> None:
        try:
            with interrupts_held_back():
                pass
        except BaseException as error:
            failures.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert not failures
