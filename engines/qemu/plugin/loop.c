// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Which code is rt-app's busy loop, where that runs at a rate of its own.
 *
 * rt-app is at fixed addresses, and so are other programs of the guest: it differs from them in the
 * first instructions of the loop's function, as the executed and the eliding copy have them.
 */
#include "loop.h"

#include <string.h>

#include "machine.h"
#include "qemu_plugin_api.h"

static bool in_range(uint64_t address)
{
	for (unsigned int i = 0; i < config.n_loop_ranges; i++)
		if (address >= config.loop_code[i].start && address < config.loop_code[i].end)
			return true;
	return false;
}

/* The loop that the block belongs to which is being translated at `address` of a program. */
int loop_at(uint64_t address)
{
	static GByteArray *words;
	const size_t size = sizeof(config.loop_copies[0].begins);

	if (!in_range(address))
		return LOOP_NONE;
	if (!words)
		words = g_byte_array_new();
	if (!qemu_plugin_read_memory_vaddr(config.loop_code[0].start, words, size))
		return LOOP_NONE;
	for (unsigned int i = 0; i < config.n_loop_copies; i++)
		if (!memcmp(words->data, config.loop_copies[i].begins, size))
			return config.loop_copies[i].loop;
	return LOOP_NONE;
}
