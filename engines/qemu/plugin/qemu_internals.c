// SPDX-License-Identifier: GPL-2.0-or-later
/* QEMU's internals: hooks into the accelerator, devices, and the checks that they fit. */
#include "qemu_internals.h"

#include <stdlib.h>
#include <string.h>

#include "report.h"

void *object_class_by_name(const char *name);
void tcg_cpu_init_cflags(CPUState *cpu, bool parallel);
void rr_start_vcpu_thread(CPUState *cpu);
void rr_kick_vcpu_thread(CPUState *cpu);
void tcg_handle_interrupt(CPUState *cpu, int mask);
void memory_region_init_io(void *region, void *owner, const void *ops, void *opaque,
			   const char *name, uint64_t size);
void memory_region_add_subregion(void *region, uint64_t offset, void *subregion);
void *get_system_memory(void);
void cpu_physical_memory_rw(uint64_t address, void *buffer, uint64_t length, bool is_write);

/* struct AccelOpsClass of include/system/accel-ops.h, up to the members that we touch. */
struct accel_ops {
	char object_class[96];
	void (*ops_init)(void *ops);
	bool (*cpus_are_resettable)(void);
	void (*cpu_reset_hold)(CPUState *cpu);
	void (*create_vcpu_thread)(CPUState *cpu);
	void (*kick_vcpu_thread)(CPUState *cpu);
	bool (*cpu_thread_is_idle)(CPUState *cpu);
	void (*synchronize[5])(void);
	void (*handle_interrupt)(CPUState *cpu, int mask);
	int64_t (*get_virtual_clock)(void);
	void (*set_virtual_clock)(int64_t time);
};

/* struct MemoryRegionOps of include/exec/memory.h. */
struct region_ops {
	internals_read read;
	internals_write write;
	void *read_with_attrs;
	void *write_with_attrs;
	int endianness;
	struct {
		unsigned int min_access_size;
		unsigned int max_access_size;
		bool unaligned;
		void *accepts;
	} valid;
	struct {
		unsigned int min_access_size;
		unsigned int max_access_size;
		bool unaligned;
	} impl;
};

#define DEVICE_LITTLE_ENDIAN 2
/* sizeof(MemoryRegion) is 272 in QEMU 10.0; a page leaves room, and the rest is checked. */
#define REGION_ROOM 4096
#define REGION_USED 1024

static void ignore_set_clock(int64_t time)
{
	(void)time;
}

void internals_interrupt(CPUState *cpu, int mask)
{
	tcg_handle_interrupt(cpu, mask);
}

void internals_kick(CPUState *cpu)
{
	rr_kick_vcpu_thread(cpu);
}

void internals_install(const struct internals_hooks *hooks)
{
	struct accel_ops *ops = object_class_by_name("tcg-accel-ops");

	/*
	 * With single-threaded TCG and no instruction counting these six members have exactly
	 * these values. Another thread mode, another accelerator or another layout differs in at
	 * least one.
	 */
	if (!ops || ops->create_vcpu_thread != rr_start_vcpu_thread ||
	    ops->kick_vcpu_thread != rr_kick_vcpu_thread ||
	    ops->handle_interrupt != tcg_handle_interrupt || ops->cpu_thread_is_idle ||
	    ops->get_virtual_clock || ops->set_virtual_clock)
		report_end("engine", "QEMU's accelerator table is not that of QEMU 10.0 with "
				     "-accel tcg,thread=single");
	if (!bql_locked())
		report_end("engine", "QEMU starts its vCPUs without holding its lock");
	ops->get_virtual_clock = hooks->get_clock;
	ops->set_virtual_clock = ignore_set_clock;
	ops->handle_interrupt = hooks->interrupt;
	ops->kick_vcpu_thread = hooks->kick;
}

void internals_prepare_vcpu(CPUState *cpu)
{
	/*
	 * QEMU 10.0 (accel/tcg/plugin-gen.c, gen_cpu_index) takes the vCPU's number as a constant
	 * of the generated code unless CF_PARALLEL is set, but single-threaded vCPUs share that
	 * code: counts would go to the wrong vCPU, and the constant is even multiplied in place.
	 * Asking for parallel code generation keeps the number a variable. Its one side effect,
	 * that WFE and YIELD do nothing, is made up for in waits.c.
	 */
	tcg_cpu_init_cflags(cpu, true);
}

void internals_map_device(const char *name, uint64_t address, uint64_t size, internals_read read,
			  internals_write write)
{
	struct region_ops *ops = calloc(1, sizeof(*ops));
	unsigned char *region = malloc(REGION_ROOM);

	if (!ops || !region)
		report_end("engine", "out of memory");
	*ops = (struct region_ops){
		.read = read,
		.write = write,
		.endianness = DEVICE_LITTLE_ENDIAN,
		.valid = { .min_access_size = 4, .max_access_size = 4 },
		.impl = { .min_access_size = 4, .max_access_size = 4 },
	};
	memset(region, 0, REGION_USED);
	memset(region + REGION_USED, 0x5a, REGION_ROOM - REGION_USED);
	memory_region_init_io(region, NULL, ops, NULL, name, size);
	for (unsigned int i = REGION_USED; i < REGION_ROOM; i++)
		if (region[i] != 0x5a)
			report_end("engine", "QEMU's MemoryRegion is larger than expected");
	memory_region_add_subregion(get_system_memory(), address, region);
}

uint32_t internals_peek(uint64_t address)
{
	uint8_t bytes[4] = { 0 };

	cpu_physical_memory_rw(address, bytes, sizeof(bytes), false);
	return bytes[0] | bytes[1] << 8 | bytes[2] << 16 | (uint32_t)bytes[3] << 24;
}
