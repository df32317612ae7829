/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>
#include <sys/types.h>
#include <systemd/sd-bus.h>

/* What the benchmark on a bus and its peer share. They end where something fails. */

/* With the node of the state service itself, 1000 nodes of this many records just fit into a reply. */
#define NODES 999u
#define NODE_RECORDS (FIXTURE_RECORDS - 1)
#define PEER "org.alidade.Bench1", "/", "org.alidade.Bench1"
#define RECORDS "a(ssstttba{sv})"

void die(const char *what, int r) __attribute__((noreturn));

#define TRY(expression)                           \
        do {                                      \
                int try_r_ = (expression);        \
                if (try_r_ < 0)                   \
                        die(#expression, try_r_); \
        } while (false)

/* Connected to ALIDADE_BUS_ADDRESS, with a name unless that is NULL. */
sd_bus *connect_bus(const char *name);
void wait_for_name(sd_bus *bus, const char *name);

double now_usec(void);

/* The processor time that the process with this name on the bus has taken so far. */
pid_t pid_of(sd_bus *bus, const char *name);
double cpu_usec(pid_t pid);

/* Sorts the figures. */
double quantile(double *figures, unsigned n, double q);
