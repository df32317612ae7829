/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "clients/alidadectl/cluster/broker-list.h"
#include "clients/alidadectl/cluster/input.h"
#include "clients/alidadectl/cluster/services.h"
#include "clients/alidadectl/cluster/signing.h"
#include "clients/alidadectl/print.h"
#include "pki/request.h"

static int read_request(AldSigning *signing)
{
        const AldRequest *request = signing->request;
        char id[ALD_PKI_ID_SIZE];
        g_autofree char *reason = NULL;
        int r;

        r = ald_pki_request_parse(request->node, strlen(request->node), signing->id, &signing->key, &reason);
        if (r >= 0 && request->broker)
                r = ald_pki_request_parse(
                        request->broker, strlen(request->broker), id, &signing->broker_key, &reason);
        if (r < 0)
                return ald_home_failed(r, "The request is refused", reason);
        if (request->broker && strcmp(id, signing->id) != 0) {
                ald_complain("The request is refused: node and broker in it have different ids");
                return ALD_EXIT_ERROR;
        }
        if (strcmp(signing->id, signing->home->id) == 0) {
                ald_complain(
                        "The request is refused: it has the id of this machine, which signs for itself. If "
                        "it comes from a copy of this machine: there, remove /etc/machine-id, run "
                        "systemd-machine-id-setup, reboot and join again");
                return ALD_EXIT_ERROR;
        }
        return ALD_EXIT_OK;
}

static int sign(AldSigning *signing)
{
        AldPkiSubject node = { .role = ALD_PKI_ROLE_NODE, .name = signing->id, .key = signing->key };
        AldPkiSubject broker = {
                .role = ALD_PKI_ROLE_BROKER, .name = signing->id, .key = signing->broker_key
        };
        g_autofree char *until = NULL, *names = NULL;
        int r;

        broker.names = (const char *const *) signing->request->addresses;
        r = ald_authority_sign(signing->authority, &node, &signing->node);
        if (r == ALD_EXIT_OK && signing->broker_key)
                r = ald_authority_sign(signing->authority, &broker, &signing->broker);
        if (r != ALD_EXIT_OK)
                return r;
        until = ald_home_day(signing->node->facts.not_after);
        ald_home_tell(signing->home, "Signed for node %s, valid until %s", signing->id, until);
        names = g_strjoinv(", ", signing->request->addresses);
        if (signing->broker)
                ald_home_tell(signing->home, "Signed for its broker at %s", names);
        return ALD_EXIT_OK;
}

/* Those who were replaced are shut out, and a new broker is told to all who ask from now on. */
static int publish(const AldClusterOrder *order, AldSigning *signing)
{
        AldHome *home = signing->home;
        g_auto(GStrv) brokers = NULL, known = NULL;
        bool changed = false;
        int r = ALD_EXIT_OK;

        if (signing->replaced->len > 0) {
                g_ptr_array_add(signing->replaced, NULL);
                r = ald_authority_revoke(signing->authority, (const char *const *) signing->replaced->pdata);
                if (r == ALD_EXIT_OK)
                        r = ald_services_end_sessions(home);
                changed = true;
        }
        if (r == ALD_EXIT_OK && signing->broker) {
                known = ald_authority_broker_hosts(signing->authority, signing->id);
                brokers = ald_broker_list_put(home->brokers, known, signing->request->addresses[0]);
                if (!g_strv_equal((const char *const *) brokers, (const char *const *) home->brokers)) {
                        r = ald_home_configure(home, home->name, (const char *const *) brokers);
                        changed = true;
                }
        }
        return r == ALD_EXIT_OK && changed ? ald_services_reload_clusterd(home, &order->ctl) : r;
}

static int hand_out(const AldClusterOrder *order, const AldSigning *signing)
{
        g_auto(AldBundle) bundle = { .cluster = g_strdup(signing->home->name),
                .brokers = g_strdupv(signing->home->brokers) };
        g_autofree char *text = NULL;
        int r;

        bundle.ca = ald_pki_certificate_to_pem(signing->authority->ca);
        bundle.crl = ald_pki_crl_to_pem(signing->authority->crl);
        bundle.node = ald_pki_certificate_to_pem(signing->node->certificate);
        if (signing->broker)
                bundle.broker = ald_pki_certificate_to_pem(signing->broker->certificate);
        text = ald_bundle_format(&bundle);
        if (!order->output || strcmp(order->output, "-") == 0) {
                fputs(text, stdout);
                return ald_print_finish();
        }
        r = ald_output_write_file(order->output, text);
        if (r == ALD_EXIT_OK)
                ald_home_tell(signing->home,
                        "Wrote %s. Next: on the machine that asked: alidadectl cluster join "
                        "--accept %s",
                        order->output, order->output);
        return r;
}

/* Nobody got them, so nothing stands in the way of another attempt. */
static void forget(AldSigning *signing)
{
        if (signing->broker)
                ald_authority_forget(signing->authority, signing->broker);
        if (signing->node)
                ald_authority_forget(signing->authority, signing->node);
}

static int run(const AldClusterOrder *order, AldSigning *signing)
{
        int r;

        r = read_request(signing);
        if (r == ALD_EXIT_OK)
                r = ald_signing_check(order, signing);
        if (r != ALD_EXIT_OK)
                return r;
        r = sign(signing);
        if (r == ALD_EXIT_OK)
                r = publish(order, signing);
        if (r == ALD_EXIT_OK)
                r = hand_out(order, signing);
        if (r != ALD_EXIT_OK)
                forget(signing);
        return r;
}

static int sign_text(const AldClusterOrder *order, const char *text)
{
        bool to_file = order->output && strcmp(order->output, "-") != 0;
        g_autoptr(GPtrArray) replaced = g_ptr_array_new_with_free_func(g_free);
        g_auto(AldHome) home = ALD_HOME_INIT;
        g_auto(AldAuthority) authority = {};
        g_auto(AldRequest) request = {};
        g_autofree char *reason = NULL;
        AldSigning signing = {
                .home = &home, .authority = &authority, .request = &request, .replaced = replaced
        };
        int r;

        r = ald_home_open_to_change(&home, to_file ? stdout : stderr);
        if (r == ALD_EXIT_OK)
                r = ald_authority_open(&home, &authority);
        if (r != ALD_EXIT_OK)
                return r;
        if (*home.name == '\0') {
                ald_complain("The cluster was not wholly begun: run alidadectl cluster init again");
                return ALD_EXIT_ERROR;
        }
        r = ald_request_parse(text, &request, &reason);
        if (r < 0)
                return ald_home_failed(r, "The request is refused", reason);
        r = run(order, &signing);
        EVP_PKEY_free(signing.key);
        EVP_PKEY_free(signing.broker_key);
        return r;
}

int ald_cluster_sign(const AldClusterOrder *order)
{
        g_autofree char *text = NULL;
        size_t n;
        int r;

        if (order->replace && order->renew) {
                ald_complain("--replace is for another key, --renew for the same");
                return ALD_EXIT_USAGE;
        }
        if (geteuid() != 0) /* before it waits for input */
                return sign_text(order, "");
        r = ald_input_read(order, ALD_REQUEST_MAX, &text, &n);
        return r == ALD_EXIT_OK ? sign_text(order, text) : r;
}
