# SPDX-License-Identifier: GPL-2.0-or-later
"""Names with a release: ``mainline@7.3`` is the variant `mainline` on Linux 7.3.

One key for all of ``variants.toml``: a table describes a kernel or a variant, and the release says
which source and which form of the queues it is made of.
"""

from __future__ import annotations

from dataclasses import replace

from host.errors import RequestError, unknown
from kernels.queues import is_ported
from kernels.releases import DEFAULT, RELEASES
from kernels.variants import SERIES, Catalogue, Kernel, Variant, load_catalogue


def split_name(kind: str, name: str) -> tuple[str, str]:
    """Name and release of ``name``; the release is empty where none is named.

    :raises RequestError: an unknown release.
    """
    plain, at, release = name.partition("@")
    if at and release not in RELEASES:
        allowed = ", ".join(f"{plain}@{release}" for release in RELEASES)
        raise RequestError(f"{kind} {name!r}: unknown release {release!r}: allowed: {allowed}")
    return plain, release


def kernel_named(name: str) -> Kernel:
    """The kernel ``base``, or ``base@7.3``.

    :raises RequestError: an unknown name, or a queue that is not ported to that release.
    """
    plain, release = split_name("kernel", name)
    catalogue = load_catalogue()
    catalogue.check(plain)
    if plain not in catalogue.kernels:
        raise unknown("kernel", name, catalogue.kernels)
    return _released(catalogue, "kernel", name, catalogue.kernels[plain], release)


def variant_named(name: str) -> tuple[Kernel, Variant]:
    """The variant ``mainline``, or ``mainline@7.3``, and its kernel.

    :raises RequestError: an unknown name, one that is only planned, or a queue that is not ported
        to that release.
    """
    plain, release = split_name("variant", name)
    catalogue = load_catalogue()
    catalogue.check(plain)
    variants = catalogue.variants
    if plain in catalogue.planned:
        allowed = ", ".join(sorted(variants))
        raise RequestError(f"variant {plain!r} has no kernel yet: allowed: {allowed}")
    if plain not in variants:
        raise unknown("variant", name, variants)
    variant = variants[plain]
    kernel = _released(catalogue, "variant", name, catalogue.kernels[variant.kernel], release)
    return kernel, replace(variant, name=name, kernel=kernel.name)


def kernel_names() -> list[str]:
    """All kernels: those of the default release, then ``NAME@RELEASE`` where it is ported."""
    catalogue = load_catalogue()
    return [
        name if release == DEFAULT else f"{name}@{release}"
        for release in RELEASES
        for name, kernel in catalogue.kernels.items()
        if release == DEFAULT or not (kernel.own or unported(kernel, release))
    ]


def unported(kernel: Kernel, release: str) -> list[str]:
    """The queues of ``kernel`` that have no form for ``release``; one of a person's own has any."""
    return [
        queue
        for queue in kernel.series
        if queue != kernel.own and release != DEFAULT and not is_ported(SERIES / queue, release)
    ]


def releases_of(variant: Variant) -> list[str]:
    """The releases that ``variant``, of the file, can be built of."""
    kernel = load_catalogue().kernels[variant.kernel]
    return [release for release in RELEASES if not unported(kernel, release)]


def variants_of(catalogue: Catalogue, release: str) -> list[str]:
    """Names of the variants that ``release`` has, in the order of the file."""
    return [
        name
        for name, variant in catalogue.variants.items()
        if not unported(catalogue.kernels[variant.kernel], release)
    ]


def _released(catalogue: Catalogue, kind: str, name: str, kernel: Kernel, release: str) -> Kernel:
    """``kernel`` of ``release``, under the name that it then has.

    :raises RequestError: a queue that is not ported.
    """
    if not release:
        return kernel
    if missing := unported(kernel, release):
        queues = " and ".join(missing)
        allowed = ", ".join(f"{name}@{release}" for name in variants_of(catalogue, release))
        raise RequestError(
            f"{kind} {name!r}: the queue {queues} is not ported to Linux {release}: "
            f"allowed: {allowed}"
        )
    # The default has the same key whether it is named or not.
    named = kernel.name if release == DEFAULT else f"{kernel.name}@{release}"
    return replace(kernel, name=named, release=release)
