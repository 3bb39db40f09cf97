# The two commands of the README are `make demo` and `make test`; each sets up what it needs in .venv, once.
PYTHON ?= python3
RUN := .venv/bin/
DATA ?= $(or $(KGALIGN_DATA),../shared/data)

.PHONY: demo test test-fast fuzz check docs wheel bench clean
demo: .venv/core
	$(RUN)kgalign demo

test: .venv/installed
	$(RUN)pytest -n auto --dist loadfile

test-fast: .venv/installed
	$(RUN)pytest -n auto --dist loadfile -m "not slow"

coverage: .venv/installed
	$(RUN)pytest -n auto --dist loadfile --cov --cov-report term

check: .venv/installed
	$(RUN)ruff format --check .
	$(RUN)ruff check .
	$(RUN)mypy

# Damaged files for every command, for so long; inputs that fail are kept in fuzz-failures/. The seed and a number make an input.
SECONDS ?= 60
SEED ?= 0
fuzz: .venv/installed
	$(RUN)python tests/fuzz.py --seconds $(SECONDS) --seed $(SEED)

# What a user gets: the wheel, in an environment that has nothing else.
wheel: .venv/installed
	rm -rf build dist
	$(RUN)pip wheel --quiet --disable-pip-version-check --no-deps --wheel-dir dist .
	$(PYTHON) -m venv --clear build/empty
	build/empty/bin/pip install --quiet --disable-pip-version-check --constraint constraints.txt dist/*.whl
	cd build && empty/bin/kgalign --version && empty/bin/kgalign demo

# The figures of docs/results.md, and the page. Lines that benchmarks/results.jsonl has are not measured again, except those of scripts.
bench: .venv/benchmarks
	$(RUN)python -m benchmarks.measure.solvers
	$(RUN)kgalign bench real --data $(DATA)/real
	$(RUN)python -m benchmarks.measure.splink_tables --data $(DATA)/real
	$(RUN)kgalign bench peers --data $(DATA)
	$(RUN)kgalign bench seeds --data $(DATA)
	$(RUN)kgalign bench table3 --data $(DATA) --seeds 0
	$(RUN)kgalign bench ablation --data $(DATA) --seeds 0
	$(RUN)python -m benchmarks.measure.scale
	$(RUN)python -m benchmarks.measure.plan --data $(DATA)
	$(RUN)python -m benchmarks.measure.threads
	$(RUN)python -m benchmarks.measure.small
	$(RUN)python -m benchmarks.measure.swapped
	$(RUN)python -m benchmarks.measure.reading
	$(RUN)kgalign bench table2 --data $(DATA)
	$(RUN)kgalign bench table4 --data $(DATA) --seeds 0
	$(RUN)python -m benchmarks.measure.epochs
	$(RUN)python -m benchmarks.measure.gm_speed
	$(RUN)python -m benchmarks.page

docs: .venv/docs
	NO_MKDOCS_2_WARNING=1 $(RUN)mkdocs build --strict
	@echo "the site is in site/; to search it, too: python -m http.server --directory site"

INSTALL := $(RUN)pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable

.venv/core: pyproject.toml constraints.txt
	@echo "setting up .venv, which takes some minutes"
	$(PYTHON) -m venv .venv
	$(INSTALL) .
	touch $@

.venv/installed: .venv/core
	@echo "adding what tests and neural models need"
	$(INSTALL) '.[dev,neural,ray]'
	touch $@

.venv/benchmarks: .venv/installed
	$(INSTALL) '.[bench]'
	touch $@

.venv/docs: .venv/core
	@echo "adding what the docs site needs"
	$(INSTALL) '.[docs]'
	touch $@

clean:
	rm -rf .venv build dist site kgalign-demo fuzz-failures
