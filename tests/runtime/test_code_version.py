"""The code that runs: a commit, a changed commit, or a checksum."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from hypercondense.runtime.code_version import code_version, code_version_of

needs_git = pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")


def git(root: Path, *words: str) -> str:
    identity = ("-c", "user.name=a", "-c", "user.email=a@b.c", "-c", "commit.gpgsign=false")
    variables = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    done = subprocess.run(
        ("git", *identity, *words), cwd=root, env=variables, check=True, capture_output=True, text=True
    )
    return done.stdout.strip()


@pytest.fixture
def package(tmp_path: Path) -> Path:
    folder = tmp_path / "checkout" / "src" / "package"
    (folder / "inner").mkdir(parents=True)
    (folder / "__init__.py").write_text("a = 1\n")
    (folder / "inner" / "part.py").write_text("b = 1\n")
    return folder


@pytest.fixture
def checkout(package: Path) -> Path:
    root = package.parents[1]
    git(root, "init", "-q")
    (root / "notes.txt").write_text("first\n")
    git(root, "add", ".")
    git(root, "commit", "-qm", "first")
    return root


@needs_git
def test_a_checkout_is_its_commit_with_a_sign_for_changes_below_src(package: Path, checkout: Path) -> None:
    commit = git(checkout, "rev-parse", "HEAD")
    assert code_version_of(package) == commit
    (checkout / "notes.txt").write_text("second\n")
    (package / "untracked.py").write_text("")
    assert code_version_of(package) == commit
    (package / "inner" / "part.py").write_text("b = 2\n")
    assert code_version_of(package) == f"{commit}+"
    git(checkout, "add", "src")
    assert code_version_of(package) == f"{commit}+"
    git(checkout, "commit", "-qm", "second")
    assert code_version_of(package) == git(checkout, "rev-parse", "HEAD") != commit


@needs_git
def test_a_worktree_is_a_checkout_too(checkout: Path, tmp_path: Path) -> None:
    git(checkout, "worktree", "add", "-q", str(tmp_path / "other"))
    assert code_version_of(tmp_path / "other" / "src" / "package") == git(checkout, "rev-parse", "HEAD")


@needs_git
def test_no_hook_runs_and_variables_of_git_do_not_mislead(
    package: Path, checkout: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hook = tmp_path / "hook"
    hook.write_text(f"#!/bin/sh\ntouch '{tmp_path / 'ran'}'\n")
    hook.chmod(0o755)
    shutil.copy(hook, checkout / ".git" / "hooks" / "post-index-change")
    commit = git(checkout, "rev-parse", "HEAD")
    git(checkout, "config", "core.fsmonitor", str(hook))
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "elsewhere"))
    monkeypatch.setenv("GIT_INDEX_FILE", str(tmp_path / "index"))
    os.utime(package / "__init__.py", (1, 1))  # git would like to refresh its index
    assert code_version_of(package) == commit
    assert not (tmp_path / "ran").exists()


@needs_git
def test_a_checkout_without_a_commit_has_a_checksum(package: Path) -> None:
    git(package.parents[1], "init", "-q")
    assert "sha256:" in code_version_of(package)


def test_without_git_and_in_a_plain_folder_it_is_the_version_and_a_checksum(
    package: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = code_version_of(package)
    assert re.fullmatch(r"\d+\.\d+\.\S+ sha256:[0-9a-f]{64}", plain)
    (package.parents[1] / ".git").mkdir()  # broken, and there is no git to tell
    monkeypatch.setenv("PATH", "")
    assert code_version_of(package) == plain
    (package / "data.txt").write_text("no code")
    assert code_version_of(package) == plain
    (package / "inner" / "part.py").rename(package / "part.py")
    assert code_version_of(package) != plain


@needs_git
def test_a_package_installed_somewhere_below_a_checkout_is_not_taken_for_it(
    package: Path, checkout: Path
) -> None:
    installed = checkout / ".venv" / "lib" / "package"
    shutil.copytree(package, installed)
    assert "sha256:" in code_version_of(installed)


def test_our_own_is_looked_up_once() -> None:
    assert code_version() is code_version()


def test_importing_the_package_does_not_ask_git() -> None:
    words = (
        "import hypercondense.condensation, sys; from hypercondense.runtime.code_version import code_version"
    )
    done = subprocess.run(
        (sys.executable, "-c", f"{words}; print(code_version.cache_info().currsize)"),
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        check=True,
        capture_output=True,
        text=True,
    )
    assert done.stdout.strip() == "0"
