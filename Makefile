# Two commands do everything on a fresh machine: `make demo` and `make test`.
PYTHON ?= python3
BIN := .venv/bin
# Caches stay inside the checkout: nothing is written anywhere else.
export UV_CACHE_DIR := $(CURDIR)/.venv/cache/uv
export MPLCONFIGDIR := $(CURDIR)/.venv/cache/matplotlib
# What JAX compiles in one process or run need not be compiled in the next.
export JAX_COMPILATION_CACHE_DIR := $(CURDIR)/.venv/cache/jax
export JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS := 0
# Hundreds of tests start processes of their own: none of them shall compile poise again.
unexport PYTHONDONTWRITEBYTECODE
# More threads than cores: one that waits shall not keep a core busy while it does.
export OMP_WAIT_POLICY := PASSIVE
EXTRAS := plot,data,gbm,jax,dask,ray,ui,sign

.PHONY: demo test test-long lint suite docs clean

demo: .venv/demo.stamp
	$(BIN)/poise demo --output demo

# The checks of the text take a minute of one core: the tests need not wait for them.
test: .venv/test.stamp
	$(MAKE) --no-print-directory --jobs 2 lint suite

PYTEST := $(BIN)/python -m pytest -q -n 3 --dist loadfile --no-loadscope-reorder

suite: .venv/test.stamp
	$(PYTEST) -m "not long"

# The same claims once more, at greater length: tests/shared/long_tests.py says which.
test-long: .venv/test.stamp
	$(PYTEST) -m long

lint: .venv/test.stamp
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

# Warnings are errors, and so are broken links, missing pictures and what comes from elsewhere.
docs: .venv/test.stamp
	$(BIN)/sphinx-build -W --keep-going -q -b html docs docs/_build/html
	$(BIN)/python docs/check_site.py docs/_build/html

$(BIN)/uv:
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --no-cache-dir --disable-pip-version-check uv

.venv/demo.stamp: $(BIN)/uv pyproject.toml constraints.txt
	$(BIN)/uv pip install --quiet --python $(BIN)/python -c constraints.txt -e '.[plot,data]'
	touch $@

# PyTorch comes by pip, which follows the machine's pip configuration and takes a build for
# CPUs where that offers one; the ordinary build brings several gigabytes for GPUs.
.venv/test.stamp: $(BIN)/uv pyproject.toml constraints.txt
	$(BIN)/uv pip install --quiet --python $(BIN)/python -c constraints.txt -e '.[$(EXTRAS),test,lint,docs,bench]'
	$(BIN)/python -m pip install --quiet --no-cache-dir --disable-pip-version-check -c constraints.txt torch
	touch $@

clean:
	rm -rf .venv demo docs/_build docs/generated docs/gallery
