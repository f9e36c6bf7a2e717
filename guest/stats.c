/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Kernel counters, sampled every STEP ns. Line formats:
 *
 *   stats qdisc STEP    `k T DEVICE KIND BYTES PACKETS DROPS OVERLIMITS REQUEUES BACKLOG_BYTES BACKLOG_PACKETS` for each root qdisc, as in `tc -s qdisc`
 *   stats nstat STEP    `n T NAME VALUE` for each changed counter in /proc/net/snmp, snmp6 and netstat, as in `nstat -az`
 */
#define _GNU_SOURCE
#include "guest.h"
#include <linux/gen_stats.h>
#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static void one_qdisc(uint64_t at, struct nlmsghdr *h)
{
	struct tcmsg *t = NLMSG_DATA(h);
	int length = h->nlmsg_len - NLMSG_LENGTH(sizeof *t), inner;
	const char *kind = "?";
	struct gnet_stats_basic basic = { 0 };
	struct gnet_stats_queue queue = { 0 };
	char name[IF_NAMESIZE] = "?";

	if (t->tcm_parent != TC_H_ROOT)
		return;
	for (struct rtattr *a = TCA_RTA(t); RTA_OK(a, length); a = RTA_NEXT(a, length)) {
		if (a->rta_type == TCA_KIND)
			kind = RTA_DATA(a);
		if (a->rta_type != TCA_STATS2)
			continue;
		inner = RTA_PAYLOAD(a);
		for (struct rtattr *s = RTA_DATA(a); RTA_OK(s, inner); s = RTA_NEXT(s, inner)) {
			size_t has = RTA_PAYLOAD(s);

			if (s->rta_type == TCA_STATS_BASIC)
				memcpy(&basic, RTA_DATA(s), has < sizeof basic ? has : sizeof basic);
			if (s->rta_type == TCA_STATS_QUEUE)
				memcpy(&queue, RTA_DATA(s), has < sizeof queue ? has : sizeof queue);
		}
	}
	if_indextoname(t->tcm_ifindex, name);
	if (!strcmp(name, "lo"))
		return;
	printf("k %llu %s %s %llu %u %u %u %u %u %u\n", (unsigned long long)at, name, kind, (unsigned long long)basic.bytes,
	       basic.packets, queue.drops, queue.overlimits, queue.requeues, queue.backlog, queue.qlen);
}

static void qdiscs(uint64_t at)
{
	struct { struct nlmsghdr h; struct tcmsg t; } ask = { { sizeof ask, RTM_GETQDISC, NLM_F_REQUEST | NLM_F_DUMP, 0, 0 }, { 0 } };
	static char got[32768];
	static int s = -1;
	ssize_t length;

	if (s < 0)
		s = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
	if (send(s, &ask, sizeof ask, 0) < 0)
		fail("the queueing disciplines");
	while ((length = recv(s, got, sizeof got, 0)) > 0)
		for (struct nlmsghdr *h = (void *)got; NLMSG_OK(h, length); h = NLMSG_NEXT(h, length)) {
			if (h->nlmsg_type != RTM_NEWQDISC)
				return;
			one_qdisc(at, h);
		}
}

enum { COUNTERS = 1024 };
static struct { char name[48]; long long value; } known[COUNTERS];
static int counters;

static void counter(uint64_t at, const char *prefix, const char *name, long long value)
{
	static int next;
	char whole[48];

	snprintf(whole, sizeof whole, "%s%s", prefix, name);
	/* The kernel lists them in the same order each time. */
	for (int n = 0; n < counters; n++, next++) {
		if (next >= counters)
			next = 0;
		if (strcmp(known[next].name, whole))
			continue;
		if (known[next].value != value)
			printf("n %llu %s %lld\n", (unsigned long long)at, whole, value);
		known[next++].value = value;
		return;
	}
	if (counters == COUNTERS)
		return;
	strcpy(known[counters].name, whole);
	known[counters++].value = value;
	if (value)
		printf("n %llu %s %lld\n", (unsigned long long)at, whole, value);
}

/* Pairs of lines: names, then values in the same order. */
static void pairs(uint64_t at, const char *file)
{
	static char names[8192], values[8192];
	FILE *f = fopen(file, "re");

	if (!f)
		fail(file);
	while (fgets(names, sizeof names, f) && fgets(values, sizeof values, f)) {
		char *a, *b, *prefix = strtok_r(names, ": ", &a), *name, *value;

		strtok_r(values, ": ", &b);
		while ((name = strtok_r(NULL, " \n", &a)) && (value = strtok_r(NULL, " \n", &b)))
			counter(at, prefix, name, strtoll(value, NULL, 10));
	}
	fclose(f);
}

static void singles(uint64_t at, const char *file)
{
	char name[48];
	long long value;
	FILE *f = fopen(file, "re");

	/* Missing on kernels without IPv6. */
	while (f && fscanf(f, "%47s %lld", name, &value) == 2)
		counter(at, "", name, value);
	if (f)
		fclose(f);
}

int stats(char **v, volatile int *stopped)
{
	uint64_t step = strtoull(v[2], NULL, 10), next = now_ns() / step * step + step;

	for (; !*stopped; next += step) {
		if (sleep_until(next))
			continue;
		if (!strcmp(v[1], "qdisc")) {
			qdiscs(next);
			continue;
		}
		pairs(next, "/proc/net/snmp");
		singles(next, "/proc/net/snmp6");
		pairs(next, "/proc/net/netstat");
	}
	return 0;
}
