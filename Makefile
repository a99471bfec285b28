# Two commands to know: `make checkup` (look at this host now) and `make test`.
VENV := .venv
BIN := $(VENV)/bin
SECONDS ?= 20

.PHONY: checkup test check format docs clean

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
	$(BIN)/pytest

format: $(VENV)/tested
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .
	cargo fmt --all --manifest-path native/Cargo.toml

docs: $(VENV)/tested
	$(BIN)/python docs/make_reference.py

clean:
	rm -rf $(VENV) native/target
