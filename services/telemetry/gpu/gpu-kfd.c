/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "services/telemetry/gpu/gpu-kfd.h"

#include <string.h>

#include "services/common/sysroot.h"

#define KFD "sys/class/kfd/kfd"
#define NODES KFD "/topology/nodes"
#define PROCESSES KFD "/proc"

/* The limit of one scan; beyond it the number is unknown. */
#define NODES_MAX 1024u
#define QUEUES_MAX 8192u

struct AldGpuKfd {
        int root;
        uint64_t generation; /* of the topology, as last read */
        bool known;
        GHashTable *cards;     /* GPU number of KFD, also that of a partition → PCI address of the card */
        GHashTable *processes; /* PCI address of a card → set of process numbers */
        unsigned queues_left;
};

AldGpuKfd *ald_gpu_kfd_new(int root)
{
        AldGpuKfd *kfd = g_new0(AldGpuKfd, 1);

        kfd->root = root;
        kfd->cards = g_hash_table_new_full(NULL, NULL, NULL, g_free);
        kfd->processes = g_hash_table_new_full(
                g_str_hash, g_str_equal, g_free, (GDestroyNotify) g_hash_table_unref);
        return kfd;
}

void ald_gpu_kfd_free(AldGpuKfd *kfd)
{
        if (!kfd)
                return;
        g_hash_table_unref(kfd->cards);
        g_hash_table_unref(kfd->processes);
        g_free(kfd);
}

/* The value behind a name, in lines of "name value". */
static bool find_property(const char *text, const char *name, uint64_t *ret)
{
        size_t length = strlen(name);

        for (const char *line = text; line; line = strchr(line, '\n')) {
                line += *line == '\n';
                if (strncmp(line, name, length) != 0 || line[length] != ' ' ||
                        !g_ascii_isdigit(line[length + 1]))
                        continue;
                *ret = g_ascii_strtoull(line + length + 1, NULL, 10);
                return true;
        }
        return false;
}

static char *format_address(uint64_t domain, uint64_t location, unsigned function)
{
        return g_strdup_printf("%04x:%02x:%02x.%x", (unsigned) domain, (unsigned) (location >> 8 & 0xff),
                (unsigned) (location >> 3 & 0x1f), function);
}

/* KFD distinguishes partitions by a function number that does not exist on PCI. */
static char *card_at(int root, uint64_t domain, uint64_t location)
{
        char *address = format_address(domain, location, location & 7);
        g_autofree char *path = g_strdup_printf("sys/bus/pci/devices/%s", address);

        if (ald_sysroot_exists(root, path))
                return address;
        g_free(address);
        return format_address(domain, location, 0);
}

static void read_node(AldGpuKfd *kfd, const char *node)
{
        g_autofree char *id_path = g_strdup_printf(NODES "/%s/gpu_id", node);
        g_autofree char *properties_path = g_strdup_printf(NODES "/%s/properties", node), *properties = NULL;
        uint64_t id, domain = 0, location;

        /* A processor is a node, too, and has the number 0. */
        if (ald_sysroot_read_uint64(kfd->root, id_path, &id) < 0 || id == 0 || id > UINT32_MAX ||
                ald_sysroot_read(kfd->root, properties_path, &properties) < 0 ||
                !find_property(properties, "location_id", &location) || location > UINT16_MAX)
                return;
        (void) find_property(properties, "domain", &domain);
        if (domain <= UINT32_MAX)
                g_hash_table_insert(
                        kfd->cards, GUINT_TO_POINTER((guint) id), card_at(kfd->root, domain, location));
}

static void read_topology(AldGpuKfd *kfd)
{
        g_auto(GStrv) nodes = NULL;
        uint64_t generation = 0;

        (void) ald_sysroot_read_uint64(kfd->root, KFD "/topology/generation_id", &generation);
        if (kfd->known && generation == kfd->generation)
                return;
        g_hash_table_remove_all(kfd->cards);
        kfd->generation = generation;
        kfd->known = ald_sysroot_list(kfd->root, NODES, &nodes) >= 0;
        for (unsigned i = 0; kfd->known && nodes[i] && i < NODES_MAX; i++)
                read_node(kfd, nodes[i]);
}

static void read_queues(AldGpuKfd *kfd, const char *folder, guint process)
{
        g_autofree char *path = g_strdup_printf("%s/queues", folder);
        g_auto(GStrv) queues = NULL;

        if (ald_sysroot_list(kfd->root, path, &queues) < 0)
                return;
        for (char **queue = queues; *queue && kfd->queues_left > 0; queue++, kfd->queues_left--) {
                g_autofree char *id_path = g_strdup_printf("%s/%s/gpuid", path, *queue);
                const char *card;
                uint64_t id;

                if (ald_sysroot_read_uint64(kfd->root, id_path, &id) < 0 || id > UINT32_MAX)
                        continue;
                card = g_hash_table_lookup(kfd->cards, GUINT_TO_POINTER((guint) id));
                if (card)
                        g_hash_table_add(
                                g_hash_table_lookup(kfd->processes, card), GUINT_TO_POINTER(process));
        }
}

/* Newer kernels give a process several contexts, all but the first in folders of their own. */
static void read_process(AldGpuKfd *kfd, const char *process)
{
        g_autofree char *folder = g_strdup_printf(PROCESSES "/%s", process);
        guint number = (guint) g_ascii_strtoull(process, NULL, 10);
        g_auto(GStrv) names = NULL;

        read_queues(kfd, folder, number);
        if (ald_sysroot_list(kfd->root, folder, &names) < 0)
                return;
        for (char **name = names; *name; name++) {
                g_autofree char *context = g_strdup_printf("%s/%s", folder, *name);

                if (g_str_has_prefix(*name, "context_"))
                        read_queues(kfd, context, number);
        }
}

static void set_none(AldGpuKfd *kfd)
{
        GHashTableIter iter;
        gpointer card;

        g_hash_table_iter_init(&iter, kfd->cards);
        while (g_hash_table_iter_next(&iter, NULL, &card))
                g_hash_table_insert(kfd->processes, g_strdup(card), g_hash_table_new(NULL, NULL));
}

void ald_gpu_kfd_sample(AldGpuKfd *kfd)
{
        g_auto(GStrv) processes = NULL;

        g_hash_table_remove_all(kfd->processes);
        if (ald_sysroot_list(kfd->root, PROCESSES, &processes) < 0)
                return;
        read_topology(kfd);
        set_none(kfd);
        kfd->queues_left = QUEUES_MAX;
        for (char **process = processes; *process && kfd->queues_left > 0; process++)
                read_process(kfd, *process);
        if (kfd->queues_left == 0)
                g_hash_table_remove_all(kfd->processes);
}

GHashTable *ald_gpu_kfd_of(const AldGpuKfd *kfd, const char *address)
{
        return g_hash_table_lookup(kfd->processes, address);
}
