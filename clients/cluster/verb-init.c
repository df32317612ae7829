/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "clients/cluster/addresses.h"
#include "clients/cluster/broker-files.h"
#include "clients/cluster/broker-list.h"
#include "clients/cluster/own.h"
#include "clients/cluster/services.h"
#include "clients/command-line/print.h"

/* Whether this machine may begin this cluster, or go on with beginning it. */
static int check(const AldHome *home, const char *cluster)
{
        g_autofree char *path = g_build_filename(home->folder, "ca.crt", NULL);
        g_autoptr(X509) ca = NULL;
        AldPkiFacts facts;
        const char *in = NULL;

        if (*home->name && strcmp(home->name, cluster) != 0)
                in = home->name;
        else if (ald_pki_certificate_load(path, &ca, NULL) >= 0) {
                ald_pki_certificate_facts(ca, &facts);
                if (!ald_home_is_authority(home) || strcmp(facts.organization, cluster) != 0)
                        in = facts.organization;
        }
        if (!in)
                return ALD_EXIT_OK;
        ald_complain(
                "This machine is already in cluster %s, created %s: run alidadectl cluster leave, then init",
                in, ald_home_is_authority(home) ? "here" : "on another machine");
        return ALD_EXIT_ERROR;
}

static int next(const AldHome *home, bool broker)
{
        /* ssh takes an address without brackets. */
        g_autofree char *here = broker ? ald_broker_host(home->brokers[0]) : g_strdup("HERE");

        if (!broker && !home->brokers[0])
                ald_home_tell_next(home, "Next: a cluster needs a broker. On the machine to be the broker: "
                                         "alidadectl cluster join --broker USER@HERE");
        else
                ald_home_tell_next(
                        home, "Next: on each other machine: alidadectl cluster join USER@%s", here);
        return ALD_EXIT_OK;
}

static int begin(const AldClusterCommand *command, AldHome *home, const char *cluster, char **addresses)
{
        g_auto(AldAuthority) authority = {};
        g_auto(GStrv) brokers = NULL, known = NULL;
        int r;

        r = ald_authority_make(home, cluster, &authority);
        if (r == ALD_EXIT_OK)
                r = ald_own_node(&authority, false);
        if (r == ALD_EXIT_OK && addresses)
                r = ald_own_broker(&authority, cluster, addresses, false);
        if (r != ALD_EXIT_OK)
                return r;
        known = ald_authority_broker_hosts(&authority, home->id);
        brokers = addresses ? ald_broker_list_put(home->brokers, known, addresses[0])
                            : g_strdupv(home->brokers);
        r = ald_home_configure(home, cluster, (const char *const *) brokers);
        if (r == ALD_EXIT_OK)
                r = ald_services_apply(
                        home, ALD_SERVICES_CLUSTERD | (addresses ? ALD_SERVICES_START_BROKER : 0));
        return r == ALD_EXIT_OK ? next(home, addresses != NULL) : r;
}

int ald_cluster_init(const AldClusterCommand *command)
{
        const char *cluster = command->ctl.args[0];
        g_auto(AldHome) home = ALD_HOME_INIT;
        g_auto(GStrv) addresses = NULL;
        int r;

        if (!ald_home_is_name(cluster)) {
                ald_complain("\"%s\" is not a valid cluster name: use 1 to 32 of a-z, 0-9 and -, without - "
                             "at the start",
                        cluster);
                return ALD_EXIT_USAGE;
        }
        if (command->no_broker && command->addresses->len > 0) {
                ald_complain("--address is for the broker and cannot be used with --no-broker");
                return ALD_EXIT_USAGE;
        }
        r = ald_home_open_to_change(&home, command->changes);
        if (r == ALD_EXIT_OK)
                r = check(&home, cluster);
        if (r == ALD_EXIT_OK && !command->no_broker)
                r = ald_own_addresses(command, &addresses);
        if (r == ALD_EXIT_OK && addresses)
                r = ald_broker_files_check(&home);
        for (guint i = 0; r == ALD_EXIT_OK && i < command->addresses->len; i++)
                ald_broker_address_note(command->addresses->pdata[i]);
        return r == ALD_EXIT_OK ? begin(command, &home, cluster, addresses) : r;
}
