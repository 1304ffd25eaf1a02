// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The fast engine's transport: HINT #HINT_MESSAGE, a NOP to every other machine. x0 is the verb, x1..
 * its arguments; the engine reads what pointers name straight from guest memory, which must therefore
 * be mapped when the instruction executes: every page is touched first, and names and reasons are
 * copied to a page that has been written.
 */

#include "agent.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

static char words[2048];

static void hint(unsigned int verb, uint64_t a1, uint64_t a2, uint64_t a3, uint64_t a4)
{
#ifdef __aarch64__
	register uint64_t x0 asm("x0") = verb;
	register uint64_t x1 asm("x1") = a1;
	register uint64_t x2 asm("x2") = a2;
	register uint64_t x3 asm("x3") = a3;
	register uint64_t x4 asm("x4") = a4;

	asm volatile("hint %0" : : "i"(HINT_MESSAGE), "r"(x0), "r"(x1), "r"(x2), "r"(x3), "r"(x4)
		     : "memory");
#else
	(void)verb, (void)a1, (void)a2, (void)a3, (void)a4;
#endif
}

static const char *resident(const char *string)
{
	memset(words, 0, sizeof(words));
	strncpy(words, string, sizeof(words) - 1);
	return words;
}

static void touch(const void *data, size_t length)
{
	const volatile char *bytes = data;

	for (size_t i = 0; i < length; i += 4096)
		(void)bytes[i];
	if (length > 0)
		(void)bytes[length - 1];
}

/*
 * The engine writes the script piece by piece into memory that has been written before, and so is
 * mapped. Up to the first piece all runs of a machine are alike. On a machine without an engine the
 * hint does nothing, and the script is a file of the image.
 */
static void hint_read_script(struct text *script)
{
	static char piece[CHUNK];
	static volatile uint64_t got;
	int error;

	memset(piece, 0, sizeof(piece));
	for (;;) {
		got = UINT64_MAX;
		hint(VERB_READ_SCRIPT, (uintptr_t)piece, sizeof(piece), script->length,
		     (uintptr_t)&got);
		if (got > sizeof(piece))
			break;
		text_add(script, piece, got);
		if (got == 0)
			return;
	}
	error = file_read(script_path(), script);
	if (error < 0)
		fail("%s: %s", script_path(), strerror(-error));
}

static void hint_mark(unsigned int id, uint64_t now)
{
	hint(VERB_MARK, id, now, 0, 0);
}

static void hint_write_file(const char *name, uint64_t offset, const void *data, size_t length)
{
	touch(data, length);
	hint(VERB_WRITE_FILE, (uintptr_t)resident(name), offset, (uintptr_t)data, length);
}

static void hint_fail(const char *reason)
{
	hint(VERB_FAIL, (uintptr_t)resident(reason), 0, 0, 0);
}

static void hint_exit(int code)
{
	hint(VERB_EXIT, code, 0, 0, 0);
}

const struct transport transport_hint = {
	.name = "hint",
	.compatible = "eascope,transport-hint",
	.read_script = hint_read_script,
	.mark = hint_mark,
	.write_file = hint_write_file,
	.fail = hint_fail,
	.exit = hint_exit,
};
