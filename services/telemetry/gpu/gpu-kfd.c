/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "services/telemetry/gpu/gpu-kfd.h"

#include <string.h>

#include "record/field.h"
#include "services/common/sysroot.h"

#define KFD "sys/class/kfd/kfd"
#define NODES KFD "/topology/nodes"
#define PROCESSES KFD "/proc"

/* The limits of one scan. With more queues and figures of processes, the processes are unknown. */
#define NODES_MAX 1024u
#define FILES_MAX 16384u
#define LINKS_MAX 1024u

#define LINK_XGMI 11u
#define BANDWIDTH_MAX UINT64_C(100000000) /* MB/s */
#define BITS_PER_MEGABYTE UINT64_C(8000000)

struct AldGpuKfd {
        int root;
        uint64_t generation; /* of the topology, as last read */
        bool known;
        GHashTable *cards; /* GPU number of KFD, also that of a partition → PCI address of the card */
        GHashTable *nodes; /* number of a node → PCI address of its card, or "" for a processor */
        GHashTable *architectures; /* PCI address of a card → name */
        GArray *links;             /* of AldGpuKfdLink */
        GArray *holders;           /* of AldGpuKfdHolder */
        bool holders_known;
        unsigned files_left;
};

static void clear_link(gpointer data)
{
        AldGpuKfdLink *link = data;

        g_free(link->card);
        g_free(link->peer);
}

AldGpuKfd *ald_gpu_kfd_new(int root)
{
        AldGpuKfd *kfd = g_new0(AldGpuKfd, 1);

        kfd->root = root;
        kfd->cards = g_hash_table_new_full(NULL, NULL, NULL, g_free);
        kfd->nodes = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
        kfd->architectures = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
        kfd->links = g_array_new(FALSE, FALSE, sizeof(AldGpuKfdLink));
        g_array_set_clear_func(kfd->links, clear_link);
        kfd->holders = g_array_new(FALSE, FALSE, sizeof(AldGpuKfdHolder));
        return kfd;
}

void ald_gpu_kfd_free(AldGpuKfd *kfd)
{
        if (!kfd)
                return;
        g_hash_table_unref(kfd->cards);
        g_hash_table_unref(kfd->nodes);
        g_hash_table_unref(kfd->architectures);
        g_array_unref(kfd->links);
        g_array_unref(kfd->holders);
        g_free(kfd);
}

/* Finds the value after a name, in lines of "name value". */
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

/* Returns the PCI address of the card at a location. KFD distinguishes partitions by a function number that
 * does not exist on PCI. */
static char *card_at(int root, uint64_t domain, uint64_t location)
{
        char *address = format_address(domain, location, location & 7);
        g_autofree char *path = g_strdup_printf("sys/bus/pci/devices/%s", address);

        if (ald_sysroot_exists(root, path))
                return address;
        g_free(address);
        return format_address(domain, location, 0);
}

/* Returns the name of an architecture, or NULL. KFD writes gfx90a, version 9.0.10, as 90010. */
static char *format_architecture(uint64_t version)
{
        if (version < 10000 || version > 999999)
                return NULL;
        return g_strdup_printf("gfx%u%x%x", (unsigned) (version / 10000), (unsigned) (version / 100 % 100),
                (unsigned) (version % 100));
}

static void read_card(AldGpuKfd *kfd, const char *node, guint gpu, const char *properties)
{
        uint64_t domain = 0, location, version = 0;
        g_autofree char *card = NULL;
        char *architecture;

        (void) find_property(properties, "domain", &domain);
        if (!find_property(properties, "location_id", &location) || location > UINT16_MAX ||
                domain > UINT32_MAX)
                return;
        card = card_at(kfd->root, domain, location);
        g_hash_table_insert(kfd->cards, GUINT_TO_POINTER(gpu), g_strdup(card));
        g_hash_table_insert(kfd->nodes, g_strdup(node), g_strdup(card));
        (void) find_property(properties, "gfx_target_version", &version);
        architecture = format_architecture(version);
        if (architecture)
                g_hash_table_insert(kfd->architectures, g_steal_pointer(&card), architecture);
}

static void read_node(AldGpuKfd *kfd, const char *node)
{
        g_autofree char *id_path = g_strdup_printf(NODES "/%s/gpu_id", node);
        g_autofree char *properties_path = g_strdup_printf(NODES "/%s/properties", node), *properties = NULL;
        uint64_t id;

        if (ald_sysroot_read_uint64(kfd->root, id_path, &id) < 0 || id > UINT32_MAX)
                return;
        /* A processor is a node, too, and has the number 0. */
        if (id == 0)
                g_hash_table_insert(kfd->nodes, g_strdup(node), g_strdup(""));
        else if (ald_sysroot_read(kfd->root, properties_path, &properties) >= 0)
                read_card(kfd, node, (guint) id, properties);
}

static AldGpuKfdLink *find_link(const AldGpuKfd *kfd, const char *card, const char *peer)
{
        for (guint i = 0; i < kfd->links->len; i++) {
                AldGpuKfdLink *link = &g_array_index(kfd->links, AldGpuKfdLink, i);

                if (g_str_equal(link->card, card) && g_strcmp0(link->peer, peer) == 0)
                        return link;
        }
        return NULL;
}

/* Adds a link unless it is known: both ends show the same link, and each partition shows the link of its
 * card. */
static void add_link(AldGpuKfd *kfd, const char *a, const char *b, uint64_t bits_per_second)
{
        bool is_host = *b == '\0', in_order = is_host || strcmp(a, b) < 0;
        const char *card = in_order ? a : b, *peer = is_host ? NULL : in_order ? b : a;
        AldGpuKfdLink *link = find_link(kfd, card, peer);

        if (!link && kfd->links->len < LINKS_MAX) {
                g_array_append_val(
                        kfd->links, ((AldGpuKfdLink){ g_strdup(card), g_strdup(peer), bits_per_second }));
        } else if (link && bits_per_second != ALD_ABSENT_UINT64) {
                link->bits_per_second = link->bits_per_second == ALD_ABSENT_UINT64
                                                ? bits_per_second
                                                : MAX(link->bits_per_second, bits_per_second);
        }
}

static void read_link(AldGpuKfd *kfd, const char *card, const char *folder)
{
        g_autofree char *path = g_strdup_printf("%s/properties", folder), *properties = NULL, *node = NULL;
        uint64_t type, to, bandwidth = 0;
        const char *peer;

        if (ald_sysroot_read(kfd->root, path, &properties) < 0 || !find_property(properties, "type", &type) ||
                type != LINK_XGMI || !find_property(properties, "node_to", &to))
                return;
        node = g_strdup_printf("%" G_GUINT64_FORMAT, to);
        peer = g_hash_table_lookup(kfd->nodes, node);
        if (!peer || g_str_equal(peer, card))
                return;
        (void) find_property(properties, "max_bandwidth", &bandwidth);
        add_link(kfd, card, peer,
                bandwidth > 0 && bandwidth <= BANDWIDTH_MAX ? bandwidth * BITS_PER_MEGABYTE
                                                            : ALD_ABSENT_UINT64);
}

static void read_links(AldGpuKfd *kfd, const char *node, const char *card, const char *kind)
{
        g_autofree char *folder = g_strdup_printf(NODES "/%s/%s", node, kind);
        g_auto(GStrv) names = NULL;

        if (ald_sysroot_list(kfd->root, folder, &names) < 0)
                return;
        for (unsigned i = 0; names[i] && i < NODES_MAX; i++) {
                g_autofree char *link = g_strdup_printf("%s/%s", folder, names[i]);

                read_link(kfd, card, link);
        }
}

/* Reads the links of one partition of each card, since all of them show the links of the card. */
static void read_all_links(AldGpuKfd *kfd, char *const *nodes)
{
        g_autoptr(GHashTable) done = g_hash_table_new(g_str_hash, g_str_equal);

        for (unsigned i = 0; nodes[i] && i < NODES_MAX; i++) {
                char *card = g_hash_table_lookup(kfd->nodes, nodes[i]);

                if (!card || *card == '\0' || !g_hash_table_add(done, card))
                        continue;
                read_links(kfd, nodes[i], card, "io_links");
                read_links(kfd, nodes[i], card, "p2p_links");
        }
}

bool ald_gpu_kfd_look(AldGpuKfd *kfd)
{
        g_auto(GStrv) nodes = NULL;
        uint64_t generation = 0;
        bool had_any = g_hash_table_size(kfd->nodes) > 0;

        (void) ald_sysroot_read_uint64(kfd->root, KFD "/topology/generation_id", &generation);
        if (kfd->known && generation == kfd->generation)
                return false;
        g_array_set_size(kfd->holders, 0);
        kfd->holders_known = false;
        g_hash_table_remove_all(kfd->cards);
        g_hash_table_remove_all(kfd->nodes);
        g_hash_table_remove_all(kfd->architectures);
        g_array_set_size(kfd->links, 0);
        kfd->generation = generation;
        kfd->known = ald_sysroot_list(kfd->root, NODES, &nodes) >= 0;
        if (!kfd->known)
                return had_any;
        for (unsigned i = 0; nodes[i] && i < NODES_MAX; i++)
                read_node(kfd, nodes[i]);
        read_all_links(kfd, nodes);
        return true;
}

const char *ald_gpu_kfd_architecture(const AldGpuKfd *kfd, const char *address)
{
        return g_hash_table_lookup(kfd->architectures, address);
}

const GArray *ald_gpu_kfd_links(const AldGpuKfd *kfd)
{
        return kfd->links;
}

/* Returns the holder of the card with a number of KFD, which is new unless it is one of those from `first`
 * on, all of this process; NULL if there is no such card. */
static AldGpuKfdHolder *holder_of(AldGpuKfd *kfd, guint first, guint process, uint64_t gpu)
{
        const char *card = gpu <= UINT32_MAX ? g_hash_table_lookup(kfd->cards, GUINT_TO_POINTER((guint) gpu))
                                             : NULL;

        if (!card)
                return NULL;
        for (guint i = first; i < kfd->holders->len; i++) {
                AldGpuKfdHolder *holder = &g_array_index(kfd->holders, AldGpuKfdHolder, i);

                if (g_str_equal(holder->card, card))
                        return holder;
        }
        g_array_append_val(kfd->holders, ((AldGpuKfdHolder){ card, process, false, ALD_ABSENT_UINT64 }));
        return &g_array_index(kfd->holders, AldGpuKfdHolder, kfd->holders->len - 1);
}

static void read_queues(AldGpuKfd *kfd, const char *folder, guint first, guint process)
{
        g_autofree char *path = g_strdup_printf("%s/queues", folder);
        g_auto(GStrv) queues = NULL;

        if (ald_sysroot_list(kfd->root, path, &queues) < 0)
                return;
        for (char **queue = queues; *queue && kfd->files_left > 0; queue++, kfd->files_left--) {
                g_autofree char *id_path = g_strdup_printf("%s/%s/gpuid", path, *queue);
                AldGpuKfdHolder *holder;
                uint64_t id;

                if (ald_sysroot_read_uint64(kfd->root, id_path, &id) < 0)
                        continue;
                holder = holder_of(kfd, first, process, id);
                if (holder)
                        holder->has_queues = true;
        }
}

/* Adds the memory of one GPU or partition, from the file vram_NUMBER. */
static void read_memory(AldGpuKfd *kfd, const char *folder, const char *name, guint first, guint process)
{
        g_autofree char *path = g_strdup_printf("%s/%s", folder, name);
        AldGpuKfdHolder *holder;
        uint64_t bytes;

        if (kfd->files_left == 0)
                return;
        kfd->files_left--;
        if (ald_sysroot_read_uint64(kfd->root, path, &bytes) < 0 || bytes > ALD_INTEGER_MAX)
                return;
        holder = holder_of(kfd, first, process, g_ascii_strtoull(name + strlen("vram_"), NULL, 10));
        if (holder)
                holder->memory_bytes = bytes +
                                       (holder->memory_bytes == ALD_ABSENT_UINT64 ? 0 : holder->memory_bytes);
}

/* Reads one context of a process. Newer kernels give it several, all but the first in folders of their
 * own. */
static void read_context(AldGpuKfd *kfd, const char *folder, guint first, guint process)
{
        g_auto(GStrv) names = NULL;

        read_queues(kfd, folder, first, process);
        if (ald_sysroot_list(kfd->root, folder, &names) < 0)
                return;
        for (char **name = names; *name; name++) {
                g_autofree char *path = g_strdup_printf("%s/%s", folder, *name);

                if (g_str_has_prefix(*name, "vram_"))
                        read_memory(kfd, folder, *name, first, process);
                else if (g_str_has_prefix(*name, "context_") && !strstr(folder, "/context_"))
                        read_context(kfd, path, first, process);
        }
}

/* Reads a process, which has a figure of each GPU, also of those that it does not use. */
static void read_process(AldGpuKfd *kfd, const char *name)
{
        g_autofree char *folder = g_strdup_printf(PROCESSES "/%s", name);
        guint process = (guint) g_ascii_strtoull(name, NULL, 10), first = kfd->holders->len;

        read_context(kfd, folder, first, process);
        for (guint i = kfd->holders->len; i-- > first;) {
                const AldGpuKfdHolder *holder = &g_array_index(kfd->holders, AldGpuKfdHolder, i);

                if (!holder->has_queues && holder->memory_bytes == 0)
                        g_array_remove_index(kfd->holders, i);
        }
}

bool ald_gpu_kfd_sample(AldGpuKfd *kfd)
{
        g_auto(GStrv) processes = NULL;
        bool topology_changed;

        g_array_set_size(kfd->holders, 0);
        kfd->holders_known = false;
        if (ald_sysroot_list(kfd->root, PROCESSES, &processes) < 0)
                return false;
        topology_changed = ald_gpu_kfd_look(kfd);
        kfd->files_left = FILES_MAX;
        for (char **process = processes; *process && kfd->files_left > 0; process++)
                read_process(kfd, *process);
        kfd->holders_known = kfd->files_left > 0;
        if (!kfd->holders_known)
                g_array_set_size(kfd->holders, 0);
        return topology_changed;
}

const GArray *ald_gpu_kfd_holders(const AldGpuKfd *kfd)
{
        return kfd->holders;
}

bool ald_gpu_kfd_drives(const AldGpuKfd *kfd, const char *address)
{
        GHashTableIter iter;
        gpointer card;

        if (!kfd->holders_known)
                return false;
        g_hash_table_iter_init(&iter, kfd->cards);
        while (g_hash_table_iter_next(&iter, NULL, &card))
                if (g_str_equal(card, address))
                        return true;
        return false;
}
