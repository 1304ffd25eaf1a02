// SPDX-License-Identifier: GPL-2.0-or-later
/* works CPU RUN_MS REST_MS ROUNDS: runs on CPU for RUN_MS, then sleeps for REST_MS, ROUNDS times. */
#include <stdlib.h>
#include <unistd.h>

#include "include/task.h"

int main(int argc, char **argv)
{
	if (argc != 5)
		return 2;
	if (pin(0, atoi(argv[1])))
		return fail("works: affinity");
	for (int rounds = atoi(argv[4]); rounds > 0; rounds--) {
		run_ms(atoi(argv[2]));
		usleep(1000 * atoi(argv[3]));
	}
	return 0;
}
