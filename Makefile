# Every target sets up what it needs: a virtual environment in .venv with dpql in the
# versions of constraints.txt, and for all but `make demo` the development tools as well.
# Nothing else has to be typed first.

# Compiled tests are kept: pytest takes longer to compile them than to run them.
export PYTHONDONTWRITEBYTECODE :=

PYTHON ?= python3
BIN := .venv/bin
RUNS := .venv/.runs
READY := .venv/.ready
GUIDES := write-a-spec.md review-a-change.md run-a-release.md embed.md
MATHS := count.md histogram.md
QUICK := not (process or property or contract or heavy or stats or slow)

.DEFAULT_GOAL := help
.PHONY: help demo quick test slow check fmt docs bench bench-wide bench-growth bench-peers bench-results bench-errors bench-delta constraints clean

help:  ## list the targets
	@grep -E '^[a-z-]+:.*##' Makefile | sed -E 's/:.*## /\t/' | expand -t 13

$(RUNS): pyproject.toml constraints.txt
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --upgrade pip
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable .
	@touch $(RUNS)

$(READY): pyproject.toml constraints.txt
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --upgrade pip
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --group dev --editable .
	@touch $(RUNS) $(READY)

demo: $(RUNS)  ## make a private release of made-up data, from spec to verification
	@$(BIN)/dpql demo

quick: $(READY)  ## run the quick tests while you write, in a minute or two
	$(BIN)/python -m pytest --quiet -n 2 --dist worksteal -m "$(QUICK)"

test: $(READY)  ## run every test but the slow ones
	$(BIN)/python -m pytest -n 2 --dist worksteal -m "not slow"

slow: $(READY)  ## run the tests that take minutes
	$(BIN)/python -m pytest -m slow

check: $(READY)  ## format, lint, types, import contracts, docs, stale files
	$(BIN)/ruff format --check dpql tests benchmarks
	$(BIN)/ruff check dpql tests benchmarks
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache
	$(BIN)/dpql fmt --check specs
	$(BIN)/dpql plan --check specs
	$(BIN)/python -m pytest --quiet -n 2 tests/docs tests/manual

fmt: $(READY)  ## lay out the code
	$(BIN)/ruff format dpql tests benchmarks
	$(BIN)/ruff check --fix --quiet dpql tests benchmarks

docs: $(READY)  ## write schemas, reference pages and the outputs in README and guides anew
	$(BIN)/python -m dpql.language.schema schemas
	$(BIN)/python -m dpql.planner.schema schemas
	$(BIN)/python -m dpql.reports.schema schemas
	$(BIN)/python -m dpql.manual.page
	$(BIN)/python -m dpql.cli.reference
	$(BIN)/python tests/docs/blocks.py README.md $(addprefix docs/guide/,$(GUIDES)) $(addprefix docs/maths/,$(MATHS))

bench: $(READY)  ## print speed as ratios measured side by side
	$(BIN)/python benchmarks/noise.py
	$(BIN)/python benchmarks/plan.py
	$(BIN)/python benchmarks/startup.py
	$(BIN)/python benchmarks/run.py

bench-wide: $(READY)  ## print the cost of privacy on many kinds of work and of data
	$(BIN)/python benchmarks/wide.py
	$(BIN)/python benchmarks/values.py

bench-growth: $(READY)  ## print how costs grow: rows, keys, values, ledger entries, statistics
	$(BIN)/python benchmarks/growth.py

bench-peers: $(READY)  ## print the cost of other libraries, each in an environment of its own
	$(BIN)/python benchmarks/peers.py

bench-results: $(READY)  ## write benchmarks/RESULTS.md anew; leave the machine alone meanwhile
	$(BIN)/python benchmarks/results.py

bench-errors: $(READY)  ## write benchmarks/ERRORS.md: errors at equal epsilon, beside OpenDP's
	$(BIN)/python benchmarks/peers_error.py

bench-delta: $(READY)  ## write benchmarks/DELTA.md: errors at equal epsilon and delta
	$(BIN)/python benchmarks/peers_delta.py

constraints:  ## renew constraints.txt: the newest versions that pyproject.toml allows
	$(PYTHON) -m venv --clear .venv-newest
	.venv-newest/bin/python -m pip install --quiet --upgrade pip
	.venv-newest/bin/python -m pip install --quiet --group dev --editable .
	.venv-newest/bin/python -m pip freeze --all --exclude-editable > constraints.txt
	rm -rf .venv-newest

clean:  ## remove the environment and all caches
	rm -rf .venv .venv-peers .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache dist
