# The newcomer's two commands are `make run` and `make test`.
# An active virtual environment is used; otherwise .venv is made here.
CORES ?= 2
PYTHON ?= python3
VENV ?= $(if $(VIRTUAL_ENV),$(VIRTUAL_ENV),.venv)
BIN := $(VENV)/bin
INSTALLED := $(VENV)/.rarefuse-installed
INSTALLED_DEV := $(VENV)/.rarefuse-installed-dev

.PHONY: run test check format clean

run: $(INSTALLED)
	$(BIN)/snakemake --cores $(CORES)

test: $(INSTALLED_DEV)
	$(BIN)/python -m pytest

check: $(INSTALLED_DEV)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/snakefmt --check --line-length 100 Snakefile rules
	$(BIN)/mypy
	$(BIN)/snakemake --lint

format: $(INSTALLED_DEV)
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .
	$(BIN)/snakefmt --line-length 100 Snakefile rules

clean:
	rm -rf results logs .snakemake

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

$(INSTALLED): requirements/base.txt pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements/base.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	@touch $@

$(INSTALLED_DEV): requirements/dev.txt $(INSTALLED)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements/dev.txt
	@touch $@
