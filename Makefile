# Memoranda: everything a developer or a curious user runs. Needs python3 (3.11 or later) and make.

PYTHON ?= python3
NOTES ?= examples/vault
ARGS ?=
WORKERS ?= 3
FUZZ_SECONDS ?= 600
PYTHONS ?= python3.12 python3.13
VENV := .venv
BIN := $(VENV)/bin
INSTALLED := $(VENV)/.installed
DEVELOP := $(VENV)/.installed-dev
FUZZER := $(VENV)/.installed-fuzz
# Old versions of pip know no dependency groups, so the group is read from pyproject.toml here.
DEV_GROUP := import tomllib; print(*tomllib.load(open("pyproject.toml", "rb"))["dependency-groups"]["dev"], sep="\n")
FUZZ_GROUP := $(subst ["dev"],["fuzz"],$(DEV_GROUP))
PIP := $(BIN)/python -m pip --disable-pip-version-check

# A folder may have any name: it is taken as it is typed and reaches the command by the environment.
override NOTES := $(value NOTES)
export NOTES

# The example is tried in a configuration folder of its own, so that it leaves nothing in the home
# folder. Notes of your own go into the usual one (BASIC_MEMORY_CONFIG_DIR, else ~/.basic-memory).
ifeq ($(abspath $(NOTES)),$(abspath examples/vault))
run: export BASIC_MEMORY_CONFIG_DIR ?= $(CURDIR)/$(VENV)/example-config
UP_FLAGS := --name example --entry memoranda-example
AFTER_UP := @echo; echo "That was the example. Your own notes: make run NOTES=path/to/your/notes"
endif

MODEL_TESTS := tests/unit/embeddings/test_fastembed.py tests/integration/test_providers.py

.DEFAULT_GOAL := help
.PHONY: help run there install develop test test-models test-postgres check lint format docs bench bench-retrieval bench-postgres soak dist compat lock clean

help: ## Show what there is
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-15s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

run: | there $(INSTALLED) ## Index a folder of notes (NOTES=path, default the example) and say how to connect
	@$(BIN)/memoranda up $(UP_FLAGS) -- "$$NOTES"
	$(AFTER_UP)

# Asked before anything is installed, which takes a while.
there:
	@test -n "$$NOTES" || { echo "NOTES is empty; say: make run NOTES=path/to/your/notes" >&2; exit 2; }
	@case "$$NOTES" in "~"*) ;; *) test -d "$$NOTES" || { echo "There is no folder $$NOTES" >&2; exit 2; } ;; esac

install: $(INSTALLED) ## Make the environment and install Memoranda into it
develop: $(DEVELOP) ## The same, with what the tests and checks need

test: $(DEVELOP) ## Run all tests (ARGS="-k name" passes options on to pytest, WORKERS=0 runs them in one process)
	@$(BIN)/python -m compileall -q src # or every process that a test starts compiles it, where Python may not keep that
	$(BIN)/python -m pytest -n $(WORKERS) --dist worksteal $(ARGS)

test-models: $(DEVELOP) ## The tests that need fastembed, which is installed beside the environment
	$(PIP) install --quiet -c constraints.txt --upgrade --target $(VENV)/models "fastembed>=0.7"
	PYTHONPATH=$(CURDIR)/$(VENV)/models $(BIN)/python -m pytest $(MODEL_TESTS) $(ARGS)

test-postgres: $(DEVELOP) ## The suites of the index and of the tools once more, on PostgreSQL
	MEMORANDA_TEST_BACKEND=postgres $(BIN)/python -m pytest -n $(WORKERS) --dist worksteal tests/integration tests/mcp $(ARGS)

check: lint test ## All checks and all tests: what must pass before a commit

lint: $(DEVELOP) ## The checks without the tests
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python docs/generate.py --check

format: $(DEVELOP) ## Format the code and fix what can be fixed
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

docs: $(DEVELOP) ## Write the generated parts of docs/reference anew
	$(BIN)/python docs/generate.py

bench-postgres: $(DEVELOP) ## Measure PostgreSQL, for an hour or more (ARGS="cold --notes 1000")
	$(BIN)/python -m benchmarks.postgres $(or $(ARGS),cold scale hybrid)

bench: $(DEVELOP) ## Measure speed, size and what the search finds (ARGS="index --sizes 1000")
	$(BIN)/python -m benchmarks $(ARGS)

bench-retrieval: $(DEVELOP) ## Measure what the search finds (ARGS="--sets docs,multilingual")
	$(BIN)/python -m benchmarks retrieval $(ARGS)

soak: $(FUZZER) ## The long tests with full counts, then the fuzzer (FUZZ_SECONDS=600 in all)
	MEMORANDA_SOAK=1 $(BIN)/python -m pytest $(ARGS)
	$(BIN)/python -m tests.fuzz --seconds $(FUZZ_SECONDS)

dist: $(DEVELOP) ## Build wheel and source distribution into dist/, and try the wheel in a clean environment
	$(BIN)/python -m tools.distribution $(ARGS)

compat: $(DEVELOP) ## Run the tests on other Pythons with the wheel (PYTHONS="python3.12 python3.13")
	$(BIN)/python -m tools.compatibility $(PYTHONS) -- -n $(WORKERS) --dist worksteal $(ARGS)

lock: ## Write constraints.txt anew from the newest versions that pyproject.toml allows
	rm -rf $(VENV)/lock
	mkdir -p $(VENV)
	$(PYTHON) -m venv $(VENV)/lock
	$(PYTHON) -c '$(DEV_GROUP)' > $(VENV)/lock/dev.txt
	$(PYTHON) -c '$(FUZZ_GROUP)' >> $(VENV)/lock/dev.txt
	$(VENV)/lock/bin/python -m pip --disable-pip-version-check install --quiet -r $(VENV)/lock/dev.txt .
	{ sed -n '/^#/p' constraints.txt; $(VENV)/lock/bin/python -m pip freeze --exclude memoranda; } > $(VENV)/lock/new.txt
	mv $(VENV)/lock/new.txt constraints.txt

clean: ## Remove the environment, caches and results (never notes)
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis dist build
	rm -rf benchmarks/results
	find src tests benchmarks docs -name __pycache__ -type d -prune -exec rm -rf {} +

$(BIN)/python:
	@$(PYTHON) -c 'import sys; v = sys.version_info; sys.exit(f"Memoranda needs Python 3.11 or later, $(PYTHON) is {v[0]}.{v[1]}; name another with: make PYTHON=python3.12 ..." if v < (3, 11) else 0)'
	$(PYTHON) -m venv $(VENV) || { rm -rf $(VENV); exit 1; }

$(INSTALLED): pyproject.toml constraints.txt | $(BIN)/python
	$(PIP) install --quiet -c constraints.txt -e .
	@touch $@

$(DEVELOP): $(INSTALLED)
	@$(BIN)/python -c '$(DEV_GROUP)' > $(VENV)/dev.txt
	$(PIP) install --quiet -c constraints.txt -r $(VENV)/dev.txt
	@touch $@

$(FUZZER): $(DEVELOP)
	@$(BIN)/python -c '$(FUZZ_GROUP)' > $(VENV)/fuzz.txt
	$(PIP) install --quiet -c constraints.txt -r $(VENV)/fuzz.txt
	@touch $@
