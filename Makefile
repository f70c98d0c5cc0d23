# Every command of the project. Needs Python >= 3.10 and make; everything else is installed into .venv.

PYTHON ?= python3
# Extra arguments of pip. On Linux, the small CPU build of torch:
#   make test PIP_FLAGS="--extra-index-url https://download.pytorch.org/whl/cpu"
PIP_FLAGS ?=
PYTEST_FLAGS ?= -n 2 -q
DEMO ?= specs/gpt2.yaml

ifeq ($(OS),Windows_NT)
bin := .venv/Scripts
else
bin := .venv/bin
endif
ready := .venv/.ready
peers := .venv/.peers

# Two test workers share the cores: one thread each is faster, and the same numbers everywhere.
export OMP_NUM_THREADS := 1
export TOKENIZERS_PARALLELISM := false

.DEFAULT_GOAL := help
.PHONY: help demo test prove lint regen check bench clean

help: ## show this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "make %-8s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: $(ready) ## set up, build a model from its spec, verify it, say where the file is
	$(bin)/specc build $(DEMO)
	$(bin)/specc verify $(DEMO)
	@echo "The model is one file: generated/$(notdir $(DEMO:.yaml=.py))"

test: $(ready) ## set up and run the whole suite
	$(bin)/python -m pytest $(PYTEST_FLAGS)

prove: $(ready) ## the long proofs: all checks, mutants, flips, lines, parity, 2,000 random specs; tables in docs/proofs
	$(bin)/python -m tests.prove.checks
	$(bin)/python -m tests.prove.mutants
	$(bin)/python -m tests.prove.vendored
	$(bin)/python -m tests.prove.shape_flips
	$(bin)/python -m tests.prove.unrun_lines
	$(bin)/python -m tests.prove.parity
	$(bin)/python -m tests.prove.generation
	$(bin)/python -m tests.prove.onnx
	$(bin)/python -m tests.prove.sentences
	$(bin)/python -m tests.prove.random_specs

lint: $(ready) ## ruff, black and mypy strict on the compiler; on the generated files too
	$(bin)/ruff check .
	$(bin)/black --check --quiet compiler tests
	$(bin)/mypy
	$(bin)/ruff check --isolated --target-version py310 --select E,F,I,UP,B,SIM,RET,C4,PIE --ignore E501 generated
	$(bin)/black --check --quiet --line-length 88 --extend-exclude '^$$' generated
	$(bin)/mypy --strict --no-warn-return-any --config-file= generated

regen: $(ready) ## write generated/ anew from specs/
	$(bin)/specc build

check: $(ready) ## would regen change anything?
	$(bin)/specc check

bench: $(peers) ## how fast generated files run beside four libraries, builds, experts, conversion; budgets
	$(bin)/python tests/benchmarks/build_time.py
	$(bin)/python tests/benchmarks/build_all.py
	$(bin)/python tests/benchmarks/experts.py
	$(bin)/python tests/benchmarks/convert.py
	$(bin)/python -m tests.benchmarks.few_rows
	$(bin)/python -m tests.benchmarks.speed; met=$$?; $(bin)/python -m tests.benchmarks.profiles && exit $$met

clean: ## remove .venv and every cache
	rm -rf .venv build dist .mypy_cache .pytest_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(ready): pyproject.toml constraints.txt
	$(PYTHON) -m venv .venv
	$(bin)/python -m pip install --quiet --upgrade --constraint constraints.txt $(PIP_FLAGS) --editable ".[verify,test]"
	@touch $@

# litgpt asks for an older huggingface_hub than transformers does, and runs with the new one.
$(peers): $(ready)
	$(bin)/python -m pip install --quiet --constraint constraints.txt $(PIP_FLAGS) --editable ".[bench]"
	-$(bin)/python -m pip install --quiet --constraint constraints.txt --no-deps litgpt
	@touch $@
