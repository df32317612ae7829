/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>
#include <unistd.h>

#include "clients/cluster/authority/signing.h"
#include "clients/cluster/broker/addresses.h"
#include "clients/cluster/command-report.h"
#include "clients/cluster/input-output.h"
#include "clients/cluster/services.h"
#include "clients/command-line/print.h"
#include "pki/file.h"
#include "pki/verify.h"

#define SECOND_USEC ((uint64_t) G_USEC_PER_SEC) /* certificates have a resolution of one second */

/* Refuses a request of this machine itself, or of a copy of it. */
static int check_id(const AldSigning *signing)
{
        if (strcmp(signing->request->id, signing->files->id) != 0)
                return ALD_EXIT_OK;
        ald_print_error(
                "The request is refused: it has the id of this machine, which signs for itself. If it "
                "comes from a copy of this machine, remove /etc/machine-id there, run "
                "systemd-machine-id-setup, reboot and join again");
        return ALD_EXIT_ERROR;
}

/* Returns whether the certificate of the broker is for all of these addresses, and for none that --address=
 * does not allow. */
static bool matches_addresses(const AldClusterCommand *command, const AldIssued *broker, char **addresses)
{
        g_auto(GStrv) names = NULL, disallowed = NULL;

        if (!broker || !ald_authority_has_addresses(broker, addresses))
                return false;
        names = ald_pki_certificate_names(broker->certificate);
        disallowed = ald_signing_disallowed_hosts(command, names);
        return !*disallowed;
}

/* Finds the certificates that were signed for these keys before, if the request is to join once more. Returns
 * false if new ones are needed. */
static bool find_kept(const AldClusterCommand *command, AldSigning *signing)
{
        const AldRequest *request = signing->request;
        const AldIssued *node, *broker = NULL;
        g_autofree char *until = NULL, *label = NULL;

        if (command->renew || request->purpose == ALD_REQUEST_RENEW || signing->replaced->len > 0)
                return false;
        node = ald_authority_find(signing->authority, request->id, false, request->node);
        if (request->broker)
                broker = ald_authority_find(signing->authority, request->id, true, request->broker);
        if (!node || (request->broker && !matches_addresses(command, broker, request->addresses)))
                return false;
        until = ald_report_day(node->facts.not_after);
        label = ald_authority_label(signing->authority, request->id);
        ald_changes_note(signing->files->changes,
                "Node %s already has a certificate for this key, valid until %s", label, until);
        signing->node = node;
        signing->broker = broker;
        signing->kept = true;
        return true;
}

static int sign_request(AldSigning *signing)
{
        const AldRequest *request = signing->request;
        AldPkiSubject node = { .role = ALD_PKI_ROLE_NODE, .name = request->id, .key = request->node };
        AldPkiSubject broker = { .role = ALD_PKI_ROLE_BROKER, .name = request->id, .key = request->broker };
        int r;

        broker.names = (const char *const *) request->addresses;
        r = ald_authority_sign(signing->authority, &node, request->name, &signing->node);
        if (r == ALD_EXIT_OK && request->broker)
                r = ald_authority_sign(signing->authority, &broker, request->name, &signing->broker);
        return r;
}

static void report_signed(const AldSigning *signing)
{
        g_autofree char *until = ald_report_day(signing->node->facts.not_after);
        g_autofree char *label = ald_authority_label(signing->authority, signing->request->id);
        g_autofree char *object = g_strconcat("node ", label, NULL);
        g_autofree char *names = g_strjoinv(", ", signing->request->addresses);

        ald_changes_add(signing->files->changes, ALD_CHANGE_SIGN, object, ", valid until %s", until);
        if (signing->broker)
                ald_changes_add(signing->files->changes, ALD_CHANGE_SIGN, "its broker", " at %s", names);
}

/* Revokes the replaced certificates, and adds a new broker to the list that nodes get from now on. */
static int publish_changes(AldSigning *signing)
{
        AldClusterFiles *files = signing->files;
        g_auto(GStrv) brokers = NULL, known = NULL;
        AldServices services = ALD_SERVICES_CLUSTERD;
        int r = ALD_EXIT_OK;

        if (signing->replaced->len > 0) {
                g_ptr_array_add(signing->replaced, NULL);
                r = ald_authority_revoke(signing->authority, (const char *const *) signing->replaced->pdata);
                services |= ald_services_of_broker(files);
        }
        if (r == ALD_EXIT_OK && signing->broker) {
                known = ald_authority_broker_hosts(signing->authority, signing->request->id);
                brokers = ald_broker_list_put(files->brokers, known, signing->request->addresses[0]);
                if (!g_strv_equal((const char *const *) brokers, (const char *const *) files->brokers))
                        r = ald_files_configure(files, files->name, (const char *const *) brokers);
        }
        return r == ALD_EXIT_OK ? ald_services_apply(files, services) : r;
}

static int give_bundle(const AldClusterCommand *command, const AldSigning *signing)
{
        g_auto(AldBundle) bundle = { .cluster = g_strdup(signing->files->name),
                .brokers = g_strdupv(signing->files->brokers) };
        g_autofree char *text = NULL;
        int r;

        bundle.ca = ald_pki_certificate_to_pem(signing->authority->ca);
        bundle.crl = ald_pki_crl_to_pem(signing->authority->crl);
        bundle.node = ald_pki_certificate_to_pem(signing->node->certificate);
        if (signing->broker)
                bundle.broker = ald_pki_certificate_to_pem(signing->broker->certificate);
        text = ald_bundle_format(&bundle);
        r = ald_output_give(command, text);
        if (r == ALD_EXIT_OK && !signing->kept)
                report_signed(signing);
        if (r == ALD_EXIT_OK && !ald_output_is_standard(command))
                ald_changes_note_next(signing->files->changes,
                        "Next: on the machine that asked: alidadectl cluster %s --accept %s",
                        signing->request->purpose == ALD_REQUEST_RENEW ? "renew" : "join", command->output);
        return r;
}

/* Forgets the certificates, which nobody has received, so that they do not prevent another attempt. */
static void forget_signed(AldSigning *signing)
{
        if (signing->kept)
                return;
        if (signing->broker)
                ald_authority_forget(signing->authority, signing->broker);
        if (signing->node)
                ald_authority_forget(signing->authority, signing->node);
}

static int check_and_sign(const AldClusterCommand *command, AldSigning *signing)
{
        int r;

        r = check_id(signing);
        if (r == ALD_EXIT_OK)
                r = ald_signing_check(command, signing);
        if (r != ALD_EXIT_OK)
                return r;
        r = find_kept(command, signing) ? ALD_EXIT_OK : sign_request(signing);
        if (r == ALD_EXIT_OK)
                r = publish_changes(signing);
        if (r == ALD_EXIT_OK)
                r = give_bundle(command, signing);
        if (r != ALD_EXIT_OK)
                forget_signed(signing);
        return r;
}

/* Returns whether a certificate is only for hosts that --address= allows; true if there is none. */
static bool is_for_allowed_hosts(const AldClusterCommand *command, const char *pem)
{
        g_auto(GStrv) names = NULL, disallowed = NULL;
        g_autoptr(X509) certificate = NULL;

        if (!pem)
                return true;
        if (ald_pki_certificate_parse(pem, strlen(pem), &certificate, NULL) < 0)
                return false;
        names = ald_pki_certificate_names(certificate);
        disallowed = ald_signing_disallowed_hosts(command, names);
        return !*disallowed;
}

/* Returns whether the output file already contains the answer to this request to renew. Certificates are
 * backdated a little. */
static bool is_renewed(const AldClusterCommand *command, const AldSigning *signing)
{
        const AldRequest *request = signing->request;
        const AldAuthority *authority = signing->authority;
        g_autofree char *text = NULL, *reason = NULL;
        g_autoptr(X509) certificate = NULL;
        g_auto(AldBundle) bundle = {};
        AldPkiFacts facts;
        size_t n;

        if (request->purpose != ALD_REQUEST_RENEW || !command->output ||
                ald_pki_file_read(command->output, ALD_BUNDLE_MAX, &text, &n) < 0 ||
                ald_bundle_parse(text, n, &bundle, &reason) < 0 || !bundle.broker != !request->broker ||
                !is_for_allowed_hosts(command, bundle.broker) ||
                ald_pki_certificate_parse(bundle.node, strlen(bundle.node), &certificate, NULL) < 0 ||
                EVP_PKEY_eq(X509_get0_pubkey(certificate), request->node) != 1 ||
                ald_pki_verify(authority->ca, authority->crl, certificate, ALD_PKI_ROLE_NODE, request->id,
                        (uint64_t) g_get_real_time(), NULL) < 0)
                return false;
        ald_pki_certificate_facts(certificate, &facts);
        return facts.not_before + ALD_PKI_BACKDATE_SECONDS * SECOND_USEC + SECOND_USEC > request->made;
}

/* Signs one request with an open authority. In a folder, requests to renew need no --renew. */
static int sign_one(const AldClusterCommand *command, AldClusterFiles *files, AldAuthority *authority,
        const char *text, bool folder)
{
        g_autoptr(GPtrArray) replaced = g_ptr_array_new_with_free_func(g_free);
        g_auto(AldRequest) request = {};
        g_autofree char *reason = NULL;
        AldSigning signing = {
                .files = files, .authority = authority, .request = &request, .replaced = replaced
        };
        AldClusterCommand granted = *command;
        int r;

        r = ald_request_parse(text, (uint64_t) g_get_real_time(), &request, &reason);
        if (r < 0)
                return ald_report_failure(r, "The request is refused", reason);
        r = ald_signing_check_allowed(command, &signing);
        if (r != ALD_EXIT_OK)
                return r;
        if (is_renewed(command, &signing)) {
                ald_changes_note(
                        files->changes, "Kept %s: it is the answer to this request", command->output);
                return ALD_EXIT_OK;
        }
        r = ald_output_check(command);
        if (r != ALD_EXIT_OK)
                return r;
        granted.renew = command->renew ||
                        (folder && !command->replace && request.purpose == ALD_REQUEST_RENEW);
        return check_and_sign(&granted, &signing);
}

static int open_authority(const AldClusterCommand *command, AldClusterFiles *files, AldAuthority *authority)
{
        int r;

        r = ald_files_open_to_change(files, command->changes);
        if (r == ALD_EXIT_OK)
                r = ald_authority_open(files, authority);
        if (r == ALD_EXIT_OK && *files->name == '\0') {
                ald_print_error("alidadectl cluster init was interrupted: run it again");
                r = ALD_EXIT_ERROR;
        }
        return r;
}

static int sign_text(const AldClusterCommand *command, const char *text)
{
        g_auto(AldClusterFiles) files = ALD_FILES_INIT;
        g_auto(AldAuthority) authority = {};
        int r = open_authority(command, &files, &authority);

        return r == ALD_EXIT_OK ? sign_one(command, &files, &authority, text, false) : r;
}

static int sign_file(
        const AldClusterCommand *command, AldClusterFiles *files, AldAuthority *authority, const char *name)
{
        g_autofree char *path = g_build_filename(command->ctl.args[0], name, NULL), *text = NULL;
        g_autofree char *output = g_build_filename(command->output, name, NULL);
        AldClusterCommand one = *command;
        size_t n;
        int r;

        r = ald_pki_file_read(path, ALD_REQUEST_MAX, &text, &n);
        if (r < 0)
                return ald_report_failure(r, path, NULL);
        one.output = output;
        r = sign_one(&one, files, authority, text, true);
        if (r != ALD_EXIT_OK)
                ald_print_error("%s was not signed", path);
        return r;
}

static int compare_names(gconstpointer a, gconstpointer b)
{
        return strcmp(*(const char *const *) a, *(const char *const *) b);
}

/* Signs all requests in a folder, in the order of their names. A refused one does not prevent the others from
 * being signed. */
static int sign_folder(const AldClusterCommand *command)
{
        g_autoptr(GPtrArray) names = g_ptr_array_new_with_free_func(g_free);
        g_autoptr(GDir) dir = g_dir_open(command->ctl.args[0], 0, NULL);
        g_auto(AldClusterFiles) files = ALD_FILES_INIT;
        g_auto(AldAuthority) authority = {};
        unsigned n_refused = 0;
        const char *name;
        int r;

        if (!command->output || !g_file_test(command->output, G_FILE_TEST_IS_DIR)) {
                ald_print_error(
                        "%s is a folder, so --output= must name an existing folder", command->ctl.args[0]);
                return ALD_EXIT_USAGE;
        }
        while (dir && (name = g_dir_read_name(dir)))
                if (name[0] != '.')
                        g_ptr_array_add(names, g_strdup(name));
        g_ptr_array_sort(names, compare_names);
        r = open_authority(command, &files, &authority);
        if (r != ALD_EXIT_OK)
                return r;
        for (guint i = 0; i < names->len; i++)
                n_refused += sign_file(command, &files, &authority, names->pdata[i]) != ALD_EXIT_OK;
        ald_changes_note(files.changes, "%u of %u requests %s answered in %s", names->len - n_refused,
                names->len, command->changes->check ? "would be" : "are", command->output);
        return n_refused > 0 ? ALD_EXIT_ERROR : ALD_EXIT_OK;
}

static int check_options(const AldClusterCommand *command)
{
        if (command->replace && command->renew) {
                ald_print_error("--replace and --renew cannot be combined");
                return ALD_EXIT_USAGE;
        }
        if (command->addresses->len > 0 && !command->broker) {
                ald_print_error("--address needs --broker");
                return ALD_EXIT_USAGE;
        }
        for (guint i = 0; i < command->addresses->len; i++) {
                const char *host = command->addresses->pdata[i], *reason = ald_host_refuse(host);

                if (reason) {
                        ald_print_error("--address=%s: %s", host, reason);
                        return ALD_EXIT_USAGE;
                }
        }
        return ALD_EXIT_OK;
}

int ald_cluster_sign(const AldClusterCommand *command)
{
        g_autofree char *text = NULL;
        size_t n;
        int r;

        r = check_options(command);
        if (r == ALD_EXIT_OK)
                r = ald_output_prepare(command);
        if (r != ALD_EXIT_OK)
                return r;
        if (geteuid() != 0) /* report the error before waiting for input */
                return sign_text(command, "");
        if (command->n_args > 0 && g_file_test(command->ctl.args[0], G_FILE_TEST_IS_DIR))
                return sign_folder(command);
        r = ald_input_read(command, ALD_REQUEST_MAX, &text, &n);
        return r == ALD_EXIT_OK ? sign_text(command, text) : r;
}
