// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>
#include "screen.h"

static struct termios saved;
static bool raw;

static void terminal_restore(void)
{
	if (raw)
		tcsetattr(STDIN_FILENO, TCSANOW, &saved);
}

/* tcsetattr(), signal() and raise() may be called here. */
static void terminal_signal(int sig)
{
	terminal_restore();
	signal(sig, SIG_DFL);
	raise(sig);
}

void screen_keys(void)
{
	static const int ends[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };
	struct termios keys;
	size_t i;

	if (!isatty(STDOUT_FILENO) || tcgetattr(STDIN_FILENO, &saved))
		return;
	for (i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
		signal(ends[i], terminal_signal);
	keys = saved;
	keys.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
	raw = !tcsetattr(STDIN_FILENO, TCSANOW, &keys);
	atexit(terminal_restore);
}

bool screen_wait(double seconds)
{
	struct pollfd in = { .fd = raw ? STDIN_FILENO : -1, .events = POLLIN };
	char key;

	if (poll(&in, 1, (int)(seconds * 1000)) <= 0 || !(in.revents & POLLIN))
		return true;
	return read(STDIN_FILENO, &key, 1) == 1 && key != 'q' && key != 'Q';
}

void screen_begin(struct screen *screen, bool first)
{
	struct winsize size = { 0 };

	screen->tty = isatty(STDOUT_FILENO);
	screen->left = screen->width = UINT32_MAX;
	if (!screen->tty) {
		if (!first)
			putchar('\n');
		return;
	}
	if (!ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) && size.ws_row > 1)
		screen->left = size.ws_row - 1U;
	if (size.ws_col)
		screen->width = size.ws_col;
	fputs(first ? "\033[2J\033[H" : "\033[H", stdout);
}

/* How many bytes of a line fit, whose characters may have several. */
static int fitting(const char *line, uint32_t width)
{
	size_t n = 0;

	while (line[n] && (width || (line[n] & 0xc0) == 0x80))
		width -= (line[n++] & 0xc0) != 0x80;
	return (int)n;
}

bool screen_line(struct screen *screen, const char *line)
{
	if (!screen->left)
		return false;
	if (screen->left != UINT32_MAX)
		screen->left--;
	/* Erased first: at the end of a line that is as long as the terminal is wide its last character would go. */
	printf("%s%.*s\n", screen->tty ? "\033[K" : "", fitting(line, screen->width), line);
	return true;
}

int screen_end(const struct screen *screen)
{
	if (screen->tty)
		fputs("\033[J", stdout);
	return fflush(stdout) ? -errno : 0;
}
