/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <inttypes.h>

#include "clients/cluster/broker/broker-limits.h"

/* The number of nodes is rounded up to a multiple of this, so that the drop-in seldom changes, since a change
 * takes a restart of mosquitto. */
#define NODES_STEP 1000u
#define NODE_MESSAGES 64u
#define NODE_BYTES (UINT64_C(256) * 1024)
#define MESSAGES_LEAST 200000u

/* An option of the drop-in. */
typedef struct Limit {
        const char *option;
        AldMosquittoLimitIndex index;
        uint64_t value;     /* set if mosquitto serves the cluster only */
        uint64_t needed;    /* minimum for the cluster; 0: it works with any value */
        bool needs_setting; /* the default of mosquitto is less than what is needed */
} Limit;

static void add_note(GPtrArray *notes, char *note)
{
        if (notes)
                g_ptr_array_add(notes, note);
        else
                g_free(note);
}

static bool is_enough(const AldMosquittoLimit *given, uint64_t needed)
{
        return given->value == 0 || given->value >= needed;
}

/* Notes a line that takes precedence, because mosquitto reads it after the drop-in. */
static void note_later(const Limit *limit, const AldMosquittoLimit *given, GPtrArray *notes)
{
        add_note(notes,
                g_strdup_printf("%s: %s %" PRIu64 " counts, which mosquitto reads after alidade.conf%s",
                        given->where, limit->option, given->value,
                        is_enough(given, limit->needed)
                                ? ""
                                : "; it is too little for the cluster, and readers may miss records"));
}

/* Returns whether the drop-in sets this limit, and notes what changes for other clients. */
static bool decide_limit(const AldMosquittoConf *conf, const Limit *limit, GPtrArray *notes)
{
        const AldMosquittoLimit *given = &conf->limits[limit->index];

        if (given->is_set && given->is_later) {
                note_later(limit, given, notes);
                return false;
        }
        if (given->is_set && conf->shared && is_enough(given, limit->needed)) {
                add_note(notes, g_strdup_printf("%s: %s stays %" PRIu64 ", for nodes of the cluster, too",
                                        given->where, limit->option, given->value));
                return false;
        }
        if (given->is_set && given->value != limit->value)
                add_note(notes, g_strdup_printf("%s becomes %" PRIu64 " for all clients, instead of %" PRIu64
                                                " in %s",
                                        limit->option, limit->value, given->value, given->where));
        else if (!given->is_set && conf->shared && limit->needs_setting)
                add_note(notes, g_strdup_printf("%s becomes %" PRIu64 " for all clients, which is more than "
                                                "the default of mosquitto",
                                        limit->option, limit->value));
        return given->is_set || !conf->shared || limit->needs_setting;
}

char *ald_broker_limits_format(const AldMosquittoConf *conf, uint64_t nodes, GPtrArray *ret_notes)
{
        const uint64_t sized = MAX(nodes + NODES_STEP - 1, NODES_STEP) / NODES_STEP * NODES_STEP;
        const uint64_t messages = MIN(MAX(sized * NODE_MESSAGES, MESSAGES_LEAST), INT32_MAX);
        const uint64_t bytes = MIN(sized * NODE_BYTES, INT32_MAX); /* mosquitto reads it as an int */
        const Limit limits[] = {
                { "max_queued_messages", ALD_MOSQUITTO_QUEUED_MESSAGES, messages, messages, true },
                { "max_queued_bytes", ALD_MOSQUITTO_QUEUED_BYTES, bytes, bytes, false },
                { "max_inflight_messages", ALD_MOSQUITTO_INFLIGHT_MESSAGES, 100, 0, false },
                { "max_packet_size", ALD_MOSQUITTO_PACKET_SIZE, ALD_MOSQUITTO_PACKET_BYTES,
                        ALD_MOSQUITTO_PACKET_BYTES, false },
        };
        GString *text = g_string_new(NULL);

        for (size_t i = 0; i < G_N_ELEMENTS(limits); i++)
                if (decide_limit(conf, &limits[i], ret_notes))
                        g_string_append_printf(text, "%s %" PRIu64 "\n", limits[i].option, limits[i].value);
        g_string_append(text, "set_tcp_nodelay true\n");
        if (conf->shared)
                add_note(ret_notes,
                        g_strdup("set_tcp_nodelay becomes true for all clients: short messages are "
                                 "not held back to be sent together"));
        return g_string_free(text, false);
}
