// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * gem5's transport: its pseudo operations as instructions, which EL0 may execute, too.
 *
 * The barrier stands before the script is read, not where the script says "barrier": gem5 may save
 * the machine there, and goes on from it with the script of any run. A file leaves in pieces called
 * NAME@OFFSET, since a write at offset 0 would throw away what the file had; the engine joins them.
 *
 * gem5 reads and writes guest memory inside the operation, where no fault can be taken: every page
 * is touched first, and names are copied to a page that has been written.
 */

#include "agent.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "m5ops.h"

#ifdef __aarch64__
#define M5_OP(number, a0, a1, a2, a3) ({				\
	register uint64_t x0 asm("x0") = (a0);				\
	register uint64_t x1 asm("x1") = (a1);				\
	register uint64_t x2 asm("x2") = (a2);				\
	register uint64_t x3 asm("x3") = (a3);				\
	asm volatile(".inst %4"						\
		     : "+r"(x0) : "r"(x1), "r"(x2), "r"(x3),		\
		       "i"((uint64_t)M5_INSTRUCTION(number)) : "memory");	\
	x0; })
#else
#define M5_OP(number, a0, a1, a2, a3) ({				\
	(void)(a0), (void)(a1), (void)(a2), (void)(a3);			\
	(uint64_t)0; })
#endif

static char words[2048];

static void put(const char *name, const void *data, size_t length)
{
	const volatile char *bytes = data;

	for (size_t i = 0; i < length; i += 4096)
		(void)bytes[i];
	if (length > 0)
		(void)bytes[length - 1];
	/* strncpy() fills the rest with zeros: the whole page has been written */
	strncpy(words, name, sizeof(words) - 1);
	M5_OP(M5_WRITE_FILE, (uintptr_t)data, length, 0, (uintptr_t)words);
}

static void put_text(const char *name, const char *text)
{
	static char copy[2048];

	strncpy(copy, text, sizeof(copy) - 1);
	put(name, copy, strlen(copy));
}

static void m5ops_read_script(struct text *script)
{
	static char piece[CHUNK];
	uint64_t got;

	memset(piece, 0, sizeof(piece));
	M5_OP(M5_CHECKPOINT, 0, 0, 0, 0);
	do {
		got = M5_OP(M5_READ_FILE, (uintptr_t)piece, sizeof(piece), script->length, 0);
		text_add(script, piece, got);
	} while (got == sizeof(piece));
	if (script->length == 0)
		fail("gem5 gave no script");
}

/*
 * The time is taken again next to the operation: a mark ties the guest's clock to gem5's, and
 * thousands of instructions may lie between the caller's look at the clock and this one.
 */
static void m5ops_mark(unsigned int id, uint64_t now)
{
	char name[16], time[24];

	now = mono_ns();
	M5_OP(M5_WORK_BEGIN, id, 0, 0, 0);
	snprintf(name, sizeof(name), "mark-%d", (int)id);
	snprintf(time, sizeof(time), "%" PRIu64, now);
	put_text(name, time);
}

static void m5ops_write_file(const char *name, uint64_t offset, const void *data, size_t length)
{
	char piece[256];

	snprintf(piece, sizeof(piece), "%s@%" PRIu64, name, offset);
	put(piece, data, length);
}

static void m5ops_fail(const char *reason)
{
	put_text("fail-reason", reason);
	M5_OP(M5_FAIL, 0, 1, 0, 0);
}

static void m5ops_exit(int code)
{
	char text[16];

	snprintf(text, sizeof(text), "%d", code);
	put_text("exit-code", text);
	M5_OP(M5_EXIT, 0, 0, 0, 0);
}

const struct transport transport_m5ops = {
	.name = "m5ops",
	.compatible = "eascope,transport-m5ops",
	.read_script = m5ops_read_script,
	.mark = m5ops_mark,
	.write_file = m5ops_write_file,
	.fail = m5ops_fail,
	.exit = m5ops_exit,
};
