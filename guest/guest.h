/* SPDX-License-Identifier: GPL-2.0-only */
/* What the parts of a guest's first program have of each other. */
#ifndef STILLAIR_GUEST_H
#define STILLAIR_GUEST_H
#include <stdint.h>

/* The version of the orders in /plan and of what traffic says: counted up with each change after which an older first program would not do. The engine has the same number
   (crates/uml/src/kernel.rs). */
#define ORDERS 3

/* Nanoseconds of the guest's monotonic clock: those of the simulation. */
uint64_t now_ns(void);
/* Sleeps until then, at once if it has passed; 0, or 1 if a signal came first. */
int sleep_until(uint64_t at);
/* Writes a line that says what failed to standard error, and ends with status 1. */
void fail(const char *what) __attribute__((noreturn));
/* Says on the console what does not work, with the reason in errno; the guest goes on. */
void complain(const char *what, const char *which);
/* A traffic program: its name and arguments; gives the exit status. */
int traffic(int count, char **words);
/* The program `stats` (stats.c), until it is stopped. */
int stats(char **words, volatile int *stopped);
/* Interfaces, addresses, routes, and paths of Multipath TCP (net.c). */
void interface_up(const char *name);
void interface_has(const char *name, const char *address);
void merges(const char *name, int on);
void route(const char *to, const char *name, int table);
void rule(const char *from, int table);
void endpoint(const char *address, const char *name);

#endif
