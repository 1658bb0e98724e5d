# `make` lists the targets.
.PHONY: help build live install run test lint package tools bench fuzz clean

CARGO ?= cargo
PREFIX ?= /usr/local
UNITS ?= /etc/systemd/system
BINARY ?= target/release/ratewire
VENV := target/venv
# Tests that need a tool fail without it here; under a bare `cargo test` they skip and say why.
TESTENV := RATEWIRE_REQUIRE_TOOLS=1 RATEWIRE_PYTHON=$(abspath $(VENV))/bin/python
SUDO := $(shell [ "$$(id -u)" = 0 ] || echo sudo)
# To build what runs in the kernel.
LIVE_PACKAGES := clang libelf-dev zlib1g-dev
PACKAGES := tshark chromium python3-venv iperf3 iproute2 ethtool nginx-light curl git systemd $(LIVE_PACKAGES)
install = missing=$$(for p in $(1); do dpkg -s $$p >/dev/null 2>&1 || echo $$p; done); \
	if [ -n "$$missing" ]; then \
		$(SUDO) apt-get update -q && \
		DEBIAN_FRONTEND=noninteractive $(SUDO) apt-get install -y -q --no-install-recommends $$missing; \
	fi

help:
	@echo "make build   the ratewire command, into target/release"
	@echo "make live    the same, with laws in this machine's kernel (installs clang, libelf-dev, zlib1g-dev)"
	@echo "make install what is built, below PREFIX (/usr/local), and units of systemd (as root)"
	@echo "make run     the first scenario, into out/three-flows"
	@echo "make test    install what the tests need, then lint, test, and check every scenario"
	@echo "make bench   speed and memory, beside ns-2 where it is installed (apt-get install ns2)"
	@echo "make fuzz    every fuzz target for a minute (cargo install cargo-fuzz)"

build:
	$(CARGO) build --release --bin ratewire

live:
	@$(call install,$(LIVE_PACKAGES))
	$(CARGO) build --release --bin ratewire --features live

# It builds nothing, for root's files would be in the way of the next build.
install:
	@[ -x $(BINARY) ] || { echo "there is no $(BINARY): make live" >&2; exit 1; }
	install -D -m 755 $(BINARY) $(DESTDIR)$(PREFIX)/bin/ratewire
	install -d $(DESTDIR)$(UNITS)
	for unit in systemd/*.service; do \
		sed 's|/usr/local/bin/|$(PREFIX)/bin/|' $$unit > $(DESTDIR)$(UNITS)/$${unit##*/} || exit 1; \
	done

run: build
	target/release/ratewire run scenarios/three-flows.toml

lint:
	$(CARGO) fmt --check
	$(CARGO) clippy --workspace --all-targets --features ratewire-cli/live -- -D warnings

# Whether every crate could be published; nothing is uploaded.
package:
	$(CARGO) package --workspace --no-verify --allow-dirty --quiet

# Tests of what runs in the kernel need root and skip without it; with RATEWIRE_REQUIRE_ROOT=1 they fail instead.
test: tools lint package
	$(TESTENV) $(CARGO) test --workspace --features ratewire-cli/live --no-fail-fast
	$(MAKE) build
	target/release/ratewire check --quiet papers scenarios

# Debian packages and a Python with DuckDB, once.
tools: $(VENV)/ready
$(VENV)/ready: Makefile
	@$(call install,$(PACKAGES))
	python3 -m venv $(VENV)
	# One that does not read all that later ones do.
	$(VENV)/bin/pip install -q duckdb==1.4.1
	touch $@

bench:
	$(CARGO) build --release -p ratewire-sim --example workload
	python3 bench/peers.py target/release/examples/workload
	$(CARGO) bench -p ratewire-sim --bench engine
	@if [ "$$(id -u)" = 0 ]; then \
		$(call install,$(LIVE_PACKAGES) iperf3 iproute2); \
		$(CARGO) bench -p ratewire-live; \
		$(MAKE) live && python3 bench/emulator.py target/release/ratewire; \
	fi

fuzz:
	for target in $$(cd fuzz && cargo fuzz list); do \
		(cd fuzz && mkdir -p found/$$target && \
			cargo fuzz run -s none $$target found/$$target corpus/$$target -- -max_total_time=60) || exit 1; \
	done

clean:
	$(CARGO) clean
	rm -rf out
