/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "clients/cluster/addresses.h"
#include "clients/cluster/broker-files.h"
#include "clients/cluster/broker-list.h"
#include "clients/cluster/enrol.h"
#include "clients/cluster/input.h"
#include "clients/cluster/own.h"
#include "clients/cluster/remote.h"
#include "clients/cluster/services.h"
#include "clients/command-line/bus.h"
#include "clients/command-line/print.h"
#include "pki/file.h"

static int usage(const char *what)
{
        ald_complain("%s; see alidadectl cluster --help", what);
        return ALD_EXIT_USAGE;
}

/* Whether this machine may ask another one for certificates. */
static int check(const AldHome *home, bool renew)
{
        if (ald_home_is_authority(home)) {
                if (*home->name)
                        ald_complain("Cluster %s was created on this machine, which signs for itself: use "
                                     "alidadectl cluster renew",
                                home->name);
                else
                        ald_complain("alidadectl cluster init was interrupted on this machine: run it again");
                return ALD_EXIT_ERROR;
        }
        if (renew && *home->name == '\0') {
                ald_complain("This machine is not in a cluster: use alidadectl cluster join");
                return ALD_EXIT_ERROR;
        }
        return ALD_EXIT_OK;
}

/* Of what was typed; what this machine calls itself needs no word. */
static void note_addresses(const AldClusterCommand *command)
{
        for (guint i = 0; i < command->addresses->len; i++)
                ald_broker_address_note(command->addresses->pdata[i]);
}

/* The broker's addresses if there is or shall be one, else NULL. */
static int addresses_for(const AldClusterCommand *command, const AldHome *home, bool renew, char ***ret)
{
        int r;

        if (!command->broker && !(renew && ald_home_is_broker(home)))
                return command->addresses->len > 0
                               ? usage("--address is for a broker, and this machine has none")
                               : ALD_EXIT_OK;
        r = ald_broker_files_check(home);
        if (r != ALD_EXIT_OK)
                return r;
        return renew ? ald_own_addresses_again(command, home, ret) : ald_own_addresses(command, ret);
}

/* Beside the request, which may be meant to bring it into another one after it has left. */
static void note_membership(const AldHome *home)
{
        if (*home->name)
                ald_complain("This machine is already in cluster %s: alidadectl cluster renew makes new "
                             "certificates; to join another cluster, run alidadectl cluster leave first",
                        home->name);
}

/* Whether a file has a request of this machine for the same, which can still be signed for a day. */
static bool is_asked(const AldHome *home, const char *path, AldRequestPurpose purpose, char **addresses)
{
        uint64_t tomorrow = (uint64_t) g_get_real_time() + UINT64_C(86400) * G_USEC_PER_SEC;
        g_autofree char *text = NULL, *reason = NULL;
        g_auto(AldRequest) request = {};

        return ald_pki_file_read(path, ALD_REQUEST_MAX, &text, NULL) >= 0 &&
               ald_request_parse(text, tomorrow, &request, &reason) >= 0 && request.purpose == purpose &&
               strcmp(request.id, home->id) == 0 && ald_enrol_has_key(home, false, request.node) &&
               (addresses ? ald_enrol_has_key(home, true, request.broker) &&
                                       g_strv_equal((const char *const *) request.addresses,
                                               (const char *const *) addresses)
                          : !request.broker);
}

/* *ret is NULL if `file` has that request already. */
static int make_request(
        const AldClusterCommand *command, bool renew, const char *file, char **ret, bool *ret_broker)
{
        AldRequestPurpose purpose = renew ? ALD_REQUEST_RENEW : ALD_REQUEST_JOIN;
        g_auto(AldHome) home = ALD_HOME_INIT;
        g_auto(GStrv) addresses = NULL;
        int r;

        r = ald_home_open_to_change(&home, command->changes);
        if (r == ALD_EXIT_OK)
                r = check(&home, renew);
        if (r == ALD_EXIT_OK)
                r = addresses_for(command, &home, renew, &addresses);
        if (r == ALD_EXIT_OK && !renew && command->request)
                note_membership(&home);
        if (r == ALD_EXIT_OK && addresses)
                note_addresses(command);
        *ret_broker = addresses;
        if (r == ALD_EXIT_OK && file && is_asked(&home, file, purpose, addresses)) {
                ald_home_tell(&home, "Kept %s: it already contains such a request", file);
                *ret = NULL;
                return ALD_EXIT_OK;
        }
        return r == ALD_EXIT_OK ? ald_enrol_request(&home, purpose, addresses, ret) : r;
}

static int write_request(const AldClusterCommand *command, bool renew)
{
        const char *file = ald_input_file(command), *name = file ? file : "REQUEST";
        g_autofree char *request = NULL;
        bool broker;
        int r;

        if (!file && !command->changes->check) {
                if (command->changes->json)
                        return usage("--json needs a file for the request, or --check");
                command->changes->tell = stderr;
        }
        r = make_request(command, renew, file, &request, &broker);
        if (r != ALD_EXIT_OK || command->changes->check)
                return r == ALD_EXIT_OK && file && request
                               ? ald_output_write_file(command->changes, file, request, 0644)
                               : r;
        if (!file)
                r = ald_output_print(command->changes, request);
        else if (request)
                r = ald_output_write_file(command->changes, file, request, 0644);
        if (r == ALD_EXIT_OK && !command->changes->json)
                fprintf(file ? stdout : stderr,
                        "Next: where the cluster was created: alidadectl cluster sign %s%s%s "
                        "--output=BUNDLE, "
                        "then here: "
                        "alidadectl cluster %s --accept BUNDLE\n",
                        renew ? "--renew " : "", broker ? "--broker " : "", name, renew ? "renew" : "join");
        return r;
}

static int accept_bundle(const AldClusterCommand *command, bool renew, const char *text, size_t n)
{
        g_auto(AldHome) home = ALD_HOME_INIT;
        g_auto(AldBundle) bundle = {};
        g_autofree char *reason = NULL;
        int r;

        r = ald_home_open_to_change(&home, command->changes);
        if (r == ALD_EXIT_OK)
                r = check(&home, renew);
        if (r != ALD_EXIT_OK)
                return r;
        r = ald_bundle_parse(text, n, &bundle, &reason);
        if (r < 0)
                return ald_home_failed(r, "The bundle is refused", reason);
        r = bundle.broker ? ald_broker_files_check(&home) : ALD_EXIT_OK;
        if (r == ALD_EXIT_OK)
                r = ald_enrol_accept(&home, &bundle, renew);
        if (r == ALD_EXIT_OK)
                r = ald_services_apply(
                        &home, ALD_SERVICES_CLUSTERD | (bundle.broker ? ALD_SERVICES_START_BROKER : 0));
        if (r == ALD_EXIT_OK)
                ald_home_tell_next(&home, "Next: alidadectl cluster status");
        return r;
}

static int accept_file(const AldClusterCommand *command, bool renew)
{
        g_autofree char *text = NULL;
        size_t n;
        int r;

        if (geteuid() != 0) /* before it waits for input */
                return accept_bundle(command, renew, "", 0);
        r = ald_input_read(command, ALD_BUNDLE_MAX, &text, &n);
        return r == ALD_EXIT_OK ? accept_bundle(command, renew, text, n) : r;
}

/* What comes back is not known before it was asked for; no other machine is asked for a check. */
static int check_ask(const AldClusterCommand *command, bool renew)
{
        const char *host = command->ctl.args[0];
        g_auto(AldHome) home = ALD_HOME_INIT;
        int r;

        r = ald_home_open(&home, command->changes);
        if (r != ALD_EXIT_OK)
                return r;
        if (!renew && *home.name && ald_enrol_expiry(&home) > (uint64_t) g_get_real_time()) {
                ald_home_tell(&home, "This machine is already in cluster %s; %s would be asked for updates",
                        home.name, host);
                return ALD_EXIT_OK;
        }
        ald_changes_add(command->changes, ALD_CHANGE_ASK, host, " to sign a request of this machine, by ssh");
        ald_changes_add(command->changes, ALD_CHANGE_INSTALL, home.folder,
                ": the certificates that come back, and the configuration of the cluster service");
        return ALD_EXIT_OK;
}

/* No lock is held meanwhile: the other machine may be this one. */
static int ask(const AldClusterCommand *command, bool renew)
{
        g_autofree char *request = NULL, *bundle = NULL;
        bool broker;
        size_t n;
        int r;

        r = make_request(command, renew, NULL, &request, &broker);
        (void) fflush(stdout);
        if (r == ALD_EXIT_OK && command->changes->check)
                return check_ask(command, renew);
        if (r == ALD_EXIT_OK)
                r = ald_remote_sign(
                        command->ctl.args[0], request, renew, command->replace, broker, &bundle, &n);
        return r == ALD_EXIT_OK ? accept_bundle(command, renew, bundle, n) : r;
}

static int run(const AldClusterCommand *command, bool renew)
{
        if (command->request && command->accept)
                return usage("--request and --accept cannot be combined");
        if (command->accept && (command->broker || command->addresses->len > 0))
                return usage(
                        "--accept cannot be combined with --broker or --address, which are for the request");
        if (command->replace && (command->request || command->accept))
                return usage("--replace cannot be combined with --request or --accept; use it with sign");
        if (command->addresses->len > 0 && !command->broker && !renew)
                return usage("--address needs --broker");
        if (command->request)
                return write_request(command, renew);
        if (command->accept)
                return accept_file(command, renew);
        if (command->n_args > 0 && !ald_connection_is_host(command->ctl.args[0])) {
                ald_complain("\"%s\" is not a valid USER@HOST", command->ctl.args[0]);
                return ALD_EXIT_USAGE;
        }
        if (command->n_args == 0)
                return usage("Specify USER@HOST, the machine where the cluster was created; without ssh, use "
                             "--request and --accept");
        return ask(command, renew);
}

int ald_cluster_join(const AldClusterCommand *command)
{
        return run(command, false);
}

/* Where the cluster was created. */
static int renew_here(const AldClusterCommand *command, AldHome *home)
{
        g_auto(AldAuthority) authority = {};
        g_auto(GStrv) addresses = NULL, brokers = NULL, known = NULL;
        int r;

        if (command->request || command->accept || command->replace || command->n_args > 0)
                return usage("This machine signs for itself: use alidadectl cluster renew");
        r = addresses_for(command, home, true, &addresses);
        if (r == ALD_EXIT_OK)
                r = ald_authority_open(home, &authority);
        if (r == ALD_EXIT_OK)
                r = ald_own_node(&authority, true);
        if (r == ALD_EXIT_OK && addresses)
                r = ald_own_broker(&authority, home->name, addresses, true);
        if (r != ALD_EXIT_OK)
                return r;
        if (addresses && (command->broker || command->addresses->len > 0)) {
                known = ald_authority_broker_hosts(&authority, home->id);
                brokers = ald_broker_list_put(home->brokers, known, addresses[0]);
                r = ald_home_configure(home, home->name, (const char *const *) brokers);
        }
        return r == ALD_EXIT_OK ? ald_services_apply(home,
                                          ALD_SERVICES_CLUSTERD | (addresses ? ALD_SERVICES_START_BROKER : 0))
                                : r;
}

int ald_cluster_renew(const AldClusterCommand *command)
{
        g_auto(AldHome) home = ALD_HOME_INIT;
        int r;

        if (command->automatic) {
                if (command->n_args > 0 || command->broker || command->request || command->accept ||
                        command->replace || command->addresses->len > 0)
                        return usage("--auto cannot be combined with anything else");
                return ald_cluster_renew_due(command);
        }
        r = ald_home_open_to_change(&home, command->changes);
        if (r != ALD_EXIT_OK)
                return r;
        if (*home.name && ald_home_is_authority(&home))
                return renew_here(command, &home);
        r = check(&home, true);
        ald_home_close(&home); /* its lock */
        return r == ALD_EXIT_OK ? run(command, true) : r;
}
