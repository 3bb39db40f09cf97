# The two commands of the README are `make demo` and `make test`; each sets up what it needs in .venv, once.
PYTHON ?= python3
RUN := .venv/bin/

.PHONY: demo test check bench clean
demo: .venv/installed
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
	$(RUN)python -m benchmarks.gm_rows
	$(RUN)python -m benchmarks.pages

.venv/installed: pyproject.toml constraints.txt
	@echo "setting up .venv, a minute or two"
	$(PYTHON) -m venv .venv
	$(RUN)pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[dev,neural]'
	touch $@

.venv/benchmarks: .venv/installed
	$(RUN)pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[bench]'
	touch $@

clean:
	rm -rf .venv kgalign-demo
