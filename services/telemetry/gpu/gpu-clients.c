/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "services/telemetry/gpu/gpu-clients.h"

#include <errno.h>
#include <string.h>

#include "services/common/sysroot.h"
#include "services/telemetry/gpu/gpu-names.h"

/* The initial PID namespace, which shows all processes of the machine. */
#define FIRST_PID_NAMESPACE "pid:[4026531836]"

struct AldGpuClients {
        int root;
        int64_t next_usec;
        GHashTable *processes; /* PCI address → set of process numbers */
        GHashTable *
                unsure; /* PCI addresses of devices whose driver does not report the use of compute engines */
        bool all;       /* every process of the machine could be read */
};

AldGpuClients *ald_gpu_clients_new(int root)
{
        AldGpuClients *clients = g_new0(AldGpuClients, 1);

        clients->root = root;
        clients->processes = g_hash_table_new_full(
                g_str_hash, g_str_equal, g_free, (GDestroyNotify) g_hash_table_unref);
        clients->unsure = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
        return clients;
}

void ald_gpu_clients_free(AldGpuClients *clients)
{
        if (!clients)
                return;
        g_hash_table_unref(clients->processes);
        g_hash_table_unref(clients->unsure);
        g_free(clients);
}

bool ald_gpu_clients_know_driver(const char *driver)
{
        static const char *const drivers[] = { "amdgpu", "amdxdna", "i915", "intel_vpu", "xe", NULL };

        return driver && g_strv_contains(drivers, driver);
}

/* Returns whether a key is the time of a compute engine: of i915 and amdgpu ("drm-engine-compute"), of xe
 * ("drm-cycles-ccs"), or of the NPUs. */
static bool is_compute_engine(const char *key, size_t length)
{
        static const char *const keys[] = { "drm-engine-compute", "drm-engine-ccs", "drm-cycles-ccs" };

        for (size_t i = 0; i < G_N_ELEMENTS(keys); i++)
                if (length == strlen(keys[i]) && strncmp(key, keys[i], length) == 0)
                        return true;
        return g_str_has_prefix(key, "drm-engine-npu");
}

bool ald_gpu_parse_client(const char *text, AldGpuClient *ret)
{
        AldGpuClient client = { 0 };
        bool is_amd = false;

        for (const char *line = text; *line; line += strcspn(line, "\n"), line += *line == '\n') {
                size_t length = strcspn(line, ":\n"), size;
                const char *value = line + length;

                if (*value != ':')
                        continue;
                value++;
                value += strspn(value, " \t");
                size = strcspn(value, " \t\n");
                if (length == strlen("drm-driver") && g_str_has_prefix(line, "drm-driver"))
                        is_amd = size == strlen("amdgpu") && g_str_has_prefix(value, "amdgpu");
                else if (length == strlen("drm-pdev") && g_str_has_prefix(line, "drm-pdev") &&
                         size < sizeof client.address)
                        g_strlcpy(client.address, value, size + 1);
                else if (is_compute_engine(line, length) && g_ascii_isdigit(*value)) {
                        client.has_compute = true;
                        client.computed |= g_ascii_strtoull(value, NULL, 10) > 0;
                }
        }
        if (!ald_gpu_is_pci_address(client.address))
                return false;
        /* The driver omits engines that have not been used. */
        client.has_compute |= is_amd;
        *ret = client;
        return true;
}

static void add_client(AldGpuClients *clients, const AldGpuClient *client, guint process)
{
        GHashTable *set = g_hash_table_lookup(clients->processes, client->address);

        if (!client->has_compute)
                g_hash_table_add(clients->unsure, g_strdup(client->address));
        if (!client->computed)
                return;
        if (!set) {
                set = g_hash_table_new(NULL, NULL);
                g_hash_table_insert(clients->processes, g_strdup(client->address), set);
        }
        g_hash_table_add(set, GUINT_TO_POINTER(process));
}

static bool is_device_node(const char *name)
{
        return g_str_has_prefix(name, "renderD") || g_str_has_prefix(name, "card") ||
               g_str_has_prefix(name, "accel");
}

static void read_descriptor(AldGpuClients *clients, const char *process, const char *number)
{
        g_autofree char *link = g_strdup_printf("proc/%s/fd/%s", process, number), *target = NULL;
        g_autofree char *path = g_strdup_printf("proc/%s/fdinfo/%s", process, number), *text = NULL;
        AldGpuClient client;

        if (ald_sysroot_link_name(clients->root, link, &target) < 0 || !is_device_node(target) ||
                ald_sysroot_read(clients->root, path, &text) < 0)
                return;
        if (ald_gpu_parse_client(text, &client))
                add_client(clients, &client, (guint) g_ascii_strtoull(process, NULL, 10));
}

/* Reads the descriptors of a process. Returns whether all of them are known; a process that has ended
 * meanwhile has none. */
static bool read_process(AldGpuClients *clients, const char *process)
{
        g_autofree char *folder = g_strdup_printf("proc/%s/fd", process);
        g_auto(GStrv) numbers = NULL;
        int r = ald_sysroot_list(clients->root, folder, &numbers);

        if (r < 0)
                return r == -ENOENT || r == -ESRCH;
        for (char **number = numbers; *number; number++)
                read_descriptor(clients, process, *number);
        return true;
}

/* Returns whether the processes of the whole machine are visible, rather than those of a container or of one
 * user. */
static bool shows_whole_machine(int root, const char *const *processes)
{
        g_autofree char *namespace = NULL;

        return g_strv_contains(processes, "1") &&
               ald_sysroot_link_name(root, "proc/self/ns/pid", &namespace) >= 0 &&
               g_str_equal(namespace, FIRST_PID_NAMESPACE);
}

void ald_gpu_clients_forget(AldGpuClients *clients)
{
        g_hash_table_remove_all(clients->processes);
        g_hash_table_remove_all(clients->unsure);
        clients->all = false;
        clients->next_usec = 0;
}

void ald_gpu_clients_sample(AldGpuClients *clients, int64_t now_usec)
{
        g_auto(GStrv) names = NULL;

        if (now_usec < clients->next_usec)
                return;
        ald_gpu_clients_forget(clients);
        clients->next_usec = now_usec + ALD_GPU_CLIENTS_EVERY_USEC;
        if (ald_sysroot_list(clients->root, "proc", &names) < 0)
                return;
        clients->all = shows_whole_machine(clients->root, (const char *const *) names);
        for (char **name = names; *name; name++)
                if (g_ascii_isdigit(**name) && !read_process(clients, *name))
                        clients->all = false;
}

GHashTable *ald_gpu_clients_of(const AldGpuClients *clients, const char *address)
{
        return g_hash_table_lookup(clients->processes, address);
}

bool ald_gpu_clients_are_complete(const AldGpuClients *clients, const char *address)
{
        return clients->all && !g_hash_table_contains(clients->unsure, address);
}
