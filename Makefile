# SPDX-License-Identifier: GPL-2.0-or-later
# The front door. Each target is a few lines that call a room; `make help` lists them.
EASCOPE := .venv/bin/eascope
PYTHON := .venv/bin/python

.DEFAULT_GOAL := help
.PHONY: help setup demo test lint check-long bench kernels rootfs figures power-models results \
	first-figure releases campaigns campaign-samples engine-agreement elision memory-time program-speed \
	cluster-power model-axes hardware noise pages power-calibration power-expressions activity-error power-validation

help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' Makefile | expand -t 18

setup: .venv/ready ## Debian packages (as root or with sudo) and .venv

.venv/ready: pyproject.toml host/setup.sh host/system-packages.txt
	@host/setup.sh

DEMO = $(EASCOPE) compare mainline uclamp-sum --platform juno-r2 --scenario uclamp/frequency-spike --seeds 20

demo: setup ## the README's drawing: uclamp by maximum (mainline) and by sum, twenty seeds
	@$(DEMO)

lint: setup ## ruff, mypy and shellcheck
	@$(PYTHON) -m ruff format --check --quiet . && $(PYTHON) -m ruff check --quiet .
	@$(PYTHON) -m mypy --no-error-summary host configs power engines kernels rootfs experiments analysis studies tests
	@git ls-files -z '*.sh' .ci/run | xargs -0 -r shellcheck

test: lint ## the whole test suite, on all cores
	@$(PYTHON) -m pytest -m "not long" -n auto --maxprocesses 8 --dist worksteal

check-long: setup ## longer tests: debugging kernels under stress, stub builds, McPAT, drift
	@$(PYTHON) -m pytest -m long

bench: setup ## measurements of speed, each as a ratio to a named baseline
	@$(PYTHON) -m tests.bench

kernels: setup ## build every kernel that a variant names
	@$(PYTHON) -m kernels.build

rootfs: setup ## build the guest images (IMAGE_PROVIDER=buildroot: with Buildroot, of which BUILDROOT is a checkout)
	@$(PYTHON) -m experiments.guest_image $(IMAGES) $(addprefix --provider=,$(IMAGE_PROVIDER))

pages: setup ## draw docs/results and the README's tables from the records of results/, without any run
	@$(PYTHON) -m studies.draw

results: setup ## results and their pages: every scenario's variants over twenty seeds (resumable)
	@nice $(PYTHON) -m studies.pages $(RESULTS)

first-figure: setup ## video playback with EAS and without it: record and page (resumable)
	@nice $(PYTHON) -m studies.first_figure

releases: setup ## variants on two releases of Linux: record and page (resumable)
	@nice $(PYTHON) -m studies.releases

campaigns: setup ## shipped campaigns: records, pages and drawings (resumable)
	@nice $(PYTHON) -m studies.campaigns $(CAMPAIGNS)

campaign-samples: setup ## a sample of the campaigns' cells on gem5, next to the fast engine: record and page (resumable)
	@nice $(PYTHON) -m studies.samples $(CAMPAIGNS)

model-axes: setup ## which verdicts of the results survive the model axes: record and page (resumable)
	@nice $(PYTHON) -m studies.axes $(RESULTS)

noise: setup ## the noise floor of every scenario and platform: record and page (resumable)
	@nice $(PYTHON) -m studies.noise $(RESULTS)

hardware: setup ## the scoreboard: figures of the sources compared with the committed records, without any run
	@$(PYTHON) -m studies.hardware $(HARDWARE)
	@$(PYTHON) -m studies.draw README front

engine-agreement: setup ## the fast engine compared with gem5: record and page (resumable)
	@nice $(PYTHON) -m studies.agreement

elision: setup ## executed busy loops compared with elided ones, on gem5: record and page (resumable)
	@nice $(PYTHON) -m studies.elision

cluster-power: setup ## billed power of a whole cluster compared with measured watts (EASCOPE_MEASUREMENTS)
	@$(PYTHON) -m studies.cluster_power

program-speed: setup ## real programs on the fast engine and on gem5's detailed cores: record and page
	@nice $(PYTHON) -m studies.program_speed

memory-time: setup ## tasks that wait for memory, executed on gem5's detailed cores: record and page
	@nice $(PYTHON) -m studies.memory_time

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
	@$(PYTHON) -m studies.power_validation calibrate

power-expressions: setup ## gem5's power expressions compared with the rows, by workload kernel (gem5)
	@$(PYTHON) -m studies.power_expressions

activity-error: setup ## the fast engine's activity compared with gem5's counts (gem5)
	@nice $(PYTHON) -m studies.activity_error

power-validation: setup ## write docs/results/power-validation.md and its drawings
	@$(PYTHON) -m studies.power_validation validation

VIDEO = $(EASCOPE) compare mainline cas --platform juno-r2 --scenario eas/video-playback --seeds 10

figures: setup ## the drawings of the documents: the demo's, video playback's energy stack
	@mkdir -p docs/figures
	@$(DEMO) --out runs/figures/demo
	@cp runs/figures/demo/clock.svg docs/figures/frequency-spike.svg
	@$(PYTHON) -m studies.demo
	@$(VIDEO) --power derived --out runs/figures/derived
	@cp runs/figures/derived/stack.svg docs/figures/
