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
#include "policy.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

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

const struct policy *policy;
struct options options = {
	.root = "/sys/fs/cgroup",
	.proc = "/proc",
	.rounds = 10,
	.length_ms = 15000,
	.app_uid = 10001,
};

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
		{ "little", options.little, sizeof(options.little) }, { "big", options.big, sizeof(options.big) },
		{ "cgroup", options.root, sizeof(options.root) }, { "proc", options.proc, sizeof(options.proc) },
	};
	const struct { const char *key; long *value, least, most; } numbers[] = {
		{ "seed", &options.seed, 0, 1L << 62 }, { "rounds", &options.rounds, 1, MOST_EVENTS },
		{ "period_ms", &options.period_ms, 1, 10000 }, { "length_ms", &options.length_ms, 100, 600000 },
		{ "uid", &options.app_uid, 1, 65533 },
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
	if (!options.period_ms)
		options.period_ms = policy->mover == WATCHER ? 100 : 10;
	find_clusters();
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (shared == MAP_FAILED)
		stop(1, "no memory");
	make_groups();
	take_all();
	if (command == 1)
		watch();
	if (command < 2)
		return 0;
	command = command == 2 ? browser() : migrate();
	unmake_groups();
	return command;
}
