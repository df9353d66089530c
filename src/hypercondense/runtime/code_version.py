"""Which code is running: the commit of its checkout, or a checksum of the installed package."""

import os
import subprocess
from functools import cache
from hashlib import sha256
from pathlib import Path

from hypercondense.version import __version__

_PACKAGE = Path(__file__).parents[1]
_SECONDS = 5  # for git, which takes some thousandths
# One question for the commit and for changes; it runs no hook, writes nothing and looks at src only.
_STATUS = (
    *("git", "-c", f"core.hooksPath={os.devnull}", "-c", "core.fsmonitor=false", "--no-optional-locks"),
    *("status", "--porcelain=v2", "--branch", "--no-ahead-behind", "--untracked-files=no", "--", "src"),
)


@cache
def code_version() -> str:
    """The code of this package, see :func:`code_version_of`; it is looked up once in a process."""
    return code_version_of(_PACKAGE)


@cache
def code_checksum() -> str:
    """The SHA-256 of all files of this package as they are now: what differs in a line differs here."""
    return _checksum(_PACKAGE)


def code_version_of(package: Path) -> str:
    """The code in the folder of a package.

    In ``src`` of a git checkout it is the commit, with a ``+`` if tracked files below ``src`` differ from it.
    Elsewhere, and where git does not answer, it is the version and the SHA-256 of all Python files.
    """
    root = package.parents[1]
    if package.parent.name == "src" and (root / ".git").exists():
        return _commit(root) or _checksum(package)
    return _checksum(package)


def _commit(root: Path) -> str | None:
    # What calls us may be a hook, which tells git about another checkout in variables.
    variables = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    try:
        answer = subprocess.run(
            _STATUS, cwd=root, env=variables, capture_output=True, timeout=_SECONDS, check=True, text=True
        )
    except (OSError, subprocess.SubprocessError, UnicodeDecodeError):
        return None
    lines = answer.stdout.splitlines()
    commit = next((line.split()[-1] for line in lines if line.startswith("# branch.oid ")), "(initial)")
    changed = any(not line.startswith("#") for line in lines)
    return None if commit == "(initial)" else commit + "+" * changed


def _checksum(package: Path) -> str:
    total = sha256()
    for path in sorted(package.rglob("*.py"), key=lambda path: path.relative_to(package).as_posix()):
        content = path.read_bytes()
        total.update(f"{path.relative_to(package).as_posix()}\0{len(content)}\0".encode() + content)
    return f"{__version__} sha256:{total.hexdigest()}"
