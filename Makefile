# Two commands on a fresh machine with Python 3.11+, pip and make: `make demo` and `make test`.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
# The peers of the race live apart from the tests.
PEERS ?= .venv-bench
# How often `make chaos` kills.
KILLS ?= 200
# The environment is made without pip inside and filled from outside: Debian's python3 has no ensurepip.
INSTALL = $(PYTHON) -m pip --python $(BIN)/python install --quiet --disable-pip-version-check -c constraints.txt

.DEFAULT_GOAL := help
.PHONY: help demo test check format docs screenshots chaos bench-start bench-registry bench-sites bench-crawl bench-web \
  bench-content bench-items bench-judge bench-evaluate bench-review bench-query constraints clean

help:  ## Show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "%-14s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

demo: $(VENV)/core.stamp  ## Set up and take a guided tour
	@$(BIN)/bailiwick demo

test: $(VENV)/dev.stamp  ## Set up and run the tests
	$(BIN)/pytest $(ARGS)

check: $(VENV)/dev.stamp  ## Lint, types, import directions
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: $(VENV)/dev.stamp  ## Put the code in form
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

docs: $(VENV)/dev.stamp  ## Write the generated reference pages anew
	$(BIN)/python -m tests.docs.reference

screenshots: $(VENV)/dev.stamp  ## Take pictures of every page of the web interface; ARGS="DIR", else docs/pictures
	$(BIN)/python -m tests.web.screenshots $(ARGS)

chaos: $(VENV)/dev.stamp  ## Kill workers KILLS times, then count what was lost; ARGS="--seed 2 --out DIR"
	$(BIN)/python -m tests.chaos --kills $(KILLS) $(ARGS)

bench-start: $(VENV)/dev.stamp  ## Measure starting and the size of the install
	$(BIN)/python benchmarks/start.py

bench-registry: $(VENV)/dev.stamp  ## Measure import, claims and lists at a million domains
	$(BIN)/python benchmarks/registry.py $(ARGS)

bench-sites: $(VENV)/dev.stamp  ## Crawl real sites from Debian packages: every page once
	$(BIN)/python benchmarks/sites.py

bench-crawl: $(VENV)/dev.stamp $(PEERS)/bench.stamp  ## Race Scrapy and Crawlee; ARGS="race|broad|start|resume|frontier …"
	$(BIN)/python -m benchmarks.crawl $(or $(ARGS),race)

bench-web: $(VENV)/dev.stamp  ## Measure every page at a million domains, and 200 open dashboards; ARGS="--keep DIR"
	$(BIN)/python -m benchmarks.web $(ARGS)

bench-content: $(VENV)/dev.stamp  ## Measure the parse stage: content and relevance of stored pages; ARGS="--pages 300"
	$(BIN)/python -m benchmarks.content $(ARGS)

bench-items: $(VENV)/dev.stamp  ## Measure how fast products are extracted, beside extruct; ARGS="--rounds 3"
	$(BIN)/python -m benchmarks.items $(ARGS)

bench-judge: $(VENV)/dev.stamp  ## Measure how well and how fast search results are judged; ARGS="--without meaning"
	$(BIN)/python -m benchmarks.judge $(ARGS)

bench-evaluate: $(VENV)/dev.stamp  ## Measure one job of 100,000 evaluations: memory, progress; ARGS="--urls 6000 --stored 200"
	$(BIN)/python -m benchmarks.evaluate $(ARGS)

bench-review: $(VENV)/dev.stamp  ## Measure how many reviews a learned model saves; ARGS="--seeds 11 12"
	$(BIN)/python -m benchmarks.review $(ARGS)

bench-query: $(VENV)/dev.stamp  ## Measure search and exports at a million pages; ARGS="search|export|all --keep DIR"
	$(BIN)/python -m benchmarks.query $(or $(ARGS),all)

constraints: $(VENV)/dev.stamp $(PEERS)/bench.stamp  ## Write constraints.txt from what is installed
	{ $(PYTHON) -m pip --python $(BIN)/python freeze --exclude-editable --exclude pip && \
	  $(PYTHON) -m pip --python $(PEERS)/bin/python freeze --exclude-editable --exclude pip; } | \
	  LC_ALL=C sort -t= -k1,1f -u > constraints.part && mv constraints.part constraints.txt

clean:  ## Remove the environment and what tools leave behind
	rm -rf $(VENV) $(PEERS) dist build .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "error: Python 3.11 or later is needed, $(PYTHON) is $$($(PYTHON) --version)"; \
	    echo "hint: make PYTHON=python3.12 $(MAKECMDGOALS)"; exit 1; } >&2
	@$(PYTHON) -m pip --version >/dev/null || { echo "error: pip is needed ($(PYTHON) -m pip)"; exit 1; } >&2
	$(PYTHON) -m venv --without-pip $(VENV)

$(VENV)/core.stamp: $(BIN)/python pyproject.toml constraints.txt
	$(INSTALL) -e '.[content,items]'
	@touch $@

$(VENV)/dev.stamp: $(BIN)/python pyproject.toml constraints.txt
	$(INSTALL) -e '.[dev]'
	@touch $@ $(VENV)/core.stamp

# Without them the race goes on alone, and says so.
$(PEERS)/bench.stamp: $(BIN)/python pyproject.toml constraints.txt
	test -x $(PEERS)/bin/python || $(PYTHON) -m venv --without-pip $(PEERS)
	$(PYTHON) -m pip --python $(PEERS)/bin/python install --quiet --disable-pip-version-check -c constraints.txt \
	  -e '.[bench]' && touch $@ || echo "the peers cannot be installed"
