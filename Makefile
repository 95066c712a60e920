# Everything a contributor runs. The first command makes .venv and builds the engine; later ones reuse both
# and rebuild only what has changed. `make help` lists the commands.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
RUN := $(BIN)/python
PIP := $(RUN) -m pip --disable-pip-version-check --quiet

# CMake, Ninja and clang-format of the environment come before the machine's.
export PATH := $(CURDIR)/$(BIN):$(PATH)

# Stamps: when each of these was last true.
READY := $(VENV)/.ready
READY_TO_TEST := $(VENV)/.ready-to-test
READY_FOR_DEMO := $(VENV)/.ready-for-demo
READY_FOR_DOCS := $(VENV)/.ready-for-docs
READY_TO_RELEASE := $(VENV)/.ready-to-release
INSTALLED := $(VENV)/.installed
INSTALLED_WITH_TESTS := $(VENV)/.installed-with-tests

COMPILED := CMakeLists.txt $(shell find engine/coterie bindings -type f)
ENGINE_TESTS := $(shell find engine/reference engine/tests -type f)
# Where pip builds the compiled part, with or without the tests of the engine.
BUILD := build/python
BUILD_HERE := $(PIP) install --no-build-isolation --no-deps --editable . --config-settings=build-dir=$(BUILD)
# The compilers, emulators and seconds of the commands that take others than the machine's own.
CLANG ?= clang++
CLANG_TIDY ?= clang-tidy
WINE ?= $(firstword $(wildcard $(addsuffix /wine64,$(subst :, ,$(PATH)) /usr/lib/wine)) wine)
FUZZ_SECONDS ?= 60
FUZZERS := decode_numbers trees_of nodes_of
# $(call needs,program,packages): ends with what to install where a program is missing.
needs = @command -v $(1) >/dev/null || { echo "There is no $(1) here. On Debian and Ubuntu: apt install $(2)" >&2; exit 1; }
CXX_FILES = $(shell find engine bindings benchmarks \( -name '*.hpp' -o -name '*.cpp' -o -name '*.inl' \))

.DEFAULT_GOAL := help
.PHONY: help demo test test-built test-engine test-clang test-aarch64 test-windows test-python test-slow fuzz mutants lint tidy \
        format sanitize stub bench docs notebooks wheel test-wheel test-matrix audit lint-release clean

help:  ## List the commands
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / {printf "make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

demo: $(INSTALLED) $(READY_FOR_DEMO)  ## Two tables as files, committees, reports and predictions by the command line
	@$(RUN) examples/demo.py

test: test-built test-python  ## Tests of the engine (C++) and of the library (Python)

test-built: $(INSTALLED_WITH_TESTS)  ## Tests of the engine as it was built for the library; warnings are errors
	@ctest --test-dir $(BUILD) --progress --output-on-failure --no-tests=error

test-engine: $(READY)  ## Tests of the engine alone, with the bounds of standard containers checked
	@cmake --preset dev --log-level=WARNING
	@cmake --build --preset dev
	@ctest --preset dev --progress

test-clang: $(READY)  ## The same by Clang; CLANG=clang++-19 takes that one
	$(call needs,$(CLANG),clang)
	@cmake --preset clang -B build/$(notdir $(CLANG)) -DCMAKE_CXX_COMPILER=$(CLANG) --log-level=WARNING
	@cmake --build build/$(notdir $(CLANG))
	@ctest --test-dir build/$(notdir $(CLANG)) --progress --output-on-failure --no-tests=error

test-aarch64: $(READY)  ## The same for 64-bit ARM, by a cross compiler and qemu
	$(call needs,aarch64-linux-gnu-g++,g++-aarch64-linux-gnu)
	$(call needs,qemu-aarch64,qemu-user)
	@cmake --preset aarch64 --log-level=WARNING
	@cmake --build --preset aarch64
	@ctest --preset aarch64 --progress

test-windows: $(READY)  ## The same for Windows, by MinGW-w64 and Wine
	$(call needs,x86_64-w64-mingw32-g++-posix,g++-mingw-w64-x86-64-posix)
	$(call needs,$(WINE),wine64)
	@cmake --preset windows --log-level=WARNING
	@cmake --build --preset windows
	@ctest --preset windows --progress

# All at the same time. What they find new is kept in build/fuzz/corpus; an input that fails is written to the folder in
# which make runs.
fuzz: $(READY)  ## Fuzzers of what reads files, by Clang; FUZZ_SECONDS=600 gives each ten minutes
	$(call needs,$(CLANG),clang)
	@cmake --preset fuzz -DCMAKE_CXX_COMPILER=$(CLANG) --log-level=WARNING
	@cmake --build --preset fuzz
	@cd build/fuzz && mkdir -p $(FUZZERS:%=corpus/%)
	@printf '%s\n' $(FUZZERS) | xargs -P 3 -I NAME env build/fuzz/engine/fuzz/fuzz_NAME -max_total_time=$(FUZZ_SECONDS) \
	    -max_len=4096 -print_final_stats=1 -verbosity=0 build/fuzz/corpus/NAME engine/fuzz/corpus/NAME

# A process for each core: threads of OpenMP, in peers, must not spin while they wait for each other.
test-python: $(INSTALLED) $(READY_TO_TEST)  ## Tests of the library and of every example in its documentation
	@OMP_WAIT_POLICY=passive $(RUN) -m pytest --numprocesses=auto --dist=loadfile

test-slow: $(INSTALLED) $(READY_TO_TEST)  ## The tests that take longer
	@$(RUN) -m pytest -m slow

# Options of tools/mutants.py: make mutants MUTANTS="--only src/coterie/data --n 30"
mutants: $(INSTALLED) $(READY_TO_TEST)  ## Change 200 places of src, one at a time: which change does no test notice?
	@$(RUN) tools/mutants.py $(MUTANTS)

lint: $(READY_TO_TEST)  ## Style and types: ruff, mypy, clang-format
	@$(RUN) -m ruff check .
	@$(RUN) -m ruff format --check .
	@$(RUN) -m mypy
	@clang-format --dry-run -Werror $(CXX_FILES)

tidy: $(READY)  ## What clang-tidy finds in the engine; CLANG_TIDY=clang-tidy-19 takes that one
	$(call needs,$(CLANG),clang)
	$(call needs,$(CLANG_TIDY),clang-tidy)
	@cmake --preset clang -B build/$(notdir $(CLANG)) -DCMAKE_CXX_COMPILER=$(CLANG) --log-level=WARNING
	@find engine/coterie -name '*.cpp' | xargs -n 1 -P $$(nproc) $(CLANG_TIDY) -p build/$(notdir $(CLANG)) --quiet

format: $(READY_TO_TEST)  ## Put every file into our style
	@$(RUN) -m ruff check --fix-only --quiet .
	@$(RUN) -m ruff format --quiet .
	@clang-format -i $(CXX_FILES)

sanitize: $(READY)  ## Tests of the engine under AddressSanitizer with UBSan, then under ThreadSanitizer
	@cmake --preset sanitize --log-level=WARNING
	@cmake --build --preset sanitize
	@ctest --preset sanitize --progress
	@cmake --preset tsan --log-level=WARNING
	@cmake --build --preset tsan
	@ctest --preset tsan --progress

stub: $(INSTALLED) $(READY_TO_TEST)  ## Write the types of the compiled module, src/coterie/_engine.pyi
	@$(RUN) tools/make_stub.py

bench: $(INSTALLED)  ## Speed of the kernels, one by one
	@cmake --preset release --log-level=WARNING
	@cmake --build --preset release
	@for program in build/release/benchmarks/bench_*; do $$program || exit 1; done

docs: $(INSTALLED) $(READY_FOR_DOCS)  ## The documentation as web pages, in build/docs
	@$(RUN) -m sphinx -W --keep-going -q -b html docs build/docs
	@echo "Open build/docs/index.html."

notebooks: $(READY)  ## The tutorials as notebooks, in build/notebooks
	@$(RUN) tools/make_notebooks.py

wheel: $(READY_TO_RELEASE)  ## A wheel for this machine, repaired and checked, in build/wheel
	@$(RUN) tools/make_wheel.py

# Words for pytest: make test-wheel WORDS="-k trees"
test-wheel: wheel  ## Install the wheel where there is no compiler; run the demo and its tests there
	@$(RUN) tools/try_wheel.py $(WORDS)

# make test-matrix WORDS="oldest tests/data" runs a part of it.
test-matrix: wheel  ## Tests of the library with the oldest and the newest versions of what it needs
	@$(RUN) tools/matrix.py $(WORDS)

audit: wheel  ## Known vulnerabilities of what coterie installs; a software bill of materials, build/sbom.json
	@$(RUN) tools/make_sbom.py

lint-release: $(READY_TO_RELEASE)  ## Workflows and the conda recipe against their schemas; the page of notices
	@$(BIN)/check-jsonschema --builtin-schema vendor.github-workflows .github/workflows/*.yml
	@if command -v actionlint >/dev/null; then actionlint && echo "ok -- actionlint"; \
	    else echo "There is no actionlint here: workflows were checked against their schema alone."; fi
	@$(RUN) tools/check_recipe.py
	@$(RUN) tools/third_party.py --check

clean:  ## Remove everything that was built, and the environment
	rm -rf $(VENV) build .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(READY): pyproject.toml tools/requirements.py
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and \
	    "coterie needs Python 3.11 or later; $(PYTHON) is %d.%d. Try: make PYTHON=python3.12" % sys.version_info[:2])'
	@$(RUN) -m pip --version >/dev/null 2>&1 || $(PYTHON) -m venv $(VENV)
	@echo "Installing what coterie needs into $(VENV) ..."
	@$(RUN) tools/requirements.py > $(VENV)/requirements.txt
	@$(PIP) install -r $(VENV)/requirements.txt
	@touch $@

$(READY_TO_TEST): $(READY)
	@echo "Installing what the tests and linters need into $(VENV) ..."
	@$(RUN) tools/requirements.py test lint > $(VENV)/requirements.txt
	@$(PIP) install -r $(VENV)/requirements.txt
	@touch $@

$(READY_FOR_DEMO): $(READY)
	@$(RUN) tools/requirements.py cli > $(VENV)/requirements.txt
	@$(PIP) install -r $(VENV)/requirements.txt
	@touch $@

$(READY_FOR_DOCS): $(READY)
	@$(RUN) tools/requirements.py docs > $(VENV)/requirements.txt
	@$(PIP) install -r $(VENV)/requirements.txt
	@touch $@

$(READY_TO_RELEASE): $(READY)
	@$(RUN) tools/requirements.py release > $(VENV)/requirements.txt
	@$(PIP) install -r $(VENV)/requirements.txt
	@touch $@

# Python files are read from src/; only a change of the compiled part asks for another build.
$(INSTALLED): $(READY) $(COMPILED)
	@echo "Building the engine ..."
	@$(BUILD_HERE)
	@touch $@

# The engine is compiled once, for the library and for its own tests.
$(INSTALLED_WITH_TESTS): $(READY) $(COMPILED) $(ENGINE_TESTS)
	@echo "Building the engine and its tests ..."
	@$(BUILD_HERE) --config-settings=cmake.define.COTERIE_TESTS=ON \
	    --config-settings=cmake.define.CMAKE_COMPILE_WARNING_AS_ERROR=ON
	@touch $@ $(INSTALLED)
