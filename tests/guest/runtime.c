// SPDX-License-Identifier: GPL-2.0-or-later
/* Start-up, power-on of the other CPUs, and the way out for results. */
#include "guest.h"

#define PSCI_CPU_ON 0xc4000003ul
#define PSCI_SYSTEM_OFF 0x84000008ul
#define STACK_BYTES 4096

#define VIRTUAL_TIMER_INTERRUPT 27

char stacks[N_CPUS][STACK_BYTES] __attribute__((aligned(16)));

static char text[65536];
static uint64_t length;

/* The header of an arm64 kernel image, so that QEMU boots us like one: one CPU, PSCI for others. */
asm(".section .text.start, \"ax\"\n"
    ".global _start\n"
    "_start:\n"
    "	b	1f\n"
    "	nop\n"
    "	.quad	0, image_bytes, 0, 0, 0, 0\n"
    "	.ascii	\"ARM\\x64\"\n"
    "	.word	0\n"
    "1:	mov	x0, #0\n"
    ".global secondary_start\n"
    "secondary_start:\n"
    "	ldr	x1, =stacks + 4096\n"
    "	mov	x2, #4096\n"
    "	madd	x1, x0, x2, x1\n"
    "	mov	sp, x1\n"
    "	cbnz	x0, 1f\n"
    "	bl	guest_main\n"
    "1:	bl	secondary_main\n"
    "2:	wfi\n"
    "	b	2b\n"
    ".ltorg\n"
    ".text\n");

void secondary_start(void);

void message(uint64_t verb, uint64_t a1, uint64_t a2, uint64_t a3, uint64_t a4)
{
	register uint64_t x0 asm("x0") = verb;
	register uint64_t x1 asm("x1") = a1;
	register uint64_t x2 asm("x2") = a2;
	register uint64_t x3 asm("x3") = a3;
	register uint64_t x4 asm("x4") = a4;

	asm volatile("hint %0" : : "i"(HINT_MESSAGE), "r"(x0), "r"(x1), "r"(x2), "r"(x3), "r"(x4)
		     : "memory");
}

void mark(uint64_t id)
{
	message(VERB_MARK, id, ticks_to_ns(clock_ticks()), 0, 0);
}

void fail(const char *reason)
{
	message(VERB_FAIL, (uint64_t)reason, 0, 0, 0);
	for (;;)
		;
}

static void put(char c)
{
	if (length < sizeof(text))
		text[length++] = c;
}

static void put_text(const char *s)
{
	while (*s)
		put(*s++);
}

static void put_number(uint64_t value)
{
	char digits[20];
	unsigned int n = 0;

	do {
		digits[n++] = '0' + value % 10;
		value /= 10;
	} while (value);
	while (n)
		put(digits[--n]);
}

/* One line "label value"; only the first CPU may call these. */
void out(const char *label, uint64_t value)
{
	put_text(label);
	put(' ');
	put_number(value);
	put('\n');
}

void out_cpu(const char *label, uint64_t cpu, uint64_t value)
{
	put_text(label);
	put('.');
	put_number(cpu);
	put(' ');
	put_number(value);
	put('\n');
}

void finish(void)
{
	message(VERB_WRITE_FILE, (uint64_t) "result.txt", 0, (uint64_t)text, length);
	message(VERB_EXIT, 0, 0, 0, 0);
	power_off();
}

void power_off(void)
{
	register uint64_t x0 asm("x0") = PSCI_SYSTEM_OFF;

	asm volatile("hvc #0" : "+r"(x0) : : "memory");
	for (;;)
		;
}

void start_secondaries(void)
{
	for (uint64_t cpu = 1; cpu < N_CPUS; cpu++) {
		register uint64_t x0 asm("x0") = PSCI_CPU_ON;
		register uint64_t x1 asm("x1") = cpu;
		register uint64_t x2 asm("x2") = (uint64_t)secondary_start;
		register uint64_t x3 asm("x3") = cpu;

		asm volatile("hvc #0" : "+r"(x0) : "r"(x1), "r"(x2), "r"(x3) : "memory");
		if (x0)
			fail("CPU_ON refused");
	}
}

/* Sleep in WFI until the virtual timer's interrupt (masked, so nothing is taken); ns slept. */
uint64_t wait_for_interrupt_ns(uint64_t ns)
{
	uint64_t before = clock_ticks();

	*(volatile uint32_t *)(GICD) = 1;
	*(volatile uint32_t *)(GICD + 0x100) = 1u << VIRTUAL_TIMER_INTERRUPT;
	*(volatile uint32_t *)(GICC + 4) = 0xff;
	*(volatile uint32_t *)(GICC) = 1;
	asm volatile("msr daifset, #2\n\t"
		     "msr cntv_cval_el0, %0\n\t"
		     "msr cntv_ctl_el0, %1\n\t"
		     "isb"
		     :
		     : "r"(before + ns * clock_hz() / 1000000000ul), "r"(1ul));
	while (clock_ticks() < before + ns * clock_hz() / 1000000000ul)
		asm volatile("wfi" : : : "memory");
	asm volatile("msr cntv_ctl_el0, %0" : : "r"(0ul));
	return ticks_to_ns(clock_ticks() - before);
}

__attribute__((weak)) void secondary_main(uint64_t cpu)
{
	(void)cpu;
	for (;;)
		asm volatile("wfi");
}
