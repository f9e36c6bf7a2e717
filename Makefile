# Everything a fresh machine needs is set up by `make run` and `make test` themselves.
# Needs: a Rust toolchain, Python 3.11 or newer with venv, a C compiler (scripts/prerequisites.sh checks).

PYTHON ?= python3
BENCH ?= scenarios/bench/anomaly-udp.toml

VENV := .venv
BIN := $(VENV)/bin
STAMPS := build/stamps
TARGET := $(or $(CARGO_TARGET_DIR),target)
export VIRTUAL_ENV := $(CURDIR)/$(VENV)

RUST_INPUTS := Cargo.toml Cargo.lock pyproject.toml $(shell find crates \( -name '*.rs' -o -name '*.toml' \))

.PHONY: help run test test-rust test-python bench clean prerequisites
.DEFAULT_GOAL := help

help: ## show this list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1 - \2/p' $(MAKEFILE_LIST)

run: $(STAMPS)/native ## set up, then regenerate Table 1 of Ending the Anomaly
	$(BIN)/stillair paper ending-the-anomaly/table1

test: test-rust test-python ## set up, then run every check: format, lints, types, tests

test-rust: | prerequisites
	@scripts/prerequisites.sh lints
	cargo fmt --all --check
	cargo clippy --workspace --all-targets --locked -- -D warnings
	cargo test --workspace --locked

test-python: $(STAMPS)/native $(STAMPS)/flent-venv
	$(BIN)/ruff check python tests/python
	$(BIN)/ruff format --check python tests/python
	$(BIN)/mypy
	$(BIN)/python -m mypy.stubtest stillair._native
	$(BIN)/python -m pytest -q

bench: | prerequisites ## CPU time and instructions per packet
	@mkdir -p build
	cargo build --release --locked -p stillair-sim --example bench
	$(TARGET)/release/examples/bench $(BENCH)
	@if command -v valgrind >/dev/null; then \
	  echo "instructions, counted by callgrind (slow):"; \
	  valgrind --tool=callgrind --callgrind-out-file=build/callgrind.out $(TARGET)/release/examples/bench $(BENCH) \
	    2>build/callgrind.log || { tail -5 build/callgrind.log >&2; exit 1; }; \
	  grep -o 'Collected.*' build/callgrind.log; \
	else \
	  echo "instructions not counted: no valgrind (apt-get install valgrind)"; \
	fi

clean: ## remove what was built, the virtual environment included
	cargo clean
	rm -rf $(VENV) build .mypy_cache .ruff_cache .pytest_cache .hypothesis python/stillair/*.so

prerequisites:
	@PYTHON=$(PYTHON) scripts/prerequisites.sh build

$(STAMPS)/venv: requirements-dev.txt | prerequisites
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements-dev.txt
	@mkdir -p $(STAMPS) && touch $@

# The real Flent, which the tests run as a program of its own: never imported, never a dependency.
$(STAMPS)/flent-venv: requirements-flent.txt | prerequisites
	$(PYTHON) -m venv build/flent-venv
	build/flent-venv/bin/python -m pip install --quiet --disable-pip-version-check -r requirements-flent.txt
	@mkdir -p $(STAMPS) && touch $@

$(STAMPS)/native: $(STAMPS)/venv $(RUST_INPUTS)
	PIP_QUIET=1 PIP_DISABLE_PIP_VERSION_CHECK=1 $(BIN)/maturin develop --release --locked --quiet
	@touch $@
