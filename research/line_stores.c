// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Stores a byte to each line of 16 MiB in turn, for ever: every store misses an L2 of up to 2 MiB.
 *
 * It stands for PARTProf's `cachekiller` and is built as that is, without optimisation, with the
 * loop's variables in registers.
 */
#include <stddef.h>
#include <stdint.h>

#define LINE	64
#define SIZE	((size_t)16 << 20)

static uint8_t bytes[SIZE] __attribute__((aligned(LINE)));

static void walk(register uint8_t *at, register const size_t size, register const size_t step)
{
	register size_t place = 0;
	register size_t turn;

	for (turn = 0; turn < SIZE_MAX; turn++) {
		at[place] = 0;
		place += step;
		if (place >= size)
			place -= size;
	}
}

int main(void)
{
	walk(bytes, SIZE, LINE);
	return 0;
}
