/* SPDX-License-Identifier: GPL-2.0-only */
/* Interfaces, routes and Multipath TCP endpoints of a guest, as ordered by the plan. Failures are reported on the console. */
#define _GNU_SOURCE
#include "guest.h"
#include <arpa/inet.h>
#include <errno.h>
#include <linux/ethtool.h>
#include <linux/fib_rules.h>
#include <linux/genetlink.h>
#include <linux/mptcp.h>
#include <linux/rtnetlink.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

/* A netlink message, and the position of its next attribute. */
struct message {
	struct nlmsghdr head;
	char rest[496];
};

static void begin(struct message *m, int type, int flags, const void *body, size_t length)
{
	memset(m, 0, sizeof *m);
	m->head.nlmsg_type = type;
	m->head.nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK | flags;
	m->head.nlmsg_len = NLMSG_LENGTH(length);
	memcpy(NLMSG_DATA(&m->head), body, length);
}

static struct nlattr *add(struct message *m, int type, const void *value, size_t length)
{
	struct nlattr *a = (void *)((char *)m + NLMSG_ALIGN(m->head.nlmsg_len));

	a->nla_type = type;
	a->nla_len = NLA_HDRLEN + length;
	memcpy((char *)a + NLA_HDRLEN, value, length);
	m->head.nlmsg_len = NLMSG_ALIGN(m->head.nlmsg_len) + NLA_ALIGN(a->nla_len);
	return a;
}

/* Sends the message and returns the kernel's error, or 0. `answer` receives the message before the acknowledgement. */
static int say(int protocol, struct message *m, void *answer, size_t room)
{
	static char got[8192];
	int s = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, protocol), error = EPROTO;
	ssize_t length;

	if (s < 0)
		return errno;
	if (send(s, m, m->head.nlmsg_len, 0) < 0)
		error = errno;
	else
		while (error == EPROTO && (length = recv(s, got, sizeof got, 0)) > 0)
			for (struct nlmsghdr *h = (void *)got; NLMSG_OK(h, length); h = NLMSG_NEXT(h, length)) {
				if (h->nlmsg_type == NLMSG_ERROR)
					error = -((struct nlmsgerr *)NLMSG_DATA(h))->error;
				else if (answer)
					memcpy(answer, h, h->nlmsg_len < room ? h->nlmsg_len : room);
			}
	close(s);
	return error;
}

static void order(int protocol, struct message *m, const char *what, const char *which)
{
	errno = say(protocol, m, NULL, 0);
	if (errno)
		complain(what, which);
}

struct address {
	int family, length;
	unsigned char bytes[16];
};

static struct address read_address(const char *text)
{
	struct address a = { .family = strchr(text, ':') ? AF_INET6 : AF_INET };

	a.length = a.family == AF_INET6 ? 16 : 4;
	if (inet_pton(a.family, text, a.bytes) != 1) {
		errno = EINVAL;
		complain("no address:", text);
	}
	return a;
}

/* Up, without ARP: every other address is reachable through it. */
void interface_up(const char *name)
{
	struct ifreq r = { 0 };
	int s = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	strncpy(r.ifr_name, name, IFNAMSIZ - 1);
	r.ifr_flags = IFF_UP | IFF_RUNNING | (strcmp(name, "lo") ? IFF_NOARP : 0);
	if (ioctl(s, SIOCSIFFLAGS, &r))
		complain("cannot bring up", name);
	close(s);
}

void merges(const char *name, int on)
{
	struct ethtool_value v = { ETHTOOL_SGRO, on };
	struct ifreq r = { .ifr_data = (void *)&v };
	int s = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	strncpy(r.ifr_name, name, IFNAMSIZ - 1);
	if (ioctl(s, SIOCETHTOOL, &r))
		complain("cannot set GRO of", name);
	close(s);
}

void interface_has(const char *name, const char *text)
{
	struct address a = read_address(text);
	struct ifaddrmsg body = { .ifa_family = a.family,
				  .ifa_prefixlen = a.length * 8,
				  .ifa_flags = IFA_F_NODAD | IFA_F_PERMANENT,
				  .ifa_index = if_nametoindex(name) };
	struct message m;

	begin(&m, RTM_NEWADDR, NLM_F_CREATE, &body, sizeof body);
	add(&m, IFA_LOCAL, a.bytes, a.length);
	add(&m, IFA_ADDRESS, a.bytes, a.length);
	order(NETLINK_ROUTE, &m, "no address at", name);
}

/* Adds a route to an address, or the default route of a family if the text is "4" or "6", through an interface. */
void route(const char *to, const char *name, int table)
{
	int everywhere = !to[1];
	struct address a = read_address(!everywhere ? to : *to == '6' ? "::" : "0.0.0.0");
	uint32_t index = if_nametoindex(name), number = table;
	struct rtmsg body = { .rtm_family = a.family,
			      .rtm_dst_len = everywhere ? 0 : a.length * 8,
			      .rtm_table = table,
			      .rtm_protocol = RTPROT_STATIC,
			      .rtm_scope = RT_SCOPE_LINK,
			      .rtm_type = RTN_UNICAST };
	struct message m;

	begin(&m, RTM_NEWROUTE, NLM_F_CREATE, &body, sizeof body);
	if (!everywhere)
		add(&m, RTA_DST, a.bytes, a.length);
	add(&m, RTA_OIF, &index, sizeof index);
	add(&m, RTA_TABLE, &number, sizeof number);
	order(NETLINK_ROUTE, &m, "no route by", name);
}

/* Adds a rule: packets from this source use a table. */
void rule(const char *from, int table)
{
	struct address a = read_address(from);
	uint32_t number = table;
	struct fib_rule_hdr body = { .family = a.family, .src_len = a.length * 8, .table = table, .action = FR_ACT_TO_TBL };
	struct message m;

	begin(&m, RTM_NEWRULE, NLM_F_CREATE, &body, sizeof body);
	add(&m, FRA_SRC, a.bytes, a.length);
	add(&m, FRA_TABLE, &number, sizeof number);
	order(NETLINK_ROUTE, &m, "no rule for", from);
}

/* Returns the ID of a generic netlink family; 0 if the kernel lacks it. */
static int family(const char *name)
{
	struct genlmsghdr body = { .cmd = CTRL_CMD_GETFAMILY, .version = 1 };
	static char got[4096];
	struct nlmsghdr *h = (void *)got;
	struct message m;
	int length;

	begin(&m, GENL_ID_CTRL, 0, &body, sizeof body);
	add(&m, CTRL_ATTR_FAMILY_NAME, name, strlen(name) + 1);
	errno = say(NETLINK_GENERIC, &m, got, sizeof got);
	if (errno)
		return 0;
	length = h->nlmsg_len - NLMSG_LENGTH(GENL_HDRLEN);
	for (struct rtattr *a = (void *)((char *)NLMSG_DATA(h) + GENL_HDRLEN); RTA_OK(a, length); a = RTA_NEXT(a, length))
		if (a->rta_type == CTRL_ATTR_FAMILY_ID)
			return *(uint16_t *)RTA_DATA(a);
	return 0;
}

/* Adds an interface's address as a Multipath TCP endpoint, and raises the limits to the kernel's maximum. */
void endpoint(const char *text, const char *name)
{
	struct address a = read_address(text);
	struct genlmsghdr body = { .cmd = MPTCP_PM_CMD_ADD_ADDR, .version = MPTCP_PM_VER };
	uint32_t most = 8, flags = MPTCP_PM_ADDR_FLAG_SUBFLOW, index = if_nametoindex(name);
	uint16_t kind = a.family;
	int number = family(MPTCP_PM_NAME);
	struct message m;
	struct nlattr *nest;

	if (!number)
		return complain("no Multipath TCP for", name);
	begin(&m, number, 0, &body, sizeof body);
	nest = add(&m, MPTCP_PM_ATTR_ADDR | NLA_F_NESTED, NULL, 0);
	add(&m, MPTCP_PM_ADDR_ATTR_FAMILY, &kind, sizeof kind);
	add(&m, a.family == AF_INET6 ? MPTCP_PM_ADDR_ATTR_ADDR6 : MPTCP_PM_ADDR_ATTR_ADDR4, a.bytes, a.length);
	add(&m, MPTCP_PM_ADDR_ATTR_FLAGS, &flags, sizeof flags);
	add(&m, MPTCP_PM_ADDR_ATTR_IF_IDX, &index, sizeof index);
	nest->nla_len = (char *)&m + m.head.nlmsg_len - (char *)nest;
	order(NETLINK_GENERIC, &m, "no endpoint at", name);
	body.cmd = MPTCP_PM_CMD_SET_LIMITS;
	begin(&m, number, 0, &body, sizeof body);
	add(&m, MPTCP_PM_ATTR_RCV_ADD_ADDRS, &most, sizeof most);
	add(&m, MPTCP_PM_ATTR_SUBFLOWS, &most, sizeof most);
	order(NETLINK_GENERIC, &m, "no limits of Multipath TCP at", name);
}
