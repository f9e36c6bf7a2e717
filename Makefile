# Everything a fresh machine needs is set up by `make run` and `make test` themselves.
# Needs: a Rust toolchain, Python 3.11 or newer with venv, a C compiler (scripts/prerequisites.sh checks).

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

help: ## show this list
	@sed -n 's/^\([a-z0-9-]*\):.*## \(.*\)/  make \1 - \2/p' $(MAKEFILE_LIST)

run: $(STAMPS)/lab ## set up, then regenerate Table 1 of Ending the Anomaly
	$(BIN)/stillair paper ending-the-anomaly/table1

# The page with all pictures stays in build/; reports are kept, with the version, the seeds and the trace hashes that made
# them (runs.json). Of the figures git has only those that pages show.
papers: $(STAMPS)/lab ## run the papers' experiments, judge every claim, renew lab/results
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
	@echo "the page: build/papers/report.html"

# Each pair takes up to a minute; one that does not show what is kept of its claim stops it, when all have been written.
why: $(STAMPS)/lab ## every claim that is not reproduced, as judged and with the one change of its cause, into lab/results/why.txt
	COLUMNS=200 $(BIN)/stillair paper all --why >lab/results/why.txt

test: ## set up, then run every check: format, lints, types, tests
	@+scripts/parts.sh test-rust test-python test-worked-examples

# The bindings are built against the environment's Python, so that comes first.
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
	$(BIN)/python -m mypy.stubtest stillair._native
	$(BIN)/python -m pytest -q

# As one build of the workspace, so that cargo takes what `make test` has built.
test-worked-examples: $(STAMPS)/lab ## ask the receiver again about the worked examples that the lab keeps its answers to
	cargo build --locked --workspace --example retry_out
	$(BIN)/python lab/scripts/worked_examples.py $(TARGET)/debug/examples/retry_out

# A test is beside it, as cargo takes what `make test` has built then; alone it would be built anew, with the features that it needs.
LIVE_BINARY = cargo build --locked --workspace --bin stillair-live --test steps

# Real hosts in namespaces, as root if this is root, and as the user nobody or this one. What is missing is named and skipped;
# with STILLAIR_LIVE=required that is a failure.
test-live: $(STAMPS)/native $(STAMPS)/flent-venv ## real hosts over the modelled network; needs iperf3 irtt fping iptables iputils-ping iproute2 curl slirp4netns tshark
	$(LIVE_BINARY)
	STILLAIR_LIVE_BINARY=$(abspath $(TARGET))/debug/stillair-live $(BIN)/python -m pytest -q -p no:cacheprovider tests/live

# One kernel with the example's patch in it, called 6.12, in a place of its own: nobody's 6.12 is replaced. It takes some minutes, once. KERNEL=NAME is
# one of `stillair kernel list` instead. Without a kernel, or where guests cannot run, a test fails, unless it names what this machine's kernel lacks.
ifdef KERNEL
TEST_KERNELS = STILLAIR_TEST_KERNEL=$(KERNEL)
else
TEST_KERNELS = STILLAIR_KERNELS=$${STILLAIR_TEST_KERNELS:-$${XDG_CACHE_HOME:-$$HOME/.cache}/stillair/tests}
endif
test-kernels: $(STAMPS)/native ## a real kernel built or found, and guests of it: needs gcc make flex bison bc xz-utils patch libc6-dev
	$(if $(KERNEL),,$(TEST_KERNELS) $(BIN)/stillair kernel build 6.12 --patch shallow --config shallow --replace)
	$(TEST_KERNELS) $(BIN)/python -m pytest -q -p no:cacheprovider tests/kernels
	$(TEST_KERNELS) STILLAIR_NEED_KERNELS=1 cargo test --workspace --locked --test guests

test-live-kills: $(STAMPS)/venv ## live runs killed at random, KILLS=50 as each user: nothing may remain
	$(LIVE_BINARY)
	STILLAIR_LIVE_BINARY=$(abspath $(TARGET))/debug/stillair-live STILLAIR_KILLS=$(or $(KILLS),50) $(BIN)/python -m pytest -q -p no:cacheprovider tests/live/test_ends.py -k at_random

bench-live: | prerequisites ## CPU time and lateness of live runs beside a bare veth, as root
	cargo build --release --locked -p stillair-live
	$(PYTHON) bench/live.py $(TARGET)/release/stillair-live

live-hour: $(STAMPS)/flent-venv ## an hour of Flent's rrul_be between live hosts: whether memory stays as it is, into lab/results/live
	cargo build --release --locked -p stillair-live
	@mkdir -p lab/results/live
	$(PYTHON) bench/live_hour.py $(TARGET)/release/stillair-live build/flent-venv/bin/flent >lab/results/live/hour.txt

crosscheck: $(STAMPS)/native ## cubic and bbr, up and down, small queues on and off: live beside virtual time, into lab/results/live
	@mkdir -p lab/results/live
	$(BIN)/stillair crosscheck scenarios/live/crosscheck.toml --runs 3 >lab/results/live/crosscheck.txt

crosscheck-kernels: $(STAMPS)/lab ## the model beside a real kernel over the air, into lab/results/guests; needs 'stillair kernel build 6.12'
	$(BIN)/python lab/scripts/crosscheck_kernels.py

guest-verdicts: $(STAMPS)/lab ## what a real kernel says of two papers' claims, into guests.toml of their folders; needs 'stillair kernel build 6.12'
	$(BIN)/python lab/scripts/guest_verdicts.py towards-1ms
	$(BIN)/python lab/scripts/guest_verdicts.py tsq-pacing

kernels: $(STAMPS)/lab ## the grid of the 1 ms paper under four kernels, into lab/results/kernels
	$(BIN)/python lab/scripts/golden.py make kernels

jitter: $(STAMPS)/lab ## which verdicts depend on exact hosts and on Ethernet devices, into lab/results/jitter.md
	$(BIN)/python lab/scripts/golden.py make jitter

retry-out: $(STAMPS)/lab ## who gives up and when: retry-out, fewer tries, both, under two kernels, into lab/results/retry-out
	$(BIN)/python lab/scripts/golden.py make remedies

faq: $(STAMPS)/lab ## the pages of 'stillair faq', into docs/faq
	$(BIN)/python lab/scripts/faq.py

tune: $(STAMPS)/lab ## the five networks with one setting that is wrong, tuned, into lab/results/tune
	@mkdir -p lab/results/tune
	$(BIN)/python lab/scripts/tune_problems.py >lab/results/tune/problems.txt

validate-wifi: $(STAMPS)/lab ## the model beside the real mac80211, into lab/results/validate-wifi; a run that fails stops it
	@mkdir -p build
	$(BIN)/stillair validate wifi -o lab/results/validate-wifi --force >build/validate-wifi.txt
	@sed -n '$$p' build/validate-wifi.txt

# What pages show of runs. Each script says without --write what is stale.
fresh: $(STAMPS)/lab ## repeat the first run of every kept cell, and say what is stale
	$(BIN)/python lab/scripts/golden.py check --all
	$(BIN)/python lab/scripts/readme_figures.py
	$(BIN)/python lab/scripts/page_settings.py
	$(BIN)/python scripts/render_console.py
	$(BIN)/python scripts/animation.py
	$(BIN)/python scripts/gallery.py

pages: $(STAMPS)/lab ## renew what pages show of commands, sweeps, kept results and pictures of the gallery
	$(BIN)/python lab/scripts/golden.py make tables
	$(BIN)/python lab/scripts/readme_figures.py --write
	$(BIN)/python lab/scripts/page_settings.py --write
	$(BIN)/python scripts/render_console.py --write
	$(BIN)/python scripts/animation.py --write
	$(BIN)/python scripts/gallery.py --write

site: $(STAMPS)/lab $(STAMPS)/site ## build docs/ as a site into build/site: strict, and no page asks another host (STILLAIR_REPOSITORY=URL for links)
	$(BIN)/python scripts/website/build.py build/site-venv/bin/zensical

describe: $(STAMPS)/native ## write the scenario's JSON Schema and reference anew, from the tables that the reader reads by
	$(BIN)/stillair schema >python/stillair/schema/scenario.schema.json
	$(BIN)/stillair schema --reference >docs/scenario.md

web: $(WEB)/index.html ## build the page that runs in the browser: the folder, and stillair.html, which is all of it in one file

test-web: web $(STAMPS)/lab ## the page: types, trace hashes equal to native, in Chromium, and 'stillair explore'
	cd web && npx --no-install tsc --noEmit
	cd web && node --test --test-reporter=spec tests/*.test.mjs
	$(BIN)/python -m pytest -q tests/python/test_explore.py

bench-web: web $(STAMPS)/native ## CPU time of runs in the browser's engine beside native, and the time from a knob to a picture
	PYTHON=$(CURDIR)/$(BIN)/python node web/tests/bench.mjs

lab-wheel: $(STAMPS)/venv ## build the wheel of stillair-lab into wheels/
	$(BIN)/python -m pip wheel --quiet --disable-pip-version-check --no-deps --no-build-isolation --wheel-dir wheels lab

wheel: $(STAMPS)/venv ## build the wheel into wheels/, with a profile of runs (some ten minutes); PGO=no builds without one
	scripts/wheel.sh $(CURDIR)/$(BIN)/maturin wheels $(PGO)

# Of an sdist that cargo finds whole, as it is published: with absolute links, and without what git does not have.
sdist: $(STAMPS)/venv ## build the sdist into dist/, as it is published at REPOSITORY=https://HOST/OWNER/NAME
	@test -n "$(REPOSITORY)" || { echo "say where: make sdist REPOSITORY=https://HOST/OWNER/NAME" >&2; exit 2; }
	rm -rf build/published
	scripts/publish_tree.py $(REPOSITORY) build/published
	$(BIN)/maturin sdist --manifest-path build/published/crates/py/Cargo.toml --out dist

test-sdist: ## build an sdist and check that what is in it compiles
	@$(MAKE) --no-print-directory sdist REPOSITORY=https://example.org/stillair/stillair
	scripts/test-sdist.sh dist $(CURDIR)/$(TARGET)

test-wheel: wheel ## install the wheel into a fresh environment and run it there (PGO=no: one without a profile)
	PYTHON=$(PYTHON) scripts/test-wheel.sh wheels

test-crate: | prerequisites ## pack stillair-link as it is published, and try it away from here
	scripts/test-crate.sh $(TARGET)

# Real transports over links, in a workspace of their own: their dependencies are none of ours.
test-adapters: ## released QUIC and WebRTC stacks over links, and whether the C header is the library's
	@PYTHON=$(PYTHON) scripts/prerequisites.sh adapters
	cd adapters && cargo fmt --all --check
	cd adapters && cargo run --locked --quiet -p header -- --check
	cd adapters && cargo test --locked --workspace

header: | prerequisites ## write the C header anew from crates/link-c
	cd adapters && cargo run --locked --quiet -p header

# As one build of the workspace, so that cargo takes what `make test` has built.
FUZZERS = cargo build --locked --workspace --example fuzz --example fuzz_netlink --example fuzz_link

fuzz: | prerequisites ## look for scenarios, packets and messages of the kernel that break their readers, and networks that break the world, FUZZ_SECONDS each; FUZZ_SEED=N begins there
	$(FUZZERS)
	scripts/fuzz.sh $(TARGET)/debug/examples/fuzz $(FUZZ_SECONDS) $(FUZZ_SEED)

fuzz-readers: $(STAMPS)/lab ## look for files that break a reader in Python (captures, imports, results, ...), FUZZ_SECONDS each; FUZZ_SEED=N begins there
	PYTHONPATH=tests/python $(BIN)/python scripts/fuzz_readers.py $(FUZZ_SECONDS) $(FUZZ_SEED)

fuzz-link: | prerequisites ## look for calls that break a link, FUZZ_SECONDS; FUZZ_SEED=N begins there
	$(FUZZERS)
	scripts/fuzz-link.sh $(TARGET)/debug/examples/fuzz_link $(FUZZ_SECONDS) $(FUZZ_SEED)

bench: | prerequisites ## CPU time and instructions per packet, and per segment of TCP
	@mkdir -p build
	cargo build --release --locked -p stillair-sim --example bench
	$(TARGET)/release/examples/bench $(BENCH)
	@scripts/instructions.sh $(TARGET)/release/examples/bench $(BENCH)

bench-pgo: | prerequisites ## instructions and CPU time with a profile and for this processor, beside the plain build; some 20 CPU minutes
	scripts/pgo.sh $(BENCH)

bench-wheel: wheel ## instructions and CPU time of a TCP segment in the wheel, without set-up; needs valgrind
	$(PYTHON) -m venv --clear build/bench-wheel
	build/bench-wheel/bin/python -m pip install --quiet --disable-pip-version-check $$(ls -t wheels/stillair-*.whl | head -n 1)
	cargo build --release --locked -p stillair-sim --example bench
	@for standard in n ac; do for traffic in download upload; do \
	  build/bench-wheel/bin/stillair new build/bench-wheel/$$standard-$$traffic.toml --station a=5m --standard $$standard --traffic $$traffic >/dev/null; \
	done; done
	$(PYTHON) bench/wheel.py build/bench-wheel/bin/python $(TARGET)/release/examples/bench build/bench-wheel/*.toml \
	  $(filter-out %anomaly-udp.toml,$(BENCH)) scenarios/bench/reno.toml

bench-startup: $(STAMPS)/lab ## CPU time of commands before they do anything, and what they import
	$(BIN)/python bench/startup.py --imports

bench-qdiscs: | prerequisites ## CPU time and instructions per packet in each queueing discipline, with 1, 100 and 10,000 flows
	@mkdir -p build
	cargo build --release --locked -p stillair-model --example qdiscs
	$(TARGET)/release/examples/qdiscs
	@scripts/qdisc-instructions.sh $(TARGET)/release/examples/qdiscs

bench-ccs: | prerequisites ## CPU time and instructions per acknowledgement in each congestion control
	@mkdir -p build
	cargo build --release --locked -p stillair-model --example ccs
	$(TARGET)/release/examples/ccs
	@scripts/cc-instructions.sh $(TARGET)/release/examples/ccs

bench-doors: | prerequisites ## CPU time of a packet from outside beside a modelled one
	cargo build --release --locked -p stillair-sim --example bench_doors
	$(TARGET)/release/examples/bench_doors

bench-link: | prerequisites ## CPU time of links: to make one, of a download, of a call, of a packet
	cargo build --release --locked -p stillair-link --example bench_link
	$(TARGET)/release/examples/bench_link

soak-link: | prerequisites ## a million links (LINKS) made, used and dropped, and the memory of the process on the way; not in CI
	cargo build --release --locked -p stillair-link --example bench_link
	$(TARGET)/release/examples/bench_link soak $(or $(LINKS),1000000)

# Functions that are linked as they were compiled are counted where they are written.
stages: | prerequisites ## instructions by stage of a packet's walk, by callgrind, into docs/stages.md
	CARGO_PROFILE_RELEASE_LTO=off CARGO_PROFILE_RELEASE_CODEGEN_UNITS=16 \
	  cargo build --release --locked -p stillair-sim --example bench --target-dir $(TARGET)/stages
	$(PYTHON) scripts/stages.py $(TARGET)/stages/release/examples/bench --write --set 'duration=2 s' $(BENCH)

bench-sweeps: $(STAMPS)/native ## CPU time of a sweep beside its runs, and of a Dask task
	$(BIN)/python bench/sweep_overhead.py

bench-scale: | prerequisites ## a delivered packet and memory with 3 to 1,000 stations, a campus, start and sweep of a small run
	cargo build --release --locked -p stillair-sim --example scale
	$(PYTHON) bench/scale.py $(TARGET)/release/examples/scale $(SCALE_ARGS)
	$(TARGET)/release/examples/scale scenarios/campus.toml
	$(TARGET)/release/examples/scale --islands scenarios/campus.toml 2
	$(TARGET)/release/examples/scale --start scenarios/bench/small.toml
	$(TARGET)/release/examples/scale --sweep scenarios/bench/small.toml 1000

bench-htsim: | prerequisites ## the same wired bottleneck in htsim and here, by turns: HTSIM=PATH of its htsim_dumbell_tcp
	@test -n "$(HTSIM)" || { echo "say where: make bench-htsim HTSIM=PATH of htsim_dumbell_tcp (head of lab/bench/htsim.py)" >&2; exit 2; }
	cargo build --release --locked -p stillair-sim --example scale
	$(PYTHON) lab/bench/htsim.py $(HTSIM) $(TARGET)/release/examples/scale

bench-ns3: $(STAMPS)/ns3 ## the same scenarios in ns-3 and here (NS3_ARGS="--scenario anomaly-udp --runs 5 --json")
	cargo build --release --locked -p stillair-sim --example bench
	@$(MAKE) --no-print-directory -C lab/bench/ns3 NS3=$$($(NS3_ENV)/bin/python -c $(NS3_FIND)) OUT=$(CURDIR)/build/ns3
	$(NS3_ENV)/bin/python lab/bench/compare.py --ns3 build/ns3/bench --stillair $(TARGET)/release/examples/bench $(NS3_ARGS)

# Of several stations with up to 50 of them ns-3 takes most of the quarter of an hour.
ns3-examples: $(STAMPS)/lab $(STAMPS)/ns3 ## ns-3's validated Wi-Fi examples in ns-3 and here, into lab/results/ns3-examples
	@$(MAKE) --no-print-directory -C lab/bench/ns3 NS3=$$($(NS3_ENV)/bin/python -c $(NS3_FIND)) OUT=$(CURDIR)/build/ns3 saturation
	@mkdir -p lab/results/ns3-examples
	$(BIN)/python lab/bench/examples.py --predict >lab/results/ns3-examples/predictions.txt
	$(BIN)/python lab/bench/examples.py --ns3 build/ns3/saturation --write lab/results/ns3-examples $(NS3_ARGS)

clean: ## remove what was built, the virtual environment included
	cargo clean
	rm -rf $(VENV) build wheels .mypy_cache .ruff_cache .pytest_cache .hypothesis python/stillair/*.so

prerequisites:
	@PYTHON=$(PYTHON) scripts/prerequisites.sh build

$(STAMPS)/venv: requirements-dev.txt | prerequisites
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements-dev.txt
	@mkdir -p $(STAMPS) && touch $@

# The environment holds the wheel alone: its Python bindings need cppyy, its C++ headers and libraries do not.
$(STAMPS)/ns3: lab/bench/ns3/requirements.txt | prerequisites
	@scripts/prerequisites.sh ns3
	$(PYTHON) -m venv $(NS3_ENV)
	$(NS3_ENV)/bin/python -m pip install --disable-pip-version-check --quiet --no-deps --only-binary :all: -r $< \
	  || { echo "no wheel of ns-3 for $$($(PYTHON) -V): take one it has, such as: make bench-ns3 PYTHON=python3.11" >&2; exit 1; }
	@mkdir -p $(STAMPS) && touch $@

# The real Flent, which the tests run as a program of its own: never imported, never a dependency.
$(STAMPS)/flent-venv: requirements-flent.txt | prerequisites
	$(PYTHON) -m venv build/flent-venv
	build/flent-venv/bin/python -m pip install --quiet --disable-pip-version-check -r requirements-flent.txt
	@mkdir -p $(STAMPS) && touch $@

# What builds the site, in an environment of its own.
$(STAMPS)/site: requirements-site.txt | prerequisites
	$(PYTHON) -m venv build/site-venv
	build/site-venv/bin/python -m pip install --quiet --disable-pip-version-check -r requirements-site.txt
	@mkdir -p $(STAMPS) && touch $@

# What drives a browser and looks at pages in it; the browser is the system's.
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

# There is no wheel of it for every Python: then its test is skipped, and says so.
$(STAMPS)/ray: requirements-ray.txt $(STAMPS)/venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --only-binary :all: -r $< || echo "no Ray: its test is skipped" >&2
	@touch $@

$(STAMPS)/native: $(STAMPS)/venv $(RUST_INPUTS)
	PIP_QUIET=1 PIP_DISABLE_PIP_VERSION_CHECK=1 $(BIN)/maturin develop --release --locked --quiet
	@touch $@

# Editable like the package itself. Its only dependencies are that and its dependencies, which the environment has.
$(STAMPS)/lab: lab/pyproject.toml $(STAMPS)/venv | $(STAMPS)/native
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-build-isolation --no-deps --editable lab
	@touch $@
