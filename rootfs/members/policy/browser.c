// SPDX-License-Identifier: GPL-2.0-or-later
/* The launch of a browser, whose threads are boosted for short times. */
#include "policy.h"

#include <errno.h>
#include <linux/capability.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum role { UI, LOADER, COMPOSITOR, BINDER, SCAN, ROLES };
static const char *const roles[ROLES] = { "ui", "loader", "compositor", "binder", "scan" };
#define BOOSTED_ROLES	3
static const enum role boosted_roles[BOOSTED_ROLES] = { UI, COMPOSITOR, BINDER };

/* What one thread does in one event. */
struct job {
	double after_ns, boost_ns, then_ns;
};

struct launch {
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
		error = sched_setaffinity(0, sizeof(cpu_set_t), cpus_of(group)) ? errno : 0;
	if (error)
		stop(1, "%s: a thread of nice %d: %s", group_names[group], nice, strerror(error));
}

/* Whether this process is the app. */
static bool is_app;

static void run_job(const struct job *job, int event)
{
	bool moved = (policy->cpusets || policy->mover == AFFINITY) && policy->mover != WATCHER &&
		(policy->mover != LAUNCH || is_app);	/* who stays in its group waits for nothing */
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
	for (int event = 0; event < options.rounds; event++) {
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

	is_app = true;
	if (policy->mover == LAUNCH && move(FG, 0))
		stop(1, "%s: %s", group_names[FG], strerror(errno));
	if (geteuid())
		return;
	if (prctl(PR_SET_KEEPCAPS, 1) || setresuid(options.app_uid, options.app_uid, options.app_uid) ||
	    syscall(SYS_capget, &header, data))
		stop(1, "user %ld: %s", options.app_uid, strerror(errno));
	data[0].effective = data[0].permitted;
	data[1].effective = data[1].permitted;
	if (syscall(SYS_capset, &header, data) || prctl(PR_SET_DUMPABLE, 1))
		stop(1, "user %ld: %s", options.app_uid, strerror(errno));
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

	draw_from(options.seed);
	for (int event = 0; event < options.rounds; event++) {
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
	for (int event = 0; event < options.rounds; event++)	/* the last gap is after the last event */
		launch->due_ns[event] *= options.length_ms * 1e6 / sum;
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

int browser(void)
{
	static const enum role app[] = { UI, LOADER }, compositor[] = { COMPOSITOR },
		server[] = { BINDER }, scanner[] = { SCAN };
	struct samples *response;
	pid_t watcher, children[4];
	int code;

	launch = mmap(NULL, sizeof(*launch), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (launch == MAP_FAILED)
		stop(1, "no memory");
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
	for (int event = 0; event < options.rounds; event++)
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
