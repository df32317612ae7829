/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <glib.h>

#include "record/record.h"
#include "services/common/sysroot.h"
#include "services/common/thunderbolt.h"
#include "services/link-probe/net/medium.h"
#include "state/link/path-end.h"

/* A limit, since interfaces come and go under new names, as those of containers do. */
#define INTERFACES_MAX 256u

#define LOOKS_FOR_ANOTHER 2u
#define LOOKS_FOR_NOTHING 3u

/* The accepted value, and a different one seen since with how often it was seen; 0: unknown. */
typedef struct SettledValue {
        unsigned value, other, looks;
} SettledValue;

typedef struct Interface {
        SettledValue type; /* AldInterfaceType + 1 */
        SettledValue generation;
} Interface;

struct AldMedia {
        int root;
        AldWifiLook wifi_generation;
        GHashTable *by_name; /* name → Interface */
};

AldMedia *ald_media_new(int root, AldWifiLook wifi_generation)
{
        AldMedia *media = g_new(AldMedia, 1);

        media->root = root;
        media->wifi_generation = wifi_generation;
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

static unsigned type_number(const char *type)
{
        for (AldInterfaceType i = 0; type && i < ALD_INTERFACE_TYPE_N; i++)
                if (g_str_equal(type, ald_interface_type_to_string(i)))
                        return i + 1;
        return 0;
}

/* Reads the active one of several ports of a bond. The kernel names none if all are active. */
static char *read_active_port(const char *bond, void *userdata)
{
        const AldMedia *media = userdata;
        g_autofree char *path = g_strdup_printf("sys/class/net/%s/bonding/active_slave", bond);
        char *port = NULL;

        (void) ald_sysroot_read_string(media->root, path, &port);
        return port;
}

static Interface *ensure_interface(AldMedia *media, const char *name)
{
        Interface *interface = g_hash_table_lookup(media->by_name, name);

        if (interface)
                return interface;
        if (g_hash_table_size(media->by_name) >= INTERFACES_MAX)
                g_hash_table_remove_all(media->by_name);
        interface = g_new0(Interface, 1);
        g_hash_table_insert(media->by_name, g_strdup(name), interface);
        return interface;
}

static unsigned settle_value(SettledValue *held, unsigned value)
{
        if (held->value == 0 || value == held->value) {
                held->value = value;
                held->looks = 0;
                return held->value;
        }
        held->looks = value == held->other ? held->looks + 1 : 1;
        held->other = value;
        if (held->looks >= (value ? LOOKS_FOR_ANOTHER : LOOKS_FOR_NOTHING)) {
                held->value = value;
                held->looks = 0;
        }
        return held->value;
}

/* Reads the other host: the device of the interface is a service of that host, and thus its child. */
static void read_thunderbolt(const AldMedia *media, const char *interface, AldMedium *medium)
{
        g_autofree char *host = g_strdup_printf("sys/class/net/%s/device/..", interface);
        uint64_t speed;

        ald_thunderbolt_read(media->root, host, &medium->generation, &speed);
        if (medium->bits_per_second == ALD_ABSENT_UINT64)
                medium->bits_per_second = speed;
}

/* Reads the generation. The last rate of a station occasionally belongs to an older one. */
static void read_wifi(AldMedia *media, const char *interface, SettledValue *held, AldMedium *medium)
{
        unsigned generation = settle_value(held, media->wifi_generation(interface));

        if (generation > 0)
                medium->generation = generation;
}

AldMedium ald_media_find(AldMedia *media, const AldNetwork *network, const char *interface)
{
        const AldInterface *row = network ? ald_rows_find(&network->interfaces, interface) : NULL;
        const AldPathEnd end = row ? ald_path_end_of(network, NULL, row, read_active_port, media)
                                   : ALD_PATH_END_NONE;
        const char *port = end.port ? end.port->id : interface;
        Interface *held = ensure_interface(media, interface);
        unsigned type = settle_value(&held->type, type_number(end.type));
        AldMedium medium = {
                .type = type > 0 ? ald_interface_type_to_string(type - 1) : NULL,
                .generation = ALD_ABSENT_UINT64,
                .bits_per_second = end.bits_per_second,
        };

        if (type == ALD_INTERFACE_TYPE_THUNDERBOLT + 1)
                read_thunderbolt(media, port, &medium);
        else if (type == ALD_INTERFACE_TYPE_WIFI + 1)
                read_wifi(media, port, &held->generation, &medium);
        else
                held->generation = (SettledValue){ 0 };
        return medium;
}
