/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "clients/alidadectl/cluster/broker-files.h"
#include "clients/alidadectl/cluster/broker-list.h"
#include "clients/alidadectl/cluster/enrol.h"
#include "clients/alidadectl/cluster/input.h"
#include "clients/alidadectl/cluster/own.h"
#include "clients/alidadectl/cluster/remote.h"
#include "clients/alidadectl/cluster/services.h"
#include "clients/alidadectl/print.h"

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
                        ald_complain("This machine began cluster %s and signs for itself: alidadectl cluster "
                                     "renew",
                                home->name);
                else
                        ald_complain("This machine has not wholly begun a cluster: run alidadectl cluster "
                                     "init again");
                return ALD_EXIT_ERROR;
        }
        if (renew && *home->name == '\0') {
                ald_complain("This machine is in no cluster: alidadectl cluster join");
                return ALD_EXIT_ERROR;
        }
        return ALD_EXIT_OK;
}

/* The broker's addresses where there is or shall be one, else NULL. */
static int addresses_for(const AldClusterOrder *order, const AldHome *home, bool renew, char ***ret)
{
        int r;

        if (!order->broker && !(renew && ald_broker_files_exist(home)))
                return order->addresses->len > 0
                               ? usage("--address is that of a broker, and there is none here")
                               : ALD_EXIT_OK;
        r = ald_broker_files_check(home);
        if (r != ALD_EXIT_OK)
                return r;
        return renew ? ald_own_addresses_again(order, home, ret) : ald_own_addresses(order, ret);
}

static int make_request(const AldClusterOrder *order, bool renew, FILE *tell, char **ret, bool *ret_broker)
{
        g_auto(AldHome) home = ALD_HOME_INIT;
        g_auto(GStrv) addresses = NULL;
        int r;

        r = ald_home_open_to_change(&home, tell);
        if (r == ALD_EXIT_OK)
                r = check(&home, renew);
        if (r == ALD_EXIT_OK)
                r = addresses_for(order, &home, renew, &addresses);
        *ret_broker = addresses;
        return r == ALD_EXIT_OK ? ald_enrol_request(&home, addresses, ret) : r;
}

static int write_request(const AldClusterOrder *order, bool renew)
{
        const char *file = ald_input_file(order), *name = file ? file : "REQUEST";
        g_autofree char *request = NULL;
        bool broker;
        int r;

        r = make_request(order, renew, file ? stdout : stderr, &request, &broker);
        if (r != ALD_EXIT_OK)
                return r;
        if (file)
                r = ald_output_write_file(file, request);
        else {
                fputs(request, stdout);
                r = ald_print_finish();
        }
        if (r == ALD_EXIT_OK)
                fprintf(file ? stdout : stderr,
                        "Next: where the cluster was begun: alidadectl cluster sign %s%s%s --output=BUNDLE, "
                        "then here: "
                        "alidadectl cluster %s --accept BUNDLE\n",
                        renew ? "--renew " : "", broker ? "--broker " : "", name, renew ? "renew" : "join");
        return r;
}

static int accept_bundle(const AldClusterOrder *order, bool renew, const char *text, size_t n)
{
        g_auto(AldHome) home = ALD_HOME_INIT;
        g_auto(AldBundle) bundle = {};
        g_autofree char *reason = NULL;
        int r;

        r = ald_home_open_to_change(&home, stdout);
        if (r == ALD_EXIT_OK)
                r = check(&home, renew);
        if (r != ALD_EXIT_OK)
                return r;
        r = ald_bundle_parse(text, n, &bundle, &reason);
        if (r < 0)
                return ald_home_failed(r, "The bundle is refused", reason);
        r = bundle.broker ? ald_broker_files_check(&home) : ALD_EXIT_OK;
        if (r == ALD_EXIT_OK)
                r = ald_enrol_accept(&home, &bundle);
        if (r == ALD_EXIT_OK && bundle.broker)
                r = ald_services_restart_broker(&home, true);
        if (r == ALD_EXIT_OK)
                r = ald_services_reload_clusterd(&home, &order->ctl);
        if (r == ALD_EXIT_OK)
                ald_home_tell(&home, "Next: alidadectl cluster status");
        return r;
}

static int accept_file(const AldClusterOrder *order, bool renew)
{
        g_autofree char *text = NULL;
        size_t n;
        int r;

        if (geteuid() != 0) /* before it waits for input */
                return accept_bundle(order, renew, "", 0);
        r = ald_input_read(order, ALD_BUNDLE_MAX, &text, &n);
        return r == ALD_EXIT_OK ? accept_bundle(order, renew, text, n) : r;
}

/* No lock is held meanwhile: the other machine may be this one. */
static int ask(const AldClusterOrder *order, bool renew)
{
        g_autofree char *request = NULL, *bundle = NULL;
        bool broker;
        size_t n;
        int r;

        r = make_request(order, renew, stdout, &request, &broker);
        (void) fflush(stdout);
        if (r == ALD_EXIT_OK)
                r = ald_remote_sign(order->ctl.args[0], request, order->replace, broker, &bundle, &n);
        return r == ALD_EXIT_OK ? accept_bundle(order, renew, bundle, n) : r;
}

static int run(const AldClusterOrder *order, bool renew)
{
        if (order->request && order->accept)
                return usage("--request and --accept are two steps");
        if (order->accept && (order->broker || order->addresses->len > 0))
                return usage("--broker and --address belong into the request");
        if (order->replace && (order->request || order->accept))
                return usage("--replace belongs to sign, where there are two steps");
        if (order->addresses->len > 0 && !order->broker && !renew)
                return usage("--address is for --broker");
        if (order->request)
                return write_request(order, renew);
        if (order->accept)
                return accept_file(order, renew);
        if (order->n_args == 0)
                return usage(
                        "From whom? USER@HOST is the machine where the cluster was begun; without ssh there "
                        "are --request and --accept");
        return ask(order, renew);
}

int ald_cluster_join(const AldClusterOrder *order)
{
        return run(order, false);
}

/* Where the cluster was begun. */
static int renew_here(const AldClusterOrder *order, AldHome *home)
{
        g_auto(AldAuthority) authority = {};
        g_auto(GStrv) addresses = NULL, brokers = NULL, known = NULL;
        int r;

        if (order->request || order->accept || order->n_args > 0)
                return usage("This machine signs for itself: alidadectl cluster renew");
        r = addresses_for(order, home, true, &addresses);
        if (r == ALD_EXIT_OK)
                r = ald_authority_open(home, &authority);
        if (r == ALD_EXIT_OK)
                r = ald_own_node(&authority, true);
        if (r == ALD_EXIT_OK && addresses)
                r = ald_own_broker(&authority, home->name, addresses, true);
        if (r != ALD_EXIT_OK)
                return r;
        if (addresses && (order->broker || order->addresses->len > 0)) {
                known = ald_authority_broker_hosts(&authority, home->id);
                brokers = ald_broker_list_put(home->brokers, known, addresses[0]);
                r = ald_home_configure(home, home->name, (const char *const *) brokers);
        }
        if (r == ALD_EXIT_OK && addresses)
                r = ald_services_restart_broker(home, true);
        return r == ALD_EXIT_OK ? ald_services_reload_clusterd(home, &order->ctl) : r;
}

int ald_cluster_renew(const AldClusterOrder *order)
{
        g_auto(AldHome) home = ALD_HOME_INIT;
        int r;

        r = ald_home_open_to_change(&home, stdout);
        if (r != ALD_EXIT_OK)
                return r;
        if (*home.name && ald_home_is_authority(&home))
                return renew_here(order, &home);
        r = check(&home, true);
        ald_home_close(&home); /* its lock */
        return r == ALD_EXIT_OK ? run(order, true) : r;
}
