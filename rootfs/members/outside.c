// SPDX-License-Identifier: GPL-2.0-or-later
/* What is around programs: whether a server is ready, files that they leave. */
#include "member.h"

#include <errno.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define READY_EVERY_US	50000

static int try_once(char **argv)
{
	int status;
	pid_t pid = fork();

	if (pid < 0)
		die("ready: fork: %s", strerror(errno));
	if (pid == 0) {
		execv(argv[0], argv);
		_exit(127);
	}
	waitpid(pid, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

int ready(char **words)
{
	long limit_ms = number(words[1], 1, 3600000, "LIMIT_MS");
	bool started = false;
	int status;

	for (long us = 0; us < 1000 * limit_ms; us += READY_EVERY_US) {
		status = try_once(words + 2);
		if (status == 0)
			return 0;
		if (status == 127)
			die("ready: %s does not start", words[2]);
		if (pid_of(words[0]) > 0) {
			started = true;
		} else if (started || has_failed(words[0])) {
			show_log(words[0]);
			say("member: %s has ended before it was ready", words[0]);
			return 1;
		}
		sleep_us(READY_EVERY_US);
	}
	show_log(words[0]);
	say("member: %s is not ready after %ld ms", words[0], limit_ms);
	return 1;
}

int alive(char **names)
{
	for (; *names; names++) {
		if (pid_of(*names) > 0)
			continue;
		show_log(*names);
		say("member: %s has ended before the window", *names);
		return 1;
	}
	return 0;
}

static void copy(const char *from, FILE *out)
{
	char buffer[4096];
	size_t got;
	FILE *in = fopen(from, "re");

	if (!in)
		die("gather: %s: %s", from, strerror(errno));
	while ((got = fread(buffer, 1, sizeof(buffer), in)) > 0)
		if (fwrite(buffer, 1, got, out) != got)
			die("gather: %s: %s", from, strerror(errno));
	fclose(in);
}

int gather(const char *file, const char *prefix)
{
	char pattern[256];
	glob_t found;
	FILE *out;

	snprintf(pattern, sizeof(pattern), "%s*", prefix);
	if (glob(pattern, 0, NULL, &found) != 0)
		die("gather: no file begins with %s", prefix);
	out = fopen(file, "we");
	if (!out)
		die("gather: %s: %s", file, strerror(errno));
	for (size_t i = 0; i < found.gl_pathc; i++)
		copy(found.gl_pathv[i], out);
	if (fclose(out) != 0)
		die("gather: %s: %s", file, strerror(errno));
	globfree(&found);
	return 0;
}
