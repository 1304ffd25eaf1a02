// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * hog [-c CPU] [-m MIN] [-M MAX] [-n NICE] [-i] [-f] [-r RUN_US -p PERIOD_US [-k PERIODS] [-w]]:
 * always runs, or works for RUN_US of each PERIOD_US by the clock; under SCHED_IDLE with -i, under
 * SCHED_FIFO with -f. After PERIODS it always runs. With -w, RUN_US are of its own time, and its
 * periods begin together with those of other tasks.
 */
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "include/task.h"

static void sleep_until(int64_t us)
{
	struct timespec time = { us / 1000000, us % 1000000 * 1000 };

	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, NULL);
}

static int64_t own_us(void)
{
	struct timespec time;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
	return time.tv_sec * 1000000LL + time.tv_nsec / 1000;
}

int main(int argc, char **argv)
{
	struct attr attr = { .size = sizeof(attr) };
	int64_t run_us = 0, period_us = 0, begin, worked = 0;
	int option, periods = -1, own = 0;

	while ((option = getopt(argc, argv, "c:m:M:n:ifr:p:k:w")) != -1) {
		switch (option) {
		case 'c':
			if (pin(0, atoi(optarg))) {
				perror("hog: affinity");
				return 1;
			}
			break;
		case 'm':
			attr.flags |= FLAG_CLAMP_MIN;
			attr.clamp_min = atoi(optarg);
			break;
		case 'M':
			attr.flags |= FLAG_CLAMP_MAX;
			attr.clamp_max = atoi(optarg);
			break;
		case 'n':
			attr.nice = atoi(optarg);
			break;
		case 'i':
			attr.policy = SCHED_IDLE;
			break;
		case 'f':
			attr.policy = SCHED_FIFO;
			attr.priority = 1;
			break;
		case 'w':
			own = 1;
			break;
		case 'r':
			run_us = atoi(optarg);
			break;
		case 'p':
			period_us = atoi(optarg);
			break;
		case 'k':
			periods = atoi(optarg);
			break;
		default:
			return 2;
		}
	}
	/* Clamps that nobody asked for are not set: the first one switches them on. */
	if (syscall(SYS_sched_setattr, 0, &attr, 0)) {
		perror("hog: attributes");
		return 1;
	}
	begin = now_us();
	if (own)
		begin += period_us - begin % period_us;
	for (;; begin += period_us) {
		sleep_until(begin);
		while (!run_us || !periods ||
		       (own ? own_us() < worked + run_us : now_us() < begin + run_us))
			;
		worked = own_us();
		if (periods > 0)
			periods--;
	}
}
