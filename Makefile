# annotune: `make` prints the targets.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
# A stamp newer than pyproject.toml says that the environment is complete.
READY  := $(VENV)/.ready
# The same for what tunes, without the developers' tools.
TUNES  := $(VENV)/.tunes
# And for the documentation's site.
PAGES  := $(VENV)/.pages
$(READY): EXTRAS := [nvcc,dev,search]
$(TUNES): EXTRAS := [nvcc]
$(PAGES): EXTRAS := [docs]
INSTALL = $(BIN)/python -m pip install --disable-pip-version-check --editable '.$(EXTRAS)'
# A file of exact versions, as continuous integration takes them; without one, the newest allowed.
LOCK   ?=
# More workers than cores gain nothing, since the tests run compilers.
JOBS   ?= $(shell getconf _NPROCESSORS_ONLN)

# Compiled once, Python's modules need not be so again in each of the tests' processes.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help demo test test-all check example bench static readme docs clean

help:
	@echo 'make demo      set up .venv and tune c_examples/nekbone/local_grad3.c'
	@echo 'make test      set up .venv and run the tests (some 8 minutes of processor time)'
	@echo 'make test-all  the same with the slow tests'
	@echo 'make check     ruff, mypy --strict, and the one-way imports'
	@echo 'make example   emit, build, link and run c_examples/nekbone as a user would'
	@echo 'make bench     print the times of help, check, emit, one CUDA check, and tuned OpenMP'
	@echo 'make static    print what the emitted CUDA is like: registers, occupancy, machine code'
	@echo 'make readme    run the example of README.md, and take what it prints and pictures of its page'
	@echo 'make docs      make a site of the documentation in build/site, without a network'
	@echo 'make clean     remove what the above have made, .venv included'

$(BIN)/python:
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "annotune needs Python 3.11 or later")'
	$(PYTHON) -m venv $(VENV)

# Only the order counts: what installs into the environment makes it newer.
$(READY) $(TUNES) $(PAGES): pyproject.toml $(LOCK) | $(BIN)/python
	@echo 'Installing annotune$(EXTRAS) into $(VENV)'
	$(INSTALL) $(LOCK:%=--constraint %) || $(if $(LOCK),{ echo 'Not to be had as in $(LOCK): taking others'; $(INSTALL); },false)
	touch $@

# With the installation it takes a minute and a half at the most, where the index is near.
demo: $(TUNES)
	$(BIN)/annotune run c_examples/nekbone/local_grad3.c --time 45s

test: $(READY)
	$(BIN)/python -m pytest -n $(JOBS) --dist worksteal

test-all: $(READY)
	$(BIN)/python -m pytest -n $(JOBS) --dist worksteal -m '' --hypothesis-profile=thorough

check: $(READY)
	$(BIN)/ruff check annotune tests benchmarks
	$(BIN)/ruff format --check annotune tests benchmarks
	$(BIN)/mypy
	$(BIN)/python -m pytest tests/test_layers.py

example: $(READY)
	$(MAKE) -C c_examples run-nekbone ANNOTUNE=$(abspath $(BIN)/annotune)

bench: $(READY)
	$(BIN)/python benchmarks/speed.py
	$(BIN)/python benchmarks/cpu.py

static: $(READY)
	$(BIN)/python benchmarks/static.py

readme: $(READY)
	$(BIN)/python benchmarks/readme.py

docs: $(PAGES)
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet

clean:
	rm -rf $(VENV) annotune-out build *.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis
	$(MAKE) -C c_examples clean
