/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "clients/alidadectl/cluster/addresses.h"
#include "clients/alidadectl/cluster/broker-list.h"
#include "clients/alidadectl/cluster/exchange.h"
#include "clients/alidadectl/cluster/input.h"
#include "clients/alidadectl/cluster/own.h"
#include "clients/alidadectl/cluster/services.h"
#include "clients/alidadectl/print.h"
#include "pki/certificate.h"
#include "pki/request.h"

/* A request, read, and what comes of it. */
typedef struct Signing {
        AldHome *home;
        AldAuthority *authority;
        const AldRequest *request;
        char id[ALD_PKI_ID_SIZE];
        EVP_PKEY *key;
        EVP_PKEY *broker_key;    /* NULL: no broker */
        GPtrArray *replaced;     /* serials of those of another key, and of brokers that had the address */
        const AldIssued *node;   /* NULL until signed */
        const AldIssued *broker; /* the same */
} Signing;

static int read_request(Signing *signing)
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

/* All nodes trust who answers at the addresses of a broker, so it takes a word of who signs. */
static int check_broker(const AldClusterOrder *order, const Signing *signing)
{
        g_autofree char *names = NULL;

        if (!signing->broker_key || order->broker)
                return ALD_EXIT_OK;
        names = g_strjoinv(", ", signing->request->addresses);
        ald_complain(
                "The request is refused: node %s asks to be a broker too, whom all nodes trust at %s. If it "
                "shall be one, add --broker; else have it ask again without",
                signing->id, names);
        return ALD_EXIT_ERROR;
}

static bool is_of(const AldIssued *issued, EVP_PKEY *key)
{
        return key && EVP_PKEY_eq(X509_get0_pubkey(issued->certificate), key) == 1;
}

static char *day(uint64_t usec)
{
        g_autoptr(GDateTime) time = g_date_time_new_from_unix_utc((gint64) (usec / G_USEC_PER_SEC));

        return time ? g_date_time_format(time, "%F") : g_strdup("?");
}

static int refuse(const Signing *signing, const AldIssued *issued, bool same_key)
{
        g_autofree char *until = day(issued->facts.not_after);

        if (same_key)
                ald_complain("Node %s has a certificate, valid until %s, for the same key. For a new one add "
                             "--renew",
                        signing->id, until);
        else
                ald_complain(
                        "Node %s has a certificate, valid until %s, for another key. If it was installed "
                        "anew, or lost its key, add --replace, which revokes that certificate. If this is a "
                        "copy of another machine: there, remove /etc/machine-id, run "
                        "systemd-machine-id-setup, reboot and join again",
                        signing->id, until);
        return ALD_EXIT_ERROR;
}

/* A key that was revoked may be in other hands. */
static int check_revoked(const Signing *signing)
{
        const AldAuthority *authority = signing->authority;

        for (guint i = 0; i < authority->issued->len; i++) {
                const AldIssued *one = authority->issued->pdata[i];

                if ((!is_of(one, signing->key) && !is_of(one, signing->broker_key)) ||
                        !ald_pki_crl_contains(authority->crl, one->facts.serial))
                        continue;
                ald_complain("The key of this request was revoked. If the machine may come back: there, "
                             "alidadectl cluster leave, then join, which makes a new key");
                return ALD_EXIT_ERROR;
        }
        return ALD_EXIT_OK;
}

/* An id belongs to one machine; who holds the key that was certified is that machine. */
static int check_existing(const AldClusterOrder *order, Signing *signing)
{
        const GPtrArray *issued = signing->authority->issued;
        bool replaces = false;

        for (guint i = 0; i < issued->len; i++) {
                const AldIssued *one = issued->pdata[i];
                bool same = is_of(one, signing->key);

                if (one->is_broker || strcmp(one->node, signing->id) != 0 ||
                        !ald_authority_is_valid(signing->authority, one))
                        continue;
                if (!order->replace && !(order->renew && same))
                        return refuse(signing, one, same);
                replaces = replaces || !same;
        }
        for (guint i = 0; replaces && i < issued->len; i++) {
                AldIssued *one = issued->pdata[i];

                if (ald_authority_is_of(signing->authority, one, signing->id) && !is_of(one, signing->key) &&
                        !is_of(one, signing->broker_key) && ald_authority_is_valid(signing->authority, one))
                        g_ptr_array_add(signing->replaced, g_strdup(one->facts.serial));
        }
        return ALD_EXIT_OK;
}

/* An address of the request that a broker has, or NULL. */
static const char *shared_address(const Signing *signing, const AldIssued *broker)
{
        for (char **address = signing->request->addresses; *address; address++)
                if (ald_pki_certificate_is_for_host(broker->certificate, *address))
                        return *address;
        return NULL;
}

static int refuse_address(const char *address, const char *node, bool is_here)
{
        ald_complain(
                "The request is refused: the broker of node %s%s has the address %s. %sIf several machines "
                "have that address, as that of a bridge within each, have it ask again with --address=",
                node, is_here ? ", which is this machine," : "", address,
                is_here ? ""
                        : "If that is no broker any more, add --replace, which revokes its certificate. ");
        return ALD_EXIT_ERROR;
}

/* With certificates for one address each of two brokers could pass for the other. */
static int check_addresses(const AldClusterOrder *order, Signing *signing)
{
        const GPtrArray *issued = signing->authority->issued;

        for (guint i = 0; signing->broker_key && i < issued->len; i++) {
                const AldIssued *one = issued->pdata[i];
                bool is_here = strcmp(one->node, signing->home->id) == 0;
                const char *shared;

                if (!one->is_broker || strcmp(one->node, signing->id) == 0 ||
                        !ald_authority_is_valid(signing->authority, one))
                        continue;
                shared = shared_address(signing, one);
                if (shared && (!order->replace || is_here))
                        return refuse_address(shared, one->node, is_here);
                if (shared)
                        g_ptr_array_add(signing->replaced, g_strdup(one->facts.serial));
        }
        return ALD_EXIT_OK;
}

static int sign(Signing *signing)
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
        until = day(signing->node->facts.not_after);
        ald_home_tell(signing->home, "Signed for node %s, valid until %s", signing->id, until);
        names = g_strjoinv(", ", signing->request->addresses);
        if (signing->broker)
                ald_home_tell(signing->home, "Signed for its broker at %s", names);
        return ALD_EXIT_OK;
}

/* Those who were replaced are shut out, and a new broker is told to all who ask from now on. */
static int publish(const AldClusterOrder *order, Signing *signing)
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

static int hand_out(const AldClusterOrder *order, const Signing *signing)
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
static void forget(Signing *signing)
{
        if (signing->broker)
                ald_authority_forget(signing->authority, signing->broker);
        if (signing->node)
                ald_authority_forget(signing->authority, signing->node);
}

static int run(const AldClusterOrder *order, Signing *signing)
{
        int r;

        r = read_request(signing);
        if (r == ALD_EXIT_OK)
                r = check_broker(order, signing);
        if (r == ALD_EXIT_OK)
                r = check_revoked(signing);
        if (r == ALD_EXIT_OK)
                r = check_existing(order, signing);
        if (r == ALD_EXIT_OK)
                r = check_addresses(order, signing);
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
        Signing signing = {
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
