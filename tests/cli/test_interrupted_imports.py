"""Ctrl-C while everything is still being imported: one line, whatever a library makes of it."""

import importlib.abc
import os
import signal
import sys
from collections.abc import Sequence
from types import ModuleType

import pytest

from hypercondense.cli import INTERRUPTED, run


class Interrupting(importlib.abc.MetaPathFinder):
    """Sends Ctrl-C while a module is looked for; ``error`` is what a library makes of it."""

    def __init__(self, name: str, error: type[BaseException] | None) -> None:
        self.name, self.error = name, error

    def find_spec(self, name: str, path: Sequence[str] | None, target: ModuleType | None = None) -> None:
        if name != self.name:
            return
        try:
            os.kill(os.getpid(), signal.SIGINT)
        except KeyboardInterrupt:
            raise (self.error or KeyboardInterrupt)("while it was imported") from None


@pytest.mark.parametrize("error", [None, ImportError, RuntimeError, SystemError, ValueError])
@pytest.mark.parametrize("module", ["hypercondense.cli.app", "hypercondense.data.digits"])
def test_it_is_told_in_one_line(
    module: str,
    error: type[BaseException] | None,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.delitem(sys.modules, module, raising=False)
    monkeypatch.setattr(sys, "meta_path", [Interrupting(module, error), *sys.meta_path])
    assert run(["info", "digits"]) == INTERRUPTED
    told = capsys.readouterr().err
    assert told.count("\n") == 1 and "interrupted" in told
