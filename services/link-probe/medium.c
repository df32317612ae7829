/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <glib.h>

#include "services/common/thunderbolt.h"
#include "services/link-probe/medium.h"
#include "state/network.h"
#include "state/record.h"

/* Interfaces come and go under new names, as those of containers do. */
#define HELD_MAX 256u

#define LOOKS_FOR_ANOTHER 2u
#define LOOKS_FOR_NOTHING 3u

/* What an interface is held to be, and what it was since that. */
typedef struct Held {
        const char *type; /* NULL: unknown; else static */
        const char *other;
        unsigned looks;
} Held;

struct AldMedia {
        int root;
        GHashTable *by_name; /* name → Held */
};

AldMedia *ald_media_new(int root)
{
        AldMedia *media = g_new(AldMedia, 1);

        media->root = root;
        media->by_name = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
        return media;
}

void ald_media_free(AldMedia *media)
{
        if (!media)
                return;
        g_hash_table_unref(media->by_name);
        g_free(media);
}

static const AldInterface *find(const AldNetwork *network, const char *interface)
{
        return network ? ald_rows_find(&network->interfaces, interface) : NULL;
}

/* The word itself, not that of the record, which is soon another. */
static const char *type_of(const AldInterface *row)
{
        for (AldInterfaceType type = 0; row && row->type && type < ALD_INTERFACE_TYPE_N; type++)
                if (type != ALD_INTERFACE_TYPE_UNKNOWN && ald_interface_is(row, type))
                        return ald_interface_type_to_string(type);
        return NULL;
}

static Held *hold(AldMedia *media, const char *interface)
{
        Held *held = g_hash_table_lookup(media->by_name, interface);

        if (held)
                return held;
        if (g_hash_table_size(media->by_name) >= HELD_MAX)
                g_hash_table_remove_all(media->by_name);
        held = g_new0(Held, 1);
        g_hash_table_insert(media->by_name, g_strdup(interface), held);
        return held;
}

static const char *settle(Held *held, const char *type)
{
        if (!held->type || type == held->type) {
                held->type = type;
                held->looks = 0;
                return held->type;
        }
        held->looks = type == held->other ? held->looks + 1 : 1;
        held->other = type;
        if (held->looks >= (type ? LOOKS_FOR_ANOTHER : LOOKS_FOR_NOTHING)) {
                held->type = type;
                held->looks = 0;
        }
        return held->type;
}

AldMedium ald_media_look(AldMedia *media, const AldNetwork *network, const char *interface)
{
        const AldInterface *row = find(network, interface);
        AldMedium medium = {
                .type = settle(hold(media, interface), type_of(row)),
                .generation = ALD_ABSENT_UINT64,
                .bits_per_second = row ? row->speed_bits_per_second : ALD_ABSENT_UINT64,
        };
        g_autofree char *host = NULL;
        uint64_t speed;

        if (medium.type != ald_interface_type_to_string(ALD_INTERFACE_TYPE_THUNDERBOLT))
                return medium;
        /* The device of the interface is a service that the other host offers. */
        host = g_strdup_printf("sys/class/net/%s/device/..", interface);
        ald_thunderbolt_read(media->root, host, &medium.generation, &speed);
        if (medium.bits_per_second == ALD_ABSENT_UINT64)
                medium.bits_per_second = speed;
        return medium;
}
