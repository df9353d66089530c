# Two commands on a fresh machine: `make demo` and `make test`. Needed: python3 (3.10+) with venv, and a package index.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
PIP_INSTALL := PIP_CONSTRAINT=constraints.txt PIP_DISABLE_PIP_VERSION_CHECK=1 $(BIN)/python -m pip install --quiet
# A process for every core; TEST_WORKERS=0 runs all tests in one.
TEST_WORKERS ?= auto --maxprocesses 4
TEST_ARGS ?=
FUZZ_ARGS ?=
FAULT_ARGS ?=
BENCH_ARGS ?=

.PHONY: demo test lint types imports unit browser docs dist wheel bench fuzz faults peers results install clean

demo: $(VENV)/.installed
	$(BIN)/hypercondense demo

test: lint types imports unit wheel

install: $(VENV)/.dev

lint: $(VENV)/.dev
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .

types: $(VENV)/.dev
	$(BIN)/mypy

imports: $(VENV)/.dev
	$(BIN)/lint-imports

unit: $(VENV)/.dev browser
	$(BIN)/python -m pytest --numprocesses $(TEST_WORKERS) --max-worker-restart 0 --dist loadfile $(TEST_ARGS)

# Pages are looked at in Chromium; where it is missing it is installed by root, and nobody else.
browser:
	@if command -v chromium > /dev/null && command -v chromedriver > /dev/null; then :; \
	elif [ "$$(id -u)" = 0 ] && command -v apt-get > /dev/null; then \
		apt-get -qq update && DEBIAN_FRONTEND=noninteractive apt-get -qq install --yes \
			--no-install-recommends chromium chromium-driver fonts-dejavu-core > /dev/null \
			|| echo "chromium could not be installed: tests of pages in a browser are skipped"; \
	else echo "no chromium: tests of pages in a browser are skipped (apt install chromium chromium-driver)"; fi

# The site, in build/site: strictly, with every example run. RUN_EXAMPLES=false leaves their output out.
docs: $(VENV)/.dev
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --quiet
	@echo "the site is build/site/index.html; with search: $(BIN)/python -m http.server -d build/site"

# The files of a release, in dist/, checked as a package index would.
dist: $(VENV)/.dev
	rm -rf dist
	$(BIN)/python -m build --no-isolation --outdir dist . > /dev/null
	$(BIN)/python -m twine check --strict dist/*

# They must work without the source tree: the wheel is installed in a second empty environment and tried there.
wheel: dist
	rm -rf $(VENV)-wheel
	$(PYTHON) -m venv $(VENV)-wheel
	PIP_CONSTRAINT=constraints.txt PIP_DISABLE_PIP_VERSION_CHECK=1 $(VENV)-wheel/bin/python -m pip install --quiet dist/*.whl
	cd dist && ../$(VENV)-wheel/bin/hypercondense --version && ../$(VENV)-wheel/bin/python ../tools/installed.py
	rm -rf $(VENV)-wheel

# Figures of docs/performance.md; `make bench BENCH_ARGS="--before OLD/src"` compares with an older version too.
bench: $(VENV)/.dev
	$(BIN)/python benchmarks/page.py $(BENCH_ARGS)

# 10,000 changed files for every reader; the exit status tells whether one broke the contract of docs/trust.md.
fuzz: $(VENV)/.dev
	PYTHONPATH=tests $(BIN)/python -m fuzz $(FUZZ_ARGS)

# 50 kills of every kind, and what was left behind.
faults: $(VENV)/.dev
	PYTHONPATH=tests $(BIN)/python -m faults $(FAULT_ARGS)

# Round trips through the libraries that cannot live beside the others, in an environment of their own.
peers: $(VENV)-peers/.dev
	PYTHONPATH=tests $(VENV)-peers/bin/python -W ignore -m interchange.ways
	PYTHONPATH=tests $(VENV)-peers/bin/python -W ignore -m interchange.file_ways
	$(VENV)-peers/bin/python -m pytest tests/interchange

# Tables and figures from the lines in docs/results; `hypercondense run` makes the lines.
results: $(VENV)/.dev
	$(BIN)/hypercondense publish docs/results --plans experiments --fill README.md --fill docs/reproduce.md

clean:
	rm -rf $(VENV) $(VENV)-wheel $(VENV)-peers dist build .pytest_cache .mypy_cache .ruff_cache .hypothesis .coverage

$(VENV)/.installed: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(PIP_INSTALL) --editable .
	touch $@

$(VENV)/.dev: $(VENV)/.installed
	$(PIP_INSTALL) --editable ".[dev]"
	touch $@

$(VENV)-peers/.dev: pyproject.toml tests/interchange/peers.txt tests/interchange/peers_alone.txt
	$(PYTHON) -m venv $(VENV)-peers
	$(VENV)-peers/bin/python -m pip install --quiet --editable ".[pyg]" --requirement tests/interchange/peers.txt
	$(VENV)-peers/bin/python -m pip install --quiet --no-deps --requirement tests/interchange/peers_alone.txt
	touch $@
