# Three commands to know: `make checkup` (look at this host now), `make quick` (a minute of tests) and `make test`.
VENV := .venv
BIN := $(VENV)/bin
SECONDS ?= 20
# One process of tests for each CPU; the tests wait for servers too, but more processes than four would wait for the disk.
# Beside each other they need no threads for linear algebra, which wait by spinning.
PYTEST := OPENBLAS_NUM_THREADS=1 $(BIN)/pytest --numprocesses=auto --maxprocesses=4 --dist=worksteal

.PHONY: checkup test quick test-anywhere check format docs clean

# Editable install: Python is read where it stands, so only a change to the native crate or to the metadata builds again.
$(VENV)/installed: pyproject.toml native/Cargo.toml native/Cargo.lock $(shell find native/src native/calltrace -name '*.rs' -o -name Cargo.toml)
	@test -x $(BIN)/python || python3 -m venv $(VENV)
	@echo "Installing into $(VENV): the first time builds the native crate, about three minutes"
	@$(BIN)/python -m pip install --quiet --editable .
	@touch $@

$(VENV)/tested: $(VENV)/installed pyproject.toml
	@$(BIN)/python -m pip install --quiet 'pip>=25.1'
	@$(BIN)/python -m pip install --quiet --group dev
	@touch $@

checkup: $(VENV)/installed
	@$(BIN)/doctord checkup --for $(SECONDS)s || test $$? -eq 1

check: $(VENV)/tested
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	cargo fmt --all --manifest-path native/Cargo.toml --check
	cargo clippy --manifest-path native/Cargo.toml --workspace --all-targets --no-default-features -- --deny warnings

test: $(VENV)/tested
	cargo test --quiet --workspace --manifest-path native/Cargo.toml --no-default-features
	$(PYTEST)

# For the inner loop: no servers, nothing as root, nothing slow.
quick: $(VENV)/tested
	$(PYTEST) -m 'not slow and not server and not root'

# The tests under other clocks, on a busy machine, without bpftrace: first of what deals with time, then all at once.
TIMELY := tests/cli tests/lake tests/collect tests/diagnose tests/lab tests/analyse/capacity
test-anywhere: $(VENV)/tested
	$(BIN)/pytest tests/test_servers.py  # what is fetched and built, is so at true time
	for clock in plus-1-day summer-time new-year; do tests/anywhere.sh $$clock -- $(TIMELY) || exit 1; done
	tests/anywhere.sh plus-40-days busy no-bpftrace

format: $(VENV)/tested
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .
	cargo fmt --all --manifest-path native/Cargo.toml

docs: $(VENV)/tested
	$(BIN)/python docs/make_reference.py

clean:
	rm -rf $(VENV) native/target
