/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>
#include <unistd.h>

#include "clients/cluster/authority/authority.h"
#include "clients/cluster/broker/broker-files.h"
#include "clients/cluster/command-report.h"
#include "clients/cluster/enrolment/request-and-bundle.h"
#include "clients/cluster/input-output.h"
#include "clients/cluster/services.h"
#include "clients/command-line/print.h"
#include "pki/types.h"

#define ENDING_USEC (UINT64_C(60) * 86400 * G_USEC_PER_SEC) /* a certificate that lasts longer is kept */

/* Reads the key of the broker from a request. The node must have joined, with that broker. */
static int read_request(const AldAuthority *authority, const char *text, EVP_PKEY **ret)
{
        g_auto(AldRequest) request = {};
        g_autofree char *reason = NULL;
        int r;

        r = ald_request_parse(text, (uint64_t) g_get_real_time(), &request, &reason);
        if (r < 0)
                return ald_report_failure(r, "The request is refused", reason);
        if (!request.broker) {
                ald_print_error("The request is not from a broker: on that machine, run alidadectl cluster "
                                "renew --request");
                return ALD_EXIT_ERROR;
        }
        if (request.purpose != ALD_REQUEST_RENEW ||
                !ald_authority_find(authority, request.id, false, request.node)) {
                ald_print_error(
                        "The request is refused: the machine it comes from has not joined the cluster");
                return ALD_EXIT_ERROR;
        }
        if (!ald_authority_find(authority, request.id, true, request.broker)) {
                ald_print_error("The request is refused: no certificate was signed here for the key of its "
                                "broker. First run alidadectl cluster sign --renew --broker, which reports "
                                "whether the key has changed");
                return ALD_EXIT_ERROR;
        }
        *ret = g_steal_pointer(&request.broker);
        return ALD_EXIT_OK;
}

/* Collects the serials of certificates of the site for other keys, which --replace revokes: like a node, a
 * site has certificates for one key only. */
static int find_replaced(const AldClusterCommand *command, AldAuthority *authority, const char *name,
        EVP_PKEY *key, GPtrArray *serials)
{
        for (guint i = 0; i < authority->issued->len; i++) {
                const AldIssued *issued = authority->issued->pdata[i];

                if (strcmp(issued->facts.common_name, name) != 0 || ald_issued_has_key(issued, key) ||
                        !ald_authority_is_valid(authority, issued))
                        continue;
                if (!command->replace) {
                        ald_print_error("%s has a certificate for another key; --replace revokes it", name);
                        return ALD_EXIT_ERROR;
                }
                g_ptr_array_add(serials, g_strdup(issued->facts.serial));
        }
        if (serials->len > 0)
                g_ptr_array_add(serials, NULL);
        return ALD_EXIT_OK;
}

static int publish_bridge(AldAuthority *authority, const char *name, GPtrArray *serials)
{
        const AldClusterFiles *files = authority->files;
        int r = ALD_EXIT_OK;

        if (serials->len > 0)
                r = ald_authority_revoke(authority, (const char *const *) serials->pdata);
        if (r == ALD_EXIT_OK && ald_files_is_broker(files))
                r = ald_broker_files_admit(files, files->name, name);
        if (r == ALD_EXIT_OK)
                r = ald_services_apply(files,
                        ald_services_of_broker(files) | (serials->len > 0 ? ALD_SERVICES_CLUSTERD : 0));
        return r;
}

/* Outputs the certificate. `name` is NULL if it was signed before. */
static int give_certificate(
        const AldClusterCommand *command, const AldClusterFiles *files, const char *name, X509 *certificate)
{
        g_autofree char *pem = ald_pki_certificate_to_pem(certificate);
        int r = ald_output_give(command, pem);

        if (r == ALD_EXIT_OK && name)
                ald_changes_add(files->changes, ALD_CHANGE_SIGN, name, "%s", "");
        if (r == ALD_EXIT_OK)
                ald_changes_note_next(files->changes, "Next: alidade-cluster(7), Several sites");
        return r;
}

/* Returns a certificate for this key that lasts for a while, or NULL: a second run must not change
 * anything. */
static const AldIssued *find_lasting(const AldAuthority *authority, const char *name, EVP_PKEY *key)
{
        uint64_t later = (uint64_t) g_get_real_time() + ENDING_USEC;

        for (guint i = 0; i < authority->issued->len; i++) {
                const AldIssued *issued = authority->issued->pdata[i];

                if (strcmp(issued->facts.common_name, name) == 0 && issued->facts.not_after > later &&
                        ald_issued_has_key(issued, key) && ald_authority_is_valid(authority, issued))
                        return issued;
        }
        return NULL;
}

static int sign_bridge(
        const AldClusterCommand *command, AldAuthority *authority, const char *site, const char *text)
{
        g_autofree char *name = g_strconcat(ALD_PKI_BRIDGE_PREFIX, site, NULL);
        g_autoptr(GPtrArray) serials = g_ptr_array_new_with_free_func(g_free);
        AldPkiSubject subject = { .role = ALD_PKI_ROLE_BRIDGE, .name = site };
        g_autoptr(EVP_PKEY) key = NULL;
        const AldIssued *issued = NULL;
        bool kept;
        int r;

        r = ald_output_check(command);
        if (r == ALD_EXIT_OK)
                r = read_request(authority, text, &key);
        if (r == ALD_EXIT_OK)
                r = find_replaced(command, authority, name, key, serials);
        if (r != ALD_EXIT_OK)
                return r;
        subject.key = key;
        if (serials->len == 0)
                issued = find_lasting(authority, name, key);
        kept = issued;
        if (kept)
                ald_changes_note(
                        authority->files->changes, "%s already has a certificate for this key", name);
        else
                r = ald_authority_sign(authority, &subject, NULL, &issued);
        if (r != ALD_EXIT_OK)
                return r;
        r = publish_bridge(authority, name, serials);
        if (r == ALD_EXIT_OK)
                r = give_certificate(command, authority->files, kept ? NULL : name, issued->certificate);
        if (r != ALD_EXIT_OK && !kept)
                ald_authority_forget(authority, issued);
        return r;
}

static int sign_text(const AldClusterCommand *command, const char *site, const char *text)
{
        g_auto(AldClusterFiles) files = ALD_FILES_INIT;
        g_auto(AldAuthority) authority = {};
        int r;

        r = ald_files_open_to_change(&files, command->changes);
        if (r == ALD_EXIT_OK)
                r = ald_authority_open(&files, &authority);
        return r == ALD_EXIT_OK ? sign_bridge(command, &authority, site, text) : r;
}

int ald_cluster_sign_bridge(const AldClusterCommand *command)
{
        const char *site = command->ctl.args[0];
        AldClusterCommand rest = *command;
        g_autofree char *text = NULL;
        size_t n;
        int r;

        if (!ald_pki_is_site(site)) {
                ald_print_error(
                        "\"%s\" is not a valid site name: use letters, digits, '-', '_' and '.'", site);
                return ALD_EXIT_USAGE;
        }
        r = ald_output_prepare(command);
        if (r != ALD_EXIT_OK)
                return r;
        /* The file follows the site. */
        rest.ctl.args++;
        rest.n_args--;
        if (geteuid() != 0) /* report the error before waiting for input */
                return sign_text(&rest, site, "");
        r = ald_input_read(&rest, ALD_REQUEST_MAX, &text, &n);
        return r == ALD_EXIT_OK ? sign_text(&rest, site, text) : r;
}
