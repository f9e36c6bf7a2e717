/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The first program of a guest. It reads /plan: one order per line, with tab-separated words.
 *
 *   up NAME          bring an interface up, without ARP
 *   gro NAME 0|1     disable or enable GRO
 *   address NAME A   add an IPv4 or IPv6 address
 *   route NAME TO TABLE    add a route to an address, or the default route of IPv4 (`4`) or IPv6 (`6`), to a routing table
 *   rule FROM TABLE  route packets from this source by that table
 *   endpoint NAME A  add a Multipath TCP endpoint
 *   write FILE TEXT  write a file, such as a setting in /proc/sys; failures are reported on the console, except for ?FILE
 *   traffic ID AT WORD...   start a traffic program (traffic.c) at the guest's time AT in ns, with output to /box/ID.out
 *   run ID AT COMMAND       run `sh -c COMMAND` in the machine's root, read-only except /tmp; keeps /tmp/out
 *   end AT           interrupt all programs; half a second later, kill the rest and power off
 *
 * /box/ID.status has the exit status of a program. /box/done is written last.
 */
#define _GNU_SOURCE
#include "guest.h"
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { PROGRAMS = 512, WORDS = 32 };
#define GRACE 500000000ull

struct program {
	char *id, *words[WORDS];
	int count, is_traffic;
	uint64_t at;
	pid_t pid;
};

static struct program programs[PROGRAMS];
static int count;
static uint64_t end = UINT64_MAX;

uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ull + t.tv_nsec;
}

int sleep_until(uint64_t at)
{
	struct timespec t = { at / 1000000000ull, at % 1000000000ull };

	return clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL) != 0;
}

void fail(const char *what)
{
	fprintf(stderr, "%s: %s\n", what, strerror(errno));
	exit(1);
}

void complain(const char *what, const char *which)
{
	fprintf(stderr, "stillair: %s %s: %s\n", what, which, strerror(errno));
}

static void put(const char *file, const char *text)
{
	int may_fail = *file == '?', fd = open(file + may_fail, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

	if ((fd < 0 || write(fd, text, strlen(text)) < 0) && !may_fail)
		complain("cannot write", file);
	if (fd >= 0)
		close(fd);
}

static void mounted(const char *what, const char *at, const char *type, unsigned long flags, const char *data)
{
	if (mount(what, at, type, flags, data))
		complain("cannot mount", at);
}

/* Mounts the machine's root at /host, with some folders replaced by the guest's own. */
static void machine_root(void)
{
	mounted("none", "/host", "hostfs", MS_RDONLY | MS_NOSUID, "root");
	mounted("none", "/host/proc", "proc", 0, NULL);
	mounted("none", "/host/sys", "sysfs", 0, NULL);
	mounted("/dev", "/host/dev", NULL, MS_BIND, NULL);
	mounted("none", "/host/tmp", "tmpfs", 0, NULL);
	mounted("none", "/host/run", "tmpfs", 0, NULL);
	mkdir("/host/tmp/out", 0777);
	mounted("/box", "/host/tmp/out", NULL, MS_BIND, NULL);
}

static void read_plan(void)
{
	static char line[1 << 16];
	FILE *f = fopen("/plan", "re");

	if (!f)
		return complain("cannot read", "/plan");
	while (fgets(line, sizeof line, f)) {
		char *words[WORDS + 4], *rest = line, *w;
		int n = 0;

		line[strcspn(line, "\n")] = 0;
		while (n < WORDS + 3 && (w = strsep(&rest, "\t")))
			words[n++] = strdup(w);
		words[n] = NULL;
		if (n == 2 && !strcmp(words[0], "up")) {
			interface_up(words[1]);
		} else if (n == 3 && !strcmp(words[0], "address")) {
			interface_has(words[1], words[2]);
		} else if (n == 4 && !strcmp(words[0], "route")) {
			route(words[2], words[1], atoi(words[3]));
		} else if (n == 3 && !strcmp(words[0], "rule")) {
			rule(words[1], atoi(words[2]));
		} else if (n == 3 && !strcmp(words[0], "endpoint")) {
			endpoint(words[2], words[1]);
		} else if (n == 3 && !strcmp(words[0], "gro")) {
			merges(words[1], atoi(words[2]));
		} else if (n == 3 && !strcmp(words[0], "write")) {
			put(words[1], words[2]);
		} else if (n == 2 && !strcmp(words[0], "end")) {
			end = strtoull(words[1], NULL, 10);
		} else if (n >= 4 && (!strcmp(words[0], "run") || !strcmp(words[0], "traffic")) && count < PROGRAMS) {
			struct program *p = &programs[count++];

			p->is_traffic = words[0][0] == 't';
			p->id = words[1];
			p->at = strtoull(words[2], NULL, 10);
			p->count = n - 3;
			memcpy(p->words, words + 3, (n - 2) * sizeof *words);
		} else {
			/* Skipping an order would change the run. */
			fprintf(stderr, "stillair: /plan: an order that is unknown: %s\n", words[0]);
			_exit(1);
		}
	}
	fclose(f);
}

static void begin(struct program *p)
{
	char file[128];
	int fd;

	p->pid = fork();
	if (p->pid)
		return;
	setpgid(0, 0);
	signal(SIGINT, SIG_DFL);
	snprintf(file, sizeof file, "/box/%s.out", p->id);
	fd = open(file, O_WRONLY | O_CREAT | O_TRUNC, 0644);
	dup2(fd, 1);
	dup2(fd, 2);
	close(fd);
	fd = open("/dev/null", O_RDONLY);
	dup2(fd, 0);
	if (p->is_traffic)
		exit(traffic(p->count, p->words));
	if (chroot("/host") || chdir("/tmp/out"))
		fail("the machine's root");
	execle("/bin/sh", "sh", "-c", p->words[0], NULL, (char *[]){ "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME=/tmp", "LANG=C.UTF-8", NULL });
	fail("/bin/sh");
}

static void ended(pid_t pid, int status)
{
	char file[128], text[32];

	for (int i = 0; i < count; i++) {
		if (programs[i].pid != pid)
			continue;
		programs[i].pid = -1;
		snprintf(file, sizeof file, "/box/%s.status", programs[i].id);
		snprintf(text, sizeof text, "%d\n", WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
		put(file, text);
	}
}

static int reap(void)
{
	int status, left = 0;
	pid_t pid;

	while ((pid = waitpid(-1, &status, WNOHANG)) > 0)
		ended(pid, status);
	for (int i = 0; i < count; i++)
		left += programs[i].pid > 0;
	return left;
}

static void all(int signal)
{
	for (int i = 0; i < count; i++)
		if (programs[i].pid > 0)
			kill(-programs[i].pid, signal);
}

static int by_time(const void *a, const void *b)
{
	const struct program *p = a, *q = b;

	return p->at != q->at ? (p->at > q->at) - (p->at < q->at) : (p > q) - (p < q);
}

int main(int argc, char **argv)
{
	if (getpid() != 1)
		return argc > 1 ? traffic(argc - 1, argv + 1) : 2;
	umask(0);
	mounted("none", "/proc", "proc", 0, NULL);
	mounted("none", "/sys", "sysfs", 0, NULL);
	read_plan();
	machine_root();
	put("/box/ready", "");
	qsort(programs, count, sizeof *programs, by_time);
	for (int i = 0; i < count && programs[i].at < end; i++) {
		while (sleep_until(programs[i].at))
			;
		reap();
		begin(&programs[i]);
	}
	while (sleep_until(end))
		;
	all(SIGINT);
	for (uint64_t at = end + GRACE / 50; reap() && at < end + GRACE; at += GRACE / 50)
		sleep_until(at);
	all(SIGKILL);
	for (uint64_t at = end + GRACE + GRACE / 50; reap() && at < end + 2 * GRACE; at += GRACE / 50)
		sleep_until(at);
	put("/box/done", "");
	sync();
	reboot(RB_POWER_OFF);
	return 1;
}
