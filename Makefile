# The commands of the project. Everything they make stays in the checkout: .venv, target, build, results.
# Needed beforehand: Rust, Python 3.11 or newer with venv, make. All else comes from the lock files.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DELETE_ON_ERROR:
.DEFAULT_GOAL := build

# PROFILE=release optimises at link time: it compiles for twice as long, and the simulator is a tenth faster. Results are the same bytes.
PROFILE ?= quick
PYTHON ?= $(shell command -v python3.11 || command -v python3)
BIN := .venv/bin
RUST := $(shell find crates -type f \( -name '*.rs' -o -name '*.toml' \)) Cargo.toml Cargo.lock clippy.toml
VENV := .venv/.installed
DEV := .venv/.dev
CORE := .venv/.core-$(PROFILE)
ZIG := .venv/.zig
# Examples, notebooks and schemas that programs write: one file stands for all.
TRACES := examples/traces/lte-slow.csv
NOTEBOOKS := docs/notebooks/lab.ipynb
SCHEMAS := schema/experiment.schema.json

# Processes that verbs start find compiled modules, also where the environment forbids Python to write them beside their sources.
export PYTHONPYCACHEPREFIX := $(CURDIR)/build/pycache
unexport PYTHONDONTWRITEBYTECODE

.PHONY: studio studio-picture build buildtests test testrust testpython slow stacks small-worlds captures thorough release-check laws newlaw digests lint lintrust lintpython format schema reproduce recompute readme which-queue where-laws-fail bbr3 bbr3-noq quic-stacks quic-crosscheck crosscheck pictures linux live bench stages curves perf fuzz corpus mutants docs lock wheel wheel-here install-check clean help

help: ## list the verbs
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

# Cargo's arguments for one program. The package ecnlab-py is named for its features only: with those of the native module, the program is
# linked with the libraries that `make build` has compiled, and the engine and the scenarios are not compiled a second time.
ONLY = --package $(1) --package ecnlab-py --bin $(1)

build: $(CORE) $(TRACES) $(NOTEBOOKS) $(SCHEMAS) ## the virtual environment and the simulator, optimised

$(TRACES): examples/traces/make.py
	"$(PYTHON)" $<

$(NOTEBOOKS): docs/notebook_format.py $(wildcard docs/notebooks/*.md)
	"$(PYTHON)" $<

$(SCHEMAS): schema/make_schemas.py python/ecnlab/papers/tables.py python/ecnlab/papers/published.py $(CORE)
	$(BIN)/python $<

$(VENV): requirements.txt
	@test -n "$(PYTHON)" || { echo "ecnlab needs Python 3.11 or newer: none found in PATH" >&2; exit 1; }
	@"$(PYTHON)" -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "ecnlab needs Python 3.11 or newer; $(PYTHON) is $$("$(PYTHON)" --version). Set PYTHON=/path/to/python3.11" >&2; exit 1; }
	@command -v cargo >/dev/null || { echo "ecnlab needs Rust: no cargo in PATH (see https://rustup.rs)" >&2; exit 1; }
	rm -rf .venv
	"$(PYTHON)" -m venv .venv || { rm -rf .venv; echo "On Debian the venv module is in python3-venv" >&2; exit 1; }
	$(BIN)/python -m pip install --quiet --no-deps --no-compile --require-hashes -r requirements.txt
	touch $@

# What only tests, lints and tools need: most of the packages.
$(DEV): $(VENV) requirements-dev.txt
	$(BIN)/python -m pip install --quiet --no-deps --no-compile --require-hashes -r requirements-dev.txt
	touch $@

# Python sources are read from the checkout: only Rust and the package's metadata ask for a new build.
$(CORE): $(VENV) $(RUST) pyproject.toml
	VIRTUAL_ENV=$(CURDIR)/.venv PIP_NO_INDEX=1 PIP_QUIET=1 $(BIN)/maturin develop --profile $(PROFILE)
	rm -f .venv/.core-*
	touch $@

# Tests on the Linux kernel run where `make linux` has built it; where it has not, pytest says so.
test: testrust testpython ## the tests, Rust and Python, but the slow ones

# LINTER=clippy-driver compiles the tests and lints them, and documentation is linted with what they are built with: nothing is read twice (.ci/run).
CARGO_TEST := $(if $(LINTER),RUSTFLAGS="$${RUSTFLAGS:-} -D warnings" RUSTC_WORKSPACE_WRAPPER=$(LINTER)) cargo test --quiet

buildtests: $(TRACES)
	$(CARGO_TEST) --workspace --all-targets --no-run

# Examples in Rust's documentation, of which there are none, are of `make slow`: to look for them takes as long as half of the tests.
testrust: $(TRACES) ## the Rust tests; ARGS="-p ecnlab-aqm codel" for one crate and name
	$(CARGO_TEST) $(or $(ARGS),--workspace --all-targets)

testpython: build $(DEV) ## the Python tests; ARGS="python/tests/test_sweep.py -k resume" for one file and name
	$(BIN)/pytest -rs $(or $(ARGS),--numprocesses auto --dist loadfile)

# Rust tests that are named slow in their `ignore`, optimised, and Python tests with the mark `slow`.
slow: build $(STUDIO) $(DEV) ## the tests that `make test` leaves out: whole papers, more pages, runs of many seconds
	cargo test --profile quick --quiet --package ecnlab-aqm --package ecnlab-engine --package ecnlab-scenario --package ecnlab-tcp --test it -- --ignored
	cargo test --workspace --doc --quiet
	$(BIN)/pytest -rs -m slow --numprocesses auto --dist loadfile

# s2n is off by default: its first build compiles aws-lc, which is C, for minutes.
stacks: ## the tests of QUIC stacks that wheels do not have: s2n, and of qlog of quinn
	cargo test --quiet --package ecnlab-quic --features s2n --test s2n
	cargo test --quiet --package ecnlab-quic --features qlog --test quinn qlog::
	cargo test --quiet --package quic-controller --features qlog

small-worlds: ## every placement of three losses, marks and late packets in a short transfer: `make slow` has it, too
	cargo test --profile quick --quiet --package ecnlab-engine --test it small_worlds -- --include-ignored --nocapture

captures: build $(DEV) ## every point of every paper's experiments: simulator against the analysis of its captures
	ECNLAB_EVERY_POINT=1 $(BIN)/pytest -v -m '' python/tests/test_paper_captures.py

release-check: $(DEV) ## with the binary of a wheel: the stored digests, and READMEs that quote this commit's experiments, seeds and first runs
	$(MAKE) build PROFILE=release
	$(BIN)/pytest -rs -m 'release or not slow' --numprocesses auto --dist loadfile python/tests/test_digests.py python/tests/test_papers.py

thorough: build $(DEV) ## crashes at every rename, every kind of death, more flipped bits: what `make test` samples
	ECNLAB_THOROUGH=1 $(BIN)/pytest -v -m '' python/tests/test_reliability.py

laws: build $(DEV) ## removes each law from a copy of the sources and compiles: nothing may miss it or be left for it alone
	$(BIN)/python tests/tools/laws/laws.py

newlaw: build $(DEV) ## follows docs/new-law.md and new-hook.md in copies of the sources, and compares what commands print: ARGS=docs/new-hook.md
	$(BIN)/python tests/tools/newlaw/newlaw.py $(ARGS)

digests: export ECNLAB_DIGESTS_REASON = $(REASON)
digests: build $(DEV) ## store digests of results that are meant to change: REASON="RED counts idle time once"
	@test -n "$$ECNLAB_DIGESTS_REASON" || { echo 'State why results change: make digests REASON="RED counts idle time once"' >&2; exit 1; }
	$(BIN)/pytest --quiet python/tests/test_digests.py

lint: lintrust lintpython ## formatting, lints, types, and the stub against the binary

lintrust:
	cargo fmt --all --check
	$(if $(LINTER),,cargo clippy --workspace --all-targets --quiet -- -D warnings)
	$(if $(LINTER),RUSTDOC=$(CURDIR)/.ci/rustdoc $(CARGO_TEST) --workspace --doc,RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps --quiet)

lintpython: build $(DEV)
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/stubtest ecnlab._core

format: $(DEV) ## format all sources
	cargo fmt --all
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

schema: build $(DEV) ## write what is generated: the JSON schema of scenarios, the lists of laws, TCP settings, rules, quotes of RFCs, keys by engine and what Linux has of each law; tests compare them
	cargo run --quiet --package ecnlab-scenario --example generate
	ECNLAB_WRITE_RULES=1 cargo test --quiet --package ecnlab-tcp --test scripts -- docs/generated/rules.md
	ECNLAB_WRITE_RULES=1 cargo test --quiet --package ecnlab-tcp --test it rfcs::docs
	ECNLAB_WRITE_ENGINES=1 ECNLAB_WRITE_COLUMNS=1 ECNLAB_WRITE_CASES=1 $(BIN)/pytest --quiet -m "" python/tests/test_engine_keys.py \
	  python/tests/test_linux_page.py python/tests/test_docs.py python/tests/test_bbr_cases.py

PAPER ?= rfc2884
reproduce: build ## RFC 2884, at a size for a few minutes: results/rfc2884/report.html; PAPER=all for every paper
	$(BIN)/ecnlab reproduce $(PAPER) $(ARGS)

recompute: $(DEV) ## verdicts of results/rfc2884 again, from the runs' tables by other code: ten; ARGS="results/rfc2884 --all"
	$(BIN)/python tests/tools/recompute/recompute.py $(ARGS)

readme: build ## a paper's README from its template and, with FROM=results/PAPER, a full run: PAPER=rfc2884
	$(BIN)/python -m ecnlab.papers.readme $(PAPER) $(FROM)

which-queue: build ## docs/which-queue.md from runs of `ecnlab advise` for eight lines, in results/which-queue: minutes
	$(BIN)/python docs/which_queue.py

where-laws-fail: build ## docs/where-laws-fail.md and its maps from searches for all laws, in results: half an hour
	$(BIN)/ecnlab search all aqm --evaluations 512
	$(BIN)/ecnlab search all cc --evaluations 1024
	$(BIN)/python docs/where_laws_fail.py

bbr3: build ## docs/bbr3.md from sweeps and cards of BBRv3, in results: about half an hour
	$(BIN)/ecnlab sweep examples/bbr3-ecn.toml
	$(BIN)/ecnlab sweep examples/bbr3-fast.toml
	$(BIN)/ecnlab sweep examples/atlas.toml
	$(BIN)/ecnlab score cc bbr3
	$(BIN)/ecnlab score l4s examples/pair.toml:bbr3-l4s
	$(BIN)/python docs/bbr3_page.py

bbr3-noq: ## noq's BBRv3 beside ecnlab's on the same paths, as in docs/bbr3.md; noq's random choices differ in each run
	cargo build --profile quick --quiet $(call ONLY,bbr3-noq)
	target/quick/bbr3-noq

quic-stacks: build ## docs/quic-stacks.md from sweeps and cards of QUIC stacks, in results: one to two hours
	for name in queues gain boxes ping-pongs; do $(BIN)/ecnlab sweep examples/quic-$$name.toml || exit; done
	for name in quinn/cubic quinn/newreno quinn/bbr noq/cubic noq/newreno; do $(BIN)/ecnlab score cc quic:$$name || exit; done
	$(BIN)/ecnlab score l4s quic:quinn/cubic
	$(BIN)/python docs/quic_page.py

quic-crosscheck: build ## docs/quic-crosscheck.md: CUBIC and NewReno of QUIC stacks compared with ecnlab's: a minute
	$(BIN)/python docs/quic_crosscheck.py

# The studio's page: a WebAssembly module of the simulator, and TypeScript. Only this needs Node and npm; wheels carry what it makes.
STUDIO := python/ecnlab/studio/site/index.html
WASM := studio/build/wasm/ecnlab_studio_bg.wasm
STUDIO_PROFILE ?= studio
WASM_FEATURES := bulk-memory multivalue mutable-globals nontrapping-float-to-int reference-types sign-ext

studio: $(STUDIO) ## the studio, the laboratory in a browser, from its sources: `ecnlab studio` opens it

studio/node_modules/.package-lock.json: studio/package-lock.json
	@command -v npm >/dev/null || { echo "the studio is built with Node.js 20 or newer and npm: none found in PATH" >&2; exit 1; }
	cd studio && npm ci --no-audit --no-fund --silent
	touch $@

# cargo installs the target's library if rustup has not.
$(WASM): $(RUST) studio/bind/src/main.rs studio/bind/Cargo.lock studio/node_modules/.package-lock.json
	rustup target add wasm32-unknown-unknown 2>&1 | grep -v 'up to date' || true
	cargo build --quiet --package ecnlab-studio --target wasm32-unknown-unknown --profile $(STUDIO_PROFILE)
	mkdir -p $(@D)
	CARGO_TARGET_DIR=target/bind cargo run --quiet --locked --manifest-path studio/bind/Cargo.toml -- \
	  target/wasm32-unknown-unknown/$(STUDIO_PROFILE)/ecnlab_studio.wasm $(@D)
	$(if $(filter studio,$(STUDIO_PROFILE)),studio/node_modules/.bin/wasm-opt -Os $(addprefix --enable-,$(WASM_FEATURES)) $@ -o $@)

$(STUDIO): $(WASM) $(shell find studio/src studio/index.html studio/*.ts studio/*.json)
	cd studio && npm run --silent check && npm run --silent build -- --logLevel warn
	touch $@

pictures: $(DEV) ## pictures of a report in a browser, for READMEs: build/pictures; ARGS="results/dumbbell/report.html --figure Queue"
	$(BIN)/python tests/tools/pictures/pictures.py $(ARGS)

studio-picture: build $(STUDIO) $(DEV) ## the README's moving picture of the studio: docs/img/studio.gif
	$(BIN)/python tests/tools/pictures/studio.py

crosscheck: build $(DEV) ## the same dumbbells in ns-2, side by side
	$(BIN)/python tests/tools/crosscheck/crosscheck.py $(ARGS)

linux: build $(DEV) ## the Linux kernel as an engine: built once, then tested
	$(BIN)/ecnlab linux build $(ARGS)
	ECNLAB_TRACES=200 $(BIN)/pytest -rs python/tests/test_linux_kernel.py python/tests/test_linux_windows.py python/tests/test_packets_kernel.py

live: build $(DEV) ## our TCP and the kernel's over a bad wire, 100 MB each way: in real time (root) and virtual time (make linux); BYTES=2000000
	ECNLAB_LIVE_BYTES=$(or $(BYTES),100000000) cargo test --release --quiet --workspace --test interop
	ECNLAB_LIVE_BYTES=$(or $(BYTES),100000000) $(BIN)/pytest -rs python/tests/test_live_virtual.py

# Measures are of the binary of a wheel.
bench stages curves: export PROFILE = release

bench: $(CORE) $(DEV) ## speed and memory next to targets, ns-2, tcptrace and tshark: docs/performance.md; ARGS="memory start"
	cargo build --release --quiet $(call ONLY,ecnlab-bench)
	$(BIN)/python bench/bench.py $(ARGS)

stages: $(CORE) $(DEV) ## instructions of a packet by stage, as a table and the figure of docs/performance.md; needs Valgrind
	$(BIN)/python bench/stages.py

curves: $(CORE) $(DEV) ## packets per second and memory over the number of flows, as a table and the figure of docs/performance.md
	cargo build --release --quiet $(call ONLY,ecnlab-bench)
	$(BIN)/python bench/curves.py

perf: build $(DEV) ## instructions of ten workloads beside the stored figures, fails above 3 %; ARGS=--write stores new ones
	cargo build --profile quick --quiet $(call ONLY,ecnlab-bench)
	$(BIN)/python bench/perf.py $(ARGS)

# libFuzzer is C++: it asks for a C++ compiler.
fuzz: $(DEV) ## every fuzz target with coverage, for ten minutes in all (SECONDS_=7200: for two hours; TARGETS="pcap queue")
	nice $(BIN)/python tests/tools/fuzz/fuzz.py run --seconds $(or $(SECONDS_),600) $(TARGETS)

corpus: $(DEV) ## what `make fuzz` has found becomes part of the corpus in the repository, minimised
	nice $(BIN)/python tests/tools/fuzz/fuzz.py minimise $(TARGETS)

# cargo-mutants: `cargo install cargo-mutants --locked --version 27.1.0`. .cargo/mutants.toml says what is changed.
mutants: ## changes each line of the rules and asks the tests: PART=aqm, tcp, wire or trace
	nice python3 tests/tools/mutants/mutants.py $(or $(PART),aqm tcp wire trace) $(ARGS)

# Sphinx and its themes are in an environment of their own: tests and CI do not need them.
DOCSENV := build/docs-env/.installed

$(DOCSENV): docs/requirements.txt
	rm -rf build/docs-env && "$(PYTHON)" -m venv build/docs-env
	build/docs-env/bin/python -m pip install --quiet --require-hashes -r docs/requirements.txt
	touch $@

docs: build $(DOCSENV) $(STUDIO) ## the documentation site with its executed gallery and the studio: build/site/index.html
	PYTHONPATH=python build/docs-env/bin/python docs/stage.py build/docs-src
	PYTHONPATH=$(CURDIR)/python nice build/docs-env/bin/python docs/make_notebooks.py build/docs-src/docs/notebooks
	rm -rf build/site build/docs-trees
	PYTHONPATH=python nice build/docs-env/bin/sphinx-build -W --keep-going -q -b html -d build/docs-trees build/docs-src build/site
	cp -R python/ecnlab/studio/site build/site/studio
	du -sh build/site

$(ZIG): $(DEV) requirements-wheel.txt
	$(BIN)/python -m pip install --quiet --require-hashes -r requirements-wheel.txt
	touch $@

wheel: $(ZIG) build $(STUDIO) ## the wheel and the source distribution, with examples, papers and schemas: build/wheels
	$(BIN)/python tests/tools/wheel/build.py $(ARGS)

wheel-here: build $(DEV) $(STUDIO) ## the wheel for this machine only, from what `make build` has compiled with the same PROFILE: build/wheels
	$(BIN)/python tests/tools/wheel/build.py --no-zig --no-sdist --profile $(PROFILE)

install-check: $(DEV) ## installs the wheel of `make wheel` into an empty environment and does six tasks of newcomers; ARGS=--whole for all of rfc2884, --sdist to build and import the source distribution
	$(BIN)/python tests/tools/wheel/check.py $(ARGS)

COMPILE := build/lock/bin/uv pip compile --quiet --upgrade --universal --python-version 3.11 --generate-hashes \
  --no-emit-index-url --no-emit-find-links --custom-compile-command 'make lock'

lock: ## choose new versions of the Python packages and write requirements*.txt and docs/requirements.txt
	rm -rf build/lock && "$(PYTHON)" -m venv build/lock && build/lock/bin/python -m pip install --quiet uv
	$(COMPILE) --group tools --extra plots pyproject.toml --output-file requirements-dev.txt
	$(COMPILE) --constraints requirements-dev.txt --group build --extra plots pyproject.toml --output-file requirements.txt
	$(COMPILE) --group wheel --output-file requirements-wheel.txt
	$(COMPILE) --constraints requirements-dev.txt --extra plots pyproject.toml docs/requirements.in --output-file docs/requirements.txt

clean: ## remove everything the verbs have made, except results
	rm -rf .venv target build python/ecnlab/data python/ecnlab/studio/site studio/build studio/node_modules
	find python -name '*.so' -delete -o -name __pycache__ -prune -exec rm -rf {} +
