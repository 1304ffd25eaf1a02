// SPDX-License-Identifier: GPL-2.0
/* Start as PID 1: mounts, console, script, power off. Otherwise: run the script that is named. */

#include "agent.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/stat.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#define REASON_MAX 1000

static const char *script_file = "/eascope/script";

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

const char *script_path(void)
{
	return script_file;
}

uint64_t mono_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * NSEC_PER_SEC + now.tv_nsec;
}

void sleep_ns(uint64_t ns)
{
	uint64_t end = mono_ns() + ns;
	struct timespec until = {
		.tv_sec = end / NSEC_PER_SEC,
		.tv_nsec = end % NSEC_PER_SEC,
	};

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) == EINTR)
		;
}

static void on_alarm(int signal)
{
	(void)signal;
}

/*
 * Waits until the console's last character has left the UART: the engine ends the machine at once
 * when it is told to. At most a second, since the console is the lesser of the two ways out.
 */
void console_drain(void)
{
	struct sigaction action = { .sa_handler = on_alarm };	/* no SA_RESTART */

	fflush(stdout);
	sigaction(SIGALRM, &action, NULL);
	alarm(1);
	tcdrain(STDERR_FILENO);
	alarm(0);
}

/* The machine ends here. Nothing may return to a caller: PID 1 must not exit (kernel panic). */
void finish(int code)
{
	fflush(stdout);
	if (getpid() != 1)
		_exit(code);
	sync();
	reboot(RB_POWER_OFF);
	/* An engine without power control has been told by now that the run is over. */
	for (;;)
		pause();
}

void fail(const char *format, ...)
{
	static bool failing;
	char reason[REASON_MAX];
	size_t used = 0;
	va_list args;

	if (failing)	/* the way out failed itself: nobody left to tell */
		finish(1);
	failing = true;
	if (script_number() > 0)
		used = snprintf(reason, sizeof(reason), "script line %u: ", script_number());
	va_start(args, format);
	vsnprintf(reason + used, sizeof(reason) - used, format, args);
	va_end(args);
	for (char *c = reason; *c; c++)
		if ((unsigned char)*c < ' ')
			*c = ' ';
	dprintf(STDERR_FILENO, "eascope-agent: FAIL: %s\n", reason);
	console_drain();
	transport()->fail(reason);
	finish(1);
}

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
		script_file = argv[1];
	}
	transport_choose();
	child_setup();
	transport()->read_script(&script);
	script_open(&script);
	script_run();
	finish(0);
}
