# `make` lists the targets.
.PHONY: help build run test lint tools bench fuzz clean

CARGO ?= cargo
VENV := target/venv
# Tests that need a tool fail without it here; under a bare `cargo test` they skip and say why.
TESTENV := RATEWIRE_REQUIRE_TOOLS=1 RATEWIRE_PYTHON=$(abspath $(VENV))/bin/python
SUDO := $(shell [ "$$(id -u)" = 0 ] || echo sudo)
PACKAGES := tshark chromium python3-venv

help:
	@echo "make build   the ratewire command, into target/release"
	@echo "make run     the first scenario, into out/three-flows"
	@echo "make test    install what the tests need, then lint, test, and check every scenario"
	@echo "make bench   speed and memory, beside ns-2 where it is installed (apt-get install ns2)"
	@echo "make fuzz    every fuzz target for a minute (cargo install cargo-fuzz)"

build:
	$(CARGO) build --release --bin ratewire

run: build
	target/release/ratewire run scenarios/three-flows.toml

lint:
	$(CARGO) fmt --check
	$(CARGO) clippy --workspace --all-targets -- -D warnings

test: tools lint
	$(TESTENV) $(CARGO) test --workspace --no-fail-fast
	$(MAKE) build
	target/release/ratewire check --quiet papers scenarios

# Debian packages and a Python with DuckDB, once.
tools: $(VENV)/ready
$(VENV)/ready:
	@missing=$$(for p in $(PACKAGES); do dpkg -s $$p >/dev/null 2>&1 || echo $$p; done); \
	if [ -n "$$missing" ]; then \
		$(SUDO) apt-get update -q && \
		DEBIAN_FRONTEND=noninteractive $(SUDO) apt-get install -y -q --no-install-recommends $$missing; \
	fi
	python3 -m venv $(VENV)
	$(VENV)/bin/pip install -q duckdb
	touch $@

bench:
	$(CARGO) build --release -p ratewire-sim --example workload
	python3 bench/peers.py target/release/examples/workload
	$(CARGO) bench -p ratewire-sim --bench engine

fuzz:
	for target in $$(cd fuzz && cargo fuzz list); do \
		(cd fuzz && cargo fuzz run -s none $$target -- -max_total_time=60) || exit 1; \
	done

clean:
	$(CARGO) clean
	rm -rf out
