/* SPDX-License-Identifier: GPL-2.0-only */
/* Declarations shared by the parts of a guest's first program. */
#ifndef STILLAIR_GUEST_H
#define STILLAIR_GUEST_H
#include <stdint.h>

/* Version of the orders in /plan and of the traffic output. Increment it with each incompatible change; the engine has the same number
   (crates/uml/src/kernel.rs). */
#define ORDERS 3

/* Guest's monotonic clock in ns, which is the simulation's time. */
uint64_t now_ns(void);
/* Sleeps until then; returns immediately if it has passed. Returns 0, or 1 if interrupted by a signal. */
int sleep_until(uint64_t at);
/* Reports the failure on standard error, and exits with status 1. */
void fail(const char *what) __attribute__((noreturn));
/* Reports a failure on the console, with the reason in errno. The guest continues. */
void complain(const char *what, const char *which);
/* Runs a traffic program, given its name and arguments. Returns the exit status. */
int traffic(int count, char **words);
/* The program `stats` (stats.c), which runs until stopped. */
int stats(char **words, volatile int *stopped);
/* Interfaces, addresses, routes, and Multipath TCP endpoints (net.c). */
void interface_up(const char *name);
void interface_has(const char *name, const char *address);
void merges(const char *name, int on);
void route(const char *to, const char *name, int table);
void rule(const char *from, int table);
void endpoint(const char *address, const char *name);

#endif
