// SPDX-License-Identifier: GPL-2.0-or-later
/* From a program's start to its end: stop, limit, and how it ended. */
#include "member.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MOST_MS		(3600 * 1000L)
#define MOST_DELAY_US	1000000000L
/* How long a program that is asked to end may take for it. */
#define PATIENCE_MS	20000

enum end { ENDED, STOPPED, HANGS, STAYS };

static const char *value_of(const char *word, const char *key)
{
	size_t length = strlen(key);

	return strncmp(word, key, length) == 0 && word[length] == '=' ? word + length + 1 : NULL;
}

static void take(struct request *request, char *word)
{
	const char *value;

	if ((value = value_of(word, "delay-us")))
		request->delay_us = number(value, 0, MOST_DELAY_US, "delay-us");
	else if ((value = value_of(word, "cpus")))
		request->cpus = value;
	else if ((value = value_of(word, "nice")))
		request->nice = number(value, -20, 19, "nice"), request->has_nice = true;
	else if ((value = value_of(word, "latency-nice"))) {
		request->latency_nice = number(value, -20, 19, "latency-nice");
		request->has_latency_nice = true;
	} else if ((value = value_of(word, "uclamp-min")))
		request->uclamp_min = number(value, 0, 1024, "uclamp-min");
	else if ((value = value_of(word, "uclamp-max")))
		request->uclamp_max = number(value, 0, 1024, "uclamp-max");
	else if ((value = value_of(word, "uid")))
		request->uid = number(value, 0, 65533, "uid");
	else if ((value = value_of(word, "limit-ms")))
		request->limit_ms = number(value, 1, MOST_MS, "limit-ms");
	else if ((value = value_of(word, "exit")))
		request->status = number(value, 0, 255, "exit");
	else if ((value = value_of(word, "endless")))
		request->endless = number(value, 0, 1, "endless");
	else if ((value = value_of(word, "env")) && strchr(value, '='))
		putenv((char *)value);
	else
		die("'%s': allowed: delay-us, cpus, nice, latency-nice, uclamp-min, "
		    "uclamp-max, uid, limit-ms, exit, endless, env=NAME, each with =VALUE", word);
}

static long now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* Waits for the child's end, passing on a request to end it. */
static enum end await(pid_t pid, long limit_ms, int *status)
{
	long end = now_ms() + limit_ms;
	bool asked = false;
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	sigaddset(&set, SIGINT);
	for (;;) {
		long left = end - now_ms();
		struct timespec time = { left / 1000, left % 1000 * 1000000 };

		if (waitpid(pid, status, WNOHANG) == pid)
			return asked ? STOPPED : ENDED;
		if (left <= 0)
			return asked ? STAYS : HANGS;
		if (sigtimedwait(&set, NULL, &time) == SIGINT && !asked) {
			asked = true;
			end = now_ms() + PATIENCE_MS;
			kill(pid, SIGINT);
		}
	}
}

/* What is wrong with an end, or an empty text. */
static const char *wrong(const struct request *request, enum end end, int status)
{
	static char text[128];
	bool expected = WIFEXITED(status) && WEXITSTATUS(status) == request->status;

	text[0] = '\0';
	if (end == HANGS)
		snprintf(text, sizeof(text), "still running after %ld ms", request->limit_ms);
	else if (end == STAYS)
		snprintf(text, sizeof(text), "does not end on SIGINT");
	else if (end == STOPPED && WIFSIGNALED(status) && WTERMSIG(status) == SIGINT)
		;
	else if (WIFSIGNALED(status))
		snprintf(text, sizeof(text), "died of signal %d (%s)", WTERMSIG(status),
			 strsignal(WTERMSIG(status)));
	else if (!expected)
		snprintf(text, sizeof(text), "exit status %d, expected %ld", WEXITSTATUS(status),
			 request->status);
	else if (request->endless && end == ENDED)
		snprintf(text, sizeof(text), "ended before it was stopped");
	return text;
}

static void block_signals(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	sigaddset(&set, SIGINT);
	sigprocmask(SIG_BLOCK, &set, NULL);
}

static int report(const struct request *request, const char *reason, const char *known)
{
	const char *slash = strrchr(request->argv[0], '/');

	say("member: %s (%s): %s%s", request->name, slash ? slash + 1 : request->argv[0], reason,
	    known);
	return 1;
}

int run(char **words)
{
	struct request request = {
		.name = *words++, .uclamp_min = -1, .uclamp_max = -1, .uid = -1,
		.limit_ms = MOST_MS,
	};
	const char *reason, *known;
	int status = 0;
	enum end end;
	pid_t pid;

	for (; *words && strcmp(*words, "--") != 0; words++)
		take(&request, *words);
	if (!words[0] || !words[1])
		die("run %s: no program", request.name);
	request.argv = words + 1;
	block_signals();
	keep_room();
	if (!note_pid(request.name))
		return report(&request, "does not start", circumstances(0));
	sleep_us(request.delay_us);
	pid = fork();
	if (pid < 0)
		die("run %s: fork: %s", request.name, strerror(errno));
	if (pid == 0)
		become(&request);
	setpgid(pid, pid);
	end = await(pid, request.limit_ms, &status);
	kill(-pid, SIGKILL);	/* also what it has left behind */
	forget_pid(request.name);
	reason = wrong(&request, end, status);
	if (!*reason)
		return 0;
	known = circumstances(pid);	/* before a report makes room */
	/* A client fails because its server has ended: that is then the cause. */
	show_others(request.name);
	return report(&request, reason, known);
}

int stop(const char *name)
{
	int pid = pid_of(name);

	/* One that has gone has a status that its waiter shows. */
	if (pid > 0 && kill(pid, SIGINT) < 0 && errno != ESRCH)
		die("stop %s: %s", name, strerror(errno));
	return 0;
}
