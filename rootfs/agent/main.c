// SPDX-License-Identifier: GPL-2.0-or-later
/* Start as PID 1: mounts, console, script, power off. Otherwise: run the script that is named. */

#include "agent.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

static const struct filesystem {
	const char *type;
	const char *where;
	bool optional;
} filesystems[] = {
	{ "proc", "/proc", false },
	{ "sysfs", "/sys", false },
	{ "devtmpfs", "/dev", false },
	{ "tmpfs", "/tmp", true },	/* without it /tmp is a folder of the initramfs: as good */
	{ "debugfs", "/sys/kernel/debug", true },
	{ "tracefs", TRACEFS, true },	/* trace-setup says so when it is missing */
	{ "cgroup2", "/sys/fs/cgroup", true },
};

static void on_fault(int signal)
{
	fail("the agent itself died of signal %d (%s)", signal, strsignal(signal));
}

static void catch_faults(void)
{
	static const int faults[] = { SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT };
	static char stack[32 * 1024];
	stack_t alternate = { .ss_sp = stack, .ss_size = sizeof(stack) };
	struct sigaction action = {
		.sa_handler = on_fault,
		.sa_flags = SA_ONSTACK | SA_RESETHAND,
	};

	sigaltstack(&alternate, NULL);
	for (size_t i = 0; i < ARRAY_SIZE(faults); i++)
		sigaction(faults[i], &action, NULL);
}

static void mount_all(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(filesystems); i++) {
		const struct filesystem *fs = &filesystems[i];

		mkdir(fs->where, 0755);
		if (mount(fs->type, fs->where, fs->type, 0, NULL) == 0 || fs->optional)
			continue;
		if (errno == EBUSY)	/* CONFIG_DEVTMPFS_MOUNT */
			continue;
		fail("mount %s on %s: %s", fs->type, fs->where, strerror(errno));
	}
}

static void open_console(void)
{
	int fd = open("/dev/console", O_RDWR | O_NOCTTY);

	if (fd < 0)
		return;
	for (int i = STDIN_FILENO; i <= STDERR_FILENO; i++)
		dup2(fd, i);
	if (fd > STDERR_FILENO)
		close(fd);
}

int main(int argc, char **argv)
{
	struct text script = { 0 };

	setvbuf(stdout, NULL, _IOLBF, 0);
	if (getpid() == 1) {
		catch_faults();
		mount_all();
		open_console();
		setenv("PATH", "/bin", 1);
		setenv("HOME", "/", 1);
	} else {
		if (argc != 2) {
			dprintf(STDERR_FILENO, "usage: %s SCRIPT\n", argv[0]);
			return 2;
		}
		script_set_path(argv[1]);
	}
	transport_choose();
	fail_through(transport()->fail);
	child_setup();
	transport()->read_script(&script);
	script_open(&script);
	script_run();
	finish(0);
}
