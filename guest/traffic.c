/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Traffic between guests. Times are the guest's, in ns. Output is written line by line, so that none is lost if the guest ends.
 *
 *   tcp-sink ANY PORT STEP MPTCP    `r T FLOW BYTES`: payload received on the connection, each STEP
 *   tcp-send FROM IP PORT CONTROL BYTES WRITE TOS STOP STEP MPTCP     send until STOP, or BYTES; each STEP
 *           `s T CWND SSTHRESH SRTT_US RTTVAR_US PACING_Bps DELIVERY_Bps RETRANS UNACKED LOST CA_STATE NOTSENT ACKED`
 *           `m T LOCAL CWND SRTT_US RETRANS ACKED` for each Multipath TCP subflow
 *   udp-sink ANY PORT STEP              `d T PACKETS BYTES LAST` each STEP: datagrams, payload, highest sequence number
 *   udp-send FROM IP PORT PAYLOAD BURST GAP TOS STOP    BURST datagrams every GAP ns
 *   ping FROM IP INTERVAL PAYLOAD TOS STOP         `p N T RTT_NS` for each reply, `q SENT` at the end
 *   udp-echo ANY PORT
 *   udp-ping FROM IP PORT INTERVAL PAYLOAD TOS STOP        as ping
 *   stats ...                           kernel counters (stats.c)
 *
 * FROM is the source address, or `-` for the route's. ANY is `0.0.0.0` or `::`. MPTCP is 1 for Multipath TCP.
 */
#define _GNU_SOURCE
#include "guest.h"
#include <arpa/inet.h>
#include <errno.h>
#include <linux/mptcp.h>
#include <linux/tcp.h>
#include <netinet/icmp6.h>
#include <netinet/in.h>
#include <netinet/ip.h>
#include <netinet/ip_icmp.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <unistd.h>

static char data[1 << 18];
static volatile sig_atomic_t stopped;
/* An IPv4 or IPv6 address. */
union place {
	struct sockaddr any;
	struct sockaddr_in v4;
	struct sockaddr_in6 v6;
};

static void on_stop(int signal)
{
	(void)signal;
	stopped = 1;
}

static uint64_t number(const char *text)
{
	return strtoull(text, NULL, 10);
}

static union place place(const char *ip, const char *port)
{
	union place a = { .v4 = { .sin_family = AF_INET, .sin_port = htons(number(port)) } };

	if (strchr(ip, ':')) {
		a.v6 = (struct sockaddr_in6){ .sin6_family = AF_INET6, .sin6_port = htons(number(port)) };
		inet_pton(AF_INET6, ip, &a.v6.sin6_addr);
	} else {
		inet_pton(AF_INET, ip, &a.v4.sin_addr);
	}
	return a;
}

static socklen_t size_of(const union place *a)
{
	return a->any.sa_family == AF_INET6 ? sizeof a->v6 : sizeof a->v4;
}

/* Binds a socket to a source address, if one is given. */
static void from(int s, const char *ip)
{
	union place a = place(ip, "0");
	int one = 1;

	if (!strcmp(ip, "-"))
		return;
	setsockopt(s, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &one, sizeof one);
	if (bind(s, &a.any, size_of(&a)))
		fail(ip);
}

/* Creates a timerfd with absolute times. */
static int timer(void)
{
	int fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK);

	if (fd < 0)
		fail("timerfd");
	return fd;
}

static void arm(int fd, uint64_t at)
{
	struct itimerspec t = { .it_value = { at / 1000000000ull, at % 1000000000ull } };

	timerfd_settime(fd, TFD_TIMER_ABSTIME, &t, NULL);
}

static void rung(int fd)
{
	uint64_t times;

	(void)!read(fd, &times, sizeof times);
}

static void watch(int ep, int fd, uint32_t events)
{
	struct epoll_event e = { .events = events, .data.fd = fd };

	if (epoll_ctl(ep, EPOLL_CTL_ADD, fd, &e))
		fail("epoll");
}

static int bound(int type, const char *ip, const char *port, int protocol)
{
	union place a = place(ip, port);
	int s = socket(a.any.sa_family, type, protocol), one = 1;

	setsockopt(s, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
	if (s < 0 || bind(s, &a.any, size_of(&a)))
		fail("bind");
	return s;
}

static void marked(int s, const union place *to, const char *tos)
{
	int value = number(tos);

	if (to->any.sa_family == AF_INET6)
		setsockopt(s, IPPROTO_IPV6, IPV6_TCLASS, &value, sizeof value);
	else
		setsockopt(s, IPPROTO_IP, IP_TOS, &value, sizeof value);
}

static int tcp_sink(char **v)
{
	uint64_t step = number(v[3]), bytes = 0, next = now_ns() / step * step + step;
	int protocol = number(v[4]) ? IPPROTO_MPTCP : 0;
	int l = bound(SOCK_STREAM | SOCK_NONBLOCK, v[1], v[2], protocol), ep = epoll_create1(0), t = timer(), flows = 0;
	struct epoll_event e[64];

	if (listen(l, 128))
		fail("listen");
	watch(ep, l, EPOLLIN);
	watch(ep, t, EPOLLIN);
	arm(t, next);
	while (!stopped) {
		int n = epoll_wait(ep, e, 64, -1);

		for (int i = 0; i < n; i++) {
			int fd = e[i].data.fd;
			ssize_t got = 0;

			if (fd == t) {
				rung(t);
				if (flows)
					printf("r %llu %d %llu\n", (unsigned long long)next, flows, (unsigned long long)bytes);
				next += step;
				arm(t, next);
			} else if (fd == l) {
				int c = accept4(l, 0, 0, SOCK_NONBLOCK);

				if (c >= 0) {
					flows++;
					watch(ep, c, EPOLLIN);
				}
			} else {
				while ((got = read(fd, data, sizeof data)) > 0)
					bytes += got;
				if (!got || errno != EAGAIN)
					close(fd);
			}
		}
	}
	return 0;
}

static void sample(int s, uint64_t at)
{
	struct tcp_info i = { 0 };
	socklen_t size = sizeof i;

	if (getsockopt(s, IPPROTO_TCP, TCP_INFO, &i, &size))
		return;
	printf("s %llu %u %d %u %u %llu %llu %u %u %u %u %u %llu\n", (unsigned long long)at, i.tcpi_snd_cwnd,
	       (int)i.tcpi_snd_ssthresh, i.tcpi_rtt, i.tcpi_rttvar, (unsigned long long)i.tcpi_pacing_rate,
	       (unsigned long long)i.tcpi_delivery_rate, i.tcpi_total_retrans, i.tcpi_unacked, i.tcpi_lost,
	       i.tcpi_ca_state, i.tcpi_notsent_bytes, (unsigned long long)i.tcpi_bytes_acked);
}

/* Subflows of a Multipath TCP connection, in the kernel's order. */
static void paths(int s, uint64_t at)
{
	struct mptcp_subflow_data head = { .size_subflow_data = sizeof head };
	static struct { struct mptcp_subflow_data head; struct mptcp_subflow_addrs each[16]; } ends;
	static struct { struct mptcp_subflow_data head; struct tcp_info each[16]; } infos;
	socklen_t size = sizeof ends;
	char text[INET6_ADDRSTRLEN];

	ends.head = infos.head = head;
	ends.head.size_user = sizeof *ends.each;
	infos.head.size_user = sizeof *infos.each;
	if (getsockopt(s, SOL_MPTCP, MPTCP_SUBFLOW_ADDRS, &ends, &size))
		return;
	size = sizeof infos;
	if (getsockopt(s, SOL_MPTCP, MPTCP_TCPINFO, &infos, &size))
		return;
	for (unsigned n = 0; n < infos.head.num_subflows && n < ends.head.num_subflows && n < 16; n++) {
		struct sockaddr *local = (void *)&ends.each[n].sa_local;
		struct tcp_info *i = &infos.each[n];

		inet_ntop(local->sa_family, local->sa_family == AF_INET6 ? (void *)&((struct sockaddr_in6 *)local)->sin6_addr :
									   (void *)&((struct sockaddr_in *)local)->sin_addr,
			  text, sizeof text);
		printf("m %llu %s %u %u %u %llu\n", (unsigned long long)at, text, i->tcpi_snd_cwnd, i->tcpi_rtt,
		       i->tcpi_total_retrans, (unsigned long long)i->tcpi_bytes_acked);
	}
}

static int tcp_send(char **words)
{
	char **v = words + 1;
	union place a = place(v[1], v[2]);
	uint64_t most = number(v[4]), size = number(v[5]), stop = number(v[7]), step = number(v[8]), sent = 0;
	uint64_t next = now_ns() / step * step + step;
	int several = number(v[9]);
	int s = socket(a.any.sa_family, SOCK_STREAM | SOCK_NONBLOCK, several ? IPPROTO_MPTCP : 0), ep = epoll_create1(0), t = timer(), done = 0;
	struct epoll_event e[4];

	if (size > sizeof data)
		size = sizeof data;
	if (setsockopt(s, IPPROTO_TCP, TCP_CONGESTION, v[3], strlen(v[3])))
		fail(v[3]);
	marked(s, &a, v[6]);
	from(s, v[0]);
	if (connect(s, &a.any, size_of(&a)) && errno != EINPROGRESS)
		fail("connect");
	watch(ep, s, EPOLLOUT | EPOLLRDHUP);
	watch(ep, t, EPOLLIN);
	arm(t, next < stop ? next : stop);
	while (!stopped && !done) {
		int n = epoll_wait(ep, e, 4, -1);

		for (int i = 0; i < n && !done; i++) {
			if (e[i].data.fd == t) {
				rung(t);
				sample(s, next < stop ? next : stop);
				if (several)
					paths(s, next < stop ? next : stop);
				done = next >= stop;
				next += step;
				arm(t, next < stop ? next : stop);
			} else if (e[i].events & (EPOLLERR | EPOLLHUP)) {
				int error = 0;
				socklen_t length = sizeof error;

				getsockopt(s, SOL_SOCKET, SO_ERROR, &error, &length);
				errno = error;
				fail("the connection");
			} else {
				ssize_t put = 0;

				while (!most || sent < most) {
					uint64_t left = most ? most - sent : size;

					put = write(s, data, left < size ? left : size);
					if (put <= 0)
						break;
					sent += put;
				}
				if (most && sent >= most) {
					shutdown(s, SHUT_WR);
					while (read(s, data, sizeof data) < 0 && errno == EAGAIN && !stopped && now_ns() < stop)
						poll(&(struct pollfd){ s, POLLIN | POLLRDHUP, 0 }, 1, 1000);
					printf("f %llu\n", (unsigned long long)now_ns());
					done = 1;
				}
			}
		}
	}
	return 0;
}

/* Counters of a datagram sink, and the time of its next sample. */
static struct {
	uint64_t packets, bytes, next, step;
	uint32_t last;
} got_so_far;

/* Writes a sample. This is the only output; in the middle of an update, it may be one datagram early. */
static void on_step(int signal)
{
	(void)signal;
	printf("d %llu %llu %llu %u\n", (unsigned long long)got_so_far.next, (unsigned long long)got_so_far.packets,
	       (unsigned long long)got_so_far.bytes, got_so_far.last);
	got_so_far.next += got_so_far.step;
}

/* Schedules SIGALRM at `first` and then every `step`. */
static void alarms(uint64_t first, uint64_t step)
{
	struct itimerspec t = { .it_value = { first / 1000000000ull, first % 1000000000ull },
				.it_interval = { step / 1000000000ull, step % 1000000000ull } };
	struct sigaction act = { .sa_handler = on_step, .sa_flags = SA_RESTART };
	timer_t id;

	sigaction(SIGALRM, &act, NULL);
	if (timer_create(CLOCK_MONOTONIC, NULL, &id) || timer_settime(id, TIMER_ABSTIME, &t, NULL))
		fail("timer");
}

/* Receives all waiting datagrams in one system call: system calls dominate a guest's cost. */
static int udp_sink(char **v)
{
	enum { MANY = 64, HEAD = 4 };
	uint64_t step = number(v[3]);
	int s = bound(SOCK_DGRAM, v[1], v[2], 0);
	struct mmsghdr m[MANY] = { 0 };
	struct iovec heads[MANY];
	uint32_t nth[MANY];

	for (int i = 0; i < MANY; i++) {
		heads[i] = (struct iovec){ &nth[i], HEAD };
		m[i].msg_hdr = (struct msghdr){ .msg_iov = &heads[i], .msg_iovlen = 1 };
	}
	got_so_far.step = step;
	got_so_far.next = now_ns() / step * step + step;
	alarms(got_so_far.next, step);
	while (!stopped) {
		int n = recvmmsg(s, m, MANY, MSG_WAITFORONE | MSG_TRUNC, NULL);

		for (int i = 0; i < n; i++) {
			got_so_far.packets++;
			got_so_far.bytes += m[i].msg_len;
			if (m[i].msg_len >= HEAD && ntohl(nth[i]) > got_so_far.last)
				got_so_far.last = ntohl(nth[i]);
		}
	}
	return 0;
}

static int udp_send(char **words)
{
	char **v = words + 1;
	union place a = place(v[1], v[2]);
	uint64_t size = number(v[3]), burst = number(v[4]), gap = number(v[5]), stop = number(v[7]), at = now_ns();
	uint32_t nth = 0;
	int s = socket(a.any.sa_family, SOCK_DGRAM, 0);

	marked(s, &a, v[6]);
	from(s, v[0]);
	if (connect(s, &a.any, size_of(&a)))
		fail("connect");
	for (; at < stop && !stopped; at += gap) {
		if (sleep_until(at))
			continue;
		for (uint64_t i = 0; i < burst; i++) {
			uint32_t written = htonl(++nth);

			if (size >= 4)
				memcpy(data, &written, 4);
			(void)!send(s, data, size, 0);
		}
	}
	printf("q %u\n", nth);
	return 0;
}

static uint16_t sum(const void *bytes, size_t length)
{
	const uint16_t *w = bytes;
	uint32_t all = 0;

	for (; length > 1; length -= 2)
		all += *w++;
	if (length)
		all += *(const uint8_t *)w;
	while (all >> 16)
		all = (all & 0xffff) + (all >> 16);
	return ~all;
}

static int run_stats(char **v)
{
	return stats(v, &stopped);
}

/* Sends requests at an interval over a connected socket until STOP, and waits another second for replies. `icmp` is the IP version, or 0 for UDP. */
static int asks(int s, int icmp, uint64_t interval, size_t size, uint64_t stop)
{
	uint64_t next = now_ns(), *times = calloc(1 << 20, sizeof *times);
	uint32_t sent = 0;
	int t = timer(), ep = epoll_create1(0);
	struct epoll_event e[4];

	if (size < 8)
		size = 8;
	watch(ep, s, EPOLLIN);
	watch(ep, t, EPOLLIN);
	arm(t, next + 1);
	while (!stopped) {
		int n = epoll_wait(ep, e, 4, -1);

		for (int i = 0; i < n; i++) {
			ssize_t got;

			if (e[i].data.fd == t) {
				rung(t);
				if (next >= stop + 1000000000ull)
					stopped = 1;
				if (next < stop && sent < 1 << 20) {
					struct icmphdr h = { .type = icmp == 6 ? ICMP6_ECHO_REQUEST : ICMP_ECHO, .un.echo = { htons(getpid()), htons(sent) } };
					size_t head = icmp ? sizeof h : 0;

					memset(data, 0, head + size);
					memcpy(data, &h, head);
					memcpy(data + head, &sent, 4);
					/* The kernel computes the ICMPv6 checksum. */
					if (icmp == 4) {
						h.checksum = sum(data, head + size);
						memcpy(data, &h, head);
					}
					times[sent++] = now_ns();
					(void)!send(s, data, head + size, 0);
				}
				next += interval;
				arm(t, next);
				continue;
			}
			while ((got = recv(s, data, sizeof data, MSG_DONTWAIT)) > 0) {
				char *p = data;
				uint32_t nth;
				uint64_t at = now_ns();

				if (icmp) {
					struct icmphdr *h = (void *)(data + (icmp == 4 ? ((struct iphdr *)data)->ihl * 4 : 0));

					if (h->type != (icmp == 4 ? ICMP_ECHOREPLY : ICMP6_ECHO_REPLY) || h->un.echo.id != htons(getpid()))
						continue;
					p = (char *)(h + 1);
				}
				memcpy(&nth, p, 4);
				if (nth < sent)
					printf("p %u %llu %llu\n", nth, (unsigned long long)times[nth],
					       (unsigned long long)(at - times[nth]));
			}
		}
	}
	printf("q %u\n", sent);
	return 0;
}

static int ping(char **words)
{
	char **v = words + 1;
	union place a = place(v[1], "0");
	int six = a.any.sa_family == AF_INET6;
	int s = socket(a.any.sa_family, SOCK_RAW, six ? IPPROTO_ICMPV6 : IPPROTO_ICMP);

	if (s < 0)
		fail("ICMP");
	from(s, v[0]);
	if (connect(s, &a.any, size_of(&a)))
		fail("ICMP");
	marked(s, &a, v[4]);
	return asks(s, six ? 6 : 4, number(v[2]), number(v[3]), number(v[5]));
}

static int udp_ping(char **words)
{
	char **v = words + 1;
	union place a = place(v[1], v[2]);
	int s = socket(a.any.sa_family, SOCK_DGRAM, 0);

	from(s, v[0]);
	if (connect(s, &a.any, size_of(&a)))
		fail("connect");
	marked(s, &a, v[5]);
	return asks(s, 0, number(v[3]), number(v[4]), number(v[6]));
}

static int udp_echo(char **v)
{
	int s = bound(SOCK_DGRAM, v[1], v[2], 0);

	while (!stopped) {
		union place who;
		socklen_t length = sizeof who;
		ssize_t got = recvfrom(s, data, sizeof data, 0, &who.any, &length);

		if (got >= 0)
			sendto(s, data, got, 0, &who.any, length);
	}
	return 0;
}

int traffic(int count, char **v)
{
	static const struct {
		const char *name;
		int words;
		int (*run)(char **);
	} known[] = {
		{ "tcp-sink", 5, tcp_sink }, { "tcp-send", 11, tcp_send }, { "udp-sink", 4, udp_sink },
		{ "udp-send", 9, udp_send }, { "ping", 7, ping },	   { "udp-ping", 8, udp_ping },
		{ "udp-echo", 3, udp_echo }, { "stats", 3, run_stats },
	};
	struct sigaction stop = { .sa_handler = on_stop };

	setvbuf(stdout, NULL, _IOLBF, 0);
	signal(SIGPIPE, SIG_IGN);
	sigaction(SIGINT, &stop, NULL);
	sigaction(SIGTERM, &stop, NULL);
	for (size_t i = 0; i < sizeof known / sizeof *known; i++)
		if (!strcmp(v[0], known[i].name) && count == known[i].words)
			return known[i].run(v);
	fprintf(stderr, "%s: no such traffic, or not its arguments\n", v[0]);
	return 2;
}
