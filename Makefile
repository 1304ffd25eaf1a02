# SPDX-License-Identifier: GPL-2.0-or-later
# The front door. Each target is a few lines that call a room; `make help` lists them.
EASCOPE := .venv/bin/eascope
PYTHON := .venv/bin/python

.DEFAULT_GOAL := help
.PHONY: help setup demo test lint check-long bench kernels rootfs figures power-models research generate accept site \
	noise assumptions engine-agreement power-calibration

help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' Makefile | expand -t 18

setup: .venv/ready ## Debian packages (as root or with sudo) and .venv

.venv/ready: pyproject.toml host/setup.sh host/system-packages.txt
	@host/setup.sh

demo: setup ## the README's comparison and drawing: uclamp max against sum aggregation, 20 seeds
	@$(EASCOPE) demo

lint: setup ## ruff, mypy, import-linter and shellcheck
	@$(PYTHON) -m ruff format --check --quiet . && $(PYTHON) -m ruff check --quiet .
	@$(PYTHON) -m mypy --no-error-summary -p eascope -p research -p tests
	@.venv/bin/lint-imports --no-logo >/dev/null || .venv/bin/lint-imports --no-logo
	@git ls-files -z '*.sh' .ci/run | xargs -0 -r shellcheck

test: lint ## the whole test suite, on all cores
	@$(PYTHON) -m pytest -m "not long" -n auto --maxprocesses 8 --dist worksteal

check-long: setup ## longer tests: debugging kernels under stress, stub builds, McPAT, drift
	@$(PYTHON) -m pytest -m long --ignore=tests/bench

bench: setup ## measurements of speed, each as a ratio to a named baseline
	@$(PYTHON) -m tests.bench

kernels: setup ## build every kernel that a variant names
	@$(PYTHON) -m eascope.kernels.build

rootfs: setup ## build the guest images (IMAGE_PROVIDER=buildroot: with Buildroot, of which BUILDROOT is a checkout)
	@$(PYTHON) -m eascope.experiments.runs.guest_image $(IMAGES) $(addprefix --provider=,$(IMAGE_PROVIDER))

research: setup ## execute a study's missing runs and write its record: STUDY="uclamp --seeds 3" (resumable)
	@nice $(PYTHON) -m research.run $(STUDY)

generate: setup ## write everything that is generated: reference pages and schemas, pages of variants and of results
	@$(PYTHON) -m eascope.experiments.cli.reference
	@$(PYTHON) -m eascope.analysis.measures
	@$(PYTHON) -m research.draw
	@$(PYTHON) -m research.variants
	@for kind in campaign core pipeline platform scenario variant variants; do \
		$(EASCOPE) schema $$kind | tr -d '\n' >docs/schemas/$$kind.json || exit; done

accept: generate ## the same, and take what tests print as right: read git diff before you commit it
	@git grep -lz SnapshotAssertion -- 'tests/*/test_*.py' | \
		xargs -0 $(PYTHON) -m pytest -q -m "not long and not guest" --snapshot-update

site: setup ## the pages as a site with search, in build/site/html; every link is checked
	@$(PYTHON) -m pip install -q --disable-pip-version-check -e '.[site]'
	@$(PYTHON) -m research.site

noise: setup ## measure the noise floors of the record's scenarios anew (resumable)
	@nice $(PYTHON) -m eascope.experiments.renew noise $(SCENARIOS)

assumptions: setup ## measure the recorded ranges over model axes anew, or those of COMPARED (resumable)
	@nice $(PYTHON) -m eascope.experiments.renew assumptions $(COMPARED)

engine-agreement: setup ## the fast engine compared with gem5, for captions and its page (gem5; resumable)
	@nice $(PYTHON) -m eascope.experiments.renew agreement

POWER_CORES = $(basename $(notdir $(wildcard configs/cores/*.toml)))
POWER_RUN = nice cargo run -q --release --locked --

power-models: ## derive McPAT's figures of every core again (cargo, g++; 20 min of CPU)
	@command -v cargo >/dev/null || { echo "make power-models needs cargo and g++;" \
		"the committed figures serve without it" >&2; exit 1; }
	@cd power-models && $(POWER_RUN) derive ../configs/cores anchors.toml derived $(POWER_CORES)
	@cd power-models && $(POWER_RUN) temperatures ../configs/cores derived cortex-a53
	@cd power-models && $(POWER_RUN) memory ../configs/cores derived cortex-a53
	@cd power-models && $(POWER_RUN) voltages ../configs/cores anchors.toml derived $(POWER_CORES)

power-calibration: setup ## fit the power model to measurements (EASCOPE_MEASUREMENTS)
	@$(PYTHON) -m eascope.power.calibrate

figures: setup ## the README's drawing, from the demo: the clock, and what the difference is made of
	@mkdir -p docs/figures
	@$(EASCOPE) demo --out runs/figures/demo
	@cp runs/figures/demo/clock.svg docs/figures/frequency-spike.svg
