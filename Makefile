# Two commands do everything on a fresh machine: `make demo` and `make test`.
PYTHON ?= python3
BIN := .venv/bin
# Optional packages that the tests use; .ci/run adds those that few people have.
EXTRAS ?= plot,data
# Caches stay inside the checkout: nothing is written anywhere else.
export UV_CACHE_DIR := $(CURDIR)/.venv/cache/uv
export MPLCONFIGDIR := $(CURDIR)/.venv/cache/matplotlib
# Tests start processes of their own: none of them shall compile poise again.
unexport PYTHONDONTWRITEBYTECODE
# A thread that waits shall not keep a core busy.
export OMP_WAIT_POLICY := PASSIVE

.PHONY: demo setup test lint suite docs clean

demo: .venv/demo.stamp
	$(BIN)/poise demo --output demo

setup: .venv/test-$(EXTRAS).stamp

test: setup
	$(MAKE) --no-print-directory --jobs 2 lint suite

suite: setup
	$(BIN)/python -m pytest -q -n 2 --dist loadfile

lint: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

# Warnings are errors, broken links among them.
docs: .venv/docs.stamp
	$(BIN)/sphinx-build -W --keep-going -q -b html docs docs/_build/html

$(BIN)/uv:
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --no-cache-dir --disable-pip-version-check uv

.venv/demo.stamp: $(BIN)/uv pyproject.toml constraints.txt
	$(BIN)/uv pip install --quiet --python $(BIN)/python -c constraints.txt -e '.[plot,data]'
	touch $@

.venv/test-$(EXTRAS).stamp: $(BIN)/uv pyproject.toml constraints.txt
	$(BIN)/uv pip install --quiet --python $(BIN)/python -c constraints.txt -e '.[$(EXTRAS),test,lint]'
	touch $@

.venv/docs.stamp: $(BIN)/uv pyproject.toml constraints.txt
	$(BIN)/uv pip install --quiet --python $(BIN)/python -c constraints.txt -e '.[plot,data,docs]'
	touch $@

clean:
	rm -rf .venv demo docs/_build docs/generated
