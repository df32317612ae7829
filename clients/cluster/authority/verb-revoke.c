/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <string.h>

#include "clients/cluster/authority/authority.h"
#include "clients/cluster/broker/addresses.h"
#include "clients/cluster/command.h"
#include "clients/cluster/services.h"
#include "clients/cluster/shown-names.h"
#include "clients/command-line/bus.h"
#include "clients/command-line/print.h"
#include "record/id.h"

static const char *owner_of(const AldIssued *issued)
{
        return issued->node[0] ? issued->node : issued->facts.common_name;
}

/* Returns whether a word is the beginning of the id of the owner, or the whole name of a bridge. Fewer digits
 * than an id is shown with may be a name that a node has had, such as "cafe". */
static bool has_id(const AldIssued *issued, const char *what)
{
        return issued->node[0] ? ald_id_reads_like(what) && g_str_has_prefix(issued->node, what)
                               : strcmp(issued->facts.common_name, what) == 0;
}

static bool has_name(const AldAuthority *authority, json_t *shown, const AldIssued *issued, const char *what)
{
        return issued->node[0] &&
               (g_strcmp0(ald_authority_name(authority, issued->node), what) == 0 ||
                       g_strcmp0(json_string_value(json_object_get(shown, issued->node)), what) == 0);
}

/* Adds the owner of a certificate, if it is not in the list. */
static void add_owner(GPtrArray *owners, const AldIssued *issued)
{
        if (!g_ptr_array_find_with_equal_func(owners, owner_of(issued), g_str_equal, NULL))
                g_ptr_array_add(owners, (gpointer) owner_of(issued));
}

/*
 * Finds the owner of a certificate: by its id, the first 8 digits of that or more, the whole name of a
 * bridge, or a name of a node, either kept with certificates or in `shown` ({id: name}). Returns -ENOENT, or
 * -ENOTUNIQ if several match; of those with the same name, owners of a valid certificate are preferred.
 */
static int find_owner(
        const AldAuthority *authority, json_t *shown, const char *what, char ret[static ALD_PKI_NAME_MAX + 1])
{
        g_autoptr(GPtrArray) by_id = g_ptr_array_new(), named = g_ptr_array_new(), valid = g_ptr_array_new();
        const GPtrArray *found;

        if (*what == '\0')
                return -ENOENT;
        for (guint i = 0; i < authority->issued->len; i++) {
                const AldIssued *issued = authority->issued->pdata[i];

                if (has_id(issued, what))
                        add_owner(by_id, issued);
                if (!has_name(authority, shown, issued, what))
                        continue;
                add_owner(named, issued);
                if (ald_authority_is_valid(authority, issued))
                        add_owner(valid, issued);
        }
        found = by_id->len > 0 ? by_id : valid->len > 0 ? valid : named;
        /* A word that is both a name and the beginning of another node's id is ambiguous. */
        if (by_id->len > 0 && named->len > 0 && !ald_pki_is_node_id(what) &&
                (by_id->len != 1 || named->len != 1 || !g_str_equal(by_id->pdata[0], named->pdata[0])))
                return -ENOTUNIQ;
        if (found->len != 1)
                return found->len == 0 ? -ENOENT : -ENOTUNIQ;
        (void) g_strlcpy(ret, found->pdata[0], ALD_PKI_NAME_MAX + 1);
        return 0;
}

/* Finds the owner that the argument names. A node that the state service has forgotten is found by the name
 * that is kept with its certificate. */
static int find_named_owner(const AldClusterCommand *command, const AldAuthority *authority,
        char ret[static ALD_PKI_NAME_MAX + 1])
{
        const char *what = command->ctl.args[0];
        g_autoptr(AldOwnBus) bus = NULL;
        json_t *shown = NULL;
        bool digits = what[strspn(what, "0123456789abcdef")] == '\0' && !ald_id_reads_like(what);
        int r;

        if (ald_connection_open(NULL, &bus) >= 0 && ald_connection_await(bus, false, NULL, NULL) >= 0)
                shown = ald_shown_names_read(bus);
        r = find_owner(authority, shown, what, ret);
        json_decref(shown);
        if (r >= 0)
                return ALD_EXIT_OK;
        ald_print_error(
                r == -ENOTUNIQ ? "%s matches more than one node; give more of its id, which \"alidadectl "
                                 "cluster certificates\" shows"
                : digits ? "No certificate of %s is known here; to revoke by id, give at least the first "
                           "8 digits, which \"alidadectl cluster certificates\" shows"
                         : "No certificate of %s is known here; \"alidadectl cluster "
                           "certificates\" lists all that were signed",
                what);
        return ALD_EXIT_NO_NODE;
}

/* Collects the serials of the valid certificates of a node, its broker and its bridge, or of a bridge. */
static void collect_serials(const AldAuthority *authority, const char *id, GPtrArray *serials)
{
        for (guint i = 0; i < authority->issued->len; i++) {
                const AldIssued *issued = authority->issued->pdata[i];

                if ((ald_authority_is_of(authority, issued, id) ||
                            strcmp(issued->facts.common_name, id) == 0) &&
                        ald_authority_is_valid(authority, issued))
                        g_ptr_array_add(serials, (gpointer) issued->facts.serial);
        }
        g_ptr_array_add(serials, NULL);
}

static void note_next_step(const AldClusterFiles *files, const AldAuthority *authority, const char *id)
{
        g_autofree char *label = ald_authority_label(authority, id);
        bool later = ald_files_is_broker(files) && !ald_services_restarts_broker();

        ald_changes_note_next(files->changes,
                "%s is revoked here%s, and on the other nodes as soon as they receive the new list", label,
                later ? " as soon as mosquitto is restarted" : "");
        if (ald_pki_is_node_id(id))
                ald_changes_note_next(files->changes, "Next, once it is offline: alidadectl forget %s", id);
}

static int revoke_and_apply(AldClusterFiles *files, AldAuthority *authority, const char *id)
{
        g_auto(GStrv) brokers = NULL, hosts = ald_authority_broker_hosts(authority, id);
        g_autofree char *label = ald_authority_label(authority, id);
        g_autoptr(GPtrArray) serials = g_ptr_array_new();
        int r = ALD_EXIT_OK;

        collect_serials(authority, id, serials);
        if (serials->pdata[0])
                r = ald_authority_revoke(authority, (const char *const *) serials->pdata);
        else
                ald_changes_note(files->changes, "%s no longer has a valid certificate", label);
        brokers = ald_broker_list_drop(files->brokers, hosts);
        if (r == ALD_EXIT_OK &&
                !g_strv_equal((const char *const *) brokers, (const char *const *) files->brokers))
                r = ald_files_configure(files, files->name, (const char *const *) brokers);
        /* Restarting mosquitto ends the sessions of the node. */
        if (r == ALD_EXIT_OK)
                r = ald_services_apply(files, ALD_SERVICES_CLUSTERD | ald_services_of_broker(files));
        if (r == ALD_EXIT_OK)
                note_next_step(files, authority, id);
        return r;
}

int ald_cluster_revoke(const AldClusterCommand *command)
{
        g_auto(AldClusterFiles) files = ALD_FILES_INIT;
        g_auto(AldAuthority) authority = {};
        char id[ALD_PKI_NAME_MAX + 1];
        int r;

        r = ald_files_open_to_change(&files, command->changes);
        if (r == ALD_EXIT_OK)
                r = ald_authority_open(&files, &authority);
        if (r == ALD_EXIT_OK)
                r = find_named_owner(command, &authority, id);
        if (r != ALD_EXIT_OK)
                return r;
        if (strcmp(id, files.id) == 0) {
                ald_print_error("That is this machine, which keeps the keys of the cluster");
                return ALD_EXIT_ERROR;
        }
        return revoke_and_apply(&files, &authority, id);
}
