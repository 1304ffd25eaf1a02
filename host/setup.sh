#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Make this machine ready for eascope: Debian packages (when we may install them) and .venv.
# Run by `make setup`; running it again is cheap.
set -eu
cd "$(dirname "$0")/.."

list=host/system-packages.txt
wanted=$(sed -e 's/#.*//' "$list" | xargs)
missing=""
for package in $wanted; do
	dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q '^install ok installed$' ||
		missing="$missing $package"
done
missing=${missing# }

if [ -n "$missing" ]; then
	if [ "$(id -u)" -eq 0 ]; then
		as_root=""
	elif command -v sudo >/dev/null && sudo -n true 2>/dev/null; then
		as_root="sudo"
	else
		echo "eascope needs Debian packages; run this once, then the same command again:" >&2
		echo "  sudo apt-get install --no-install-recommends $missing" >&2
		exit 1
	fi
	echo "setup: installing $missing (about 1 min)" >&2
	log=$(mktemp)
	# The mirror's lists may be older than its pool: fetch them before the first install.
	# shellcheck disable=SC2086  # the list of packages is meant to be split
	if ! { $as_root apt-get -q update &&
		$as_root env DEBIAN_FRONTEND=noninteractive \
			apt-get -q -y install --no-install-recommends $missing; } >"$log" 2>&1; then
		echo "setup: apt-get failed; the last lines of its log:" >&2
		tail -n 15 "$log" >&2
		rm -f "$log"
		exit 1
	fi
	rm -f "$log"
fi

# Python makes .venv/bin/python before it installs pip, so an interrupted try can leave it without a
# whole pip. The mark is there until .venv is made.
unfinished=.venv/unfinished
if [ -e "$unfinished" ] || ! .venv/bin/python -m pip --version >/dev/null 2>&1; then
	echo "setup: making .venv" >&2
	rm -rf .venv
	mkdir .venv
	touch "$unfinished"
	python3 -m venv .venv
	rm "$unfinished"
fi
echo "setup: installing Python packages (under 1 min)" >&2
.venv/bin/python -m pip install -q --disable-pip-version-check -e '.[dev,sweep]'
touch .venv/ready
