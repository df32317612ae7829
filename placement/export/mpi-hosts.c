/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>

#include "placement/export/export-header.h"
#include "placement/export/plan-formats.h"
#include "placement/export/ring-nodes.h"
#include "placement/plan/export-words.h"

#define PROGRAM "<PATH/TO/PROGRAM>"

/* Returns whether another node of the plan claims the same host name, ignoring case as DNS does. */
static bool is_contested(const GArray *nodes, const AldRingNode *node)
{
        for (guint i = 0; i < nodes->len; i++) {
                const AldRingNode *other = &g_array_index(nodes, AldRingNode, i);

                if (other != node && other->stage->host_name &&
                        g_ascii_strcasecmp(other->stage->host_name, node->stage->host_name) == 0)
                        return true;
        }
        return false;
}

/* Sets the host name, by which other hosts know the node anyway, or else its address: if another node claims
 * that name, or if it has characters that a host file cannot hold. */
static int name_host(const GArray *nodes, const AldRingNode *node, const char **ret, char **ret_reason)
{
        const char *host = node->stage->host_name;

        if (host && is_contested(nodes, node)) {
                if (!ald_export_is_ipv4(node->address))
                        return ald_export_fail(-EINVAL, ret_reason,
                                "Two nodes have the host name %s, and no IPv4 address of %s is known", host,
                                ald_export_stage_name(node->stage));
                host = NULL;
        }
        if (host && !ald_export_is_host_name(host) && ald_export_is_ipv4(node->address))
                host = NULL;
        /* mpirun runs on this node, and needs no name for it. */
        if (nodes->len == 1 && !ald_export_is_host_name(host)) {
                *ret = "localhost";
                return 0;
        }
        if (host && !ald_export_is_host_name(host))
                return ald_export_fail(-EINVAL, ret_reason,
                        "The host name \"%s\" has characters that a host file cannot hold", host);
        if (!host && !ald_export_is_ipv4(node->address))
                return ald_export_fail(-EINVAL, ret_reason,
                        "Neither a host name nor an IPv4 address of %s is known",
                        ald_export_stage_name(node->stage));
        *ret = host ?: node->address;
        return 0;
}

static int append_hosts(GString *out, const GArray *nodes, char **ret_reason)
{
        g_autoptr(GHashTable) seen = g_hash_table_new(g_str_hash, g_str_equal);
        int r = 0;

        for (guint i = 0; i < nodes->len && r >= 0; i++) {
                const AldRingNode *node = &g_array_index(nodes, AldRingNode, i);
                const char *host = NULL;

                r = name_host(nodes, node, &host, ret_reason);
                /* Open MPI adds up the slots of lines with the same name, at the first of them. */
                if (r >= 0 && !g_hash_table_add(seen, (gpointer) host))
                        r = ald_export_fail(-EINVAL, ret_reason, "Two nodes have the host name %s", host);
                for (guint k = 0; k < node->n_stages && r >= 0; k++)
                        g_string_append_printf(out, "%s\n", host);
        }
        return r;
}

/* Appends the variables of each node as comments. mpirun sets the same ones on all nodes, but interfaces
 * differ. */
static int append_variables(GString *out, const AldExportPlan *plan, const GArray *nodes, char **ret_reason)
{
        int r = 0;

        g_string_append(out, "# Variables of each node, where its programs use NCCL:\n");
        for (guint i = 0; i < nodes->len && r >= 0; i++) {
                const AldRingNode *node = &g_array_index(nodes, AldRingNode, i);
                g_autoptr(GString) variables = g_string_new(NULL);

                r = ald_ring_append_variables(variables, plan, node, ret_reason);
                g_string_append(out, "#   ");
                ald_export_append_safe(out, ald_export_stage_name(node->stage));
                g_string_append_printf(out, ": %s\n", g_strchomp(variables->str));
        }
        return r;
}

static int write_mpi(const AldExportPlan *plan, GString *out, char **ret_reason)
{
        g_autoptr(GArray) nodes = NULL;
        int r = ald_ring_nodes(plan, &nodes, ret_reason);

        if (r < 0)
                return r;
        ald_export_append_header(out, plan, "Open MPI", "#");
        g_string_append_printf(out,
                "#\n# Ranks follow the ring, a line each; other mappings than seq begin with the host of "
                "mpirun:\n"
                "#   mpirun --hostfile THIS-FILE -np %u --map-by seq ",
                plan->n_stages);
        ald_export_append_word(out, plan->options->program ?: PROGRAM);
        g_string_append_c(out, '\n');
        r = append_variables(out, plan, nodes, ret_reason);
        return r < 0 ? r : append_hosts(out, nodes, ret_reason);
}

const AldExportFormat ald_mpi_format = {
        .name = "mpi",
        .summary = "A host file for mpirun, in the order of the ring",
        .write = write_mpi,
        .is_run = true,
        .takes = ALD_EXPORT_PROGRAM,
};
