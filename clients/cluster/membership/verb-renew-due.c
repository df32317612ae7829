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

/* State of a run. */
typedef struct Due {
        const AldClusterCommand *command;
        AldClusterFiles *files;
        AldAuthority *authority; /* NULL: not on this machine */
        uint64_t now;
        bool notifies; /* the cluster service has something to read */
        bool broker;   /* mosquitto has a new certificate */
} Due;

static bool is_due(const Due *due, uint64_t not_after)
{
        return not_after < due->now + DUE_USEC;
}

static int take_renewed(Due *due)
{
        g_autofree char *text = NULL;
        int r;

        r = ald_pki_file_read_at(AT_FDCWD, due->files->renewed, ALD_PKI_PEM_MAX, &text, NULL);
        if (r < 0)
                return r == -ENOENT ? ALD_EXIT_OK : ald_report_failure(r, due->files->renewed, NULL);
        return ald_enrol_take_renewed(due->files, text, &due->notifies, &due->broker);
}

/* Returns when the present request was made; 0 if there is no valid one. */
static uint64_t request_time(const Due *due, const char *path)
{
        g_autofree char *text = NULL, *reason = NULL;
        g_auto(AldRequest) request = {};

        if (ald_pki_file_read(path, ALD_REQUEST_MAX, &text, NULL) < 0 ||
                ald_request_parse(text, due->now, &request, &reason) < 0)
                return 0;
        return request.made;
}

/* Removes a file that the cluster service publishes. */
static int remove_published(Due *due, const char *path)
{
        int r;

        if (access(path, F_OK) < 0)
                return ALD_EXIT_OK;
        r = ald_files_begin(due->files);
        if (r == ALD_EXIT_OK)
                r = ald_files_remove(due->files, path);
        due->notifies = true;
        return r;
}

static int update_request(Due *due)
{
        const AldClusterFiles *files = due->files;
        g_autofree char *path = g_build_filename(files->folder, ALD_FILES_RENEWAL, NULL), *text = NULL;
        g_autofree char *certificate = g_build_filename(files->folder, "broker", "broker.crt", NULL);
        g_autoptr(X509) broker = NULL;
        g_auto(GStrv) addresses = NULL;
        int r;

        /* --check installs no renewed certificates that were received, so the old ones still expire soon. */
        if (!is_due(due, ald_enrol_expiry(files)) || (files->changes->check && due->notifies))
                return remove_published(due, path);
        if (request_time(due, path) + AGAIN_USEC > due->now)
                return ALD_EXIT_OK;
        if (ald_files_is_broker(files) && ald_pki_certificate_load(certificate, &broker, NULL) >= 0)
                addresses = ald_pki_certificate_names(broker);
        r = ald_enrol_request(files, ALD_REQUEST_RENEW, addresses, &text);
        if (r == ALD_EXIT_OK)
                r = ald_files_install(files, ALD_CHANGE_WRITE, path, text, 0644,
                        ": a request to renew the certificate of this node");
        due->notifies = true;
        return r;
}

/* Finds the newest valid bridge certificate of each site for this key, with which the broker of a node
 * connects to brokers of other sites. */
static GPtrArray *find_bridges(const AldAuthority *authority, EVP_PKEY *key)
{
        GPtrArray *bridges = g_ptr_array_new();

        for (guint i = 0; i < authority->issued->len; i++) {
                AldIssued *one = authority->issued->pdata[i];
                AldIssued *known = NULL;
                guint at = 0;

                if (one->node[0] != '\0' || EVP_PKEY_eq(X509_get0_pubkey(one->certificate), key) != 1 ||
                        !g_str_has_prefix(one->facts.common_name, ALD_PKI_BRIDGE_PREFIX) ||
                        !ald_authority_is_valid(authority, one))
                        continue;
                for (at = 0; at < bridges->len && !known; at++)
                        if (strcmp(((AldIssued *) bridges->pdata[at])->facts.common_name,
                                    one->facts.common_name) == 0)
                                known = bridges->pdata[at];
                if (!known)
                        g_ptr_array_add(bridges, one);
                else if (known->facts.not_after < one->facts.not_after)
                        bridges->pdata[at - 1] = one;
        }
        return bridges;
}

static bool is_bridge_due(const Due *due, const AldAuthority *authority, EVP_PKEY *key)
{
        g_autoptr(GPtrArray) bridges = find_bridges(authority, key);

        for (guint i = 0; i < bridges->len; i++)
                if (is_due(due, ((const AldIssued *) bridges->pdata[i])->facts.not_after))
                        return true;
        return false;
}

/* Returns why a request must not be signed automatically, or NULL. Then *ret_due is whether a certificate
 * expires soon. */
static const char *refuse_renewal(const Due *due, const AldSigning *signing, bool *ret_due)
{
        const AldRequest *request = signing->request;
        const AldIssued *node = ald_authority_find(signing->authority, request->id, false, request->node);
        const AldIssued *broker;
        bool due_now;

        if (request->purpose != ALD_REQUEST_RENEW)
                return "it does not ask to renew a certificate";
        if (!node)
                return "it has no valid certificate for this key";
        due_now = is_due(due, node->facts.not_after);
        if (!request->broker) {
                *ret_due = due_now;
                return NULL;
        }
        broker = ald_authority_find(signing->authority, request->id, true, request->broker);
        if (!broker)
                return "its broker has no valid certificate for this key";
        if (!ald_authority_has_addresses(broker, request->addresses))
                return "its broker asks for other addresses";
        *ret_due = due_now || is_due(due, broker->facts.not_after) ||
                   is_bridge_due(due, signing->authority, request->broker);
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

static int sign_renewal(Due *due, AldSigning *signing)
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
        due->notifies = due->notifies || r == ALD_EXIT_OK;
        return r;
}

/* Refuses the request with a message, or signs it. */
static int handle_request(Due *due, const char *id, const char *text)
{
        AldClusterCommand granted = { .ctl = due->command->ctl, .renew = true, .broker = true };
        g_autoptr(GPtrArray) replaced = g_ptr_array_new_with_free_func(g_free);
        g_auto(AldRequest) request = {};
        AldSigning signing = { .files = due->files, .authority = due->authority, .request = &request };
        g_autofree char *reason = NULL;
        const char *refusal = NULL;
        bool wanted = true;

        signing.replaced = replaced;
        if (ald_request_parse(text, due->now, &request, &reason) < 0)
                refusal = reason;
        else if (strcmp(request.id, id) != 0 || strcmp(id, due->files->id) == 0)
                refusal = "it is for another node";
        else
                refusal = refuse_renewal(due, &signing, &wanted);
        if (refusal)
                ald_print_error("Refused a request to renew from node %s: %s", id, refusal);
        if (refusal || !wanted || ald_signing_check(&granted, &signing) != ALD_EXIT_OK)
                return ALD_EXIT_OK;
        return sign_renewal(due, &signing);
}

/* Handles and removes one request. systemd starts this program as long as there is an entry, so what cannot
 * be signed here is removed too. */
static int handle_entry(const AldClusterFiles *files, int folder, const char *name, void *userdata)
{
        Due *due = userdata;
        g_autofree char *text = NULL;
        g_autofree char *id = g_strndup(name, ALD_PKI_ID_SIZE - 1);
        int r = ALD_EXIT_OK;

        if (due->authority && ald_pki_is_node_id(id) && strcmp(name + strlen(id), SUFFIX) == 0 &&
                ald_pki_file_read_at(folder, name, ALD_REQUEST_MAX, &text, NULL) >= 0)
                r = handle_request(due, id, text);
        return r == ALD_EXIT_OK ? ald_files_remove_request(files, folder, name, NULL) : r;
}

/* Removes certificates that were signed so long ago that they have been installed, or are requested again. */
static int remove_old_answers(Due *due)
{
        g_autofree char *folder = g_build_filename(due->files->folder, ALD_FILES_RENEWED, NULL);
        g_autoptr(GDir) dir = g_dir_open(folder, 0, NULL);
        const char *name;
        int r = ALD_EXIT_OK;

        while (dir && r == ALD_EXIT_OK && (name = g_dir_read_name(dir))) {
                g_autofree char *path = g_build_filename(folder, name, NULL);
                g_autoptr(X509) certificate = NULL;
                AldPkiFacts facts = {};

                if (ald_pki_certificate_load(path, &certificate, NULL) >= 0)
                        ald_pki_certificate_facts(certificate, &facts);
                if (facts.not_before + DUE_USEC < due->now)
                        r = remove_published(due, path);
        }
        return r;
}

/* Renews a certificate of the machine of the authority, which signs for itself. */
static int renew_own(Due *due, AldAuthority *authority, bool broker)
{
        const AldClusterFiles *files = due->files;
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
        if (!is_due(due, facts.not_after))
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
        due->notifies = true;
        due->broker = due->broker || broker;
        return r;
}

/* Keeps the first failure; a failure for one certificate does not prevent others from being renewed. */
static void add_result(int *result, int r)
{
        if (*result == ALD_EXIT_OK)
                *result = r;
}

static int run_authority(Due *due)
{
        g_auto(AldAuthority) authority = {};
        int result = ald_authority_open(due->files, &authority);

        if (result != ALD_EXIT_OK)
                return result;
        result = renew_own(due, &authority, false);
        if (ald_files_is_broker(due->files))
                add_result(&result, renew_own(due, &authority, true));
        add_result(&result, remove_old_answers(due));
        due->authority = &authority;
        add_result(&result, ald_files_each_request(due->files, handle_entry, due));
        due->authority = NULL;
        return result;
}

static int run_member(Due *due)
{
        int result = take_renewed(due);

        add_result(&result, update_request(due));
        /* Requests may be left from a time when the authority was here. */
        add_result(&result, ald_files_each_request(due->files, handle_entry, due));
        return result;
}

int ald_cluster_renew_due(const AldClusterCommand *command)
{
        g_auto(AldClusterFiles) files = ALD_FILES_INIT;
        Due due = { .command = command, .files = &files, .now = (uint64_t) g_get_real_time() };
        int r;

        r = ald_files_open_to_change(&files, command->changes);
        if (r != ALD_EXIT_OK)
                return r;
        /* systemd starts this program as long as there is an entry. */
        if (*files.name == '\0')
                return ald_files_each_request(&files, ald_files_remove_request, NULL);
        r = ald_files_is_authority(&files) ? run_authority(&due) : run_member(&due);
        /* Services must read what was done, even if something else failed. */
        if (ald_services_apply(&files, (due.notifies ? ALD_SERVICES_CLUSTERD : 0) |
                                               (due.broker ? ALD_SERVICES_BROKER : 0)) != ALD_EXIT_OK)
                r = ALD_EXIT_ERROR;
        return r;
}
