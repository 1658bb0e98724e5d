# `make` lists the targets.
.PHONY: help build groups switch dist live install install-program python docs run quick test test-idle test-python lint package tools bench parity lab fuzz clean

CARGO ?= cargo
PREFIX ?= /usr/local
UNITS ?= /etc/systemd/system
SHARE = $(DESTDIR)$(PREFIX)/share
PROGRAMS := ratewire ratewire-groups ratewire-switch
# Where `make install` looks for each of them, in this order.
BUILT_IN ?= target/dist target/release
MDBOOK_VERSION := 0.5.4
MDBOOK := target/tools/mdbook-$(MDBOOK_VERSION)/bin/mdbook
VENV := target/venv
MATURIN_VERSION := 1.16.0
MATURIN := target/tools/maturin-$(MATURIN_VERSION)/bin/maturin
# The environment of the Python package's tests, and the wheel in it.
PYTHON_VENV := target/venv-python
PYTHON_WHEELS := target/wheels/test
# Tests that need a tool fail without it here; under a bare `cargo test` they skip and say why.
TESTENV := RATEWIRE_REQUIRE_TOOLS=1 RATEWIRE_PYTHON=$(abspath $(VENV))/bin/python
# Tests are compiled by clippy's driver, and rustdoc makes the documentation beside the tests in it: each is compiled once,
# and warnings of both are errors. Whoever changes one of these variables for one call builds all crates again for it.
ONCE := RUSTC_WORKSPACE_WRAPPER=$(CURDIR)/lint/rustc \
	CLIPPY_ARGS=-D__CLIPPY_HACKERY__warnings__CLIPPY_HACKERY__ RUSTDOC=$(CURDIR)/lint/rustdoc
TEST = $(TESTENV) $(ONCE) $(CARGO) test --workspace --features ratewire-cli/live --no-fail-fast
RUN = $(TESTENV) test/run
SUDO := $(shell [ "$$(id -u)" = 0 ] || echo sudo)
# To build what runs in the kernel.
LIVE_PACKAGES := clang libelf-dev zlib1g-dev
# For a guest with another kernel, and what tests of kernel laws run there.
LAB_PACKAGES := qemu-system-x86 busybox-static cpio kmod xz-utils python3 iperf3 iproute2 ethtool nginx-light curl git
PACKAGES := tshark chromium lld python3-venv iperf3 iproute2 ethtool nginx-light curl git groff-base \
	systemd redis-server memcached $(LIVE_PACKAGES)
install = missing=$$(for p in $(1); do dpkg -s $$p >/dev/null 2>&1 || echo $$p; done); \
	if [ -n "$$missing" ]; then \
		$(SUDO) apt-get update -q && \
		DEBIAN_FRONTEND=noninteractive $(SUDO) apt-get install -y -q --no-install-recommends $$missing; \
	fi

help:
	@echo "make build   the laboratory, ratewire, into target/release"
	@echo "make groups  the group daemon, ratewire-groups, into target/release"
	@echo "make switch  the Anypoint switch, ratewire-switch, into target/release"
	@echo "make dist    all three, linked whole, into target/dist: faster programs, and a build of many minutes"
	@echo "make live    as make dist, with laws in this machine's kernel (installs clang, libelf-dev, zlib1g-dev);"
	@echo "             make dist after it leaves these laws out again"
	@echo "make install what is in target/dist, else in target/release (PREFIX=/usr/local), with manual pages,"
	@echo "             completions and systemd units (as root)"
	@echo "make python  a wheel of the Python package, into target/wheels (installs maturin into target/tools)"
	@echo "make docs    the book, into target/book/html (installs mdBook into target/tools)"
	@echo "make run     the first scenario, into out/three-flows"
	@echo "make test    install what the tests need, then lint, test, and check every scenario"
	@echo "make quick   lint, unit tests and quick scenarios of what a change touches, in a minute or two"
	@echo "make bench   speed and memory, beside ns-2 and Spread where they are (apt-get install ns2; SPREAD=its daemon), nats-server,"
	@echo "             quinn, HAProxy and nutcracker; instructions a packet where valgrind is"
	@echo "make parity  TCPs of the simulator beside this kernel's at random points (root; some 40 minutes, goes on after a stop)"
	@echo "make lab     the tests of kernel laws in a guest with Debian's kernel 6.12 (root; QEMU, a quarter of an hour)"
	@echo "make package whether every crate could be published, before a release"
	@echo "make fuzz    every fuzz target for a minute (cargo install cargo-fuzz)"

build:
	$(CARGO) build --release -p ratewire-cli

groups:
	$(CARGO) build --release -p ratewire-groups-cli

switch:
	$(CARGO) build --release -p ratewire-switch-cli

dist:
	$(CARGO) build --profile dist -p ratewire-cli -p ratewire-groups-cli -p ratewire-switch-cli

live:
	@$(call install,$(LIVE_PACKAGES))
	$(CARGO) build --profile dist -p ratewire-cli -p ratewire-groups-cli -p ratewire-switch-cli --features ratewire-cli/live

# Installing builds nothing: files of root in target/ would block the next build. Each program itself
# writes its manual pages and completions, so they always match it.
install:
	@installed=; for program in $(PROGRAMS); do \
		for folder in $(BUILT_IN); do \
			built=$$folder/$$program; [ -x $$built ] || continue; \
			newer=$$(find $(BUILT_IN) -maxdepth 1 -name $$program -newer $$built 2>/dev/null); \
			[ -z "$$newer" ] || echo "warning: $$newer is newer than $$built; make dist builds that again" >&2; \
			echo "installing $$built"; \
			$(MAKE) --no-print-directory install-program PROGRAM=$$program BUILT=$$built || exit 1; \
			installed=yes; break; \
		done; \
	done; \
	[ "$$installed" ] || { echo "there is no program in $(BUILT_IN): run \`make dist\`, \`make live\`" \
		"(laws in the kernel), or \`make build\`, \`make groups\`, \`make switch\`" >&2; exit 1; }

# Units of a program have its name, or those of kernel laws.
install-program:
	@install -D -s -m 755 $(BUILT) $(DESTDIR)$(PREFIX)/bin/$(PROGRAM)
	@generated=$$(mktemp -d) && $(BUILT) generate $$generated && \
	install -d $(SHARE)/man/man1 && install -m 644 $$generated/man/*.1 $(SHARE)/man/man1 && \
	install -D -m 644 $$generated/completions/$(PROGRAM).bash $(SHARE)/bash-completion/completions/$(PROGRAM) && \
	install -D -m 644 $$generated/completions/_$(PROGRAM) $(SHARE)/zsh/site-functions/_$(PROGRAM) && \
	install -D -m 644 $$generated/completions/$(PROGRAM).fish $(SHARE)/fish/vendor_completions.d/$(PROGRAM).fish && \
	rm -r $$generated
	@install -d $(DESTDIR)$(UNITS)
	@for unit in $$(grep -l '^ExecStart=/usr/local/bin/$(PROGRAM) ' systemd/*.service); do \
		sed 's|/usr/local/bin/|$(PREFIX)/bin/|' $$unit > $(DESTDIR)$(UNITS)/$${unit##*/} || exit 1; \
	done

# One wheel for Python 3.10 and later.
python: $(MATURIN)
	$(MATURIN) build --profile embed --out target/wheels

$(MATURIN):
	@$(call install,python3-venv)
	python3 -m venv target/tools/maturin-$(MATURIN_VERSION)
	target/tools/maturin-$(MATURIN_VERSION)/bin/pip install -q --no-compile maturin==$(MATURIN_VERSION)

# The book's chapters are pages of docs/, papers/ and other folders: their copies keep their places, so
# that links between them hold in both. mdBook makes index.html of a README.md but leaves links to it:
# copies are called index.md. It also copies its first chapter to the book's own index.html, where that
# chapter's links would not hold: a redirection takes its place.
docs: $(MDBOOK)
	rm -rf target/book && mkdir -p target/book/source
	$(CARGO) build --quiet -p ratewire-cli -p ratewire-groups-cli -p ratewire-switch-cli
	for program in $(PROGRAMS); do target/debug/$$program generate target/book || exit 1; done
	mv target/book/book target/book/source/generated
	find *.md docs papers scenarios data fuzz \( -name '*.md' -o -name '*.png' \) -print0 | \
		tar -c --null -T - | tar -x -C target/book/source
	sed 's|](|](docs/|; s|](docs/\.\./|](|' docs/SUMMARY.md > target/book/source/SUMMARY.md
	find target/book/source -name README.md -execdir mv {} index.md \;
	find target/book/source -name '*.md' -exec sed -i 's|README\.md\([)#]\)|index.md\1|g' {} +
	$(MDBOOK) build docs
	echo '<meta http-equiv="refresh" content="0; url=docs/index.html">' > target/book/html/index.html

$(MDBOOK):
	$(CARGO) install --quiet --locked mdbook --version $(MDBOOK_VERSION) --no-default-features --features search \
		--root target/tools/mdbook-$(MDBOOK_VERSION) --target-dir target/tools/build
	rm -r target/tools/build

run: build
	target/release/ratewire run scenarios/three-flows.toml

# Folders whose comments end at column 100.
COMMENTS := bpf crates fuzz python

lint:
	lint/columns $(COMMENTS)
	$(CARGO) fmt --check

# Emulated runs take real time: nothing else should run beside them.
parity: build groups switch
	python3 bench/parity.py target/release/ratewire target/parity.jsonl

# The tests of kernel laws in a guest with Debian's next long-term kernel, but those that ask for a rate: its translated processor
# does not fill a link of 100 Mbit/s. The guest has no systemd, either.
lab:
	@[ "$$(id -u)" = 0 ] || { echo "make lab needs root: it shares this machine's files with a guest" >&2; exit 1; }
	@$(call install,$(LIVE_PACKAGES) $(LAB_PACKAGES))
	@mkdir -p target/lab
	$(TESTENV) $(ONCE) $(CARGO) test -p ratewire-cli --features ratewire-cli/live --test live --no-run \
		--message-format json-render-diagnostics >target/lab/tests.json
	$(TESTENV) RATEWIRE_REQUIRE_ROOT=1 lab/run -- sh -c 'test/run --alone <target/lab/tests.json -- --test-threads 1 \
		--skip upkeep:: --skip links:: --skip status::flows_are_counted'

# Whether every crate could be published, for a release; nothing is uploaded.
package:
	$(CARGO) package --workspace --no-verify --allow-dirty --quiet

# Tests of what runs in the kernel need root and skip without it; with RATEWIRE_REQUIRE_ROOT=1 they fail instead.
# Python's environments come while the code is compiled. Emulated networks and live kernels need a quiet machine, links most of
# all; what runs at idle priority is no noise for the former.
# What the library refuses without its features is told by a build without them. Benchmarks are built and not run.
# That build takes all packages but the command, which needs the features: so crates of others have those that they were built
# with, and only two libraries are compiled again.
test:
	@$(call install,$(PACKAGES))
	@mkdir -p target
	$(MAKE) --no-print-directory lint
	$(MAKE) --no-print-directory tools >target/tools.txt 2>&1 & tools=$$!; \
	trap "kill $$tools; exit 130" INT TERM; \
	$(TEST) --no-run --message-format json-render-diagnostics >target/tests.json || failed=1; \
	$(TEST) --no-run --benches --quiet || failed=1; \
	wait $$tools || { cat target/tools.txt; failed=1; }; \
	exit $${failed:-0}
	nice -n 19 chrt --idle 0 $(MAKE) --no-print-directory test-idle >target/idle.txt 2>&1 & idle=$$!; \
	$(MAKE) --no-print-directory test-python >target/python.txt 2>&1 & python=$$!; \
	trap "kill $$idle $$python; exit 130" INT TERM; \
	$(RUN) --beside --but ratewire-cli/recipes <target/tests.json || failed=1; \
	wait $$python || failed=1; cat target/python.txt; \
	$(RUN) --only ratewire-cli/live <target/tests.json -- --skip links:: || failed=1; \
	$(RUN) --alone --but ratewire-cli/live <target/tests.json || failed=1; \
	wait $$idle || failed=1; cat target/idle.txt; \
	$(RUN) --only ratewire-cli/live <target/tests.json -- links:: || failed=1; \
	exit $${failed:-0}

# What only computes, for the time that other tests leave of the processors.
test-idle:
	target/debug/ratewire check --quiet papers scenarios || failed=1; \
	$(TEST) --doc || failed=1; \
	$(ONCE) $(CARGO) test --workspace --exclude ratewire-cli --no-default-features --test features || failed=1; \
	$(TEST) --test recipes || failed=1; \
	exit $${failed:-0}

# Scenarios of many parts that need a second or less.
QUICK := $(addprefix scenarios/,three-flows.toml rate-change.toml pauses.toml slow-receiver.toml fq-codel.toml link-down.toml)

# It leaves out what needs root, other programs or a browser, and Python.
quick: lint
	@mkdir -p target
	@names=$$(test/touched) || exit 1; \
	[ "$$names" ] || { echo "the change touches no crate"; exit 0; }; \
	$(ONCE) $(CARGO) test $$(test/touched --cargo) --no-run --message-format json-render-diagnostics >target/quick.json && \
	test/run $$names <target/quick.json && \
	target/debug/ratewire check --quiet $(QUICK)

# Debian packages and Python environments, once.
tools: $(VENV)/ready $(MATURIN) $(PYTHON_VENV)/ready
$(VENV)/ready: Makefile
	@$(call install,$(PACKAGES))
	python3 -m venv $(VENV)
	# One that does not read all that later ones do.
	$(VENV)/bin/pip install -q duckdb==1.4.1
	touch $@

# The Python package, as a wheel in an environment of its own. `python/cargo` puts the module into the wheel that `make test`
# has built.
test-python: $(MATURIN) $(PYTHON_VENV)/ready
	rm -rf $(PYTHON_WHEELS)
	$(ONCE) CARGO=$(CURDIR)/python/cargo $(MATURIN) build --profile dev --strip false --compression-method stored --auditwheel skip -q --out $(PYTHON_WHEELS)
	$(PYTHON_VENV)/bin/pip install -q --no-deps --force-reinstall $(PYTHON_WHEELS)/*.whl
	$(PYTHON_VENV)/bin/ruff check -q python && $(PYTHON_VENV)/bin/ruff format -q --check python
	$(PYTHON_VENV)/bin/mypy
	$(TESTENV) $(PYTHON_VENV)/bin/pytest

$(PYTHON_VENV)/ready: python/requirements-test.txt
	python3 -m venv --clear $(PYTHON_VENV)
	$(PYTHON_VENV)/bin/pip install -q --no-compile -r $<
	touch $@

bench:
	$(CARGO) build --profile dist -p ratewire-sim --example workload
	$(CARGO) build --profile dist -p ratewire-scenario --example scenario_workload
	python3 bench/peers.py target/dist/examples/workload
	python3 bench/instructions.py target/dist/examples/workload
	$(CARGO) bench -p ratewire-sim --bench engine
	@$(call install,nats-server haproxy nutcracker redis-server)
	$(MAKE) --no-print-directory dist
	python3 bench/laws.py target/dist/ratewire
	python3 bench/groups.py target/dist/ratewire-groups
	$(CARGO) bench -p ratewire-anypoint --bench switch
	$(CARGO) build --profile dist -p ratewire-acp -p ratewire-switch -p ratewire-gateway --examples
	python3 bench/switch.py target/dist
	$(MAKE) --no-print-directory python
	python3 -m venv target/venv-bench
	target/venv-bench/bin/pip install -q gymnasium numpy
	target/venv-bench/bin/pip install -q --no-deps --force-reinstall $$(ls -t target/wheels/ratewire-*.whl | head -1)
	target/venv-bench/bin/python bench/gym.py
	target/venv-bench/bin/python bench/python.py target/dist/ratewire
	@if [ "$$(id -u)" = 0 ]; then \
		$(call install,$(LIVE_PACKAGES) iperf3 iproute2); \
		$(CARGO) bench -p ratewire-live; \
		$(MAKE) live && python3 bench/emulator.py target/dist/ratewire; \
	fi

fuzz:
	for target in $$(cd fuzz && cargo fuzz list); do \
		(cd fuzz && mkdir -p found/$$target && \
			cargo fuzz run -s none $$target found/$$target corpus/$$target -- -max_total_time=60) || exit 1; \
	done

clean:
	$(CARGO) clean
	rm -rf out
