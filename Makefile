# The front door. Each target is a few lines that call a room; `make help` lists them.
EASCOPE := .venv/bin/eascope
PYTHON := .venv/bin/python

.DEFAULT_GOAL := help
.PHONY: help setup demo test lint check-long bench kernels rootfs figures clean-runs

help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' Makefile | expand -t 16

setup: .venv/ready ## Debian packages (as root or with sudo) and .venv

.venv/ready: pyproject.toml configs/host/setup.sh configs/host/system-packages.txt
	@configs/host/setup.sh

demo: setup ## the first figure: mainline against cas on juno-r2, video playback
	@$(EASCOPE) compare mainline cas --platform juno-r2 --scenario eas/video-playback

lint: setup ## ruff, mypy and shellcheck
	@$(PYTHON) -m ruff format --check --quiet . && $(PYTHON) -m ruff check --quiet .
	@$(PYTHON) -m mypy --no-error-summary configs engines kernels rootfs experiments analysis
	@git ls-files -z '*.sh' .ci/run | xargs -0 -r shellcheck

test: lint ## the whole test suite
	@$(PYTHON) -m pytest -m "not long"

check-long: setup ## what takes longer: lock debugging kernel, stub builds
	@$(PYTHON) -m pytest -m long

bench: setup ## speed figures, each a ratio against something named
	@$(PYTHON) -m tests.bench

kernels: setup ## build every kernel that a variant names
	@$(PYTHON) -m kernels.build

rootfs: setup ## build the guest image
	@$(PYTHON) -m rootfs.image

figures: demo ## the figures of the README, from the demo's runs
	@mkdir -p docs/figures
	@cp runs/comparisons/eas-video-playback_juno-r2_qemu_mainline_cas/*.svg docs/figures/
