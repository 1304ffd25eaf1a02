# SPDX-License-Identifier: GPL-2.0-or-later
"""Names with a release: ``mainline@7.3`` is the variant `mainline` on Linux 7.3.

A table of ``variants.toml`` describes a kernel or a variant for all releases. The release decides
the source and the form of the series. In place of a release, a name may have a tree that the
command line names: ``cas@mine``.
"""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

from eascope.host.errors import RequestError, names_allowed, unknown
from eascope.kernels.own import NO_OWN, Own
from eascope.kernels.patch_series import is_ported
from eascope.kernels.provenance import KERNEL_SRC
from eascope.kernels.releases import DEFAULT, RELEASES, release_of
from eascope.kernels.source import directory_version
from eascope.kernels.trees import series_to_apply, tree_source
from eascope.kernels.variants import (
    LISTING,
    SERIES,
    Catalogue,
    Kernel,
    Variant,
    load_catalogue,
    own_variant,
)

#: What a tree or a patch that a command brings along is measured as.
OWN_IS_AS = "mainline"


def kernel_named(name: str) -> Kernel:
    """The kernel ``base``, or ``base@7.3``.

    :raises RequestError: an unknown name, or a series that is not ported to that release.
    """
    plain, place = _split("kernel", name, NO_OWN)
    catalogue = load_catalogue()
    catalogue.check(plain)
    if plain not in catalogue.kernels:
        raise unknown("kernel", name, catalogue.kernels)
    return _placed(catalogue.kernels[plain], "kernel", name, place, NO_OWN)


def kernel_below(kernel: Kernel, own: tuple[Path, ...] = ()) -> Kernel:
    """The known kernel, of the same source, on which a person's ``kernel`` has patches.

    :param own: those of its series that it keeps.
    """
    kept = {*kernel.our_series, *(folder.name for folder in own)}
    series = tuple(name for name in kernel.series if name in kept)
    like = series, kernel.fragments, own
    known = load_catalogue().kernels.values()
    name = next(one.name for one in known if (one.series, one.fragments, one.own) == like)
    if kernel.release not in ("", DEFAULT):
        name = f"{name}@{kernel.release}"
    return replace(kernel, name=name, series=series, own=own)


def variant_named(name: str, own: Own = NO_OWN) -> tuple[Kernel, Variant]:
    """A variant and its kernel: ``mainline``, ``mainline@7.3``, or a name from ``own``.

    :raises RequestError: an unknown name, one that is only planned, or a series that is not ported
        to that release.
    """
    for kernel, variant in own.whole:
        if variant.name == name:
            return kernel, variant
    plain, place = _split("variant", name, own)
    change = own.change(plain)
    if own.tree(plain) and not place:
        plain, place = OWN_IS_AS, plain
    catalogue = load_catalogue()
    catalogue.check(plain)
    variants = catalogue.variants
    if plain in catalogue.planned:
        raise RequestError(
            f"variant {plain!r} has no kernel yet{names_allowed(plain, variants, LISTING)}"
        )
    if folder := own.series(plain):
        kernel, variant = _patched(catalogue, folder)
    elif plain in variants or change in own.changes:
        plain = plain if plain in variants else OWN_IS_AS
        variant = variants[plain]
        kernel = catalogue.kernels[variant.kernel]
    elif ("/" in name or "." in name) and os.path.exists(name):
        raise RequestError(
            f"variant {name!r} is a file; expected a name ({LISTING}); --patch takes a patch, "
            "--kernel a tree"
        )
    else:
        raise unknown("variant", name, [*variants, *own.names], LISTING)
    kernel = _placed(kernel, "variant", name, place, own)
    release = kernel.release or DEFAULT
    if not _has_switches(variant, release):
        raise RequestError(
            f"variant {name!r}: Linux {release} does not have its switches; use "
            f"{', '.join(f'{plain}@{known}' for known in variant.releases)}"
        )
    variant = variant.with_more(change.boot, change.switches)
    return kernel, replace(variant, name=name, kernel=kernel.name)


def _split(kind: str, name: str, own: Own) -> tuple[str, str]:
    """Name, and release or tree, of ``name``; the latter is empty where none is named.

    :raises RequestError: an unknown release.
    """
    plain, at, place = name.partition("@")
    places = [*RELEASES, *(tree.name for tree in own.trees)]
    if at and place not in places:
        allowed = ", ".join(f"{plain}@{known}" for known in places)
        raise RequestError(f"{kind} {name!r}: unknown release {place!r}: allowed: {allowed}")
    return plain, place


def _patched(catalogue: Catalogue, folder: Path) -> tuple[Kernel, Variant]:
    """Kernel and variant of the series in ``folder``, on top of the variant `OWN_IS_AS`."""
    name, under = folder.name, catalogue.variants[OWN_IS_AS]
    kernel = catalogue.kernels[under.kernel].with_series(folder)
    summary = f"{OWN_IS_AS} with the patches {name}"
    return own_variant(kernel, under, name, summary, "patches of one's own")


def _placed(kernel: Kernel, kind: str, name: str, place: str, own: Own) -> Kernel:
    """``kernel`` of a release or a tree, under the name that it then has.

    :raises RequestError: a series is not ported, or the tree cannot serve.
    """
    tree = own.tree(place) if place else None
    if place:
        release = tree_source(tree).release.name if tree else place
    elif unported(kernel, DEFAULT):  # the name stands for KERNEL_SRC's release, or the default
        given = os.environ.get(KERNEL_SRC)
        release = release_of(directory_version(Path(given))).name if given else DEFAULT
    else:
        return kernel
    if missing := unported(kernel, release):
        raise _not_ported(
            kernel, kind=kind, name=name, release=release, missing=missing, place=place or release
        )
    if not place:
        return kernel
    # The default has the same key whether it is named or not.
    named = kernel.name if place == DEFAULT else f"{kernel.name}@{place}"
    kernel = replace(kernel, name=named, release=release, tree=tree)
    if tree:
        left = series_to_apply(tree, kernel.folders(SERIES))
        kernel = replace(kernel, series=tuple(left))
    return kernel


def _not_ported(
    kernel: Kernel, *, kind: str, name: str, release: str, missing: list[str], place: str
) -> RequestError:
    """The error about series that ``release`` lacks; it names releases and kernels that exist."""
    plain = name.partition("@")[0]
    elsewhere = [other for other in RELEASES if not unported(kernel, other)]
    if elsewhere and DEFAULT not in elsewhere:
        allowed = [f"{plain}@{other}" for other in elsewhere]
    else:
        allowed = [f"{known}@{place}" for known in variants_of(load_catalogue(), release)]
    lacking = " and ".join(missing)
    return RequestError(
        f"{kind} {name!r}: the series {lacking} is not ported to Linux {release}; use "
        f"{', '.join(allowed)}"
    )


def kernel_names() -> list[str]:
    """All kernels: those of the default release, then ``NAME@RELEASE`` where it is ported."""
    return [
        name if release == DEFAULT else f"{name}@{release}"
        for release in RELEASES
        for name, kernel in load_catalogue().kernels.items()
        if not unported(kernel, release) and (release == DEFAULT or not kernel.own)
    ]


def variant_names() -> list[str]:
    """All variants, likewise."""
    return [
        name if release == DEFAULT else f"{name}@{release}"
        for release in RELEASES
        for name in variants_of(load_catalogue(), release)
    ]


def unported(kernel: Kernel, release: str) -> list[str]:
    """The series of ``kernel`` without a form for ``release``; a person's own has any form."""
    return [series for series in kernel.our_series if not is_ported(SERIES / series, release)]


def releases_of(variant: Variant) -> list[str]:
    """The releases for which ``variant``, of the file, can be built."""
    kernel = load_catalogue().kernels[variant.kernel]
    return [
        release
        for release in RELEASES
        if _has_switches(variant, release) and not unported(kernel, release)
    ]


def _has_switches(variant: Variant, release: str) -> bool:
    return not variant.releases or release in variant.releases


def variants_of(catalogue: Catalogue, release: str) -> list[str]:
    """Names of the variants that ``release`` has, in the order of the file."""
    return [
        name
        for name, variant in catalogue.variants.items()
        if _has_switches(variant, release)
        and not unported(catalogue.kernels[variant.kernel], release)
    ]
