/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "state/alerts/alert-paths.h"
#include "state/link/link-quality.h"
#include "state/link/path-end.h"
#include "state/topology/rdma-problem.h"

AldAlertPaths *ald_alert_paths_new(void)
{
        AldAlertPaths *paths = g_new0(AldAlertPaths, 1);

        paths->nodes = g_array_new(FALSE, FALSE, sizeof(AldAlertNode));
        paths->indices = g_hash_table_new_full(ald_id_table_hash, ald_id_table_equal, g_free, NULL);
        paths->links = g_ptr_array_new_with_free_func(g_free);
        paths->by_ends = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
        paths->causes = g_ptr_array_new_with_free_func(g_free);
        paths->offline = g_hash_table_new(NULL, NULL);
        paths->strings = g_string_chunk_new(4096);
        return paths;
}

void ald_alert_paths_free(AldAlertPaths *paths)
{
        g_array_unref(paths->nodes);
        g_hash_table_unref(paths->indices);
        g_ptr_array_unref(paths->links);
        g_hash_table_unref(paths->by_ends);
        g_ptr_array_unref(paths->causes);
        g_hash_table_unref(paths->offline);
        g_string_chunk_free(paths->strings);
        g_free(paths);
}

void ald_alert_paths_add_node(AldAlertPaths *paths, const AldAlertNode *node)
{
        AldAlertNode copy = *node;

        copy.name = g_string_chunk_insert_const(paths->strings, node->name);
        g_array_append_val(paths->nodes, copy);
        g_hash_table_insert(
                paths->indices, g_memdup2(&node->id, sizeof node->id), GUINT_TO_POINTER(paths->nodes->len));
}

static const AldAlertNode *node_at(const AldAlertPaths *paths, unsigned index)
{
        return &g_array_index(paths->nodes, AldAlertNode, index);
}

static bool find_node(const AldAlertPaths *paths, const AldId *id, unsigned *ret)
{
        unsigned n = GPOINTER_TO_UINT(g_hash_table_lookup(paths->indices, id));

        if (n == 0)
                return false;
        *ret = n - 1;
        return true;
}

/* Returns the switch above an interface. Without a system name, its chassis id serves as its name. If an
 * interface hears several neighbours, it is unknown which it is plugged into. */
static AldAlertSwitch switch_above(const AldNetwork *network, const char *interface)
{
        AldAlertSwitch found = { NULL, NULL };

        for (size_t i = 0; network && interface && i < network->neighbours.n; i++) {
                const AldNeighbour *row = ald_rows_at(&network->neighbours, i);

                if (g_strcmp0(row->interface, interface) != 0 || !row->chassis_id)
                        continue;
                if (found.id && strcmp(found.id, row->chassis_id) != 0)
                        return (AldAlertSwitch){ NULL, NULL };
                found = (AldAlertSwitch){ row->chassis_id, row->system_name ?: row->chassis_id };
        }
        return found;
}

static int compare_switches(gconstpointer a, gconstpointer b)
{
        return strcmp(((const AldAlertSwitch *) a)->id, ((const AldAlertSwitch *) b)->id);
}

GArray *ald_alert_paths_switches(const AldAlertNode *node)
{
        GArray *switches = g_array_new(FALSE, FALSE, sizeof(AldAlertSwitch));

        for (size_t i = 0; node->network && i < node->network->interfaces.n; i++) {
                const AldInterface *interface = ald_rows_at(&node->network->interfaces, i);
                AldAlertSwitch above = switch_above(node->network, interface->id);

                if (above.id)
                        g_array_append_val(switches, above);
        }
        g_array_sort(switches, compare_switches);
        for (guint i = 1; i < switches->len;)
                if (compare_switches(&g_array_index(switches, AldAlertSwitch, i - 1),
                            &g_array_index(switches, AldAlertSwitch, i)) == 0)
                        g_array_remove_index(switches, i);
                else
                        i++;
        return switches;
}

/* Returns the port that carries an interface, or the one with the address. */
static const char *carrier_of(const AldNetwork *network, const char *interface, const char *address)
{
        AldPathEnd end = ald_path_end_find(network, NULL, interface, address);

        return end.port ? end.port->id : interface;
}

static const char *port_of(const AldAlertNode *node, const AldLink *link, bool is_sink)
{
        const char *name = is_sink ? link->to : link->from;
        const AldRdmaPort *port = NULL;

        if (!name)
                return NULL;
        if (!link->rdma)
                return carrier_of(node->network, is_sink ? NULL : name, is_sink ? name : NULL);
        port = node->fabric ? ald_rows_find(&node->fabric->rdma_ports, name) : NULL;
        return port && port->interface ? carrier_of(node->network, port->interface, NULL) : name;
}

/* Finds the ends of a link, in an order that does not depend on its direction. Returns false if a node is
 * unknown. */
static bool find_ends(const AldAlertPaths *paths, const AldLink *link, AldAlertEnd ends[2])
{
        const AldId *ids[2] = { &link->source, &link->sink };

        for (unsigned i = 0; i < 2; i++) {
                const AldAlertNode *node;

                if (!find_node(paths, ids[i], &ends[i].node))
                        return false;
                node = node_at(paths, ends[i].node);
                ends[i].port = port_of(node, link, i == 1);
                ends[i].above = switch_above(node->network, ends[i].port);
        }
        if (ends[0].node > ends[1].node) {
                AldAlertEnd swapped = ends[0];

                ends[0] = ends[1];
                ends[1] = swapped;
        }
        return true;
}

static char *text_of(const AldAlertEnd ends[2], bool rdma)
{
        return g_strdup_printf(
                "%d %u %s %u %s", rdma, ends[0].node, ends[0].port ?: "", ends[1].node, ends[1].port ?: "");
}

static bool is_slow(AldLink link, const AldAlertNode *sink)
{
        if (ald_link_has_flag(link.flags, ALD_LINK_DISTURBED) || !ald_link_falls_short(&link))
                return false;
        ald_link_add_sink(&link, sink->network, sink->fabric);
        return ald_link_falls_short(&link);
}

void ald_alert_paths_add_link(AldAlertPaths *paths, const AldLink *link)
{
        g_autofree char *text = NULL;
        AldAlertEnd ends[2];
        AldAlertLink *found;
        unsigned source, sink;

        /* A sink that was never reached may be out of reach by design. */
        if (link->measured_usec == ALD_ABSENT_UINT64 || !find_ends(paths, link, ends) ||
                !find_node(paths, &link->source, &source) || !find_node(paths, &link->sink, &sink) ||
                !node_at(paths, ends[0].node)->counts || !node_at(paths, ends[1].node)->counts)
                return;
        text = text_of(ends, link->rdma);
        found = g_hash_table_lookup(paths->by_ends, text);
        if (!found) {
                found = g_new(AldAlertLink, 1);
                *found = (AldAlertLink){ .ends = { ends[0], ends[1] } };
                g_ptr_array_add(paths->links, found);
                g_hash_table_insert(paths->by_ends, g_steal_pointer(&text), found);
        }
        /* A port that cannot be used has a finding of its own. */
        if (ald_link_has_failed(link) ? !link->rdma || !ald_rdma_failure_is_own(link->failure)
                                      : is_slow(*link, node_at(paths, sink)))
                found->troubled = found->troubled_by[source == found->ends[1].node] = true;
        else if (!ald_link_has_failed(link))
                found->healthy = true;
}

static bool is_about_link(const AldFindingRow *row, AldLink *ret)
{
        *ret = (AldLink){ .rdma = row->port != NULL,
                .from = row->port ?: row->interface,
                .to = row->port ? row->sink_port : row->address };
        return (g_str_has_prefix(row->id, "link-") ||
                       ald_finding_row_id_from_string(row->id) == ALD_FINDING_ROW_ID_SLOWER_THAN_PAST) &&
               row->nodes && row->nodes[0] && row->nodes[1] &&
               ald_id_parse(row->nodes[0], &ret->source) >= 0 && ald_id_parse(row->nodes[1], &ret->sink) >= 0;
}

const char *ald_alert_paths_port(const AldAlertPaths *paths, const AldFindingRow *row, unsigned end)
{
        unsigned index;
        AldLink link;

        return is_about_link(row, &link) && find_node(paths, end == 0 ? &link.source : &link.sink, &index)
                       ? port_of(node_at(paths, index), &link, end == 1)
                       : NULL;
}

const AldFindingRow *ald_alert_paths_cause(AldAlertPaths *paths, const AldFindingRow *row)
{
        AldAlertEnd ends[2];
        AldLink link;
        AldId node;
        unsigned index;

        if (is_about_link(row, &link)) {
                g_autofree char *text = find_ends(paths, &link, ends) ? text_of(ends, link.rdma) : NULL;
                const AldAlertLink *found = text ? g_hash_table_lookup(paths->by_ends, text) : NULL;

                return found ? found->cause : NULL;
        }
        if (ald_finding_row_id_from_string(row->id) != ALD_FINDING_ROW_ID_NODE_OFFLINE || !row->nodes ||
                ald_id_parse(row->nodes[0], &node) < 0 || !find_node(paths, &node, &index))
                return NULL;
        return g_hash_table_lookup(paths->offline, GUINT_TO_POINTER(index + 1));
}
