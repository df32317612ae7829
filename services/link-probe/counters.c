/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <glib.h>

#include "services/common/sysroot.h"
#include "services/link-probe/counters.h"
#include "state/network.h"
#include "state/record.h"

#define PATH "proc/net/dev"
#define INTERFACES_MAX 1024u

/* A shorter time tells nothing. */
#define SPAN_MIN_USEC G_USEC_PER_SEC

typedef struct Counter {
        uint64_t received, sent; /* bytes, at the last reading */
        uint64_t read_usec;      /* 0: never, or a probe came between */
        uint64_t rate;
        unsigned generation;
} Counter;

struct AldCounters {
        int root;
        unsigned generation;
        bool complained;
        GHashTable *by_name;  /* name → Counter */
        GHashTable *occupied; /* name → the interface that stands for it: itself, or below what it lies */
};

AldCounters *ald_counters_new(int root)
{
        AldCounters *counters = g_new0(AldCounters, 1);

        counters->root = root;
        counters->by_name = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
        counters->occupied = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
        return counters;
}

void ald_counters_free(AldCounters *counters)
{
        if (!counters)
                return;
        g_hash_table_unref(counters->by_name);
        g_hash_table_unref(counters->occupied);
        g_free(counters);
}

static uint64_t rate_of(const Counter *counter, uint64_t received, uint64_t sent, uint64_t now_usec)
{
        uint64_t span = now_usec - counter->read_usec, bytes;

        if (counter->read_usec == 0 || span == 0 || received < counter->received || sent < counter->sent)
                return ALD_ABSENT_UINT64;
        bytes = MAX(received - counter->received, sent - counter->sent);
        return (uint64_t) ((double) bytes * 8 * G_USEC_PER_SEC / (double) span);
}

static Counter *counter_of(AldCounters *counters, const char *name)
{
        Counter *counter = g_hash_table_lookup(counters->by_name, name);

        if (counter || g_hash_table_size(counters->by_name) >= INTERFACES_MAX)
                return counter;
        counter = g_new0(Counter, 1);
        counter->rate = ALD_ABSENT_UINT64;
        g_hash_table_insert(counters->by_name, g_strdup(name), counter);
        return counter;
}

/* "  eth0: BYTES packets errs drop fifo frame compressed multicast BYTES …" */
static void read_line(AldCounters *counters, char *line, uint64_t now_usec)
{
        const char *name = g_strchug(line);
        char *colon = strrchr(line, ':');
        uint64_t received, sent;
        Counter *counter;

        if (!colon ||
                sscanf(colon + 1, "%" G_GUINT64_FORMAT " %*u %*u %*u %*u %*u %*u %*u %" G_GUINT64_FORMAT,
                        &received, &sent) != 2)
                return;
        *colon = '\0';
        counter = counter_of(counters, name);
        if (!counter)
                return;
        counter->generation = counters->generation;
        if (counter->read_usec != 0 && now_usec - counter->read_usec < SPAN_MIN_USEC &&
                !g_hash_table_contains(counters->occupied, name))
                return;
        counter->rate = rate_of(counter, received, sent, now_usec);
        counter->received = received;
        counter->sent = sent;
        counter->read_usec = g_hash_table_contains(counters->occupied, name) ? 0 : now_usec;
}

static gboolean is_gone(gpointer name, gpointer value, gpointer userdata)
{
        return ((Counter *) value)->generation != ((AldCounters *) userdata)->generation;
}

void ald_counters_read(AldCounters *counters, uint64_t now_usec)
{
        g_autofree char *text = NULL;
        char *line, *rest;
        int r = ald_sysroot_read(counters->root, PATH, &text);

        if (r < 0) {
                if (!counters->complained)
                        g_warning("%s: %s; what is busy is not known", PATH, g_strerror(-r));
                counters->complained = true;
                return;
        }
        counters->generation++;
        for (line = rest = text; (line = strsep(&rest, "\n"));)
                read_line(counters, line, now_usec);
        g_hash_table_foreach_remove(counters->by_name, is_gone, counters);
}

uint64_t ald_counters_rate(const AldCounters *counters, const char *interface)
{
        const Counter *counter = g_hash_table_lookup(counters->by_name, interface);

        return counter && !g_hash_table_contains(counters->occupied, interface) ? counter->rate
                                                                                : ALD_ABSENT_UINT64;
}

static const char *carrier_of(const AldNetwork *network, const char *interface)
{
        const AldInterface *row = network ? ald_rows_find(&network->interfaces, interface) : NULL;

        return row ? ald_network_find_carrier(network, row)->id : interface;
}

bool ald_counters_is_occupied(const AldCounters *counters, const AldNetwork *network, const char *interface)
{
        return g_hash_table_contains(counters->occupied, interface) ||
               g_hash_table_contains(counters->occupied, carrier_of(network, interface));
}

int ald_counters_occupy(AldCounters *counters, const AldNetwork *network, const char *interface)
{
        const char *carrier = carrier_of(network, interface);

        if (ald_counters_is_occupied(counters, network, interface))
                return -EBUSY;
        g_hash_table_insert(counters->occupied, g_strdup(interface), g_strdup(interface));
        g_hash_table_replace(counters->occupied, g_strdup(carrier), g_strdup(interface));
        return 0;
}

/* What went over it so far was the probe's. */
static void forget_traffic(AldCounters *counters, const char *name)
{
        Counter *counter = g_hash_table_lookup(counters->by_name, name);

        if (!counter)
                return;
        counter->read_usec = 0;
        counter->rate = ALD_ABSENT_UINT64;
}

void ald_counters_release(AldCounters *counters, const char *interface)
{
        g_autofree char *user = g_strdup(interface);
        GHashTableIter iter;
        gpointer name, by;

        g_hash_table_iter_init(&iter, counters->occupied);
        while (g_hash_table_iter_next(&iter, &name, &by))
                if (g_str_equal(by, user)) {
                        forget_traffic(counters, name);
                        g_hash_table_iter_remove(&iter);
                }
}

void ald_counters_foreach(const AldCounters *counters,
        void (*found)(const char *interface, uint64_t rate, void *userdata), void *userdata)
{
        GHashTableIter iter;
        gpointer name, value;

        g_hash_table_iter_init(&iter, counters->by_name);
        while (g_hash_table_iter_next(&iter, &name, &value))
                if (!g_hash_table_contains(counters->occupied, name) &&
                        ((Counter *) value)->rate != ALD_ABSENT_UINT64)
                        found(name, ((Counter *) value)->rate, userdata);
        g_hash_table_iter_init(&iter, counters->occupied);
        while (g_hash_table_iter_next(&iter, &name, NULL))
                found(name, UINT64_MAX, userdata);
}
