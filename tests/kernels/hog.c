// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * hog [-c CPU] [-m MIN] [-M MAX] [-n NICE] [-i] [-r RUN_US -p PERIOD_US [-k PERIODS]]: always runs,
 * or works for RUN_US of each PERIOD_US by the clock; under SCHED_IDLE with -i. After PERIODS it
 * always runs.
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

int main(int argc, char **argv)
{
	struct attr attr = { .size = sizeof(attr) };
	int64_t run_us = 0, period_us = 0, begin;
	int option, periods = -1;

	while ((option = getopt(argc, argv, "c:m:M:n:ir:p:k:")) != -1) {
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
	for (begin = now_us();; begin += period_us) {
		while (!run_us || !periods || now_us() < begin + run_us)
			;
		sleep_until(begin + period_us);
		if (periods > 0)
			periods--;
	}
}
