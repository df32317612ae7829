/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>
#include <unistd.h>

#include "clients/alidadectl/cluster/authority.h"
#include "clients/alidadectl/cluster/broker-files.h"
#include "clients/alidadectl/cluster/exchange.h"
#include "clients/alidadectl/cluster/input.h"
#include "clients/alidadectl/cluster/services.h"
#include "clients/alidadectl/print.h"
#include "pki/request.h"

/* The broker's key out of a request of a node that is in. */
static int read_request(const AldAuthority *authority, const char *text, EVP_PKEY **ret)
{
        g_auto(AldRequest) request = {};
        g_autoptr(EVP_PKEY) node = NULL, broker = NULL;
        char id[ALD_PKI_ID_SIZE], broker_id[ALD_PKI_ID_SIZE];
        g_autofree char *reason = NULL;
        int r;

        r = ald_request_parse(text, &request, &reason);
        if (r >= 0)
                r = ald_pki_request_parse(request.node, strlen(request.node), id, &node, &reason);
        if (r < 0)
                return ald_home_failed(r, "The request is refused", reason);
        if (!request.broker) {
                ald_complain(
                        "The request is of no broker: on its machine, alidadectl cluster renew --request");
                return ALD_EXIT_ERROR;
        }
        r = ald_pki_request_parse(request.broker, strlen(request.broker), broker_id, &broker, &reason);
        if (r < 0)
                return ald_home_failed(r, "The request is refused", reason);
        if (strcmp(id, broker_id) != 0 || !ald_authority_knows(authority, id, node)) {
                ald_complain("The request is refused: the machine it comes from has not joined the cluster");
                return ALD_EXIT_ERROR;
        }
        *ret = g_steal_pointer(&broker);
        return ALD_EXIT_OK;
}

/* A site is one, as a node is: its certificate is for one key. */
static int find_replaced(const AldClusterOrder *order, AldAuthority *authority, const char *name,
        EVP_PKEY *key, GPtrArray *serials)
{
        for (guint i = 0; i < authority->issued->len; i++) {
                const AldIssued *issued = authority->issued->pdata[i];

                if (strcmp(issued->facts.common_name, name) != 0 ||
                        EVP_PKEY_eq(X509_get0_pubkey(issued->certificate), key) == 1 ||
                        !ald_authority_is_valid(authority, issued))
                        continue;
                if (!order->replace) {
                        ald_complain("%s has a certificate for another key; --replace revokes that", name);
                        return ALD_EXIT_ERROR;
                }
                g_ptr_array_add(serials, g_strdup(issued->facts.serial));
        }
        if (serials->len > 0)
                g_ptr_array_add(serials, NULL);
        return ALD_EXIT_OK;
}

static int publish(
        const AldClusterOrder *order, AldAuthority *authority, const char *name, GPtrArray *serials)
{
        const AldHome *home = authority->home;
        int r = ALD_EXIT_OK;

        if (serials->len > 0)
                r = ald_authority_revoke(authority, (const char *const *) serials->pdata);
        if (r == ALD_EXIT_OK && ald_broker_files_exist(home))
                r = ald_broker_files_admit(home, home->name, name);
        if (r == ALD_EXIT_OK)
                r = ald_services_end_sessions(home);
        if (r == ALD_EXIT_OK && serials->len > 0)
                r = ald_services_reload_clusterd(home, &order->ctl);
        return r;
}

static int hand_out(const AldClusterOrder *order, const AldHome *home, X509 *certificate, const char *name)
{
        g_autofree char *pem = ald_pki_certificate_to_pem(certificate);
        int r;

        if (order->output && strcmp(order->output, "-") != 0)
                r = ald_output_write_file(order->output, pem);
        else {
                fputs(pem, stdout);
                r = ald_print_finish();
        }
        if (r == ALD_EXIT_OK)
                ald_home_tell(home, "Signed for %s. Next: alidade-cluster(7), Several sites", name);
        return r;
}

static int run(const AldClusterOrder *order, AldAuthority *authority, const char *site, const char *text)
{
        g_autofree char *name = g_strconcat("bridge-", site, NULL);
        g_autoptr(GPtrArray) serials = g_ptr_array_new_with_free_func(g_free);
        AldPkiSubject subject = { .role = ALD_PKI_ROLE_BRIDGE, .name = site };
        g_autoptr(EVP_PKEY) key = NULL;
        const AldIssued *issued;
        int r;

        r = read_request(authority, text, &key);
        if (r == ALD_EXIT_OK)
                r = find_replaced(order, authority, name, key, serials);
        if (r != ALD_EXIT_OK)
                return r;
        subject.key = key;
        r = ald_authority_sign(authority, &subject, &issued);
        if (r == ALD_EXIT_OK)
                r = publish(order, authority, name, serials);
        return r == ALD_EXIT_OK ? hand_out(order, authority->home, issued->certificate, name) : r;
}

static int sign_text(const AldClusterOrder *order, const char *site, const char *text)
{
        bool to_file = order->output && strcmp(order->output, "-") != 0;
        g_auto(AldHome) home = ALD_HOME_INIT;
        g_auto(AldAuthority) authority = {};
        int r;

        r = ald_home_open_to_change(&home, to_file ? stdout : stderr);
        if (r == ALD_EXIT_OK)
                r = ald_authority_open(&home, &authority);
        return r == ALD_EXIT_OK ? run(order, &authority, site, text) : r;
}

int ald_cluster_sign_bridge(const AldClusterOrder *order)
{
        const char *site = order->ctl.args[0];
        AldClusterOrder rest = *order;
        g_autofree char *text = NULL;
        size_t n;
        int r;

        /* Behind the site is the file. */
        rest.ctl.args++;
        rest.n_args--;
        if (geteuid() != 0) /* before it waits for input */
                return sign_text(&rest, site, "");
        r = ald_input_read(&rest, ALD_REQUEST_MAX, &text, &n);
        return r == ALD_EXIT_OK ? sign_text(&rest, site, text) : r;
}
