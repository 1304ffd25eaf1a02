# SPDX-License-Identifier: GPL-2.0-or-later
"""gem5's request: nothing shapes it but the settings, which every run's key has, and the files."""

from __future__ import annotations

from dataclasses import MISSING, fields, replace
from pathlib import Path
from typing import Any

from eascope.engines.base import LIMIT_S, Machine
from eascope.engines.gem5.engine import Gem5Engine
from eascope.engines.gem5.inside.request import NeededRequest
from eascope.engines.gem5.request import Gem5Settings, RequestFiles, request_of, settings_of
from eascope.host.cache import digest_of

FILES = RequestFiles(*(Path(f"/{field.name}") for field in fields(RequestFiles)))
OTHER: dict[str, Any] = {
    "mode": "detailed",
    "machine": {"another": 1},
    "cmdline": "loud",
    "limit_ns": 1,
    "stall_ns": 2,
}


def test_every_key_of_a_request_is_a_setting_or_a_file(linux_like: Machine) -> None:
    """A key that is added to a request without a setting fails here."""
    request = request_of(settings_of(linux_like, "elided"), FILES)
    settings = {field.name for field in fields(Gem5Settings)}
    files = {field.name for field in fields(RequestFiles)}
    assert set(request) == settings | files | {"schema"} == set(NeededRequest.__annotations__)
    assert {name: request[name] for name in files} == {name: f"/{name}" for name in files}  # type: ignore[literal-required]


def test_every_setting_is_in_the_request_and_in_the_key(linux_like: Machine) -> None:
    settings = settings_of(linux_like, "elided")
    request, keys = request_of(settings, FILES), {digest_of(settings.encode())}
    assert set(OTHER) == {field.name for field in fields(Gem5Settings)}
    for name, value in OTHER.items():
        changed = replace(settings, **{name: value})
        assert request_of(changed, FILES) != request, name
        keys.add(digest_of(changed.encode()))
    assert len(keys) == 1 + len(OTHER)


def test_no_setting_has_a_default() -> None:
    assert all(field.default is MISSING for field in fields(Gem5Settings))


def test_the_key_is_of_what_a_run_is_given(linux_like: Machine) -> None:
    settings = Gem5Engine("elided").settings(linux_like)
    assert settings == settings_of(linux_like, "elided", LIMIT_S)
    assert settings.machine["mode"] == settings.mode == "elided"
