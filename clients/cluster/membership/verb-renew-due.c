/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "clients/cluster/authority/authority.h"
#include "clients/cluster/authority/signing.h"
#include "clients/cluster/command-report.h"
#include "clients/cluster/enrolment/enrol.h"
#include "clients/cluster/services.h"
#include "clients/cluster/shown-names.h"
#include "clients/command-line/print.h"
#include "pki/file.h"

/*
 * Renews certificates automatically on each machine of a cluster: verifies and installs what the cluster
 * service received for it, and requests renewal of what expires soon. On the machine of the authority, signs
 * the requests of other nodes if they have the same keys and addresses as before.
 */

#define DAY_USEC (UINT64_C(86400) * G_USEC_PER_SEC)
#define DUE_USEC (60 * DAY_USEC)  /* renewal begins this long before the expiry */
#define AGAIN_USEC (2 * DAY_USEC) /* interval at which an unsigned request is repeated */
#define SUFFIX ".pem"

/* One run of `alidadectl cluster renew --auto`. */
typedef struct RenewRun {
        const AldClusterCommand *command;
        AldClusterFiles *files;
        AldAuthority *authority; /* NULL: not on this machine */
        uint64_t now;
        bool clusterd_must_read; /* it has something to read */
        bool broker_was_renewed; /* mosquitto has a new certificate */
} RenewRun;

static bool is_due(const RenewRun *run, uint64_t not_after)
{
        return not_after < run->now + DUE_USEC;
}

static int take_renewed(RenewRun *run)
{
        g_autofree char *text = NULL;
        int r;

        r = ald_pki_file_read_at(AT_FDCWD, run->files->renewed, ALD_PKI_PEM_MAX, &text, NULL);
        if (r < 0)
                return r == -ENOENT ? ALD_EXIT_OK : ald_report_failure(r, run->files->renewed, NULL);
        return ald_enrol_take_renewed(run->files, text, &run->clusterd_must_read, &run->broker_was_renewed);
}

/* Returns when the present request was made; 0 if there is no valid one. */
static uint64_t request_time(const RenewRun *run, const char *path)
{
        g_autofree char *text = NULL, *reason = NULL;
        g_auto(AldRequest) request = {};

        if (ald_pki_file_read(path, ALD_REQUEST_MAX, &text, NULL) < 0 ||
                ald_request_parse(text, run->now, &request, &reason) < 0)
                return 0;
        return request.made;
}

/* Removes a file that the cluster service publishes. */
static int remove_published(RenewRun *run, const char *path)
{
        int r;

        if (access(path, F_OK) < 0)
                return ALD_EXIT_OK;
        r = ald_files_begin(run->files);
        if (r == ALD_EXIT_OK)
                r = ald_files_remove(run->files, path);
        run->clusterd_must_read = true;
        return r;
}

static int update_request(RenewRun *run)
{
        const AldClusterFiles *files = run->files;
        g_autofree char *path = g_build_filename(files->folder, ALD_FILES_RENEWAL, NULL), *text = NULL;
        g_autofree char *certificate = g_build_filename(files->folder, "broker", "broker.crt", NULL);
        g_autoptr(X509) broker = NULL;
        g_auto(GStrv) addresses = NULL;
        int r;

        /* --check installs no renewed certificates that were received, so the old ones still expire soon. */
        if (!is_due(run, ald_enrol_expiry(files)) || (files->changes->check && run->clusterd_must_read))
                return remove_published(run, path);
        if (request_time(run, path) + AGAIN_USEC > run->now)
                return ALD_EXIT_OK;
        if (ald_files_is_broker(files) && ald_pki_certificate_load(certificate, &broker, NULL) >= 0)
                addresses = ald_pki_certificate_names(broker);
        r = ald_enrol_request(files, ALD_REQUEST_RENEW, addresses, &text);
        if (r == ALD_EXIT_OK)
                r = ald_files_install(files, ALD_CHANGE_WRITE, path, text, 0644,
                        ": a request to renew the certificate of this node");
        run->clusterd_must_read = true;
        return r;
}

/* Finds the newest valid bridge certificate of each site for this key, with which the broker of a node
 * connects to brokers of other sites. */
static GPtrArray *find_bridges(const AldAuthority *authority, EVP_PKEY *key)
{
        GPtrArray *bridges = g_ptr_array_new();

        for (guint i = 0; i < authority->issued->len; i++) {
                AldIssued *one = authority->issued->pdata[i];
                guint at = 0;

                if (one->node[0] != '\0' || !ald_issued_has_key(one, key) ||
                        !g_str_has_prefix(one->facts.common_name, ALD_PKI_BRIDGE_PREFIX) ||
                        !ald_authority_is_valid(authority, one))
                        continue;
                while (at < bridges->len &&
                        strcmp(((const AldIssued *) bridges->pdata[at])->facts.common_name,
                                one->facts.common_name) != 0)
                        at++;
                if (at == bridges->len)
                        g_ptr_array_add(bridges, one);
                else if (((const AldIssued *) bridges->pdata[at])->facts.not_after < one->facts.not_after)
                        bridges->pdata[at] = one;
        }
        return bridges;
}

static bool is_bridge_due(const RenewRun *run, const AldAuthority *authority, EVP_PKEY *key)
{
        g_autoptr(GPtrArray) bridges = find_bridges(authority, key);

        for (guint i = 0; i < bridges->len; i++)
                if (is_due(run, ((const AldIssued *) bridges->pdata[i])->facts.not_after))
                        return true;
        return false;
}

/* Returns why a request must not be signed automatically, or NULL. Then *ret_expires_soon is whether a
 * certificate expires soon. */
static const char *find_refusal(const RenewRun *run, const AldSigning *signing, bool *ret_expires_soon)
{
        const AldRequest *request = signing->request;
        const AldIssued *node = ald_authority_find(signing->authority, request->id, false, request->node);
        const AldIssued *broker;
        bool due_now;

        if (request->purpose != ALD_REQUEST_RENEW)
                return "it does not ask to renew a certificate";
        if (!node)
                return "it has no valid certificate for this key";
        due_now = is_due(run, node->facts.not_after);
        if (!request->broker) {
                *ret_expires_soon = due_now;
                return NULL;
        }
        broker = ald_authority_find(signing->authority, request->id, true, request->broker);
        if (!broker)
                return "its broker has no valid certificate for this key";
        if (!ald_authority_has_addresses(broker, request->addresses))
                return "its broker asks for other addresses";
        *ret_expires_soon = due_now || is_due(run, broker->facts.not_after) ||
                            is_bridge_due(run, signing->authority, request->broker);
        return NULL;
}

/* Signs the certificates of all bridges of this key anew, and adds them to `made`; *ret_pem contains all of
 * them. */
static int sign_bridges(AldAuthority *authority, EVP_PKEY *key, GPtrArray *made, char **ret_pem)
{
        g_autoptr(GPtrArray) bridges = find_bridges(authority, key);
        g_autoptr(GString) pem = g_string_new(NULL);

        for (guint i = 0; i < bridges->len; i++) {
                const AldIssued *old = bridges->pdata[i], *bridge;
                AldPkiSubject subject = { .role = ALD_PKI_ROLE_BRIDGE,
                        .name = old->facts.common_name + strlen(ALD_PKI_BRIDGE_PREFIX),
                        .key = key };
                g_autofree char *text = NULL;
                int r = ald_authority_sign(authority, &subject, NULL, &bridge);

                if (r != ALD_EXIT_OK)
                        return r;
                g_ptr_array_add(made, (gpointer) bridge);
                text = ald_pki_certificate_to_pem(bridge->certificate);
                g_string_append(pem, text);
        }
        *ret_pem = g_string_free(g_steal_pointer(&pem), FALSE);
        return ALD_EXIT_OK;
}

static int publish_renewed(AldSigning *signing, const char *bridges)
{
        AldClusterFiles *files = signing->files;
        g_autofree char *folder = g_build_filename(files->folder, ALD_FILES_RENEWED, NULL);
        g_autofree char *path = g_strdup_printf("%s/%s" SUFFIX, folder, signing->request->id);
        g_autofree char *node = ald_pki_certificate_to_pem(signing->node->certificate), *broker = NULL;
        g_autofree char *text = NULL, *until = ald_report_day(signing->node->facts.not_after);
        g_autofree char *object = g_strconcat("the certificate of node ", signing->request->id, NULL);
        int r;

        if (signing->broker)
                broker = ald_pki_certificate_to_pem(signing->broker->certificate);
        text = g_strconcat(node, broker ? broker : "", bridges ? bridges : "", NULL);
        r = ald_files_make_folder(files, folder, 0755);
        if (r == ALD_EXIT_OK)
                r = ald_files_begin(files);
        if (r == ALD_EXIT_OK)
                r = ald_files_write(files, path, text, 0644);
        /* The file may have been written nevertheless. */
        if (r != ALD_EXIT_OK)
                (void) ald_files_remove(files, path);
        else
                ald_changes_add(files->changes, ALD_CHANGE_RENEW, object, ", now valid until %s", until);
        return r;
}

static int sign_renewal(RenewRun *run, AldSigning *signing)
{
        const AldRequest *request = signing->request;
        AldPkiSubject node = { .role = ALD_PKI_ROLE_NODE, .name = request->id, .key = request->node };
        AldPkiSubject broker = { .role = ALD_PKI_ROLE_BROKER, .name = request->id, .key = request->broker };
        g_autoptr(GPtrArray) made = g_ptr_array_new();
        g_autofree char *bridges = NULL;
        int r;

        broker.names = (const char *const *) request->addresses;
        r = ald_authority_sign(signing->authority, &node, request->name, &signing->node);
        if (signing->node)
                g_ptr_array_add(made, (gpointer) signing->node);
        if (r == ALD_EXIT_OK && request->broker)
                r = ald_authority_sign(signing->authority, &broker, request->name, &signing->broker);
        if (signing->broker)
                g_ptr_array_add(made, (gpointer) signing->broker);
        if (r == ALD_EXIT_OK && request->broker)
                r = sign_bridges(signing->authority, request->broker, made, &bridges);
        if (r == ALD_EXIT_OK)
                r = publish_renewed(signing, bridges);
        /* Nobody has received them. */
        for (guint i = 0; r != ALD_EXIT_OK && i < made->len; i++)
                ald_authority_forget(signing->authority, made->pdata[i]);
        run->clusterd_must_read = run->clusterd_must_read || r == ALD_EXIT_OK;
        return r;
}

/* Refuses the request with a message, or signs it. */
static int handle_request(RenewRun *run, const char *id, const char *text)
{
        AldClusterCommand granted = { .ctl = run->command->ctl, .renew = true, .broker = true };
        g_autoptr(GPtrArray) replaced = g_ptr_array_new_with_free_func(g_free);
        g_auto(AldRequest) request = {};
        AldSigning signing = { .files = run->files, .authority = run->authority, .request = &request };
        g_autofree char *reason = NULL;
        const char *refusal = NULL;
        bool expires_soon = true;

        signing.replaced = replaced;
        if (ald_request_parse(text, run->now, &request, &reason) < 0)
                refusal = reason;
        else if (strcmp(request.id, id) != 0 || strcmp(id, run->files->id) == 0)
                refusal = "it is for another node";
        else
                refusal = find_refusal(run, &signing, &expires_soon);
        if (refusal)
                ald_print_error("Refused a request to renew from node %s: %s", id, refusal);
        if (refusal || !expires_soon || ald_signing_check(&granted, &signing) != ALD_EXIT_OK)
                return ALD_EXIT_OK;
        return sign_renewal(run, &signing);
}

/* Signs or refuses one request, and removes it. systemd starts this program again as long as the folder of
 * requests is not empty, so what cannot be signed here is removed, too. */
static int handle_entry(const AldClusterFiles *files, int folder, const char *name, void *userdata)
{
        RenewRun *run = userdata;
        g_autofree char *text = NULL;
        g_autofree char *id = g_strndup(name, ALD_PKI_ID_SIZE - 1);
        int r = ALD_EXIT_OK;

        if (run->authority && ald_pki_is_node_id(id) && strcmp(name + strlen(id), SUFFIX) == 0 &&
                ald_pki_file_read_at(folder, name, ALD_REQUEST_MAX, &text, NULL) >= 0)
                r = handle_request(run, id, text);
        return r == ALD_EXIT_OK ? ald_files_remove_request(files, folder, name, NULL) : r;
}

/* Removes certificates that were signed so long ago that they have been installed, or are requested again. */
static int remove_old_renewed(RenewRun *run)
{
        g_autofree char *folder = g_build_filename(run->files->folder, ALD_FILES_RENEWED, NULL);
        g_autoptr(GDir) dir = g_dir_open(folder, 0, NULL);
        const char *name;
        int r = ALD_EXIT_OK;

        while (dir && r == ALD_EXIT_OK && (name = g_dir_read_name(dir))) {
                g_autofree char *path = g_build_filename(folder, name, NULL);
                g_autoptr(X509) certificate = NULL;
                AldPkiFacts facts = {};

                if (ald_pki_certificate_load(path, &certificate, NULL) >= 0)
                        ald_pki_certificate_facts(certificate, &facts);
                if (facts.not_before + DUE_USEC < run->now)
                        r = remove_published(run, path);
        }
        return r;
}

/* Renews a certificate of the machine of the authority, which signs for itself. */
static int renew_own(RenewRun *run, AldAuthority *authority, bool broker)
{
        const AldClusterFiles *files = run->files;
        g_autofree char *path = g_build_filename(
                files->folder, broker ? "broker/broker.crt" : "node.crt", NULL);
        AldPkiSubject subject = { .role = broker ? ALD_PKI_ROLE_BROKER : ALD_PKI_ROLE_NODE,
                .name = files->id };
        g_autoptr(X509) certificate = NULL;
        g_auto(GStrv) names = NULL;
        g_autofree char *name = NULL;
        const AldIssued *issued;
        AldPkiFacts facts;
        int r;

        if (ald_pki_certificate_load(path, &certificate, NULL) < 0)
                return ALD_EXIT_OK;
        ald_pki_certificate_facts(certificate, &facts);
        if (!is_due(run, facts.not_after))
                return ALD_EXIT_OK;
        names = ald_pki_certificate_names(certificate);
        subject.names = (const char *const *) names;
        subject.key = X509_get0_pubkey(certificate);
        name = ald_shown_own_name();
        r = ald_authority_sign(authority, &subject, name, &issued);
        if (r == ALD_EXIT_OK) {
                r = ald_enrol_replace(files, broker, issued->certificate);
                if (r != ALD_EXIT_OK && !ald_enrol_is_installed(path, issued->certificate))
                        ald_authority_forget(authority, issued);
        }
        run->clusterd_must_read = true;
        run->broker_was_renewed = run->broker_was_renewed || broker;
        return r;
}

/* A failure for one certificate does not prevent others from being renewed. */
static int run_authority(RenewRun *run)
{
        g_auto(AldAuthority) authority = {};
        int result = ald_authority_open(run->files, &authority);

        if (result != ALD_EXIT_OK)
                return result;
        result = renew_own(run, &authority, false);
        if (ald_files_is_broker(run->files))
                ald_report_keep_first(&result, renew_own(run, &authority, true));
        ald_report_keep_first(&result, remove_old_renewed(run));
        run->authority = &authority;
        ald_report_keep_first(&result, ald_files_each_request(run->files, handle_entry, run));
        run->authority = NULL;
        return result;
}

static int run_member(RenewRun *run)
{
        int result = take_renewed(run);

        ald_report_keep_first(&result, update_request(run));
        /* Requests may be left from a time when the authority was here. */
        ald_report_keep_first(&result, ald_files_each_request(run->files, handle_entry, run));
        return result;
}

int ald_cluster_renew_due(const AldClusterCommand *command)
{
        g_auto(AldClusterFiles) files = ALD_FILES_INIT;
        RenewRun run = { .command = command, .files = &files, .now = (uint64_t) g_get_real_time() };
        int r;

        r = ald_files_open_to_change(&files, command->changes);
        if (r != ALD_EXIT_OK)
                return r;
        /* systemd starts this program again as long as the folder of requests is not empty. */
        if (*files.name == '\0')
                return ald_files_each_request(&files, ald_files_remove_request, NULL);
        r = ald_files_is_authority(&files) ? run_authority(&run) : run_member(&run);
        /* Services must read what was done, even if something else failed. */
        if (ald_services_apply(&files, (run.clusterd_must_read ? ALD_SERVICES_CLUSTERD : 0) |
                                               (run.broker_was_renewed ? ALD_SERVICES_BROKER : 0)) !=
                ALD_EXIT_OK)
                r = ALD_EXIT_ERROR;
        return r;
}
