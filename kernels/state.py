# SPDX-License-Identifier: GPL-2.0-or-later
"""The state that a variant must have on a platform, as lines that the guest agent checks.

A variant declares its state (EAS on or off, the governor), and every run checks it:
`state_expectations` gives the lines of the agent's script that check it. If one of them fails, the
run fails.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from eascope.configs.devicetree import opps_of
from eascope.configs.platform import Cluster, Platform
from eascope.kernels.switches import (
    EAS_GOVERNOR,
    ENERGY_AWARE,
    IDLE_GOVERNOR,
    SCHED_DEBUG,
    STATS,
    governors,
    has_idle_driver,
    sets_governor,
    switch_proofs,
)
from eascope.kernels.variants import Declared, Variant, argument_name, boot_args

#: Under which name the guest looks whether the kernel took its boot arguments.
BOOT_PROOF = "boot-arguments"
#: Arguments that no part of the kernel reads, but `rootfs/members/policy` does.
USER_SPACE = "eascope."
_IDLE_DRIVER = "/sys/devices/system/cpu/cpuidle/current_driver"
#: Prints those that it did not take, and each warning of its log that names one; fails if any.
#: One with a dot in its name must read back. Of the others, init is given those that nobody took.
_BOOT_PROOF = rf"""
b=/bin/busybox
refused=$(
	for argument; do
		name=$(echo "${{argument%%=*}}" | $b tr - _)
		case $name in
		cpufreq.default_governor) file=/sys/devices/system/cpu/cpufreq/policy0/scaling_governor ;;
		cpuidle.governor) file={IDLE_GOVERNOR} ;;
		sysctl.*) file=/proc/sys/$(echo "${{name#*.}}" | $b tr . /) ;;
		*.*) file=/sys/module/${{name%%.*}}/parameters/${{name#*.}} ;;
		*) file= ;;
		esac
		if [ -z "$file" ]; then
			$b cat /proc/1/cmdline /proc/1/environ | $b tr '\0' '\n' |
				$b grep -qxF -e "$argument" || continue
		elif found=$($b cat "$file"); then
			case ${{argument#*=}},$found in
			"$found,$found" | "$argument,Y" | [1y],Y | on,Y | [0n],N | off,N) continue ;;
			esac
		fi
		echo "$argument"
	done 2>/dev/null
	names=$(for argument; do argument=${{argument%%=*}}; echo "${{argument#sysctl.}}"; done)
	$b dmesg -r | $b sed -nE 's/^<[0-4]>\[[^]]*\] //p' | $b grep -wF -e "$names"
)
[ -z "$refused" ] || {{ echo $refused; exit 1; }}
"""


def asymmetric(variant: Variant, platform: Platform) -> bool:
    """True if the kernel is given CPUs of different capacities."""
    return variant.dtb != "nocap" and len(set(platform.capacities)) > 1


def eas_possible(variant: Variant, platform: Platform) -> bool:
    """True if the kernel can enable EAS: it wants different capacities, and schedutil alone."""
    found = governors(variant.boot, variant.switches, platform)
    return asymmetric(variant, platform) and {*found.values()} == {EAS_GOVERNOR}


def on_platform(variant: Variant, platform: Platform) -> Variant:
    """``variant`` as it is on ``platform``, with the state that its boot and switches give there.

    Where EAS is impossible the kernel refuses to write `ENERGY_AWARE`, whatever the value. Where a
    change of governor is what ends EAS, it is switched off before: the kernel ends it later than
    the write. A switch of ``cpu*`` is one of each CPU, with ``state*`` one of each idle state but
    the first, one of ``policy*`` of each policy.
    """
    switches = tuple(
        expanded for switch in variant.switches for expanded in _expanded(switch, platform)
    )
    variant = replace(variant, switches=switches)
    possible = eas_possible(variant, platform)
    at_boot = eas_possible(replace(variant, switches=()), platform)
    wanted = [value for path, value in switches if path == ENERGY_AWARE]
    eas = possible and wanted[-1:] != ["0"]
    if not possible:
        others = [switch for switch in switches if switch[0] != ENERGY_AWARE]
        switches = (*([(ENERGY_AWARE, "0")] if at_boot else []), *others)
    if at_boot and not eas:
        paths = [path for path, _ in switches]
        end = len(paths) - paths[::-1].index(ENERGY_AWARE)
        if STATS not in paths[end:]:  # from here on nothing may ask EAS for a placement
            switches = (*switches[:end], (STATS, "0"), *switches[end:])
    names = dict.fromkeys(governors(variant.boot, switches, platform).values())
    return replace(variant, switches=switches, declares=Declared(eas, ", ".join(names)))


def _expanded(switch: tuple[str, str], platform: Platform) -> Iterator[tuple[str, str]]:
    path, value = switch
    if "/policy*/" in path:
        for cluster in platform.clusters:
            yield path.replace("/policy*/", f"/policy{cluster.cpus[0]}/"), value
        return
    if "/cpu*/" not in path:
        yield switch
        return
    for cpu in platform.cpus:
        of_cpu = path.replace("/cpu*/", f"/cpu{cpu}/")
        states = range(1, len(platform.cluster_of(cpu).idle_states))
        for state in states if "/state*/" in path else (0,):
            yield of_cpu.replace("/state*/", f"/state{state}/"), value


def state_expectations(variant: Variant, platform: Platform) -> list[tuple[str, ...]]:
    """Lines of the agent's script that prove the declared state; they may be run repeatedly.

    They cover the kernel's name and its own switches, EAS, the frequency domains with driver,
    governor and who switches, the energy model's figures, CPU capacities, the topology with its
    asymmetry flag, and the idle driver, or that there is none.
    """
    eas = variant.declares.eas
    found = governors(variant.boot, variant.switches, platform)
    lines: list[tuple[str, ...]] = [
        ("contains", f"{SCHED_DEBUG}/eascope/variant", f"kernel={variant.kernel} queue="),
        ("contains", f"{SCHED_DEBUG}/eascope/variant", f"energy_aware={int(eas)}"),
        # Without a driver cpuidle has no files.
        ("contains", _IDLE_DRIVER, "gem5_idle")
        if has_idle_driver(variant.boot)
        else ("absent", _IDLE_DRIVER),
        # The domains' files appear in debugfs with this only.
        ("write", f"{SCHED_DEBUG}/verbose", "Y"),
    ]
    if eas_possible(variant, platform):  # else the file is empty
        lines.append(("expect", ENERGY_AWARE, str(int(eas))))
    lines += switch_proofs(variant.switches)
    if not eas:  # such a variant's switches reset the counters
        zeros = " 0" * len(platform.cpus)
        lines.append(("contains", STATS, f"feec_called{zeros}"))
    for cluster in platform.clusters:
        governor = found[cluster.cpus[0]]
        lines += _cluster_lines(cluster, governor, variant.dtb)
        lines += _switching_lines(cluster, governor, fast=platform.fast_switch)
    for cpu in platform.cpus:
        lines += _cpu_lines(cpu, variant, platform)
    lines.append(("report", STATS))
    lines.append(("report", f"{SCHED_DEBUG}/eascope/variant"))
    return lines


def boot_proof(variant: Variant) -> list[str]:
    """Lines of the agent's script that prove the boot arguments; they may be run once."""
    words = boot_args(variant).split()
    if sets_governor(variant.switches):  # which reads back as it was switched, not as it was
        words = [word for word in words if argument_name(word) != "cpufreq.default_governor"]
    if not (arguments := " ".join(word for word in words if not word.startswith(USER_SPACE))):
        return []
    path = f"/tmp/{BOOT_PROOF}"
    return [
        f"file {path} {len(_BOOT_PROOF)}\n{_BOOT_PROOF}",
        f"spawn {BOOT_PROOF} /bin/busybox sh {path} {arguments}",
        f"wait {BOOT_PROOF}",
    ]


def _cluster_lines(cluster: Cluster, governor: str, flavour: str) -> list[tuple[str, ...]]:
    """Frequency domain and energy model of one cluster."""
    first = cluster.cpus[0]
    policy = f"/sys/devices/system/cpu/cpufreq/policy{first}"
    model = f"/sys/kernel/debug/energy_model/cpu{first}"
    lines: list[tuple[str, ...]] = [
        ("expect", f"{policy}/scaling_driver", "gem5-cpufreq"),
        ("expect", f"{policy}/scaling_governor", governor),
        ("expect", f"{policy}/related_cpus", " ".join(map(str, cluster.cpus))),
        ("expect", f"{model}/cpus", cpu_list(cluster.cpus)),
    ]
    for opp in opps_of(cluster, flavour):
        lines.append(("expect", f"{model}/ps:{opp.khz}/power", str(opp.power_uw)))
    return lines


def _switching_lines(cluster: Cluster, governor: str, *, fast: bool) -> list[tuple[str, ...]]:
    """Lines for the requester of frequencies: the scheduler itself, or schedutil's thread."""
    first = cluster.cpus[0]
    policy = f"/sys/devices/system/cpu/cpufreq/policy{first}"
    schedutil = governor == EAS_GOVERNOR  # no other governor has a fast switch
    lines: list[tuple[str, ...]] = [
        ("expect", f"{policy}/fast_switch_enabled", str(int(fast and schedutil)))
    ]
    if schedutil and not fast:
        lines.append(("thread", f"sugov:{first}"))
    return lines


def _cpu_lines(cpu: int, variant: Variant, platform: Platform) -> list[tuple[str, ...]]:
    """Capacity and scheduling domains of one CPU."""
    capacity = platform.capacities[cpu] if variant.dtb != "nocap" else 1024
    levels = _levels(cpu, platform)
    domains = f"{SCHED_DEBUG}/domains/cpu{cpu}"
    lines: list[tuple[str, ...]] = [
        ("expect", f"/sys/devices/system/cpu/cpu{cpu}/cpu_capacity", str(capacity))
    ]
    for index, level in enumerate(levels):
        lines.append(("expect", f"{domains}/domain{index}/name", level))
    if asymmetric(variant, platform):
        top = f"{domains}/domain{len(levels) - 1}/flags"
        lines.append(("contains", top, "SD_ASYM_CPUCAPACITY_FULL"))
    return lines


def _levels(cpu: int, platform: Platform) -> list[str]:
    """The scheduling domains of ``cpu``: MC has the CPUs that share the last-level cache."""
    if platform.one_llc:
        return ["MC"]
    levels = ["MC"] if len(platform.cluster_of(cpu).cpus) > 1 else []
    return levels + (["PKG"] if len(platform.clusters) > 1 else [])


def cpu_list(cpus: tuple[int, ...]) -> str:
    """``0-3``, ``4,6`` as the kernel prints CPU masks."""
    runs: list[list[int]] = []
    for cpu in cpus:
        if runs and cpu == runs[-1][1] + 1:
            runs[-1][1] = cpu
        else:
            runs.append([cpu, cpu])
    return ",".join(str(a) if a == b else f"{a}-{b}" for a, b in runs)
