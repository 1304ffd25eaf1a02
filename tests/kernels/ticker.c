// SPDX-License-Identifier: GPL-2.0-or-later
/* ticker: wakes every 5 ms and does nothing; each wake-up makes its CPU's policy look anew. */
#include <time.h>

int main(void)
{
	const struct timespec pause = { .tv_nsec = 5000000 };

	for (;;)
		nanosleep(&pause, NULL);
}
