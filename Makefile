# The two commands of the README are `make demo` and `make test`; each sets up what it needs in .venv, once.
PYTHON ?= python3
RUN := .venv/bin/

.PHONY: demo test check bench clean
demo: .venv/core
	$(RUN)kgalign demo

test: .venv/installed
	$(RUN)pytest

check: .venv/installed
	$(RUN)ruff format --check .
	$(RUN)ruff check .
	$(RUN)mypy

bench: .venv/benchmarks
	$(RUN)python -m benchmarks.solvers
	$(RUN)python -m benchmarks.table3
	$(RUN)python -m benchmarks.name_rows
	$(RUN)python -m benchmarks.fast_rows
	$(RUN)python -m benchmarks.scale
	$(RUN)python -m benchmarks.reading
	$(RUN)python -m benchmarks.gm_rows
	$(RUN)python -m benchmarks.pages

INSTALL := $(RUN)pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable

.venv/core: pyproject.toml constraints.txt
	@echo "setting up .venv, a minute or two"
	$(PYTHON) -m venv .venv
	$(INSTALL) .
	touch $@

.venv/installed: .venv/core
	@echo "adding what tests and neural models need"
	$(INSTALL) '.[dev,neural]'
	touch $@

.venv/benchmarks: .venv/installed
	$(INSTALL) '.[bench]'
	touch $@

clean:
	rm -rf .venv kgalign-demo
