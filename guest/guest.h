/* SPDX-License-Identifier: GPL-2.0-only */
/* What the parts of a guest's first program have of each other. */
#ifndef STILLAIR_GUEST_H
#define STILLAIR_GUEST_H
#include <stdint.h>

/* Nanoseconds of the guest's monotonic clock: those of the simulation. */
uint64_t now_ns(void);
/* Sleeps until then, at once if it has passed; 0, or 1 if a signal came first. */
int sleep_until(uint64_t at);
/* Writes a line that says what failed to standard error, and ends with status 1. */
void fail(const char *what) __attribute__((noreturn));
/* A traffic program: its name and arguments; gives the exit status. */
int traffic(int count, char **words);

#endif
