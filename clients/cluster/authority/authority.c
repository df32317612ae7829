/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "clients/cluster/authority/authority.h"
#include "clients/cluster/command-report.h"
#include "clients/cluster/services.h"
#include "clients/command-line/print.h"
#include "pki/file.h"
#include "pki/private-key.h"

#define NUMBER_BYTES_MAX 32u
#define NAME "Name: "

static const char not_here[] =
        "This machine does not have the key of the certificate authority: use the machine "
        "where the cluster was created";
static const char not_whole[] = "The certificate authority of the cluster is incomplete";

static uint64_t now_usec(void)
{
        return (uint64_t) g_get_real_time();
}

static void issued_free(gpointer data)
{
        AldIssued *issued = data;

        X509_free(issued->certificate);
        g_free(issued->path);
        g_free(issued->name);
        g_free(issued);
}

/* Reads the name of the node from the line before the certificate, which readers of PEM skip; NULL if there
 * is none. */
static char *read_name(const char *text)
{
        return g_str_has_prefix(text, NAME)
                       ? g_strndup(text + strlen(NAME), strcspn(text, "\n") - strlen(NAME))
                       : NULL;
}

/* Takes ownership of the certificate. */
static AldIssued *add_issued(AldAuthority *authority, X509 *certificate)
{
        AldIssued *issued = g_new0(AldIssued, 1);
        const char *name = issued->facts.common_name;

        issued->certificate = certificate;
        ald_pki_certificate_facts(certificate, &issued->facts);
        issued->is_broker = g_str_has_prefix(name, ALD_PKI_BROKER_PREFIX);
        if (issued->is_broker)
                name += strlen(ALD_PKI_BROKER_PREFIX);
        if (ald_pki_is_node_id(name))
                (void) g_strlcpy(issued->node, name, sizeof issued->node);
        issued->path = g_strdup_printf("%s/issued/%s.crt", authority->folder, issued->facts.serial);
        g_ptr_array_add(authority->issued, issued);
        return issued;
}

static int load_issued(AldAuthority *authority)
{
        g_autofree char *folder = g_build_filename(authority->folder, "issued", NULL);
        g_autoptr(GError) error = NULL;
        g_autoptr(GDir) dir = g_dir_open(folder, 0, &error);
        const char *name;

        if (!dir && authority->files->changes->check &&
                g_error_matches(error, G_FILE_ERROR, G_FILE_ERROR_NOENT))
                return ALD_EXIT_OK; /* without --check it would exist by now */
        if (!dir)
                return ald_report_failure(-EIO, folder, error->message);
        while ((name = g_dir_read_name(dir))) {
                g_autofree char *path = g_build_filename(folder, name, NULL), *reason = NULL, *text = NULL;
                X509 *certificate = NULL;
                size_t n;
                int r;

                if (name[0] == '.' || !g_str_has_suffix(name, ".crt"))
                        continue;
                /* Skipping a certificate might let a second machine have the same id, or leave one
                 * unrevoked. */
                r = ald_pki_file_read(path, ALD_PKI_PEM_MAX, &text, &n);
                if (r >= 0)
                        r = ald_pki_certificate_parse(text, n, &certificate, &reason);
                if (r < 0) {
                        ald_print_error("%s: %s; move it away if it is not a certificate", path,
                                reason ? reason : strerror(-r));
                        return ALD_EXIT_ERROR;
                }
                add_issued(authority, certificate)->name = read_name(text);
        }
        return ALD_EXIT_OK;
}

static void init_authority(AldAuthority *authority, const AldClusterFiles *files)
{
        authority->files = files;
        authority->folder = g_build_filename(files->folder, "ca", NULL);
        authority->issued = g_ptr_array_new_with_free_func(issued_free);
}

/* Loads the list that the cluster service received, if this authority has signed it; else returns NULL. */
static X509_CRL *load_received(const AldAuthority *authority)
{
        g_autofree char *text = NULL;
        g_autoptr(X509_CRL) crl = NULL;
        size_t n;

        if (ald_pki_file_read_at(AT_FDCWD, authority->files->received_crl, ALD_PKI_CRL_MAX, &text, &n) < 0 ||
                ald_pki_crl_parse(text, n, &crl, NULL) < 0 ||
                ald_pki_crl_verify(crl, authority->ca, NULL) < 0)
                return NULL;
        return g_steal_pointer(&crl);
}

/*
 * Merges the list that the cluster service received. An authority that was restored from a backup finds lists
 * of the previous one, which have greater or equal numbers. The newer list is used, and certificates that
 * only the other one revokes are revoked again.
 */
static int merge_received(AldAuthority *authority)
{
        g_autoptr(X509_CRL) received = load_received(authority);
        g_auto(GStrv) beyond = NULL;
        int r;

        if (!received)
                return ALD_EXIT_OK;
        if (ald_pki_crl_number(received) > ald_pki_crl_number(authority->crl)) {
                X509_CRL *older = authority->crl;

                authority->crl = g_steal_pointer(&received);
                received = older;
        }
        beyond = ald_pki_crl_beyond(received, authority->crl);
        if (!*beyond)
                return ALD_EXIT_OK;
        r = ald_authority_revoke(authority, (const char *const *) beyond);
        if (r == ALD_EXIT_OK)
                r = ald_services_apply(
                        authority->files, ALD_SERVICES_CLUSTERD | ald_services_of_broker(authority->files));
        return r;
}

static AldAuthority steal_authority(AldAuthority *authority)
{
        AldAuthority stolen = *authority;

        *authority = (AldAuthority){};
        return stolen;
}

int ald_authority_open(const AldClusterFiles *files, AldAuthority *ret)
{
        g_autofree char *key = g_build_filename(files->folder, "ca", "ca.key", NULL), *reason = NULL;
        g_autofree char *ca = g_build_filename(files->folder, "ca.crt", NULL);
        g_autofree char *crl = g_build_filename(files->folder, "crl.pem", NULL);
        g_auto(AldAuthority) authority = {};
        int r;

        if (!ald_files_is_authority(files)) {
                ald_print_error("%s", not_here);
                return ALD_EXIT_ERROR;
        }
        init_authority(&authority, files);
        r = ald_pki_key_load(key, &authority.key, &reason);
        if (r >= 0)
                r = ald_pki_certificate_load(ca, &authority.ca, &reason);
        if (r >= 0)
                r = ald_pki_crl_load(crl, &authority.crl, &reason);
        if (r < 0)
                return ald_report_failure(r, not_whole, reason);
        r = load_issued(&authority);
        if (r == ALD_EXIT_OK)
                r = merge_received(&authority);
        if (r == ALD_EXIT_OK)
                *ret = steal_authority(&authority);
        return r;
}

int ald_authority_read(const AldClusterFiles *files, AldAuthority *ret)
{
        g_autofree char *ca = g_build_filename(files->folder, "ca.crt", NULL), *reason = NULL;
        g_autofree char *crl = g_build_filename(files->folder, "crl.pem", NULL);
        g_auto(AldAuthority) authority = {};
        g_autoptr(X509_CRL) received = NULL;
        int r;

        if (!ald_files_is_authority(files)) {
                ald_print_error("%s", not_here);
                return ALD_EXIT_ERROR;
        }
        init_authority(&authority, files);
        r = ald_pki_certificate_load(ca, &authority.ca, &reason);
        if (r >= 0)
                r = ald_pki_crl_load(crl, &authority.crl, &reason);
        if (r < 0)
                return ald_report_failure(r, not_whole, reason);
        received = load_received(&authority);
        if (received && ald_pki_crl_number(received) > ald_pki_crl_number(authority.crl)) {
                X509_CRL_free(authority.crl);
                authority.crl = g_steal_pointer(&received);
        }
        r = load_issued(&authority);
        if (r == ALD_EXIT_OK)
                *ret = steal_authority(&authority);
        return r;
}

void ald_authority_close(AldAuthority *authority)
{
        g_clear_pointer(&authority->ca, X509_free);
        g_clear_pointer(&authority->key, EVP_PKEY_free);
        g_clear_pointer(&authority->crl, X509_CRL_free);
        g_clear_pointer(&authority->issued, g_ptr_array_unref);
        g_clear_pointer(&authority->folder, g_free);
}

/* Loads the key of the authority, or creates it if there is none. */
static int obtain_key(AldAuthority *authority)
{
        const AldClusterFiles *files = authority->files;
        g_autofree char *path = g_build_filename(authority->folder, "ca.key", NULL), *reason = NULL;
        int r;

        if (ald_files_is_authority(files)) {
                r = ald_pki_key_load(path, &authority->key, &reason);
                return r < 0 ? ald_report_failure(r, not_whole, reason) : ALD_EXIT_OK;
        }
        r = ald_pki_key_generate(&authority->key, &reason);
        if (r >= 0 && !files->changes->check)
                r = ald_pki_key_save(authority->key, path, 0600, 0, 0, &reason);
        if (r < 0)
                return ald_report_failure(r, "Cannot create the key of the certificate authority", reason);
        ald_changes_add(files->changes, ALD_CHANGE_MAKE, path,
                ": this key admits nodes to the cluster; keep a copy in a safe place");
        return ALD_EXIT_OK;
}

static int obtain_certificate(AldAuthority *authority, const char *cluster)
{
        const AldClusterFiles *files = authority->files;
        g_autofree char *path = g_build_filename(files->folder, "ca.crt", NULL);
        g_autofree char *pem = NULL, *reason = NULL;
        int r;

        if (ald_files_has(files, "ca.crt")) {
                r = ald_pki_certificate_load(path, &authority->ca, &reason);
                return r < 0 ? ald_report_failure(r, not_whole, reason) : ALD_EXIT_OK;
        }
        r = ald_pki_ca_make(authority->key, cluster, now_usec(), &authority->ca, &reason);
        if (r < 0)
                return ald_report_failure(r, "Cannot create the certificate authority", reason);
        pem = ald_pki_certificate_to_pem(authority->ca);
        return ald_files_install(files, ALD_CHANGE_MAKE, path, pem, 0644,
                ": the certificate authority of cluster %s", cluster);
}

/* Returns the greatest number that a list may have had, including lists that were written but not
 * installed. */
static uint64_t greatest_crl_number(const AldAuthority *authority)
{
        g_autofree char *path = g_build_filename(authority->folder, "crl-number", NULL), *text = NULL;
        uint64_t number = authority->crl ? ald_pki_crl_number(authority->crl) : 0;
        guint64 noted;
        size_t n;

        if (ald_pki_file_read(path, NUMBER_BYTES_MAX, &text, &n) >= 0 &&
                g_ascii_string_to_unsigned(g_strstrip(text), 10, 0, G_MAXINT64, &noted, NULL))
                number = MAX(number, noted);
        return number;
}

int ald_authority_revoke(AldAuthority *authority, const char *const *serials)
{
        g_autofree char *noted = g_build_filename(authority->folder, "crl-number", NULL);
        g_autofree char *path = g_build_filename(authority->files->folder, "crl.pem", NULL);
        g_autofree char *text = NULL, *pem = NULL, *reason = NULL, *about = NULL;
        uint64_t number = greatest_crl_number(authority) + 1;
        g_autoptr(X509_CRL) crl = NULL;
        int r;

        text = g_strdup_printf("%" PRIu64 "\n", number);
        r = ald_files_write(authority->files, noted, text, 0600);
        if (r != ALD_EXIT_OK)
                return r;
        r = ald_pki_crl_make(
                authority->ca, authority->key, authority->crl, serials, number, now_usec(), &crl, &reason);
        if (r < 0)
                return ald_report_failure(r, "Cannot create a revocation list", reason);
        pem = ald_pki_crl_to_pem(crl);
        about = ald_report_crl(crl);
        r = ald_files_install(authority->files, ALD_CHANGE_WRITE, path, pem, 0644, ": %s", about);
        if (r != ALD_EXIT_OK)
                return r;
        g_clear_pointer(&authority->crl, X509_CRL_free);
        authority->crl = g_steal_pointer(&crl);
        return ALD_EXIT_OK;
}

/* Loads the revocation list, or creates the first one, without which no peer would be trusted. If
 * certificates were issued, there was one already: replacing it with an empty one would readmit revoked
 * nodes. */
static int obtain_crl(AldAuthority *authority)
{
        const AldClusterFiles *files = authority->files;
        g_autofree char *path = g_build_filename(files->folder, "crl.pem", NULL), *reason = NULL;
        int r;

        if (ald_files_has(files, "crl.pem")) {
                r = ald_pki_crl_load(path, &authority->crl, &reason);
                return r < 0 ? ald_report_failure(r, not_whole, reason) : ALD_EXIT_OK;
        }
        if (authority->issued->len == 0)
                return ald_authority_revoke(authority, NULL);
        ald_print_error("%s is missing, and with it the list of revoked certificates: copy it from another "
                        "machine of the cluster, where it has the same path",
                path);
        return ALD_EXIT_ERROR;
}

int ald_authority_make(const AldClusterFiles *files, const char *cluster, AldAuthority *ret)
{
        g_autofree char *folder = g_build_filename(files->folder, "ca", NULL);
        g_autofree char *issued = g_build_filename(folder, "issued", NULL);
        g_auto(AldAuthority) authority = {};
        int r;

        r = ald_files_make_folder(files, folder, 0700);
        if (r == ALD_EXIT_OK)
                r = ald_files_make_folder(files, issued, 0700);
        if (r != ALD_EXIT_OK)
                return r;
        init_authority(&authority, files);
        r = obtain_key(&authority);
        if (r == ALD_EXIT_OK)
                r = obtain_certificate(&authority, cluster);
        if (r == ALD_EXIT_OK)
                r = load_issued(&authority);
        if (r == ALD_EXIT_OK)
                r = obtain_crl(&authority);
        if (r == ALD_EXIT_OK)
                *ret = steal_authority(&authority);
        return r;
}

int ald_authority_sign(
        AldAuthority *authority, const AldPkiSubject *subject, const char *name, const AldIssued **ret)
{
        g_autofree char *pem = NULL, *text = NULL, *reason = NULL;
        X509 *certificate = NULL;
        AldIssued *issued;
        int r;

        r = ald_pki_sign(authority->ca, authority->key, subject, now_usec(), &certificate, &reason);
        if (r < 0)
                return ald_report_failure(r, "Cannot sign", reason);
        issued = add_issued(authority, certificate);
        /* A bridge is signed for a site, so it has no name of a node. */
        if (issued->node[0])
                issued->name = g_strdup(name ?: ald_authority_name(authority, issued->node));
        pem = ald_pki_certificate_to_pem(certificate);
        text = issued->name ? g_strconcat(NAME, issued->name, "\n", pem, NULL) : g_strdup(pem);
        r = ald_files_write(authority->files, issued->path, text, 0600);
        if (r != ALD_EXIT_OK) {
                ald_authority_forget(authority, issued);
                return r;
        }
        *ret = issued;
        return ALD_EXIT_OK;
}

void ald_authority_forget(AldAuthority *authority, const AldIssued *issued)
{
        if (!authority->files->changes->check)
                (void) unlink(issued->path);
        g_ptr_array_remove(authority->issued, (gpointer) issued);
}

const char *ald_authority_name(const AldAuthority *authority, const char *node)
{
        const AldIssued *newest = NULL;

        for (guint i = 0; i < authority->issued->len; i++) {
                const AldIssued *issued = authority->issued->pdata[i];

                if (issued->name && strcmp(issued->node, node) == 0 &&
                        (!newest || issued->facts.not_after > newest->facts.not_after))
                        newest = issued;
        }
        return newest ? newest->name : NULL;
}

char *ald_authority_label(const AldAuthority *authority, const char *node)
{
        const char *name = ald_authority_name(authority, node);

        return name ? g_strdup_printf("%s (%s)", name, node) : g_strdup(node);
}

bool ald_authority_is_valid(const AldAuthority *authority, const AldIssued *issued)
{
        return issued->facts.not_after > now_usec() &&
               !ald_pki_crl_contains(authority->crl, issued->facts.serial);
}

char **ald_authority_broker_hosts(const AldAuthority *authority, const char *node)
{
        g_autoptr(GPtrArray) hosts = g_ptr_array_new_with_free_func(g_free);

        for (guint i = 0; i < authority->issued->len; i++) {
                const AldIssued *issued = authority->issued->pdata[i];

                if (issued->is_broker && strcmp(issued->node, node) == 0) {
                        g_auto(GStrv) names = ald_pki_certificate_names(issued->certificate);

                        if (names[0])
                                g_ptr_array_add(hosts, g_strdup(names[0]));
                }
        }
        g_ptr_array_add(hosts, NULL);
        return (char **) g_ptr_array_steal(hosts, NULL);
}

bool ald_issued_has_key(const AldIssued *issued, EVP_PKEY *key)
{
        return key && EVP_PKEY_eq(X509_get0_pubkey(issued->certificate), key) == 1;
}

const AldIssued *ald_authority_find(
        const AldAuthority *authority, const char *node, bool broker, EVP_PKEY *key)
{
        const AldIssued *found = NULL;

        for (guint i = 0; i < authority->issued->len; i++) {
                const AldIssued *issued = authority->issued->pdata[i];

                if (issued->is_broker == broker && strcmp(issued->node, node) == 0 &&
                        ald_issued_has_key(issued, key) && ald_authority_is_valid(authority, issued) &&
                        (!found || issued->facts.not_after > found->facts.not_after))
                        found = issued;
        }
        return found;
}

bool ald_authority_has_addresses(const AldIssued *broker, char **addresses)
{
        g_auto(GStrv) names = ald_pki_certificate_names(broker->certificate);

        for (; *addresses; addresses++)
                if (!g_strv_contains((const char *const *) names, *addresses))
                        return false;
        return true;
}

bool ald_authority_is_of(const AldAuthority *authority, const AldIssued *issued, const char *node)
{
        EVP_PKEY *key = X509_get0_pubkey(issued->certificate);

        if (issued->node[0] != '\0')
                return strcmp(issued->node, node) == 0;
        for (guint i = 0; i < authority->issued->len; i++) {
                const AldIssued *other = authority->issued->pdata[i];

                if (strcmp(other->node, node) == 0 && ald_issued_has_key(other, key))
                        return true;
        }
        return false;
}
