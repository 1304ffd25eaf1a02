# SPDX-License-Identifier: GPL-2.0-or-later
"""From points to requests: derived platforms as files, known names, and cell ids.

A simkey needs every byte of a cell, which takes some 20 ms for each seed. A cell id is a digest of
the sources of these bytes, and takes microseconds. For a campaign of 100 000 cells this is the
difference between an hour and seconds. Two cells of one id have one simkey. The ledger
(`experiments.sweeps.ledger`) records that simkey.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import asdict
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

from eascope.configs.overrides import overridden
from eascope.configs.platform import Platform
from eascope.engines.base import Engine
from eascope.experiments.runs.cell import built_digests, identity_of
from eascope.experiments.runs.request import Files, Resolved, resolve
from eascope.experiments.sweeps.point import Point
from eascope.host.cache import digest_of, write_atomic
from eascope.host.dry import NotBuilt
from eascope.host.errors import RequestError
from eascope.host.imports import closure, code_digest
from eascope.kernels.own import Own
from eascope.kernels.variants import boot_args

#: Code that makes cells; it is a part of their ids.
_CODE = (Path(__file__).resolve().parent.parent / "runs" / "cell.py",)
#: Of the name of a derived platform: characters before its digest, and digits of that.
_LONGEST, _DIGITS = 60, 6
#: What a platform has besides its machine's figures; keys of their sources end with that word.
_NAMES = ("name", "summary", "path", "digest", "model", "base", "own", "axes")


def platform_name(base: str, settings: dict[str, Any]) -> str:
    """The name of the derived platform: words, and a digest because words may be alike."""
    words = "-".join(f"{key} {settings[key]}" for key in sorted(settings))
    text = f"{Path(base).stem}-{words}".lower().replace("+", "plus").replace("-", " ")
    slug = re.sub(r"[^a-z0-9]+", "-", text)[:_LONGEST].strip("-")
    return f"{slug}-x{digest_of({'base': base, 'settings': settings})[:_DIGITS]}"


def _of_scenario(name: str, platform: Platform, own: Own) -> object:
    """A scenario takes names of CPUs and capacities from the platform, and nothing else."""
    clusters = tuple((cluster.name, cluster.cpus) for cluster in platform.clusters)
    return name, clusters, platform.capacities, platform.largest.name


class KeptFiles(Files):
    """Reads each file once."""

    #: What a method's answer depends on.
    KEYS: ClassVar[Mapping[str, Callable[..., object]]] = {
        "platform": lambda *asked: asked,
        "machine": lambda *asked: asked,
        "engine": lambda *asked: asked,
        "known_variants": lambda own: tuple(own.names),
        "scenario": _of_scenario,
        "variant": lambda name, own: name,
        "given": lambda asked, _: (asked.platform, asked.controls, asked.energy_model),
    }

    def __init__(self) -> None:
        for name, key in self.KEYS.items():
            setattr(self, name, _kept(getattr(super(), name), key))


def _kept(ask: Callable[..., Any], key: Callable[..., object]) -> Callable[..., Any]:
    answers: dict[object, Any] = {}

    def kept(*asked: Any) -> Any:  # noqa: ANN401 - of any kind
        if (of := key(*asked)) not in answers:
            answers[of] = ask(*asked)
        return answers[of]

    return kept


def figures_of(platform: Platform) -> object:
    """The figures of ``platform``, without names and sources."""
    return _figures({key: value for key, value in asdict(platform).items() if key not in _NAMES})


def _figures(value: object) -> object:
    if isinstance(value, Mapping):
        return {
            key: _figures(entry)
            for key, entry in value.items()
            if not str(key).endswith(("source", "sources"))
        }
    return [_figures(entry) for entry in value] if isinstance(value, list | tuple) else value


def _without_file(error: RequestError, name: str) -> str:
    """The error without the file of a derived platform, which nobody wrote."""
    return str(error).partition(f"{name}: ")[2] or str(error)


class Resolver:
    """Resolves the points of one campaign.

    :param folder: where files of derived platforms go.
    """

    def __init__(self, folder: Path, file: str) -> None:
        self._folder = folder
        self._file = file
        self._files = KeptFiles()
        self._platforms: dict[tuple[str, str], str] = {}
        #: Figures of base platforms, by name.
        self._bases: dict[str, object] = {}
        self._engines: dict[tuple[str, str], str] = {}
        self._kernels: dict[object, dict[str, str]] = {}
        #: A line for each figure of a derived platform that was computed, by platform. One that
        #: has all figures of its base is none.
        self.computed: dict[str, tuple[str, ...]] = {}

    def resolved(self, point: Point, seed: int = 0) -> Resolved:
        """The point, with all that it names.

        :raises RequestError: one line: the campaign's file, the cell, what is wrong.
        """
        try:
            platform = self.platform(point)
            try:
                return resolve(point.request(platform, seed), self._files)
            except RequestError as error:
                if point.overrides:
                    raise RequestError(_without_file(error, Path(platform).name)) from error
                raise
        except RequestError as error:
            raise RequestError(f"{self._file}: cell {point.words}: {error}") from error

    def platform(self, point: Point) -> str:
        """The platform's name, or the file of the derived platform, which is written if missing.

        :raises RequestError: an override that makes no valid platform.
        """
        if not point.overrides:
            return point.platform
        settings, base = dict(point.overrides), point.platform
        key = base, repr(settings)
        if key not in self._platforms:
            name = platform_name(base, settings)
            path = self._folder / f"{name}.toml"
            derived = overridden(base, self._files.platform(base), settings)
            data = derived.text.encode()
            if not path.is_file() or path.read_bytes() != data:
                write_atomic(path, data)
            try:
                platform = self._files.platform(str(path))
            except RequestError as error:
                raise RequestError(_without_file(error, path.name)) from error
            if base not in self._bases:
                self._bases[base] = figures_of(self._files.platform(base))
            if figures_of(platform) != self._bases[base]:
                self.computed[name] = derived.computed
            self._platforms[key] = str(path)
        return self._platforms[key]

    def group_id(self, resolved: Resolved) -> str:
        """A digest of all inputs of the cell's bytes but the seed; empty: not all is built."""
        try:
            engine = self._engine(resolved.engine)
            fields = {"code": self.code, "engine": engine, **self._built(resolved)}
        except NotBuilt:
            return ""
        request, variant = resolved.request, resolved.variant
        fields["platform"] = resolved.platform.digest
        fields["given"] = request.energy_model.words
        fields["activity"] = resolved.activity.digest
        fields["scenario"] = resolved.scenario.digest
        fields["programs"] = repr([figures.digest for figures in resolved.rates])
        # A reference is a name of what other platforms' files say.
        fields["controls"] = repr([request.controls, request.controls.iteration_ns()])
        words = [resolved.engine.mode, f"{request.full} {request.elide}"]
        words += [variant.name, variant.dtb, boot_args(variant)]
        fields["variant"] = repr(
            [*words, variant.switches, sorted(asdict(variant.declares).items())]
        )
        return digest_of(fields)[:32]

    def machine_id(self, resolved: Resolved) -> str:
        """A digest that is equal for cells that share a boot."""
        request, variant = resolved.request, resolved.variant
        parts = [
            resolved.platform.digest,
            resolved.activity.digest,
            resolved.kernel.name,
            variant.dtb,
        ]
        parts += [boot_args(variant), request.engine, resolved.engine.mode, str(request.elide)]
        parts += [resolved.scenario.image, repr(resolved.kernel.more)]
        return digest_of({"machine": [*parts, request.energy_model.words]})[:16]

    @cached_property
    def code(self) -> str:
        """Digest of the code that makes cells."""
        return code_digest(closure(_CODE))

    def _built(self, resolved: Resolved) -> dict[str, str]:
        key = resolved.kernel, resolved.scenario.image, tuple(resolved.scenario.prepared)
        if key not in self._kernels:
            self._kernels[key] = built_digests(resolved)
        return self._kernels[key]

    def _engine(self, engine: Engine) -> str:
        key = (engine.name, engine.mode)
        if key not in self._engines:
            self._engines[key] = digest_of(identity_of(engine).encode())
        return self._engines[key]


def cell_id(group: str, seed: int) -> str:
    """The id of a cell: its group's, and its seed."""
    return f"{group}-{seed}"
