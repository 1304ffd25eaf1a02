// SPDX-License-Identifier: GPL-2.0-or-later
/* latnice_abi: what a kernel with latency_nice answers; the first wrong answer ends it. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "include/task.h"

#define VER0	48
#define VER1	56
#define VER2	64
#define FLAG_RESET_ON_FORK	0x01
#define OUTER	"/sys/fs/cgroup/outer"
#define INNER	OUTER "/inner"
#define FILE_NAME	"/cpu.latency.nice"
#define USER	1000

#define CHECK(condition)							\
	do {									\
		if (!(condition)) {						\
			printf("line %d: %s: %s\n", __LINE__, #condition,	\
			       strerror(errno));				\
			fflush(stdout);						\
			_exit(1);						\
		}								\
	} while (0)

/* A structure and what a later kernel may have behind it. */
struct longer {
	struct attr attr;
	uint64_t tail;
};

static int set_size(pid_t pid, int nice, uint32_t size)
{
	struct longer longer = { .attr.size = size, .attr.latency_nice = nice };

	longer.attr.flags = FLAG_KEEP_ALL | FLAG_LATENCY_NICE;
	return syscall(SYS_sched_setattr, pid, &longer, 0) ? errno : 0;
}

static int set(pid_t pid, int nice)
{
	return set_size(pid, nice, VER2);
}

static struct attr get(pid_t pid)
{
	struct attr attr;

	CHECK(!syscall(SYS_sched_getattr, pid, &attr, sizeof(attr), 0));
	CHECK(attr.size == VER2 && !attr.reserved);
	return attr;
}

/* What the kernel goes by: the task's own, or its group's. */
static int effective(void)
{
	char line[128];
	FILE *file = fopen("/proc/thread-self/sched", "r");
	int nice = 99;

	CHECK(file);
	while (fgets(line, sizeof(line), file))
		sscanf(line, "latency_nice : %d", &nice);
	fclose(file);
	return nice;
}

static int put(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY), error;

	CHECK(fd >= 0);
	error = write(fd, text, strlen(text)) < 0 ? errno : 0;
	close(fd);
	return error;
}

static int group_is(const char *path, const char *wanted)
{
	char text[32] = { 0 };
	int fd = open(path, O_RDONLY);

	CHECK(fd >= 0 && read(fd, text, sizeof(text) - 1) > 0);
	close(fd);
	text[strcspn(text, "\n")] = 0;
	return !strcmp(text, wanted);
}

/* Does @part in a child, so that this process stays as it is. */
static void apart(void (*part)(void))
{
	int status;
	pid_t pid = fork();

	if (!pid) {
		part();
		_exit(0);
	}
	CHECK(waitpid(pid, &status, 0) == pid && WIFEXITED(status));
	if (WEXITSTATUS(status))
		_exit(1);
}

static void sizes(void)
{
	static const uint32_t wanted[][2] = { { VER0, VER0 }, { VER1, VER1 }, { VER2, VER2 }, { 72, VER2 } };
	struct longer longer;

	for (int i = 0; i < 4; i++) {
		memset(&longer, 0xff, sizeof(longer));
		CHECK(!syscall(SYS_sched_getattr, 0, &longer, wanted[i][0], 0));
		CHECK(longer.attr.size == wanted[i][1]);
		CHECK(wanted[i][1] < VER2 || !longer.attr.latency_nice);
	}
	/* A structure without the field: the flag is wrong, all else as ever. */
	CHECK(set_size(0, 3, VER0) == EINVAL && set_size(0, 3, VER1) == EINVAL);
	longer = (struct longer){ .attr.size = VER1, .attr.nice = 1, .attr.latency_nice = 9 };
	CHECK(!syscall(SYS_sched_setattr, 0, &longer, 0) && !get(0).latency_nice);
	CHECK(!set_size(0, 3, 72) && get(0).latency_nice == 3);
	/* What is unknown, in the tail, among flags and in the reserved word. */
	longer = (struct longer){ .attr.size = 72, .tail = 1 };
	CHECK(syscall(SYS_sched_setattr, 0, &longer, 0) && errno == E2BIG && longer.attr.size == VER2);
	longer = (struct longer){ .attr.size = VER2, .attr.flags = 0x100 };
	CHECK(syscall(SYS_sched_setattr, 0, &longer, 0) && errno == EINVAL);
	longer = (struct longer){ .attr.size = VER2, .attr.reserved = 1 };
	CHECK(syscall(SYS_sched_setattr, 0, &longer, 0) && errno == E2BIG);
	longer.attr.flags = FLAG_KEEP_ALL | FLAG_LATENCY_NICE;
	CHECK(syscall(SYS_sched_setattr, 0, &longer, 0) && errno == E2BIG);
	/* Without the flag the field is not looked at. */
	longer = (struct longer){ .attr.size = VER2, .attr.latency_nice = 99 };
	CHECK(!syscall(SYS_sched_setattr, 0, &longer, 0) && get(0).latency_nice == 3);
}

static void ranges(void)
{
	for (int nice = -20; nice <= 19; nice++)
		CHECK(!set(0, nice) && get(0).latency_nice == nice && effective() == nice);
	CHECK(set(0, -21) == EINVAL && set(0, 20) == EINVAL && set(0, 1 << 30) == EINVAL);
	CHECK(get(0).latency_nice == 19);
}

/* Only the attribute changes, whatever else is set; and it survives what else is. */
static void keeps(void)
{
	struct attr attr = { .size = VER2, .policy = SCHED_BATCH, .nice = 5, .runtime = 1000000 };
	struct attr after;

	CHECK(!syscall(SYS_sched_setattr, 0, &attr, 0) && !set(0, -7));
	after = get(0);
	CHECK(after.policy == SCHED_BATCH && after.nice == 5 && after.runtime == 1000000);
	attr.nice = 6;
	CHECK(!syscall(SYS_sched_setattr, 0, &attr, 0) && get(0).latency_nice == -7);
	attr.flags = FLAG_LATENCY_NICE;
	attr.nice = 7;
	attr.latency_nice = -8;
	CHECK(!syscall(SYS_sched_setattr, 0, &attr, 0));
	CHECK(get(0).latency_nice == -8 && get(0).nice == 7);
	/* A request that fails sets nothing. */
	attr.nice = 0;
	attr.priority = 1;
	attr.latency_nice = 4;
	CHECK(syscall(SYS_sched_setattr, 0, &attr, 0) && errno == EINVAL && get(0).latency_nice == -8);
	attr = (struct attr){ .size = VER2, .policy = SCHED_FIFO, .priority = 3 };
	CHECK(!syscall(SYS_sched_setattr, 0, &attr, 0) && !set(0, -9));
	after = get(0);
	CHECK(after.policy == SCHED_FIFO && after.priority == 3 && after.latency_nice == -9);
}

static void as_user(void)
{
	CHECK(!setresgid(USER, USER, USER) && !setresuid(USER, USER, USER));
}

static void privileges(void)
{
	struct rlimit limit = { 20, 20 };	/* no nice below 0 */
	pid_t parent = getppid();

	CHECK(!setrlimit(RLIMIT_NICE, &limit));
	CHECK(!set(0, -2));
	as_user();
	CHECK(!set(0, -2) && set(0, -3) == EPERM);
	CHECK(!set(0, 5) && !set(0, 5) && !set(0, 0) && set(0, -1) == EPERM);
	CHECK(set(parent, 5) == EPERM && set(1, 5) == EPERM && set(0, -21) == EINVAL);
	limit = (struct rlimit){ 0, 0 };
	CHECK(!setrlimit(RLIMIT_NICE, &limit));
	CHECK(set(0, -1) == EPERM && !set(0, 5) && set(0, 4) == EPERM && get(0).latency_nice == 5);
}

static void limits(void)
{
	struct rlimit limit = { 25, 25 };	/* 20 - 25 */

	CHECK(!setrlimit(RLIMIT_NICE, &limit));
	as_user();
	CHECK(!set(0, -5) && set(0, -6) == EPERM && get(0).latency_nice == -5);
}

static void child_has(int nice)
{
	int status;
	pid_t pid = fork();

	if (!pid)
		_exit(get(0).latency_nice != nice);
	CHECK(waitpid(pid, &status, 0) == pid && !status);
}

static void forks(void)
{
	/* With FLAG_KEEP_ALL it would be as it is. */
	struct attr attr = { .size = VER2, .flags = FLAG_RESET_ON_FORK };

	CHECK(!set(0, -5));
	child_has(-5);
	CHECK(!syscall(SYS_sched_setattr, 0, &attr, 0) && get(0).latency_nice == -5);
	child_has(0);
	attr.flags |= FLAG_LATENCY_NICE;
	attr.latency_nice = 7;
	CHECK(!syscall(SYS_sched_setattr, 0, &attr, 0));
	child_has(7);
}

static void *thread(void *unused)
{
	CHECK(get(0).latency_nice == 2 && !set(0, -11) && effective() == -11);
	return unused;
}

static void threads(void)
{
	pthread_t other;

	CHECK(!set(0, 2) && !pthread_create(&other, NULL, thread, NULL) && !pthread_join(other, NULL));
	CHECK(get(0).latency_nice == 2 && effective() == 2);
}

static void groups(void)
{
	CHECK(access("/sys/fs/cgroup" FILE_NAME, F_OK));
	CHECK(!mkdir(OUTER, 0755) && !put("/sys/fs/cgroup/cgroup.subtree_control", "+cpu"));
	CHECK(!put(OUTER "/cgroup.subtree_control", "+cpu") && !mkdir(INNER, 0755));
	CHECK(group_is(OUTER FILE_NAME, "inherit") && group_is(INNER FILE_NAME, "inherit"));
	CHECK(put(OUTER FILE_NAME, "-21") == ERANGE && put(OUTER FILE_NAME, "20") == ERANGE);
	CHECK(put(OUTER FILE_NAME, "x") == EINVAL && put(OUTER FILE_NAME, "") == 0);
	CHECK(!put(INNER "/cgroup.procs", "0") && effective() == 0);
	/* The nearest that is set. */
	CHECK(!put(OUTER FILE_NAME, "-20") && effective() == -20 && !get(0).latency_nice);
	CHECK(!put(OUTER FILE_NAME, "-5") && effective() == -5);
	CHECK(!put(INNER FILE_NAME, "19") && effective() == 19 && group_is(INNER FILE_NAME, "19"));
	CHECK(!put(OUTER FILE_NAME, "3") && effective() == 19);
	CHECK(!put(INNER FILE_NAME, "inherit") && effective() == 3);
	CHECK(!put("/sys/fs/cgroup/cgroup.procs", "0") && effective() == 0);
	/* A group that comes later. */
	CHECK(!rmdir(INNER) && !mkdir(INNER, 0755) && !put(INNER "/cgroup.procs", "0"));
	CHECK(effective() == 3 && !put(OUTER FILE_NAME, "inherit") && effective() == 0);
	/* A task's own comes first, and its threads have it. */
	CHECK(!put(OUTER FILE_NAME, "-4") && effective() == -4 && !set(0, 7) && effective() == 7);
	/* In a group that is set, a user's 0 is the task's own. */
	CHECK(!put("/sys/fs/cgroup/cgroup.procs", "0") && effective() == 7);
}

int main(void)
{
	static void (*const parts[])(void) = {
		sizes, ranges, keeps, privileges, limits, forks, threads, groups,
	};

	for (unsigned int i = 0; i < sizeof(parts) / sizeof(*parts); i++)
		apart(parts[i]);
	CHECK(!rmdir(INNER) && !rmdir(OUTER));
	puts("all answers are right");
	return 0;
}
