// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * spins TURNS CALLS: how long its code takes in each of its threads, and the kernel's for it.
 *
 * Printed are ns: of TURNS turns of a loop of two instructions in its first thread, in another one
 * and in a child, and of CALLS turns of a loop of five that calls the kernel.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#ifndef SECOND
#define SECOND 0
#endif

static long turns;

static long long now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000LL + now.tv_nsec;
}

static void *spin(void *name)
{
	long left = turns;
	long long began = now_ns();

	asm volatile("1: subs %0, %0, #1; b.ne 1b" : "+r"(left) : : "cc");
	printf("%s %lld\n", (const char *)name, now_ns() - began);
	fflush(stdout);
	return NULL;
}

static void call(long calls)
{
	long long began = now_ns();
	/* No call may come between these and the loop: it would use the registers. */
	register long number asm("x8") = SYS_getppid;
	register long left asm("x9") = calls;
	register long result asm("x0");

	asm volatile("1: svc #0; nop; nop; subs %1, %1, #1; b.ne 1b"
		     : "=r"(result), "+r"(left) : "r"(number) : "cc", "memory");
	printf("calls %lld\n", now_ns() - began);
	fflush(stdout);
}

int main(int argc, char **argv)
{
	pthread_t other;
	pid_t child;

	if (argc != 3)
		return 2;
	turns = atol(argv[1]);
	/* Copies that differ have other bytes in their code here. */
	asm volatile("mov x9, #%0" : : "i"(SECOND) : "x9");
	spin("warm");
	spin("first");
	if (pthread_create(&other, NULL, spin, "thread") || pthread_join(other, NULL))
		return 1;
	child = fork();
	if (!child) {
		spin("child");
		_exit(0);
	}
	if (waitpid(child, NULL, 0) != child)
		return 1;
	call(atol(argv[2]));
	return 0;
}
