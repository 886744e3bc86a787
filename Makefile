# shuffledp: every target first installs its packages, in .venv/ and .tools/ only. `make help` lists the targets, and
# `make -C tools` those for maintainers (tools/maintenance.mk).
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory

PYTHON ?= $(shell command -v python3.11 || command -v python3)
CORES ?= all
UV_VERSION := $(shell sed -n 's/^uv==\([^ ]*\) .*/\1/p' locks/uv.txt)
UV := PYTHONPATH=$(CURDIR)/.tools UV_PYTHON_DOWNLOADS=never $(PYTHON) -m uv
BIN := .venv/bin
# One thread per process: the pipeline runs one process per core, and results must not depend on threading.
SINGLE := OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 MKL_NUM_THREADS=1
# Snakemake fails with a traceback if it cannot create its cache, before it reads the workflow.
CACHE := $${XDG_CACHE_HOME:-$$HOME/.cache}
CACHE_THERE := mkdir -p "$(CACHE)" 2> /dev/null || { echo "Snakemake cannot keep its cache in $(CACHE):" \
	"set HOME or XDG_CACHE_HOME to a folder that can be written." >&2; exit 1; };
SNAKEMAKE := $(CACHE_THERE) $(SINGLE) $(BIN)/snakemake --cores $(CORES)
# A run starts hundreds of short processes. Without stored byte code, each process would compile the library again.
unexport PYTHONDONTWRITEBYTECODE
LOCKS := run library uv test learning notebooks cluster storage spark benchmarks paper docs dev mutants auditors

# File and command of the listed targets.
LISTED := Makefile
CALLED := make
.PHONY: help
help:  ## Show this list
	@grep -hE '^[a-z-]+:.*##' $(LISTED) | sed -E 's/^([a-z-]+):.*## /\1\t/' | awk -F'\t' '{printf "  $(CALLED) %-17s %s\n", $$1, $$2}'

# ---- environment -------------------------------------------------------------------------------------------
# python3.11, pip, git and make are enough: a bare Debian has no venv module and refuses a system-wide
# `pip install`, so a pinned uv, checked by its hash, goes to .tools/ and makes .venv/ from a lock file with hashes.
.tools/uv-$(UV_VERSION): locks/uv.txt
	@rm -rf .tools && mkdir -p .tools
	@$(PYTHON) -m pip install --quiet --disable-pip-version-check --root-user-action=ignore --target .tools \
	  --require-hashes --requirement locks/uv.txt
	@touch $@

# A stamp, because .venv/bin/python is a link to a file that is older than anything here.
.venv/.created: .tools/uv-$(UV_VERSION)
	@test ! -L .venv || { echo ".venv is a link to another environment, which would be cleared: remove the link." >&2; exit 1; }
	@$(UV) venv --quiet --clear --python $(PYTHON) .venv
	@touch $@

# A stamp per set of packages, written last: an interrupted installation is repeated.
.venv/.installed-%: locks/%.txt pyproject.toml .venv/.created
	@echo "Installing the '$*' packages into .venv/ (locks/$*.txt)"
	@$(UV) pip install --quiet --compile-bytecode --python .venv --require-hashes --requirement locks/$*.txt
	@$(UV) pip install --quiet --python .venv --no-deps --editable .
	@touch $@

.PHONY: env
env: .venv/.installed-run  ## Create .venv/ with the packages of the pipeline

.PHONY: learning
learning: .venv/.installed-run .venv/.installed-learning  ## Install JAX for the training runs

.PHONY: cluster
cluster: .venv/.installed-run .venv/.installed-cluster  ## Install Snakemake's executor for Slurm (docs/guides/cluster.md)

.PHONY: storage
storage: .venv/.installed-run .venv/.installed-storage  ## Install Snakemake's storage plug-ins for folders and S3 (docs/guides/cluster.md)

# ---- pipeline ----------------------------------------------------------------------------------------------
.PHONY: quick
quick: .venv/.installed-run  ## Run all papers at small scale: figures and pages in results/quick/ within minutes
	@$(SNAKEMAKE) --configfile config/quick.yaml
	@echo; echo "Done. Open results/quick/index.html"

.PHONY: all
all: .venv/.installed-run .venv/.installed-learning  ## Run the papers' own settings: figures and pages in results/
	@$(SNAKEMAKE)
	@echo; echo "Done. Open results/index.html"

# Training takes longer than all other jobs, so only existing curves are compared.
.PHONY: verify
verify: .venv/.installed-run  ## Compute missing results at the papers' scale, without training, and compare with reference/
	@$(SNAKEMAKE) runs --config learning=$(if $(wildcard results/training/*/*.sha256),auto,skip)
	@$(BIN)/shuffledp verify

.PHONY: verify-quick
verify-quick: quick  ## Run all papers at small scale, and compare the results with reference/quick
	@$(BIN)/shuffledp verify --results results/quick

.PHONY: repair
repair: .venv/.installed-run  ## Remove every result that does not match its checksum; the next run rebuilds it
	@$(BIN)/shuffledp repair

# ---- checks ------------------------------------------------------------------------------------------------
WORKERS = $(if $(filter all,$(CORES)),$$(getconf _NPROCESSORS_ONLN),$(CORES))
PYTEST = $(SINGLE) $(BIN)/python -m pytest -n $(WORKERS) --dist loadscope --no-loadscope-reorder -rs

.PHONY: test
test: .venv/.installed-test .venv/.installed-learning  ## Run linters, type checks, and all tests but those of whole runs
	@$(MAKE) -j2 lint tests

.PHONY: tests
tests: .venv/.installed-test .venv/.installed-learning
	@$(PYTEST) -m "not whole_run and not slurm and not storage and not spark"

.PHONY: test-changed
test-changed: .venv/.installed-test .venv/.installed-learning  ## Run the tests that are nearest to the files changed since a branch (SINCE=main)
	@$(SINGLE) $(BIN)/python tools/test_changed.py $(or $(SINCE),main)

.PHONY: test-protocol
test-protocol: .venv/.installed-test  ## Run type checks and the tests of one protocol: NAME=solh
	@$(BIN)/mypy
	@$(SINGLE) $(BIN)/python -m pytest -rs -k "$(or $(NAME),$(error give NAME=the name of a protocol))" \
	  tests/protocols tests/golden tests/accounting tests/pipeline/audit tests/test_completeness.py tests/test_identities.py

.PHONY: lint
lint: .venv/.installed-test .venv/.installed-learning  ## Run linters and type checks
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports --no-cache
	@$(BIN)/snakefmt --check Snakefile workflow
	@mkdir -p logs; $(CACHE_THERE) $(BIN)/snakemake --lint > logs/lint.txt 2>&1 || { cat logs/lint.txt; exit 1; }

.PHONY: format
format: .venv/.installed-test  ## Format the code
	@$(BIN)/ruff check --fix . ; $(BIN)/ruff format . ; $(BIN)/snakefmt Snakefile workflow

# ---- the library alone -------------------------------------------------------------------------------------
# uv includes the build backend, so nothing is downloaded.
.PHONY: wheel
wheel: .tools/uv-$(UV_VERSION)  ## Build the wheel and the source distribution in dist/
	@rm -rf dist && $(UV) build --quiet --out-dir dist
	@echo "Done:" dist/*

.PHONY: artifact
artifact:  ## Pack the last commit for an evaluation: sources, locks, wheels, summaries, reference, checksums
	@$(PYTHON) tools/artifact.py pack

BASE ?= debian:bookworm-slim
BUILDER ?= $(firstword $(foreach tool,docker podman buildah,$(shell command -v $(tool))))
.PHONY: image
image:  ## Build the container image shuffledp with docker, podman or buildah (BASE=image, BUILDER=tool)
	@$(or $(BUILDER),$(error install docker, podman or buildah)) build --build-arg BASE=$(BASE) --tag shuffledp .

# ---- documentation -----------------------------------------------------------------------------------------
NOTEBOOKS := $(patsubst notebooks/%,results/notebooks/%,$(wildcard notebooks/*.ipynb))

# Notebooks with their outputs, outside the repository. A notebook is run again if it or the library has changed.
results/notebooks/%.ipynb: notebooks/%.ipynb notebooks/execute.py $(shell find src -name '*.py') | .venv/.installed-notebooks
	@$(SINGLE) $(BIN)/python notebooks/execute.py results/notebooks $<

.PHONY: notebooks
notebooks: .venv/.installed-notebooks $(NOTEBOOKS)  ## Run all notebooks, and write them with their outputs into results/notebooks/

.PHONY: docs
docs: .venv/.installed-docs $(NOTEBOOKS)  ## Build the documentation in results/docs/
	@# Not --quiet: it hides warnings from --strict too.
	@$(SINGLE) NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict
	@echo "Done. Open results/docs/index.html"

.PHONY: golden
golden: .venv/.installed-test  ## Write the golden table of answers, and list the changes for the changelog
	@$(SINGLE) $(BIN)/python tools/golden_table.py $(ONLY:%=--only %) $(if $(filter-out all,$(CORES)),--workers $(CORES))

# ---- cleaning ----------------------------------------------------------------------------------------------
.PHONY: clean
clean:  ## Remove results and logs, but keep downloads and the environment
	@rm -rf .snakemake logs && find results -mindepth 1 -not -name README.md -delete

.PHONY: clean-data
clean-data:  ## Remove downloads and prepared data
	@rm -rf data/raw data/prepared

.PHONY: clean-all
clean-all: clean clean-data  ## Remove everything that is not in the repository
	@rm -rf .venv .venv-3.* .tools dist .pytest_cache .mypy_cache .ruff_cache
