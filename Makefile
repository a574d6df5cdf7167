# `make book` builds the site, `make test` checks it. `make help` lists the rest.
# A Python of your choice, at least 3.11: make book PYTHON=python3.12

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
# Three workers for two cores: one often waits, for a browser or for a process that it has started.
JOBS   ?= 3
PYTEST := $(BIN)/python -m pytest -q -n $(JOBS)
READY  := $(VENV)/.installed
RUNNING := tests/book/live tests/book/light_pages/test_browser_arrival.py tests/book/test_browser_probes.py tests/book/test_firefox.py
export OPENBLAS_NUM_THREADS ?= 1
export ATTNLIB_PROGRESS ?= off
export ATTNLIB_LIBRARY ?= off

.PHONY: help book live model test test-all test-live graders serve pdf zip notebooks lab bench clean
.DEFAULT_GOAL := help

help:  ## this list
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' $(MAKEFILE_LIST) | expand -t 12

book: $(READY)  ## build the site: _build/html/index.html
	@$(BIN)/python -m tools.site.build

live: $(READY)  ## build the same site with a Python in its pages: fetches 106 MB once, keeps 25
	@$(BIN)/python -m tools.installing.vendor_pyodide
	@$(BIN)/python -m tools.site.build

model: $(READY)  ## fetch the trained model of the last chapter: 83 MB, once
	@$(BIN)/python -m tools.installing.model

test-live: live  ## what the pages' own Python says (node), and running pages in a browser: after make live
	@$(PYTEST) --thorough tests/tools/live_gate $(RUNNING)

test: book  ## library, notebooks, links, browser: what every push has to pass
	@$(PYTEST)

test-all: book  ## what is published has to pass: also exhaustive products, an older processor, further builds, graders
	@$(BIN)/python -m tools.testing.plain_cpu $(PYTEST) chapters
	@$(PYTEST) --thorough

graders: $(READY)  ## install Otter-Grader and nbgrader for make test-all: 624 MB in _build/graders
	@$(BIN)/python -m tools.installing.graders

serve: book  ## build the site and open it in the browser
	@$(BIN)/python -m tools.site.serve

pdf: book  ## print the book: _build/attention-derived.pdf
	@$(BIN)/python -m tools.printing.pdf

zip: book  ## pack the site, to read without a network: _build/attention-derived.zip
	@$(BIN)/python -m tools.site.pack

notebooks: $(READY)  ## run every notebook afresh and store its outputs
	@$(BIN)/python -m tools.notebooks run && $(BIN)/python -m tools.notebooks check

lab: $(READY)  ## open chapter 1 in JupyterLab
	@env -u ATTNLIB_PROGRESS -u ATTNLIB_LIBRARY $(BIN)/jupyter lab --config=tools/notebooks/lab/config.py

bench: $(READY)  ## measure time and memory
	@if [ -f benchmarks/run.py ]; then $(BIN)/python benchmarks/run.py; else echo "bench: there are no benchmarks yet"; fi

clean:  ## remove what was built; the installed packages stay
	@rm -rf _build .pytest_cache .hypothesis; find . -name __pycache__ -not -path './$(VENV)/*' -prune -exec rm -rf {} +

$(READY): requirements.txt constraints.txt pyproject.toml
	@$(PYTHON) tools/installing/install.py $(VENV)
