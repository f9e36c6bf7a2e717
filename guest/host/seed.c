/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Preloaded into the kernel's process (LD_PRELOAD). Replaces calls that would make runs differ or fail.
 *
 * getrandom() is the only entropy source of User Mode Linux. It returns numbers generated from STILLAIR_SEED, so that runs
 * are reproducible. SplitMix64: neighbouring seeds are uncorrelated.
 *
 * ptrace() is passed on, except for one request: 6.1 sets 2,696 bytes of extended registers, which a machine with a larger
 * area (AMX) rejects, and every process of the guest would die immediately. The rest is zero-filled and marked as unused.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

static uint64_t state;
static int seeded;

static uint64_t next(void)
{
	uint64_t z = (state += 0x9e3779b97f4a7c15ull);

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
	return z ^ (z >> 31);
}

ssize_t getrandom(void *to, size_t bytes, unsigned int flags)
{
	unsigned char *at = to;

	(void)flags;
	if (!seeded) {
		const char *seed = getenv("STILLAIR_SEED");

		state = seed ? strtoull(seed, NULL, 10) : 0;
		state = next() ^ 0x5354494c4c414952ull;
		seeded = 1;
	}
	for (size_t done = 0; done < bytes; done += 8) {
		uint64_t word = next();

		memcpy(at + done, &word, bytes - done < 8 ? bytes - done : 8);
	}
	return (ssize_t)bytes;
}

enum { PEEK_FIRST = 1, PEEK_LAST = 3, SET_REGISTERS = 0x4205, EXTENDED = 0x202, KNOWN = 2696 };

long ptrace(int request, ...)
{
	static char area[1 << 16] __attribute__((aligned(64)));
	va_list arguments;
	long pid, address, data;

	va_start(arguments, request);
	pid = va_arg(arguments, int);
	address = va_arg(arguments, long);
	data = va_arg(arguments, long);
	va_end(arguments);
	if (request == SET_REGISTERS && address == EXTENDED) {
		struct iovec *given = (struct iovec *)data;

		if (given->iov_len <= KNOWN && given->iov_len >= 576) {
			struct iovec whole = { area, sizeof area };
			uint64_t *in_use = (uint64_t *)(area + 512);

			memset(area, 0, sizeof area);
			memcpy(area, given->iov_base, given->iov_len);
			*in_use &= (1ull << 10) - 1; /* x87 to PKRU */
			if (syscall(SYS_ptrace, request, pid, address, &whole) == 0)
				return 0;
			/* A machine with a smaller area accepts the request unchanged. */
		}
	}
	if (request >= PEEK_FIRST && request <= PEEK_LAST) {
		long word = 0;

		if (syscall(SYS_ptrace, request, pid, address, &word) < 0)
			return -1;
		errno = 0;
		return word;
	}
	return syscall(SYS_ptrace, request, pid, address, data);
}
