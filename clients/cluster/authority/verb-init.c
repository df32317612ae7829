/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "clients/cluster/authority/own-certificates.h"
#include "clients/cluster/broker/addresses.h"
#include "clients/cluster/broker/broker-files.h"
#include "clients/cluster/services.h"
#include "clients/command-line/print.h"

/* Checks that this machine may create this cluster, or complete its creation. */
static int check_may_create(const AldClusterFiles *files, const char *cluster)
{
        g_autofree char *path = g_build_filename(files->folder, "ca.crt", NULL);
        g_autoptr(X509) ca = NULL;
        AldPkiFacts facts;
        const char *in = NULL;

        if (*files->name && strcmp(files->name, cluster) != 0)
                in = files->name;
        else if (ald_pki_certificate_load(path, &ca, NULL) >= 0) {
                ald_pki_certificate_facts(ca, &facts);
                if (!ald_files_is_authority(files) || strcmp(facts.organization, cluster) != 0)
                        in = facts.organization;
        }
        if (!in)
                return ALD_EXIT_OK;
        ald_print_error(
                "This machine is already in cluster %s, created %s: run alidadectl cluster leave, then init",
                in, ald_files_is_authority(files) ? "here" : "on another machine");
        return ALD_EXIT_ERROR;
}

static void note_next_step(const AldClusterFiles *files, bool broker)
{
        /* ssh expects an address without brackets. */
        g_autofree char *here = broker ? ald_broker_host(files->brokers[0]) : g_strdup("HERE");

        if (!broker && !files->brokers[0])
                ald_changes_note_next(files->changes,
                        "Next: a cluster needs a broker. On the machine to be the broker: "
                        "alidadectl cluster join --broker USER@HERE");
        else
                ald_changes_note_next(
                        files->changes, "Next: on each other machine: alidadectl cluster join USER@%s", here);
}

static int create_cluster(AldClusterFiles *files, const char *cluster, char **addresses)
{
        g_auto(AldAuthority) authority = {};
        g_auto(GStrv) brokers = NULL, known = NULL;
        int r;

        r = ald_authority_make(files, cluster, &authority);
        if (r == ALD_EXIT_OK)
                r = ald_own_node_certify(&authority, false);
        if (r == ALD_EXIT_OK && addresses)
                r = ald_own_broker_certify(&authority, cluster, addresses, false);
        if (r != ALD_EXIT_OK)
                return r;
        known = ald_authority_broker_hosts(&authority, files->id);
        brokers = addresses ? ald_broker_list_put(files->brokers, known, addresses[0])
                            : g_strdupv(files->brokers);
        r = ald_files_configure(files, cluster, (const char *const *) brokers);
        if (r == ALD_EXIT_OK)
                r = ald_services_apply(
                        files, ALD_SERVICES_CLUSTERD | (addresses ? ALD_SERVICES_START_BROKER : 0));
        if (r == ALD_EXIT_OK)
                note_next_step(files, addresses != NULL);
        return r;
}

int ald_cluster_init(const AldClusterCommand *command)
{
        const char *cluster = command->ctl.args[0];
        g_auto(AldClusterFiles) files = ALD_FILES_INIT;
        g_auto(GStrv) addresses = NULL;
        int r;

        if (!ald_cluster_name_is_valid(cluster)) {
                ald_print_error(
                        "\"%s\" is not a valid cluster name: use 1 to 32 of a-z, 0-9 and -, without - "
                        "at the start",
                        cluster);
                return ALD_EXIT_USAGE;
        }
        if (command->no_broker && command->addresses->len > 0) {
                ald_print_error("--address is for the broker and cannot be used with --no-broker");
                return ALD_EXIT_USAGE;
        }
        r = ald_files_open_to_change(&files, command->changes);
        if (r == ALD_EXIT_OK)
                r = check_may_create(&files, cluster);
        if (r == ALD_EXIT_OK && !command->no_broker)
                r = ald_own_addresses(command, &addresses);
        if (r == ALD_EXIT_OK && addresses)
                r = ald_broker_files_check(&files);
        for (guint i = 0; r == ALD_EXIT_OK && i < command->addresses->len; i++)
                ald_broker_address_note(command->addresses->pdata[i]);
        return r == ALD_EXIT_OK ? create_cluster(&files, cluster, addresses) : r;
}
