// SPDX-License-Identifier: GPL-2.0-or-later
/* What a daemon does. */
#include "policy.h"

#include <ctype.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#define MOST_TID	4194304
#define KERNEL_THREAD	0x00200000	/* PF_KTHREAD in the flags of stat */
#define NOT_OURS	255		/* in now_in: such a thread, never read again */

struct shared *shared;
volatile sig_atomic_t ended;
static unsigned char now_in[MOST_TID];

static void move_counted(enum group group, long tid)
{
	int error = move(group, tid);

	now_in[tid] = group + 1;
	if (error)
		refused(group, tid, error);
	else
		shared->moves++;
}

/* Nice values of all threads but the kernel's: field 19 of stat, the policy is 41. */
static void by_priority(long tid, const char *stat)
{
	const char *field = strrchr(stat, ')');
	long value = 0, nice = 0;

	for (int number = 3; field && number <= 41; number++) {
		field = strchr(field + 1, ' ');
		value = field ? strtol(field + 1, NULL, 10) : 0;
		if (number == 9 && value & KERNEL_THREAD) {
			now_in[tid] = NOT_OURS;
			return;
		}
		if (number == 19)
			nice = value;
	}
	if (field && now_in[tid] != group_of(nice, value) + 1)
		move_counted(group_of(nice, value), tid);
}

static void watched(long tid)
{
	if (now_in[tid] == FG + 1)
		return;
	if (!shared->watched_ns)
		shared->watched_ns = now_ns();
	move_counted(FG, tid);
	shared->tids++;
}

static void look_at(long pid)
{
	char path[300], stat_text[1024];
	struct dirent *entry;
	struct stat owner;
	DIR *folder;

	if (pid >= MOST_TID || now_in[pid] == NOT_OURS)
		return;
	snprintf(path, sizeof(path), "%s/%ld", options.proc, pid);
	if (policy->mover == WATCHER && (stat(path, &owner) || (long)owner.st_uid != options.app_uid))
		return;
	strcat(path, "/task");
	folder = opendir(path);
	while (folder && (entry = readdir(folder))) {
		long tid = strtol(entry->d_name, NULL, 10);

		if (tid <= 0 || tid >= MOST_TID)
			continue;
		if (policy->mover == WATCHER) {
			watched(tid);
			continue;
		}
		snprintf(path, sizeof(path), "%s/%ld/task/%ld/stat", options.proc, pid, tid);
		if (get(path, stat_text, sizeof(stat_text)))
			by_priority(tid, stat_text);
	}
	if (folder)
		closedir(folder);
}

static long khz(const char *file)
{
	char text[32];

	return get(file, text, sizeof(text)) ? strtol(text, NULL, 10) : 0;
}

/* fg_boost follows the clock of the first CPU: at three quarters of its highest for 50 ms, to the bigs. */
static void retarget(void)
{
	static int high, low, on_big = 1;
	long most = khz(FREQ "/policy0/cpuinfo_max_freq");
	long now = khz(FREQ "/policy0/scaling_cur_freq");

	high = 4 * now >= 3 * most ? high + 1 : 0;
	low = 2 * now <= most ? low + 1 : 0;
	if ((on_big ? low : high) * options.period_ms < 50)
		return;
	on_big = !on_big;
	set_boost_cpus(on_big ? options.big : options.little);
	shared->retargets++;
}

static void on_signal(int number)
{
	(void)number;
	ended = 1;
}

static bool has_daemon(void)
{
	return policy->mover == OTHER || policy->mover == WATCHER || policy->retarget;
}

void watch(void)
{
	uint64_t next = now_ns();

	signal(SIGTERM, on_signal);
	signal(SIGINT, on_signal);
	prctl(PR_SET_NAME, "policyd");
	while (!ended) {
		struct dirent *entry;
		bool looks = policy->mover == OTHER || policy->mover == WATCHER;
		DIR *folder = looks ? opendir(options.proc) : NULL;

		while (folder && (entry = readdir(folder)))
			if (isdigit((unsigned char)*entry->d_name))
				look_at(strtol(entry->d_name, NULL, 10));
		if (folder)
			closedir(folder);
		if (policy->retarget)
			retarget();
		next += options.period_ms * 1000000;
		until_ns(next);
	}
}

pid_t start_watching(void)
{
	pid_t pid = has_daemon() ? fork() : 0;

	if (pid || !has_daemon())
		return pid;
	watch();
	exit(0);
}
