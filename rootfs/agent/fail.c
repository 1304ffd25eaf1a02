// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The ways out: a reason to the console and to the engine, then the end of the machine.
 *
 * Every other file calls fail(), so this one calls none of them: it is given the script's line and
 * the engine's channel.
 */

#include "agent.h"

#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/reboot.h>
#include <termios.h>
#include <unistd.h>

#define REASON_MAX 1000

static unsigned int line;
static void (*send)(const char *reason);

static void on_alarm(int signal)
{
	(void)signal;
}

/*
 * Waits until the console's last character has left the UART: the engine ends the machine at once
 * on request. At most a second, since the console is the lesser of the two ways out.
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
	/* An engine without power control knows by now that the run is over. */
	for (;;)
		pause();
}

void fail_at(unsigned int number)
{
	line = number;
}

void fail_through(void (*way)(const char *reason))
{
	send = way;
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
	if (line > 0)
		used = snprintf(reason, sizeof(reason), "script line %u: ", line);
	va_start(args, format);
	vsnprintf(reason + used, sizeof(reason) - used, format, args);
	va_end(args);
	for (char *c = reason; *c; c++)
		if ((unsigned char)*c < ' ')
			*c = ' ';
	dprintf(STDERR_FILENO, "eascope-agent: FAIL: %s\n", reason);
	console_drain();
	if (send)
		send(reason);
	finish(1);
}
