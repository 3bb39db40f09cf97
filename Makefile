# The two commands of the README are `make demo` and `make test`; each sets up what it needs in .venv, once.
PYTHON ?= python3
RUN := .venv/bin/
DATA ?= $(or $(KGALIGN_DATA),../shared/data)

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
	$(RUN)kgalign bench peers --data $(DATA)
	$(RUN)kgalign bench table3 --data $(DATA) --seeds 0
	$(RUN)kgalign bench ablation --data $(DATA) --seeds 0
	$(RUN)python -m benchmarks.scale
	$(RUN)python -m benchmarks.reading
	$(RUN)kgalign bench table2 --data $(DATA)
	$(RUN)kgalign bench table4 --data $(DATA) --seeds 0
	$(RUN)python -m benchmarks.gm_speed
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
