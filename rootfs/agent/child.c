// SPDX-License-Identifier: GPL-2.0-or-later
/* Programs that the script starts: fork, output to /tmp/NAME.log, wait, kill, reap. */

#include "agent.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define CHILDREN_MAX	32
#define ARGUMENTS_MAX	64
#define NAME_SIZE	64
/* How long "kill" waits after each signal before it sends a stronger one. */
#define KILL_PATIENCE	(2 * NSEC_PER_SEC)
#define LOG_SHOWN	200

static struct child {
	char name[NAME_SIZE];
	pid_t pid;
	bool ended;
	int status;
} children[CHILDREN_MAX];

static unsigned int count;

void child_setup(void)
{
	sigset_t set;

	/* SIGCHLD stays pending until a wait asks for it: no handler runs in the window. */
	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	sigprocmask(SIG_BLOCK, &set, NULL);
}

static struct child *find(const char *name)
{
	for (unsigned int i = 0; i < count; i++)
		if (strcmp(children[i].name, name) == 0)
			return &children[i];
	return NULL;
}

static struct child *known(const char *name)
{
	struct child *child = find(name);

	if (!child)
		fail("no program was spawned as '%s'", name);
	return child;
}

static void log_path(char *path, size_t size, const char *name)
{
	const char *folder = getenv("TMPDIR");	/* never set in a guest */

	snprintf(path, size, "%s/%s.log", folder ? folder : "/tmp", name);
}

/* The error of joining a group, or 0. */
static int join(const char *group)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/cgroup.procs", group);
	return -file_write(path, "0\n", 2);
}

/* In the child: becomes the program, or tells errno through the pipe. */
static void become(const char *name, char **argv, const char *group, int report)
{
	char path[PATH_MAX];
	sigset_t none;
	int out, in, error;

	error = group ? join(group) : 0;
	log_path(path, sizeof(path), name);
	in = open("/dev/null", O_RDONLY);
	out = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND, 0644);
	if (in < 0 || out < 0) {
		error = errno;
	} else if (!error) {
		dup2(in, STDIN_FILENO);
		dup2(out, STDOUT_FILENO);
		dup2(out, STDERR_FILENO);
		if (in > STDERR_FILENO)
			close(in);
		if (out > STDERR_FILENO)
			close(out);
		sigemptyset(&none);
		sigprocmask(SIG_SETMASK, &none, NULL);
		execvp(argv[0], argv);
		error = errno;
	}
	if (write(report, &error, sizeof(error)) < 0)
		_exit(126);
	_exit(127);
}

void child_spawn(const char *name, char *command, const char *group)
{
	char *argv[ARGUMENTS_MAX + 1];
	struct child *child;
	unsigned int argc = 0;
	int report[2], error;
	char *rest = command;
	ssize_t got;
	pid_t pid;

	if (strlen(name) >= NAME_SIZE || strchr(name, '/') || name[0] == '.')
		fail("spawn: NAME = '%s': allowed: a plain file name below %d characters", name,
		     NAME_SIZE);
	if (find(name))
		fail("spawn: '%s' was spawned before", name);
	if (count == CHILDREN_MAX)
		fail("spawn: more than %d programs", CHILDREN_MAX);
	while (*rest) {
		if (argc == ARGUMENTS_MAX)
			fail("spawn: more than %d words", ARGUMENTS_MAX);
		argv[argc++] = script_word(&rest, "spawn: word");
		while (*rest == ' ')
			rest++;
	}
	argv[argc] = NULL;

	if (pipe2(report, O_CLOEXEC) < 0)
		fail("spawn: pipe: %s", strerror(errno));
	pid = fork();
	if (pid < 0)
		fail("spawn: fork: %s", strerror(errno));
	if (pid == 0)
		become(name, argv, group, report[1]);
	close(report[1]);
	/* Ends with nothing read when the program runs: the pipe closes on exec. */
	do {
		got = read(report[0], &error, sizeof(error));
	} while (got < 0 && errno == EINTR);
	close(report[0]);
	if (got == sizeof(error)) {
		waitpid(pid, NULL, 0);
		fail("spawn %s: %s", argv[0], strerror(error));
	}
	child = &children[count++];
	snprintf(child->name, sizeof(child->name), "%s", name);
	child->pid = pid;
}

/* Takes every ended process off the kernel's hands, also those that were left to PID 1. */
static void reap(void)
{
	int status;
	pid_t pid;

	while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
		for (unsigned int i = 0; i < count; i++) {
			if (children[i].pid == pid) {
				children[i].ended = true;
				children[i].status = status;
			}
		}
	}
}

/* True when the child has ended, false when limit_ns (0: none) has passed before. */
static bool await(struct child *child, uint64_t limit_ns)
{
	uint64_t end = mono_ns() + limit_ns;
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	for (;;) {
		reap();
		if (child->ended)
			return true;
		if (limit_ns == 0) {
			sigwaitinfo(&set, NULL);
		} else {
			uint64_t now = mono_ns();
			struct timespec left;

			if (now >= end)
				return false;
			left.tv_sec = (end - now) / NSEC_PER_SEC;
			left.tv_nsec = (end - now) % NSEC_PER_SEC;
			sigtimedwait(&set, NULL, &left);
		}
	}
}

static void fail_with_log(const struct child *child, const char *what)
{
	char path[PATH_MAX];
	struct text log = { 0 };
	const char *shown;
	char how[64];

	/* A program that writes markers ends when a buffer is full: that is then the reason. */
	trace_none_lost();
	if (WIFSIGNALED(child->status))
		snprintf(how, sizeof(how), "died of signal %d (%s)", WTERMSIG(child->status),
			 strsignal(WTERMSIG(child->status)));
	else
		snprintf(how, sizeof(how), "exit status %d", WEXITSTATUS(child->status));
	log_path(path, sizeof(path), child->name);
	if (file_read(path, &log) < 0 || log.length == 0)
		fail("%s %s: %s, no output", child->name, what, how);
	dprintf(STDERR_FILENO, "eascope-agent: output of %s:\n%s\n", child->name, log.data);
	shown = trim(log.data);
	if (strlen(shown) > LOG_SHOWN)
		shown += strlen(shown) - LOG_SHOWN;
	fail("%s %s: %s, last output: %s", child->name, what, how, shown);
}

void child_wait(const char *name, uint64_t limit_ns)
{
	struct child *child = known(name);

	if (!await(child, limit_ns))
		fail("wait %s: still running after %llu ms", name,
		     (unsigned long long)(limit_ns / NSEC_PER_MSEC));
	if (!WIFEXITED(child->status) || WEXITSTATUS(child->status) != 0)
		fail_with_log(child, "failed");
}

pid_t child_pid(const char *name)
{
	return known(name)->pid;
}

void child_kill(const char *name)
{
	static const int signals[] = { SIGINT, SIGTERM, SIGKILL };
	struct child *child = known(name);

	reap();
	/* What is to be killed was to run until now: an earlier end is not what was asked for. */
	if (child->ended)
		fail_with_log(child, "had ended before 'kill'");
	for (size_t i = 0; i < ARRAY_SIZE(signals); i++) {
		kill(child->pid, signals[i]);
		if (await(child, KILL_PATIENCE))
			return;
	}
	fail("kill %s: still running after SIGKILL", name);
}
