# `make run` and `make test` set up everything they need.
# Requires a Rust toolchain, Python 3.11 or newer with venv, and a C compiler (checked by scripts/prerequisites.sh).

PYTHON ?= python3
BENCH ?= $(patsubst %,scenarios/bench/%.toml,anomaly-udp wired-4 upload-4 rrul anomaly-tcp thirty he)
FUZZ_SECONDS ?= 60

VENV := .venv
BIN := $(VENV)/bin
STAMPS := build/stamps
NS3_ENV := build/ns3/venv
NS3_FIND := 'import sysconfig; print(sysconfig.get_path("purelib") + "/ns3")'
TARGET := $(or $(CARGO_TARGET_DIR),target)
export VIRTUAL_ENV := $(CURDIR)/$(VENV)

WEB := build/page
SERVED := python/stillair/cli/explore/page
WEB_INPUTS := web/build.mjs web/papers.mjs web/papers.json web/package-lock.json THIRD-PARTY-NOTICES.txt $(shell find web/src web/labs scenarios crates/sim/paths -type f)
RUST_INPUTS := Cargo.toml Cargo.lock pyproject.toml $(shell find crates \( -name '*.rs' -o -name '*.toml' \))

.PHONY: help crosscheck-kernels guest-verdicts run fresh pages site test-live test-live-kills bench-live crosscheck papers why faq tune kernels jitter retry-out validate-wifi describe test test-rust test-python wheel lab-wheel sdist test-sdist test-wheel test-crate test-adapters header fuzz fuzz-link fuzz-readers bench bench-qdiscs bench-ccs bench-doors bench-link bench-pgo bench-startup bench-sweeps bench-wheel bench-ns3 ns3-examples web test-web bench-web clean prerequisites live-hour test-kernels bench-scale bench-htsim soak-link stages test-worked-examples
.DEFAULT_GOAL := help

help: ## show this help
	@sed -n 's/^\([a-z0-9-]*\):.*## \(.*\)/  make \1 - \2/p' $(MAKEFILE_LIST)

run: $(STAMPS)/lab ## set up, then regenerate Table 1 of Ending the Anomaly
	$(BIN)/stillair paper ending-the-anomaly/table1

# The page with all figures stays in build/. Reports are kept, with the version, seeds and trace hashes that produced them
# (runs.json). Only figures used by pages are in git.
papers: $(STAMPS)/lab ## run the papers' experiments, judge every claim, update lab/results
	$(BIN)/stillair paper all -o build/papers --force
	@for paper in build/papers/*/; do \
	  set -- $$paper*.svg; [ -e "$$1" ] || continue; \
	  kept=lab/results/$$(basename $$paper); mkdir -p $$kept; \
	  cp $$paper*.svg $${paper}claims.json $${paper}report.txt $${paper}runs.json $$kept/; \
	done
	$(BIN)/python lab/scripts/golden.py note
	$(BIN)/python lab/scripts/verdicts.py --write
	$(BIN)/python lab/scripts/anomaly_rates.py --claims --write
	$(BIN)/python lab/scripts/readme_figures.py --write
	@echo "wrote build/papers/report.html"

# Each pair takes up to a minute. Fails at the end if a pair does not match the stored verdict of its claim.
why: $(STAMPS)/lab ## rerun every claim not reproduced, as judged and with its cause removed, into lab/results/why.txt
	COLUMNS=200 $(BIN)/stillair paper all --why >lab/results/why.txt

test: ## set up, then run all checks: formatting, lints, types, tests
	@+scripts/parts.sh test-rust test-python test-worked-examples

# Needs the environment first: the bindings are built against its Python.
test-rust: $(STAMPS)/venv | prerequisites
	@scripts/prerequisites.sh lints
	cargo fmt --all --check
	cargo clippy --workspace --all-targets --locked -- -D warnings
	cargo test --workspace --locked
	cargo run --locked -p own-parts -- run examples/own-parts/scenario.toml --set 'duration=3 s' --json >/dev/null
	cargo clippy -p stillair-sim --no-default-features --features threads --all-targets --locked -- -D warnings
	cargo test -p stillair-sim --no-default-features --features threads --test quinn --locked
	cargo clippy -p stillair-link --all-targets --locked -- -D warnings
	scripts/no-std.sh
	RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps --locked --quiet

PYTHON_SOURCES = python lab tests/python tests/live tests/kernels crates/live/programs bench scripts
test-python: $(STAMPS)/lab $(STAMPS)/flent-venv $(STAMPS)/browser $(STAMPS)/ray $(STAMPS)/site
	$(BIN)/ruff check $(PYTHON_SOURCES)
	$(BIN)/ruff format --check $(PYTHON_SOURCES)
	$(BIN)/mypy
	$(BIN)/mypy bench lab/bench
	$(BIN)/mypy scripts
	$(BIN)/mypy lab/scripts
	MYPYPATH=python:lab/src:scripts/website $(BIN)/mypy scripts/website
	$(BIN)/python scripts/prose.py
	$(BIN)/python -m mypy.stubtest stillair._native
	$(BIN)/python -m pytest -q

# Builds the whole workspace, so that cargo reuses the build of `make test`.
test-worked-examples: $(STAMPS)/lab ## check the lab's worked examples against the receiver
	cargo build --locked --workspace --example retry_out
	$(BIN)/python lab/scripts/worked_examples.py $(TARGET)/debug/examples/retry_out

# Includes a test, so that cargo reuses the build of `make test`. Building only the binary would rebuild it with other features.
LIVE_BINARY = cargo build --locked --workspace --bin stillair-live --test steps

# Real hosts in namespaces: as root if run by root, and as an ordinary user. Tests with missing requirements are skipped, or
# fail with STILLAIR_LIVE=required.
test-live: $(STAMPS)/native $(STAMPS)/flent-venv ## test live runs with real hosts; needs iperf3 irtt fping iptables iputils-ping iproute2 curl slirp4netns tshark
	$(LIVE_BINARY)
	STILLAIR_LIVE_BINARY=$(abspath $(TARGET))/debug/stillair-live $(BIN)/python -m pytest -q -p no:cacheprovider tests/live

# A kernel with the example patch, named 6.12, in its own folder, so that no existing 6.12 is replaced. The first build takes some minutes.
# KERNEL=NAME selects one of `stillair kernel list` instead. Tests fail without a kernel, and are skipped only if the machine's kernel lacks a feature.
ifdef KERNEL
TEST_KERNELS = STILLAIR_TEST_KERNEL=$(KERNEL)
else
TEST_KERNELS = STILLAIR_KERNELS=$${STILLAIR_TEST_KERNELS:-$${XDG_CACHE_HOME:-$$HOME/.cache}/stillair/tests}
endif
test-kernels: $(STAMPS)/native ## build or find a real kernel and test guests; needs gcc make flex bison bc xz-utils patch libc6-dev
	$(if $(KERNEL),,$(TEST_KERNELS) $(BIN)/stillair kernel build 6.12 --patch shallow --config shallow --replace)
	$(TEST_KERNELS) $(BIN)/python -m pytest -q -p no:cacheprovider tests/kernels
	$(TEST_KERNELS) STILLAIR_NEED_KERNELS=1 cargo test --workspace --locked --test guests

test-live-kills: $(STAMPS)/venv ## kill live runs at random times, KILLS=50 per user, and check that nothing remains
	$(LIVE_BINARY)
	STILLAIR_LIVE_BINARY=$(abspath $(TARGET))/debug/stillair-live STILLAIR_KILLS=$(or $(KILLS),50) $(BIN)/python -m pytest -q -p no:cacheprovider tests/live/test_ends.py -k at_random

bench-live: | prerequisites ## CPU time and lateness of live runs, compared with a bare veth; as root
	cargo build --release --locked -p stillair-live
	$(PYTHON) bench/live.py $(TARGET)/release/stillair-live

live-hour: $(STAMPS)/flent-venv ## memory use over an hour of Flent's rrul_be between live hosts, into lab/results/live
	cargo build --release --locked -p stillair-live
	@mkdir -p lab/results/live
	$(PYTHON) bench/live_hour.py $(TARGET)/release/stillair-live build/flent-venv/bin/flent >lab/results/live/hour.txt

crosscheck: $(STAMPS)/native ## compare live runs with virtual time (cubic, bbr, both directions, small queues on and off), into lab/results/live
	@mkdir -p lab/results/live
	$(BIN)/stillair crosscheck scenarios/live/crosscheck.toml --runs 3 >lab/results/live/crosscheck.txt

crosscheck-kernels: $(STAMPS)/lab ## compare the model with a real kernel over Wi-Fi, into lab/results/guests; needs 'stillair kernel build 6.12'
	$(BIN)/python lab/scripts/crosscheck_kernels.py

guest-verdicts: $(STAMPS)/lab ## judge two papers' claims with a real kernel, into guests.toml in their folders; needs 'stillair kernel build 6.12'
	$(BIN)/python lab/scripts/guest_verdicts.py towards-1ms
	$(BIN)/python lab/scripts/guest_verdicts.py tsq-pacing

kernels: $(STAMPS)/lab ## run the grid of the 1 ms paper with four kernels, into lab/results/kernels
	$(BIN)/python lab/scripts/golden.py make kernels

jitter: $(STAMPS)/lab ## verdicts that depend on exact hosts and Ethernet devices, into lab/results/jitter.md
	$(BIN)/python lab/scripts/golden.py make jitter

retry-out: $(STAMPS)/lab ## compare remedies for retry-outs with two kernels, into lab/results/retry-out
	$(BIN)/python lab/scripts/golden.py make remedies

faq: $(STAMPS)/lab ## regenerate the 'stillair faq' pages in docs/faq
	$(BIN)/python lab/scripts/faq.py

tune: $(STAMPS)/lab ## tune five networks with one wrong setting each, into lab/results/tune
	@mkdir -p lab/results/tune
	$(BIN)/python lab/scripts/tune_problems.py >lab/results/tune/problems.txt

validate-wifi: $(STAMPS)/lab ## compare the model with the real mac80211, into lab/results/validate-wifi; stops at a failed run
	@mkdir -p build
	$(BIN)/stillair validate wifi -o lab/results/validate-wifi --force >build/validate-wifi.txt
	@sed -n '$$p' build/validate-wifi.txt

# Run results shown on pages. Without --write, each script reports stale results.
fresh: $(STAMPS)/lab ## repeat the first run of every stored result and report stale ones
	$(BIN)/python lab/scripts/golden.py check --all
	$(BIN)/python lab/scripts/readme_figures.py
	$(BIN)/python lab/scripts/page_settings.py
	$(BIN)/python scripts/render_console.py
	$(BIN)/python scripts/animation.py
	$(BIN)/python scripts/gallery.py

pages: $(STAMPS)/lab ## update command output, sweeps, stored results and gallery figures on pages
	$(BIN)/python lab/scripts/golden.py make tables
	$(BIN)/python lab/scripts/readme_figures.py --write
	$(BIN)/python lab/scripts/page_settings.py --write
	$(BIN)/python scripts/render_console.py --write
	$(BIN)/python scripts/animation.py --write
	$(BIN)/python scripts/gallery.py --write

site: $(STAMPS)/lab $(STAMPS)/site ## build docs/ into build/site: strict, no external requests (STILLAIR_REPOSITORY=URL for links)
	$(BIN)/python scripts/website/build.py build/site-venv/bin/zensical

describe: $(STAMPS)/native ## regenerate the scenario's JSON Schema and reference
	$(BIN)/stillair schema >python/stillair/schema/scenario.schema.json
	$(BIN)/stillair schema --reference >docs/scenario.md

web: $(WEB)/index.html ## build the browser page: a folder, and stillair.html with everything in one file

test-web: web $(STAMPS)/lab ## test the page: types, trace hashes against native, Chromium, 'stillair explore'
	cd web && npx --no-install tsc --noEmit
	cd web && node --test --test-reporter=spec tests/*.test.mjs
	$(BIN)/python -m pytest -q tests/python/test_explore.py

bench-web: web $(STAMPS)/native ## CPU time of browser runs compared with native, and the time from a knob to a plot
	PYTHON=$(CURDIR)/$(BIN)/python node web/tests/bench.mjs

lab-wheel: $(STAMPS)/venv ## build the wheel of stillair-lab into wheels/
	$(BIN)/python -m pip wheel --quiet --disable-pip-version-check --no-deps --no-build-isolation --wheel-dir wheels lab

wheel: $(STAMPS)/venv ## build the wheel into wheels/, with profile-guided optimisation (about ten minutes); PGO=no builds without
	scripts/wheel.sh $(CURDIR)/$(BIN)/maturin wheels $(PGO)

# As published: with absolute links, and only files in git.
sdist: $(STAMPS)/venv ## build the sdist into dist/, for publication at REPOSITORY=https://HOST/OWNER/NAME
	@test -n "$(REPOSITORY)" || { echo "usage: make sdist REPOSITORY=https://HOST/OWNER/NAME" >&2; exit 2; }
	rm -rf build/published
	scripts/publish_tree.py $(REPOSITORY) build/published
	$(BIN)/maturin sdist --manifest-path build/published/crates/py/Cargo.toml --out dist

test-sdist: ## build an sdist and check that it compiles
	@$(MAKE) --no-print-directory sdist REPOSITORY=https://example.org/stillair/stillair
	scripts/test-sdist.sh dist $(CURDIR)/$(TARGET)

test-wheel: wheel ## install the wheel into a fresh environment and test it (PGO=no: without a profile)
	PYTHON=$(PYTHON) scripts/test-wheel.sh wheels

test-crate: | prerequisites ## package stillair-link as for publication, and test it outside the repository
	scripts/test-crate.sh $(TARGET)

# In a separate workspace, to keep the transports' dependencies out of ours.
test-adapters: ## test released QUIC and WebRTC stacks over links, and the C header
	@PYTHON=$(PYTHON) scripts/prerequisites.sh adapters
	cd adapters && cargo fmt --all --check
	cd adapters && cargo run --locked --quiet -p header -- --check
	cd adapters && cargo test --locked --workspace

header: | prerequisites ## regenerate the C header from crates/link-c
	cd adapters && cargo run --locked --quiet -p header

# Builds the whole workspace, so that cargo reuses the build of `make test`.
FUZZERS = cargo build --locked --workspace --example fuzz --example fuzz_netlink --example fuzz_link

fuzz: | prerequisites ## fuzz the readers of scenarios, packets and netlink messages, and whole networks, FUZZ_SECONDS each; FUZZ_SEED=N sets the first seed
	$(FUZZERS)
	scripts/fuzz.sh $(TARGET)/debug/examples/fuzz $(FUZZ_SECONDS) $(FUZZ_SEED)

fuzz-readers: $(STAMPS)/lab ## fuzz the Python file readers (captures, imports, results, ...), FUZZ_SECONDS each; FUZZ_SEED=N sets the first seed
	PYTHONPATH=tests/python $(BIN)/python scripts/fuzz_readers.py $(FUZZ_SECONDS) $(FUZZ_SEED)

fuzz-link: | prerequisites ## fuzz sequences of link calls, FUZZ_SECONDS; FUZZ_SEED=N sets the first seed
	$(FUZZERS)
	scripts/fuzz-link.sh $(TARGET)/debug/examples/fuzz_link $(FUZZ_SECONDS) $(FUZZ_SEED)

bench: | prerequisites ## CPU time and instructions per packet and per TCP segment
	@mkdir -p build
	cargo build --release --locked -p stillair-sim --example bench
	$(TARGET)/release/examples/bench $(BENCH)
	@scripts/instructions.sh $(TARGET)/release/examples/bench $(BENCH)

bench-pgo: | prerequisites ## instructions and CPU time with PGO and target-cpu=native, compared with the plain build; about 20 CPU minutes
	scripts/pgo.sh $(BENCH)

bench-wheel: wheel ## instructions and CPU time per TCP segment in the wheel, without set-up; needs valgrind
	$(PYTHON) -m venv --clear build/bench-wheel
	build/bench-wheel/bin/python -m pip install --quiet --disable-pip-version-check $$(ls -t wheels/stillair-*.whl | head -n 1)
	cargo build --release --locked -p stillair-sim --example bench
	@for standard in n ac; do for traffic in download upload; do \
	  build/bench-wheel/bin/stillair new build/bench-wheel/$$standard-$$traffic.toml --station a=5m --standard $$standard --traffic $$traffic >/dev/null; \
	done; done
	$(PYTHON) bench/wheel.py build/bench-wheel/bin/python $(TARGET)/release/examples/bench build/bench-wheel/*.toml \
	  $(filter-out %anomaly-udp.toml,$(BENCH)) scenarios/bench/reno.toml

bench-startup: $(STAMPS)/lab ## start-up CPU time of commands, and their imports
	$(BIN)/python bench/startup.py --imports

bench-qdiscs: | prerequisites ## CPU time and instructions per packet for each qdisc, with 1, 100 and 10,000 flows
	@mkdir -p build
	cargo build --release --locked -p stillair-model --example qdiscs
	$(TARGET)/release/examples/qdiscs
	@scripts/qdisc-instructions.sh $(TARGET)/release/examples/qdiscs

bench-ccs: | prerequisites ## CPU time and instructions per ACK for each congestion control
	@mkdir -p build
	cargo build --release --locked -p stillair-model --example ccs
	$(TARGET)/release/examples/ccs
	@scripts/cc-instructions.sh $(TARGET)/release/examples/ccs

bench-doors: | prerequisites ## CPU time per external packet, compared with a modelled one
	cargo build --release --locked -p stillair-sim --example bench_doors
	$(TARGET)/release/examples/bench_doors

bench-link: | prerequisites ## CPU time of links: creation, download, call, per packet
	cargo build --release --locked -p stillair-link --example bench_link
	$(TARGET)/release/examples/bench_link

soak-link: | prerequisites ## memory use over a million links (LINKS) created, used and dropped; not in CI
	cargo build --release --locked -p stillair-link --example bench_link
	$(TARGET)/release/examples/bench_link soak $(or $(LINKS),1000000)

# Without LTO, so that instructions are attributed to the crate in which a function is written.
stages: | prerequisites ## instructions by stage of the data path, from callgrind, into docs/stages.md
	CARGO_PROFILE_RELEASE_LTO=off CARGO_PROFILE_RELEASE_CODEGEN_UNITS=16 \
	  cargo build --release --locked -p stillair-sim --example bench --target-dir $(TARGET)/stages
	$(PYTHON) scripts/stages.py $(TARGET)/stages/release/examples/bench --write --set 'duration=2 s' $(BENCH)

bench-sweeps: $(STAMPS)/native ## CPU time overhead of a sweep and of a Dask task
	$(BIN)/python bench/sweep_overhead.py

bench-scale: | prerequisites ## CPU time per delivered packet and memory with 3 to 1,000 stations, a campus, start-up and sweep of a small run
	cargo build --release --locked -p stillair-sim --example scale
	$(PYTHON) bench/scale.py $(TARGET)/release/examples/scale $(SCALE_ARGS)
	$(TARGET)/release/examples/scale scenarios/campus.toml
	$(TARGET)/release/examples/scale --islands scenarios/campus.toml 2
	$(TARGET)/release/examples/scale --start scenarios/bench/small.toml
	$(TARGET)/release/examples/scale --sweep scenarios/bench/small.toml 1000

bench-htsim: | prerequisites ## compare a wired bottleneck with htsim; HTSIM=PATH of its htsim_dumbell_tcp
	@test -n "$(HTSIM)" || { echo "usage: make bench-htsim HTSIM=PATH of htsim_dumbell_tcp (head of lab/bench/htsim.py)" >&2; exit 2; }
	cargo build --release --locked -p stillair-sim --example scale
	$(PYTHON) lab/bench/htsim.py $(HTSIM) $(TARGET)/release/examples/scale

bench-ns3: $(STAMPS)/ns3 ## compare scenarios with ns-3 (NS3_ARGS="--scenario anomaly-udp --runs 5 --json")
	cargo build --release --locked -p stillair-sim --example bench
	@$(MAKE) --no-print-directory -C lab/bench/ns3 NS3=$$($(NS3_ENV)/bin/python -c $(NS3_FIND)) OUT=$(CURDIR)/build/ns3
	$(NS3_ENV)/bin/python lab/bench/compare.py --ns3 build/ns3/bench --stillair $(TARGET)/release/examples/bench $(NS3_ARGS)

# Takes a quarter of an hour, mostly ns-3 with up to 50 stations.
ns3-examples: $(STAMPS)/lab $(STAMPS)/ns3 ## run ns-3's validated Wi-Fi examples in both simulators, into lab/results/ns3-examples
	@$(MAKE) --no-print-directory -C lab/bench/ns3 NS3=$$($(NS3_ENV)/bin/python -c $(NS3_FIND)) OUT=$(CURDIR)/build/ns3 saturation
	@mkdir -p lab/results/ns3-examples
	$(BIN)/python lab/bench/examples.py --predict >lab/results/ns3-examples/predictions.txt
	$(BIN)/python lab/bench/examples.py --ns3 build/ns3/saturation --write lab/results/ns3-examples $(NS3_ARGS)

clean: ## remove build output and the virtual environment
	cargo clean
	rm -rf $(VENV) build wheels .mypy_cache .ruff_cache .pytest_cache .hypothesis python/stillair/*.so

prerequisites:
	@PYTHON=$(PYTHON) scripts/prerequisites.sh build

$(STAMPS)/venv: requirements-dev.txt | prerequisites
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements-dev.txt
	@mkdir -p $(STAMPS) && touch $@

# The environment contains only the wheel: its Python bindings need cppyy, its C++ headers and libraries do not.
$(STAMPS)/ns3: lab/bench/ns3/requirements.txt | prerequisites
	@scripts/prerequisites.sh ns3
	$(PYTHON) -m venv $(NS3_ENV)
	$(NS3_ENV)/bin/python -m pip install --disable-pip-version-check --quiet --no-deps --only-binary :all: -r $< \
	  || { echo "no ns-3 wheel for $$($(PYTHON) -V); use a supported version, such as: make bench-ns3 PYTHON=python3.11" >&2; exit 1; }
	@mkdir -p $(STAMPS) && touch $@

# The real Flent. Tests run it as a separate program; it is never imported and not a dependency.
$(STAMPS)/flent-venv: requirements-flent.txt | prerequisites
	$(PYTHON) -m venv build/flent-venv
	build/flent-venv/bin/python -m pip install --quiet --disable-pip-version-check -r requirements-flent.txt
	@mkdir -p $(STAMPS) && touch $@

# The site generator, in its own environment.
$(STAMPS)/site: requirements-site.txt | prerequisites
	$(PYTHON) -m venv build/site-venv
	build/site-venv/bin/python -m pip install --quiet --disable-pip-version-check -r requirements-site.txt
	@mkdir -p $(STAMPS) && touch $@

# Browser automation for the page tests; the browser is the system's.
$(STAMPS)/browser: requirements-browser.txt $(STAMPS)/venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements-browser.txt
	@touch $@

$(STAMPS)/node: web/package-lock.json | prerequisites
	@scripts/prerequisites.sh web
	cd web && npm ci --no-audit --no-fund --loglevel=error
	@mkdir -p $(STAMPS) && touch $@

build/web/engine.wasm: $(RUST_INPUTS) scripts/wasm-toolchain.sh | prerequisites
	scripts/wasm-toolchain.sh $@

$(WEB)/index.html: build/web/engine.wasm $(STAMPS)/node $(WEB_INPUTS)
	node web/build.mjs build/web/engine.wasm $(WEB)
	install -D -m 644 -t $(SERVED) $(addprefix $(WEB)/,index.html app.js app.css)

# Ray has no wheel for every Python; its test is then skipped.
$(STAMPS)/ray: requirements-ray.txt $(STAMPS)/venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --only-binary :all: -r $< || echo "Ray not installed: skipping its test" >&2
	@touch $@

$(STAMPS)/native: $(STAMPS)/venv $(RUST_INPUTS)
	PIP_QUIET=1 PIP_DISABLE_PIP_VERSION_CHECK=1 $(BIN)/maturin develop --release --locked --quiet
	@touch $@

# Editable like the package itself. The environment already has all its dependencies.
$(STAMPS)/lab: lab/pyproject.toml $(STAMPS)/venv | $(STAMPS)/native
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-build-isolation --no-deps --editable lab
	@touch $@
