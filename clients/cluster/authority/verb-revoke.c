/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <string.h>

#include "clients/cluster/authority/authority.h"
#include "clients/cluster/broker/addresses.h"
#include "clients/cluster/broker/broker-files.h"
#include "clients/cluster/command.h"
#include "clients/cluster/services.h"
#include "clients/command-line/print.h"
#include "clients/command-line/session.h"

/* Of the nodes and bridges that have certificates, the one whose id begins so. -ENOENT, or -ENOTUNIQ. */
static int find_issued(const AldAuthority *authority, const char *what, char ret[static ALD_PKI_NAME_MAX + 1])
{
        const char *found = NULL;

        for (guint i = 0; i < authority->issued->len; i++) {
                const AldIssued *issued = authority->issued->pdata[i];

                const char *name = issued->node[0] ? issued->node : issued->facts.common_name;

                /* A bridge is called by its whole name. */
                if (issued->node[0] ? !g_str_has_prefix(name, what) : strcmp(name, what) != 0)
                        continue;
                if (found && strcmp(found, name) != 0)
                        return -ENOTUNIQ;
                found = name;
        }
        if (!found)
                return -ENOENT;
        (void) g_strlcpy(ret, found, ALD_PKI_NAME_MAX + 1);
        return 0;
}

/* By its id, a begin of that, or the name that the state service knows. */
static int find(const AldClusterCommand *command, const AldAuthority *authority,
        char ret[static ALD_PKI_NAME_MAX + 1])
{
        const char *what = command->ctl.args[0];
        g_auto(AldStateSession) session = ALD_STATE_SESSION_INIT;
        g_autoptr(GPtrArray) candidates = g_ptr_array_new();
        const AldEntity *node;
        int r;

        r = *what ? find_issued(authority, what, ret) : -ENOENT;
        if (r == -ENOENT && *what && strspn(what, "0123456789abcdef") != strlen(what)) {
                if (ald_session_load(&session, &command->ctl, false) == ALD_EXIT_OK)
                        r = ald_model_find(session.model, what, &node, candidates);
                if (r >= 0)
                        r = find_issued(authority, node->id, ret);
        }
        if (r >= 0)
                return ALD_EXIT_OK;
        ald_print_error(r == -ENOTUNIQ ? "%s matches more than one node; give more of its id"
                                       : "No node %s has a certificate of this cluster",
                what);
        return ALD_EXIT_NO_NODE;
}

/* Those that are valid of a node, its broker and its bridge, or of a bridge. */
static void collect(const AldAuthority *authority, const char *id, GPtrArray *serials)
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

static void tell_next(const AldClusterFiles *files, const char *id)
{
        bool later = ald_files_is_broker(files) && !ald_services_restarts_broker();

        ald_changes_note_next(files->changes,
                "%s is revoked here%s, and on the other nodes as soon as they receive the new list", id,
                later ? " as soon as mosquitto is restarted" : "");
        if (ald_pki_is_node_id(id))
                ald_changes_note_next(files->changes, "Next, once it is offline: alidadectl forget %s", id);
}

static int shut_out(
        const AldClusterCommand *command, AldClusterFiles *files, AldAuthority *authority, const char *id)
{
        g_auto(GStrv) brokers = NULL, hosts = ald_authority_broker_hosts(authority, id);
        g_autoptr(GPtrArray) serials = g_ptr_array_new();
        int r = ALD_EXIT_OK;

        collect(authority, id, serials);
        if (serials->pdata[0])
                r = ald_authority_revoke(authority, (const char *const *) serials->pdata);
        else
                ald_changes_note(files->changes, "%s no longer has a valid certificate", id);
        brokers = ald_broker_list_drop(files->brokers, hosts);
        if (r == ALD_EXIT_OK &&
                !g_strv_equal((const char *const *) brokers, (const char *const *) files->brokers))
                r = ald_files_configure(files, files->name, (const char *const *) brokers);
        /* Restarting mosquitto ends the sessions of the node. */
        if (r == ALD_EXIT_OK)
                r = ald_services_apply(files, ALD_SERVICES_CLUSTERD | ald_services_of_broker(files));
        if (r == ALD_EXIT_OK)
                tell_next(files, id);
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
                r = find(command, &authority, id);
        if (r != ALD_EXIT_OK)
                return r;
        if (strcmp(id, files.id) == 0) {
                ald_print_error("That is this machine, which keeps the keys of the cluster");
                return ALD_EXIT_ERROR;
        }
        return shut_out(command, &files, &authority, id);
}
