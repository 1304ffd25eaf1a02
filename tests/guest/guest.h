/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Programs that run on the fast engine without an operating system: every instruction is ours, so
 * times and counts can be predicted exactly. Results go out as a file, through the hint channel.
 * The compiler is given the board's addresses: GICD, GICC, ENERGYCTRL.
 */
#ifndef EASCOPE_TEST_GUEST_H
#define EASCOPE_TEST_GUEST_H

#include <stdbool.h>
#include <stdint.h>

#include "energyctrl.h"
#include "messages.h"

#define N_CPUS 6

static inline uint32_t reg_read(uint32_t offset)
{
	return *(volatile uint32_t *)(ENERGYCTRL + offset);
}

static inline void reg_write(uint32_t offset, uint32_t value)
{
	*(volatile uint32_t *)(ENERGYCTRL + offset) = value;
}

static inline void set_level(uint32_t domain, uint32_t level)
{
	reg_write(DOMAIN_ID, domain);
	reg_write(PERF_LEVEL, level);
}

static inline uint32_t get_level(uint32_t domain)
{
	reg_write(DOMAIN_ID, domain);
	return reg_read(PERF_LEVEL);
}

static inline uint64_t clock_ticks(void)
{
	uint64_t value;

	asm volatile("isb\n\tmrs %0, cntvct_el0" : "=r"(value) : : "memory");
	return value;
}

static inline uint64_t clock_hz(void)
{
	uint64_t value;

	asm volatile("mrs %0, cntfrq_el0" : "=r"(value));
	return value;
}

/* ns from ticks, for the intervals of these tests. */
static inline uint64_t ticks_to_ns(uint64_t ticks)
{
	return ticks * 1000000000ul / clock_hz();
}

/* Exactly 2 n instructions; n > 0. */
static inline void spin(uint64_t n)
{
	asm volatile("1:	subs	%0, %0, #1\n"
		     "	b.ne	1b\n"
		     : "+r"(n)
		     :
		     : "cc");
}

static inline void spin_ns(uint64_t ns)
{
	uint64_t until = clock_ticks() + ns * clock_hz() / 1000000000ul;

	while (clock_ticks() < until)
		;
}

/* runtime.c */
void message(uint64_t verb, uint64_t a1, uint64_t a2, uint64_t a3, uint64_t a4);
void mark(uint64_t id);
void fail(const char *reason) __attribute__((noreturn));
void out(const char *label, uint64_t value);
void out_cpu(const char *label, uint64_t cpu, uint64_t value);
void finish(void) __attribute__((noreturn));
/* End a QEMU that does not know the hint channel. */
void power_off(void) __attribute__((noreturn));
/* Start the other CPUs in secondary_main(); each has its own stack. */
void start_secondaries(void);
uint64_t wait_for_interrupt_ns(uint64_t ns);

/* The program. */
void guest_main(void);
void secondary_main(uint64_t cpu);

#endif
