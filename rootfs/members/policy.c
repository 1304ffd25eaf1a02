// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * policy COMMAND [KEY=VALUE...]: user-space policies for big.LITTLE, and what measures them.
 *
 *	policy apply	makes the groups, and moves every thread that can move to "default"
 *	policy daemon	the same, then what the policy watches, until a signal ends it
 *	policy browser	the same beside threads of a browser's launch, which are boosted for short times
 *	policy migrate	moves a running thread between the clusters, at each of their OPPs
 *
 * "policy=boot", the default, is the policy that the kernel's command line names: eascope.policy=NAME.
 * Exit 1: a file that cannot be written, with its name. Exit 2: wrong arguments.
 */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <linux/capability.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define FREQ		"/sys/devices/system/cpu/cpufreq"
#define MOST_TID	4194304
#define MOST_SAMPLES	16384
#define KERNEL_THREAD	0x00200000	/* PF_KTHREAD in the flags of stat */
#define NOT_OURS	255		/* in now_in: such a thread, never read again */
#define APP_UID		10001
#define BOOSTED		(-8)		/* Android's ANDROID_PRIORITY_URGENT_DISPLAY */
#define BACKGROUND	10
#define MEAN_BOOST_NS	2600000.0	/* the source's mean, least and most */
#define LEAST_BOOST_NS	530000.0
#define MOST_BOOST_NS	120000000.0
#define SHAPE		1.062042	/* of the bounded Pareto distribution with these three */

enum group { DEFAULT, FG, BG, GROUPS };
/* Who moves a thread whose priority changes; at its launch, an app as a whole. */
enum mover { NOBODY, SELF, OTHER, AFFINITY, LAUNCH, WATCHER };

struct policy {
	const char *name;
	bool groups, cpusets, quota, clamps, partition, v1, retarget;
	enum mover mover;
};

static const struct policy policies[] = {
	{ .name = "none" },
	{ .name = "stock-android", .groups = true, .quota = true, .mover = SELF },
	{ .name = "priority-self", .groups = true, .cpusets = true, .mover = SELF },
	{ .name = "priority-self-v1", .groups = true, .cpusets = true, .v1 = true, .mover = SELF },
	{ .name = "priority-daemon", .groups = true, .cpusets = true, .mover = OTHER },
	{ .name = "priority-daemon-v1", .groups = true, .cpusets = true, .v1 = true, .mover = OTHER },
	{ .name = "priority-affinity", .mover = AFFINITY },
	{ .name = "app-watcher", .groups = true, .cpusets = true, .mover = WATCHER },
	{ .name = "foreground-app", .groups = true, .cpusets = true, .mover = LAUNCH },
	{ .name = "cpufreq-retarget", .groups = true, .cpusets = true, .retarget = true, .mover = SELF },
	{ .name = "partition", .groups = true, .cpusets = true, .partition = true, .mover = LAUNCH },
	{ .name = "uclamp-groups", .groups = true, .clamps = true, .mover = LAUNCH },
};

static const char *const names[GROUPS] = { "default", "fg_boost", "bg_non_interactive" };
static const struct policy *policy;
static char little[256], big[256], root[200] = "/sys/fs/cgroup", proc[200] = "/proc";
static cpu_set_t cpus_of[GROUPS];
static int thread_files[GROUPS];
static long seed, rounds = 10, period_ms, length_ms = 15000, app_uid = APP_UID;
static unsigned char now_in[MOST_TID];
static volatile sig_atomic_t ended;

static void __attribute__((format(printf, 2, 3))) stop(int code, const char *format, ...)
{
	va_list list;

	va_start(list, format);
	fprintf(stderr, "policy: ");
	vfprintf(stderr, format, list);
	fprintf(stderr, "\n");
	exit(code);
}

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000ULL + now.tv_nsec;
}

static void until_ns(uint64_t ns)
{
	struct timespec at = { ns / 1000000000, ns % 1000000000 };

	while (!ended && clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL))
		;
}

/* 0, or what the kernel says of the write. */
static int put(const char *path, const char *value)
{
	int file = open(path, O_WRONLY | O_CLOEXEC);
	int error = 0;

	if (file < 0 || write(file, value, strlen(value)) < 0)
		error = errno;
	if (file >= 0)
		close(file);
	return error;
}

static void must_put(const char *path, const char *value)
{
	int error = put(path, value);

	if (error)
		stop(1, "%s: '%s': %s", path, value, strerror(error));
}

static bool get(const char *path, char *text, size_t room)
{
	int file = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t length = file < 0 ? -1 : read(file, text, room - 1);

	if (file >= 0)
		close(file);
	if (length < 0)
		return false;
	text[length] = 0;
	text[strcspn(text, "\n")] = 0;
	return true;
}

static char *path_of(enum group group, const char *file)
{
	static char path[512];

	snprintf(path, sizeof(path), "%s/%s/%s", root, names[group], file);
	return path;
}

static const char *threads_file(void)
{
	return policy->v1 ? "tasks" : "cgroup.threads";
}

/* CPUs as the kernel lists them, with spaces or commas and ranges. */
static void read_cpus(const char *list, cpu_set_t *cpus)
{
	CPU_ZERO(cpus);
	for (const char *next = list; *next; ) {
		char *end;
		long first = strtol(next, &end, 10), last = first;

		if (end != next && *end == '-')
			last = strtol(next = end + 1, &end, 10);
		if (end == next || first < 0 || last < first || last >= CPU_SETSIZE)
			stop(2, "CPUs '%s': allowed: numbers and ranges with commas", list);
		for (long cpu = first; cpu <= last; cpu++)
			CPU_SET(cpu, cpus);
		next = end + strspn(end, ", ");
	}
}

/* The first and the last cluster, which are those of the least and of the largest CPUs. */
static void find_clusters(void)
{
	char path[300];
	glob_t found;

	if (!*little || !*big) {
		if (glob(FREQ "/policy*", 0, NULL, &found) || found.gl_pathc < 2)
			stop(2, "no two clusters in " FREQ ": allowed: little=CPUS and big=CPUS");
		snprintf(path, sizeof(path), "%s/related_cpus", found.gl_pathv[0]);
		get(path, little, sizeof(little));
		snprintf(path, sizeof(path), "%s/related_cpus", found.gl_pathv[found.gl_pathc - 1]);
		get(path, big, sizeof(big));
		for (char *list = little; list; list = list == little ? big : NULL)
			for (char *c = list; *c; c++)
				*c = *c == ' ' ? (c[1] ? ',' : 0) : *c;
	}
	read_cpus(little, &cpus_of[DEFAULT]);
	read_cpus(big, &cpus_of[FG]);
	CPU_ZERO(&cpus_of[BG]);
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
		if (CPU_ISSET(cpu, &cpus_of[DEFAULT])) {
			CPU_SET(cpu, &cpus_of[BG]);
			break;
		}
}

static void mount_v1(void)
{
	snprintf(root, sizeof(root), "/dev/cpuctl");
	if (mkdir(root, 0755) < 0 && errno != EEXIST)
		stop(1, "%s: %s", root, strerror(errno));
	if (mount("none", root, "cgroup", 0, "cpuset,cpu,cpuacct") < 0)
		stop(1, "%s: mount: %s", root, strerror(errno));
}

static void make_groups(void)
{
	const char *cpus[GROUPS] = { little, big, NULL };
	char all[512 + 1], first[16];

	if (!policy->groups)
		return;
	snprintf(all, sizeof(all), "%s,%s", little, big);
	snprintf(first, sizeof(first), "%ld", strtol(little, NULL, 10));
	cpus[BG] = first;
	if (policy->v1 && !strcmp(root, "/sys/fs/cgroup"))
		mount_v1();
	for (int group = 0; group < GROUPS; group++) {
		if (mkdir(path_of(group, ""), 0755) < 0 && errno != EEXIST)
			stop(1, "%s: %s", path_of(group, ""), strerror(errno));
		if (!policy->v1)
			must_put(path_of(group, "cgroup.type"), "threaded");
	}
	if (!policy->v1) {	/* only now: its children must be threaded before */
		char path[300];

		snprintf(path, sizeof(path), "%s/cgroup.subtree_control", root);
		must_put(path, policy->cpusets ? "+cpu +cpuset" : "+cpu");
	}
	for (int group = 0; group < GROUPS; group++) {
		if (policy->cpusets || policy->v1)
			must_put(path_of(group, "cpuset.cpus"), policy->cpusets ? cpus[group] : all);
		if (policy->v1)
			must_put(path_of(group, "cpuset.mems"), "0");
		thread_files[group] = open(path_of(group, threads_file()), O_WRONLY | O_CLOEXEC);
		if (thread_files[group] < 0)
			stop(1, "%s: %s", path_of(group, threads_file()), strerror(errno));
	}
	if (policy->partition)
		must_put(path_of(FG, "cpuset.cpus.partition"), "root");
	if (policy->quota)
		must_put(path_of(BG, "cpu.max"), "10000 100000");
	if (policy->clamps) {
		must_put(path_of(FG, "cpu.uclamp.min"), "10.06");
		must_put(path_of(BG, "cpu.uclamp.max"), "10.06");
	}
}

/* 0 is the caller. */
static int move(enum group group, long tid)
{
	char text[32];
	int length = snprintf(text, sizeof(text), "%ld", tid);

	return write(thread_files[group], text, length) < 0 ? errno : 0;
}

/* What daemons have in common with the threads that they watch. */
struct shared {
	_Atomic long moves, refused, retargets, tids;
	_Atomic uint64_t launched_ns, watched_ns;
};

static struct shared *shared;

/* Counts, and names, a thread that the kernel lets nobody move; any other error is one of the group's. */
static void refused(enum group group, long tid, int error)
{
	char path[300], name[64];

	if (error == ESRCH)
		return;
	if (error != EINVAL)
		stop(1, "%s: %ld: %s", path_of(group, threads_file()), tid, strerror(error));
	shared->refused++;
	snprintf(path, sizeof(path), "%s/%ld/comm", proc, tid);
	if (!get(path, name, sizeof(name)))
		snprintf(name, sizeof(name), "%ld", tid);
	printf("# refuses to move: %s\n", name);
	fflush(stdout);
}

/* Every thread of the root. */
static void take_all(void)
{
	long moved = 0, tid;
	char path[300];
	FILE *list;

	if (!policy->groups)
		return;
	snprintf(path, sizeof(path), "%s/%s", root, threads_file());
	list = fopen(path, "re");
	if (!list)
		stop(1, "%s: %s", path, strerror(errno));
	while (fscanf(list, "%ld", &tid) == 1) {
		int error = move(DEFAULT, tid);

		if (error)
			refused(DEFAULT, tid, error);
		else
			moved++;
	}
	fclose(list);
	printf("moved_to_default %ld\nstayed_in_root %ld\n", moved, (long)shared->refused);
	fflush(stdout);
}

static enum group group_of(long nice, long scheduling)
{
	if (nice >= BACKGROUND || scheduling == SCHED_BATCH || scheduling == SCHED_IDLE)
		return BG;
	return nice < 0 && scheduling == SCHED_OTHER ? FG : DEFAULT;
}

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
	snprintf(path, sizeof(path), "%s/%ld", proc, pid);
	if (policy->mover == WATCHER && (stat(path, &owner) || (long)owner.st_uid != app_uid))
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
		snprintf(path, sizeof(path), "%s/%ld/task/%ld/stat", proc, pid, tid);
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
	if ((on_big ? low : high) * period_ms < 50)
		return;
	on_big = !on_big;
	must_put(path_of(FG, "cpuset.cpus"), on_big ? big : little);
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

static void watch(void)
{
	uint64_t next = now_ns();

	signal(SIGTERM, on_signal);
	signal(SIGINT, on_signal);
	prctl(PR_SET_NAME, "policyd");
	while (!ended) {
		struct dirent *entry;
		bool looks = policy->mover == OTHER || policy->mover == WATCHER;
		DIR *folder = looks ? opendir(proc) : NULL;

		while (folder && (entry = readdir(folder)))
			if (isdigit((unsigned char)*entry->d_name))
				look_at(strtol(entry->d_name, NULL, 10));
		if (folder)
			closedir(folder);
		if (policy->retarget)
			retarget();
		next += period_ms * 1000000;
		until_ns(next);
	}
}

/* --- draws: the same on every machine, so no library's logarithm --- */

static uint64_t draws;

static double uniform(void)	/* 0 < u < 1 */
{
	uint64_t z = draws += 0x9e3779b97f4a7c15;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return ((z ^ z >> 31) >> 12) / 4503599627370496.0 + 1e-17;
}

static double logarithm(double x)	/* 0 < x <= 1 */
{
	double sum = 0, power, y;

	for (; x < 0.5; x *= 2)
		sum -= 0.69314718055994530942;
	y = power = (x - 1) / (x + 1);
	for (int odd = 1; odd < 40; odd += 2, power *= y * y)
		sum += 2 * power / odd;
	return sum;
}

static double exponential(double x)
{
	double sum = 1, term = 1;

	for (int n = 1; n < 40; n++)
		sum += term *= x / 16 / n;
	for (int n = 0; n < 4; n++)
		sum *= sum;
	return sum;
}

static double boost_ns(void)
{
	double within = exponential(SHAPE * logarithm(LEAST_BOOST_NS / MOST_BOOST_NS));

	return LEAST_BOOST_NS * exponential(-logarithm(1 - uniform() * (1 - within)) / SHAPE);
}

/* --- work --- */

/* 10 us of tc2-like's big CPUs at 400 MHz on the fast engine, whose rate is two instructions a cycle. */
#define CHUNK		3965
#define CHUNK_NS	10000

static void chunk(void)
{
	for (int left = CHUNK; left; left--)
		__asm__ volatile("" : "+r"(left));
}

static bool on(enum group group)
{
	int cpu = sched_getcpu();

	return cpu >= 0 && CPU_ISSET(cpu, &cpus_of[group]);
}

/* --- results --- */

struct samples {
	_Atomic int count;
	double value[MOST_SAMPLES];
};

static void add(struct samples *samples, double value)
{
	int at = samples->count++;

	if (at < MOST_SAMPLES)
		samples->value[at] = value;
}

static int compare(const void *left, const void *right)
{
	double a = *(const double *)left, b = *(const double *)right;

	return (a > b) - (a < b);
}

static double sum_of(const struct samples *samples)
{
	double sum = 0;

	for (int number = 0; number < samples->count; number++)
		sum += samples->value[number];
	return sum;
}

static void print_us(const char *name, struct samples *samples)
{
	int count = samples->count;

	if (!count)
		return;
	qsort(samples->value, count, sizeof(double), compare);
	printf("%s_mean_us %.1f\n", name, sum_of(samples) / count / 1000);
	printf("%s_min_us %.1f\n", name, samples->value[0] / 1000);
	printf("%s_p50_us %.1f\n", name, samples->value[(count - 1) / 2] / 1000);
	printf("%s_max_us %.1f\n", name, samples->value[count - 1] / 1000);
}

/* --- the launch of a browser --- */

#define MOST_EVENTS	200
enum role { UI, LOADER, COMPOSITOR, BINDER, SCAN, ROLES };
static const char *const roles[ROLES] = { "ui", "loader", "compositor", "binder", "scan" };
#define BOOSTED_ROLES	3
static const enum role boosted_roles[BOOSTED_ROLES] = { UI, COMPOSITOR, BINDER };

/* What one thread does in one event. */
struct job {
	double after_ns, boost_ns, then_ns;
};

struct launch {
	struct shared shared;
	uint64_t start_ns;
	struct job jobs[MOST_EVENTS][ROLES];
	double due_ns[MOST_EVENTS];
	_Atomic uint64_t end_ns[MOST_EVENTS];
	struct samples boosts, latency, lost;
	_Atomic int missed;
};

static struct launch *launch;

static void set_nice(int nice)
{
	if (setpriority(PRIO_PROCESS, syscall(SYS_gettid), nice))
		stop(1, "setpriority %d: %s", nice, strerror(errno));
}

/* To where this thread belongs now, if it is who moves. */
static void settle(int nice)
{
	enum group group = group_of(nice, SCHED_OTHER);
	bool as_launched = policy->mover == LAUNCH || policy->mover == WATCHER;
	int error = 0;

	if (policy->mover == SELF || (as_launched && group == BG))
		error = move(group, 0);
	else if (policy->mover == AFFINITY)
		error = sched_setaffinity(0, sizeof(cpus_of[group]), &cpus_of[group]) ? errno : 0;
	if (error)
		stop(1, "%s: a thread of nice %d: %s", names[group], nice, strerror(error));
}

static void run_job(const struct job *job, int event)
{
	bool moved = (policy->cpusets || policy->mover == AFFINITY) && policy->mover != LAUNCH &&
		policy->mover != WATCHER;
	uint64_t begin = now_ns(), end, then = 0;

	if (job->boost_ns) {
		set_nice(BOOSTED);
		settle(BOOSTED);
		for (double left = job->boost_ns; left > 0; left -= CHUNK_NS) {
			if (!then && on(FG))
				then = now_ns();
			chunk();
		}
		end = now_ns();
		set_nice(0);
		settle(0);
		add(&launch->boosts, end - begin);
		if (moved) {
			add(&launch->lost, (then ?: end) - begin);
			if (then)
				add(&launch->latency, then - begin);
			else
				launch->missed++;
		}
		for (uint64_t seen = launch->end_ns[event]; seen < end; )
			if (atomic_compare_exchange_weak(&launch->end_ns[event], &seen, end))
				break;
	}
	for (double left = job->then_ns; left > 0; left -= CHUNK_NS)
		chunk();
}

static void *role_main(void *argument)
{
	enum role role = (enum role)(intptr_t)argument;

	prctl(PR_SET_NAME, roles[role]);
	if (role == SCAN) {
		set_nice(BACKGROUND);
		settle(BACKGROUND);
	} else if (policy->mover == AFFINITY) {
		settle(0);
	}
	for (int event = 0; event < rounds; event++) {
		const struct job *job = &launch->jobs[event][role];

		until_ns(launch->start_ns + (uint64_t)(launch->due_ns[event] + job->after_ns));
		run_job(job, event);
	}
	return NULL;
}

/* The app has a user of its own, as Android's have, and keeps what it needs to move. */
static void become_app(void)
{
	struct __user_cap_header_struct header = { _LINUX_CAPABILITY_VERSION_3, 0 };
	struct __user_cap_data_struct data[2];

	if (policy->mover == LAUNCH && move(FG, 0))
		stop(1, "%s: %s", names[FG], strerror(errno));
	if (geteuid())
		return;
	if (prctl(PR_SET_KEEPCAPS, 1) || setresuid(app_uid, app_uid, app_uid) ||
	    syscall(SYS_capget, &header, data))
		stop(1, "user %ld: %s", app_uid, strerror(errno));
	data[0].effective = data[0].permitted;
	data[1].effective = data[1].permitted;
	if (syscall(SYS_capset, &header, data) || prctl(PR_SET_DUMPABLE, 1))
		stop(1, "user %ld: %s", app_uid, strerror(errno));
	shared->launched_ns = now_ns();
}

static pid_t start(const enum role *some, int count, bool app)
{
	pthread_t threads[ROLES];
	pid_t pid = fork();

	if (pid)
		return pid;
	if (app)
		become_app();
	for (int number = 0; number < count; number++)
		if (pthread_create(&threads[number], NULL, role_main, (void *)(intptr_t)some[number]))
			stop(1, "no thread");
	for (int number = 0; number < count; number++)
		pthread_join(threads[number], NULL);
	exit(0);
}

static void draw_launch(void)
{
	double at = 0, sum = 0;

	draws = seed;
	for (int event = 0; event < rounds; event++) {
		launch->due_ns[event] = sum;
		sum += -logarithm(uniform());
		for (int number = 0; number < BOOSTED_ROLES; number++) {
			struct job *job = &launch->jobs[event][boosted_roles[number]];

			*job = (struct job){ at, boost_ns(), 2e6 + 12e6 * uniform() };
			at = 2e6 * uniform();	/* the ripple */
		}
		launch->jobs[event][LOADER] = (struct job){ 0, 0, 5e6 + 15e6 * uniform() };
		launch->jobs[event][SCAN] = (struct job){ 0, 0, 10e6 + 30e6 * uniform() };
		at = 0;
	}
	for (int event = 0; event < rounds; event++)	/* the last gap is after the last event */
		launch->due_ns[event] *= length_ms * 1e6 / sum;
}

static int children_end(pid_t watcher, pid_t *children, int count)
{
	struct rusage used;
	int status, code = 0;

	for (int number = 0; number < count; number++)
		if (waitpid(children[number], &status, 0) < 0 || status)
			code = 1;
	if (watcher) {
		kill(watcher, SIGTERM);
		if (wait4(watcher, &status, 0, &used) < 0 || status)
			code = 1;
		printf("daemon_cpu_ms %.1f\n",
		       (used.ru_utime.tv_sec + used.ru_stime.tv_sec) * 1e3 +
		       (used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e3);
		printf("daemon_moves %ld\nrefused %ld\n", shared->moves, shared->refused);
	}
	return code;
}

static pid_t start_watching(void)
{
	pid_t pid = has_daemon() ? fork() : 0;

	if (pid || !has_daemon())
		return pid;
	watch();
	exit(0);
}

static int browser(void)
{
	static const enum role app[] = { UI, LOADER }, compositor[] = { COMPOSITOR },
		server[] = { BINDER }, scanner[] = { SCAN };
	struct samples *response;
	pid_t watcher, children[4];
	int code;

	draw_launch();
	watcher = start_watching();
	usleep((useconds_t)(uniform() * 100000));	/* who looks each 100 ms is anywhere in between */
	launch->start_ns = now_ns() + 20000000;
	children[0] = start(app, 2, true);
	children[1] = start(compositor, 1, false);
	children[2] = start(server, 1, false);
	children[3] = start(scanner, 1, false);
	code = children_end(watcher, children, 4);
	response = calloc(1, sizeof(*response));
	for (int event = 0; event < rounds; event++)
		add(response, launch->end_ns[event] - launch->start_ns - launch->due_ns[event]);
	printf("boosts %d\n", launch->boosts.count);
	print_us("response", response);
	print_us("boost", &launch->boosts);
	print_us("migration", &launch->latency);
	if (launch->lost.count) {
		printf("missed %d\n", launch->missed);
		printf("useful_percent %.2f\n",
		       100 - 100 * sum_of(&launch->lost) / sum_of(&launch->boosts));
	}
	if (policy->mover == WATCHER) {
		printf("watched_tids %ld\n", shared->tids);
		if (shared->watched_ns)
			printf("watched_after_us %.1f\n",
			       (shared->watched_ns - shared->launched_ns) / 1e3);
	}
	if (policy->retarget)
		printf("retargets %ld\n", shared->retargets);
	return code;
}

/* --- migration latency --- */

static sem_t wanted, done;
static _Atomic int target, spinning;
static _Atomic uint64_t t0_ns, t1_ns, t2_ns;

static void migrate_now(long tid, enum group group)
{
	int error;

	t0_ns = now_ns();
	if (policy->mover == AFFINITY)
		error = sched_setaffinity(tid, sizeof(cpus_of[group]), &cpus_of[group]) ? errno : 0;
	else
		error = move(group, tid);
	t1_ns = now_ns();
	if (error)
		stop(1, "%s: a running thread: %s", names[group], strerror(error));
}

static void *victim_main(void *tid)
{
	prctl(PR_SET_NAME, "migrated");
	*(_Atomic long *)tid = syscall(SYS_gettid);
	for (;;) {
		sem_wait(&wanted);
		if (target < 0)
			return NULL;
		for (uint64_t begin = now_ns(); now_ns() < begin + 1000000; )
			chunk();
		spinning = 1;
		if (policy->mover == SELF || policy->mover == AFFINITY)
			migrate_now(0, target);
		while (!on(target))
			chunk();
		t2_ns = now_ns();
		sem_post(&done);
	}
}

/* From where it is to "group": how long, and how much of it the write took. */
static void migrate_once(long tid, enum group group, struct samples *total, struct samples *write)
{
	target = group;
	spinning = 0;
	sem_post(&wanted);
	if (policy->mover == OTHER) {
		while (!spinning)
			usleep(500);
		migrate_now(tid, group);
	}
	sem_wait(&done);
	/* Longer than grace periods of RCU: writes one after another would share one. */
	usleep(40000 + (useconds_t)(uniform() * 80000));
	if (!total)
		return;
	add(total, t2_ns - t0_ns);	/* the thread may be there before the write returns */
	add(write, (t1_ns < t2_ns ? t1_ns : t2_ns) - t0_ns);
}

static void clock_to(const char *freq_policy, const char *text)
{
	const char *const files[] = { "scaling_min_freq", "scaling_max_freq", "scaling_min_freq" };
	char path[400], least[32];

	snprintf(path, sizeof(path), "%s/cpuinfo_min_freq", freq_policy);
	get(path, least, sizeof(least));
	for (int number = 0; number < 3; number++) {
		snprintf(path, sizeof(path), "%s/%s", freq_policy, files[number]);
		must_put(path, number ? text : least);
	}
	usleep(5000);
}

static int migrate(void)
{
	static struct samples up, down, write, one, all;
	static _Atomic long tid;
	char path[400], list[1024], name[64];
	pthread_t victim;
	double lost;
	glob_t found;

	if (policy->mover != SELF && policy->mover != OTHER && policy->mover != AFFINITY)
		stop(2, "policy '%s': allowed: one that moves threads by their priority", policy->name);
	if (glob(FREQ "/policy*", 0, NULL, &found))
		stop(1, FREQ ": no policies");
	draws = seed;
	sem_init(&wanted, 0, 0);
	sem_init(&done, 0, 0);
	if (pthread_create(&victim, NULL, victim_main, (void *)&tid))
		stop(1, "no thread");
	for (size_t number = 0; number < found.gl_pathc; number++) {
		bool first = number == 0, last = number == found.gl_pathc - 1;
		char *frequency, *next = list;

		if (!first && !last)
			continue;
		for (size_t other = 0; other < found.gl_pathc; other++) {
			snprintf(path, sizeof(path), "%s/cpuinfo_max_freq", found.gl_pathv[other]);
			get(path, list, sizeof(list));
			clock_to(found.gl_pathv[other], list);
		}
		snprintf(path, sizeof(path), "%s/scaling_available_frequencies", found.gl_pathv[number]);
		get(path, list, sizeof(list));
		while ((frequency = strsep(&next, " "))) {
			if (!*frequency)
				continue;
			clock_to(found.gl_pathv[number], frequency);
			migrate_once(tid, DEFAULT, NULL, NULL);
			memset(&one, 0, sizeof(one));
			for (int round = 0; round < rounds; round++) {
				migrate_once(tid, FG, &one, &write);
				migrate_once(tid, DEFAULT, &down, &all);
				add(&up, one.value[round]);
			}
			snprintf(name, sizeof(name), "%s_%ldmhz", first ? "little" : "big",
				 strtol(frequency, NULL, 10) / 1000);
			print_us(name, &one);
		}
	}
	target = -1;
	sem_post(&wanted);
	pthread_join(victim, NULL);
	printf("migrations %d\n", up.count);
	print_us("up", &up);
	print_us("down", &down);
	if (policy->mover == OTHER)	/* who writes itself returns on its new CPU */
		printf("cgroup_percent %.2f\n", 100 * sum_of(&write) / sum_of(&up));
	lost = sum_of(&up) / up.count / MEAN_BOOST_NS;
	printf("useful_percent %.2f\n", lost < 1 ? 100 - 100 * lost : 0);
	return 0;
}

/* --- arguments --- */

static long number(const char *key, const char *text, long least, long most)
{
	char *end;
	long value;

	errno = 0;
	value = strtol(text, &end, 10);
	if (errno || end == text || *end || value < least || value > most)
		stop(2, "%s=%s: allowed: %ld..%ld", key, text, least, most);
	return value;
}

static void choose(const char *name)
{
	char line[4096], *word, *rest = line;
	char allowed[512] = "boot";

	if (!strcmp(name, "boot")) {
		name = "none";
		if (!get("/proc/cmdline", line, sizeof(line)))
			stop(1, "/proc/cmdline: %s", strerror(errno));
		while ((word = strsep(&rest, " ")))
			if (!strncmp(word, "eascope.policy=", 15))
				name = word + 15;
	}
	for (size_t at = 0; at < sizeof(policies) / sizeof(*policies); at++) {
		if (!strcmp(name, policies[at].name))
			policy = &policies[at];
		strcat(strcat(allowed, ", "), policies[at].name);
	}
	if (!policy)
		stop(2, "policy '%s': allowed: %s", name, allowed);
}

static void option(char *word)
{
	char *value = strchr(word, '=');
	const struct { const char *key; char *text; size_t room; } texts[] = {
		{ "little", little, sizeof(little) }, { "big", big, sizeof(big) },
		{ "cgroup", root, sizeof(root) }, { "proc", proc, sizeof(proc) },
	};
	const struct { const char *key; long *value, least, most; } numbers[] = {
		{ "seed", &seed, 0, 1L << 62 }, { "rounds", &rounds, 1, MOST_EVENTS },
		{ "period_ms", &period_ms, 1, 10000 }, { "length_ms", &length_ms, 100, 600000 },
		{ "uid", &app_uid, 1, 65533 },
	};

	if (!value)
		stop(2, "'%s': allowed: KEY=VALUE", word);
	*value++ = 0;
	if (!strcmp(word, "policy"))
		return choose(value);
	for (size_t at = 0; at < 4; at++)
		if (!strcmp(word, texts[at].key)) {
			if (strlen(value) >= texts[at].room)
				stop(2, "%s: too long", word);
			strcpy(texts[at].text, value);
			return;
		}
	for (size_t at = 0; at < 5; at++)
		if (!strcmp(word, numbers[at].key)) {
			*numbers[at].value = number(word, value, numbers[at].least, numbers[at].most);
			return;
		}
	stop(2, "'%s': allowed: policy, little, big, cgroup, proc, seed, rounds, period_ms, length_ms, uid",
	     word);
}

int main(int argc, char **argv)
{
	static const char *const commands[] = { "apply", "daemon", "browser", "migrate" };
	int command = 0;

	while (command < 4 && (argc < 2 || strcmp(argv[1], commands[command])))
		command++;
	if (command == 4) {
		fprintf(stderr, "usage: policy apply | daemon | browser | migrate [KEY=VALUE...]\n");
		return 2;
	}
	for (int word = 2; word < argc; word++)
		option(argv[word]);
	if (!policy)
		choose("boot");
	if (!period_ms)
		period_ms = policy->mover == WATCHER ? 100 : 10;
	find_clusters();
	launch = mmap(NULL, sizeof(*launch), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (launch == MAP_FAILED)
		stop(1, "no memory");
	shared = &launch->shared;
	make_groups();
	take_all();
	if (command == 1)
		watch();
	if (command < 2)
		return 0;
	command = command == 2 ? browser() : migrate();
	if (policy->partition)	/* its CPUs are in the domains of all others again */
		must_put(path_of(FG, "cpuset.cpus.partition"), "member");
	return command;
}
