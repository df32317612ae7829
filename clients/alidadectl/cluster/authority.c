/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "clients/alidadectl/cluster/authority.h"
#include "clients/alidadectl/print.h"
#include "pki/file.h"
#include "pki/key.h"

#define BROKER_PREFIX "broker-"
#define NUMBER_BYTES_MAX 32u

static uint64_t now(void)
{
        return (uint64_t) g_get_real_time();
}

static void issued_free(gpointer data)
{
        AldIssued *issued = data;

        X509_free(issued->certificate);
        g_free(issued->path);
        g_free(issued);
}

/* Takes the certificate. */
static AldIssued *add_issued(AldAuthority *authority, X509 *certificate)
{
        AldIssued *issued = g_new0(AldIssued, 1);
        const char *name = issued->facts.common_name;

        issued->certificate = certificate;
        ald_pki_certificate_facts(certificate, &issued->facts);
        issued->is_broker = g_str_has_prefix(name, BROKER_PREFIX);
        if (issued->is_broker)
                name += strlen(BROKER_PREFIX);
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

        if (!dir)
                return ald_home_failed(-EIO, folder, error->message);
        while ((name = g_dir_read_name(dir))) {
                g_autofree char *path = g_build_filename(folder, name, NULL), *reason = NULL;
                X509 *certificate = NULL;

                if (name[0] == '.' || !g_str_has_suffix(name, ".crt"))
                        continue;
                /* Passing over one might let a second machine have the same id, or leave it unrevoked. */
                if (ald_pki_certificate_load(path, &certificate, &reason) < 0) {
                        ald_complain("%s: %s; move it away if it is no certificate", path, reason);
                        return ALD_EXIT_ERROR;
                }
                (void) add_issued(authority, certificate);
        }
        return ALD_EXIT_OK;
}

static void prepare(AldAuthority *authority, const AldHome *home)
{
        authority->home = home;
        authority->folder = g_build_filename(home->folder, "ca", NULL);
        authority->issued = g_ptr_array_new_with_free_func(issued_free);
}

int ald_authority_open(const AldHome *home, AldAuthority *ret)
{
        g_autofree char *key = g_build_filename(home->folder, "ca", "ca.key", NULL), *reason = NULL;
        g_autofree char *ca = g_build_filename(home->folder, "ca.crt", NULL);
        g_autofree char *crl = g_build_filename(home->folder, "crl.pem", NULL);
        int r;

        if (!ald_home_is_authority(home)) {
                ald_complain("This machine does not keep the key of a cluster's certificate authority: do it "
                             "on the one where the cluster was begun");
                return ALD_EXIT_ERROR;
        }
        prepare(ret, home);
        r = ald_pki_key_load(key, &ret->key, &reason);
        if (r >= 0)
                r = ald_pki_certificate_load(ca, &ret->ca, &reason);
        if (r >= 0)
                r = ald_pki_crl_load(crl, &ret->crl, &reason);
        if (r < 0)
                return ald_home_failed(r, "The certificate authority of the cluster is not whole", reason);
        return load_issued(ret);
}

void ald_authority_close(AldAuthority *authority)
{
        g_clear_pointer(&authority->ca, X509_free);
        g_clear_pointer(&authority->key, EVP_PKEY_free);
        g_clear_pointer(&authority->crl, X509_CRL_free);
        g_clear_pointer(&authority->issued, g_ptr_array_unref);
        g_clear_pointer(&authority->folder, g_free);
}

static int make_key(const AldHome *home, const char *path)
{
        g_autoptr(EVP_PKEY) key = NULL;
        g_autofree char *reason = NULL;
        int r;

        r = ald_pki_key_generate(&key, &reason);
        if (r >= 0)
                r = ald_pki_key_save(key, path, 0600, 0, 0, &reason);
        if (r < 0)
                return ald_home_failed(r, "Cannot make the key of the certificate authority", reason);
        ald_home_tell(home, "Made %s: whoever has it can let nodes in; keep a copy in a safe place", path);
        return ALD_EXIT_OK;
}

static int make_certificate(const AldHome *home, const char *cluster, const char *path)
{
        g_autofree char *key_path = g_build_filename(home->folder, "ca", "ca.key", NULL);
        g_autofree char *pem = NULL, *reason = NULL;
        g_autoptr(EVP_PKEY) key = NULL;
        g_autoptr(X509) ca = NULL;
        int r;

        r = ald_pki_key_load(key_path, &key, &reason);
        if (r >= 0)
                r = ald_pki_ca_make(key, cluster, now(), &ca, &reason);
        if (r < 0)
                return ald_home_failed(r, "Cannot make the certificate authority", reason);
        pem = ald_pki_certificate_to_pem(ca);
        r = ald_home_write(path, pem, 0644);
        if (r == ALD_EXIT_OK)
                ald_home_tell(home, "Made %s: the certificate authority of cluster %s", path, cluster);
        return r;
}

/* The greatest number that a list may have had: some of them may have been written but not installed. */
static uint64_t last_number(const AldAuthority *authority)
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
        g_autofree char *path = g_build_filename(authority->home->folder, "crl.pem", NULL);
        g_autofree char *text = NULL, *pem = NULL, *reason = NULL;
        uint64_t number = last_number(authority) + 1;
        g_autoptr(X509_CRL) crl = NULL;
        int r;

        text = g_strdup_printf("%" PRIu64 "\n", number);
        r = ald_home_write(noted, text, 0600);
        if (r != ALD_EXIT_OK)
                return r;
        r = ald_pki_crl_make(
                authority->ca, authority->key, authority->crl, serials, number, now(), &crl, &reason);
        if (r < 0)
                return ald_home_failed(r, "Cannot make a revocation list", reason);
        pem = ald_pki_crl_to_pem(crl);
        r = ald_home_write(path, pem, 0644);
        if (r != ALD_EXIT_OK)
                return r;
        ald_home_tell_list(authority->home, "Wrote", path, crl);
        g_clear_pointer(&authority->crl, X509_CRL_free);
        authority->crl = g_steal_pointer(&crl);
        return ALD_EXIT_OK;
}

/* The first revocation list, without which nobody would be believed. Where certificates were issued there
 * was one already: an empty one in its place would let in again who was shut out. */
static int make_list(const AldHome *home)
{
        g_auto(AldAuthority) authority = {};
        g_autofree char *ca = g_build_filename(home->folder, "ca.crt", NULL), *reason = NULL;
        g_autofree char *key = g_build_filename(home->folder, "ca", "ca.key", NULL);
        int r;

        prepare(&authority, home);
        r = load_issued(&authority);
        if (r != ALD_EXIT_OK)
                return r;
        if (authority.issued->len > 0) {
                ald_complain(
                        "%s/crl.pem is lost, and with it who was revoked: copy it from another machine of "
                        "the cluster, where it has the same name",
                        home->folder);
                return ALD_EXIT_ERROR;
        }
        r = ald_pki_key_load(key, &authority.key, &reason);
        if (r >= 0)
                r = ald_pki_certificate_load(ca, &authority.ca, &reason);
        if (r < 0)
                return ald_home_failed(r, "The certificate authority of the cluster is not whole", reason);
        return ald_authority_revoke(&authority, NULL);
}

int ald_authority_make(const AldHome *home, const char *cluster, AldAuthority *ret)
{
        g_autofree char *folder = g_build_filename(home->folder, "ca", NULL);
        g_autofree char *issued = g_build_filename(folder, "issued", NULL);
        g_autofree char *key = g_build_filename(folder, "ca.key", NULL);
        g_autofree char *ca = g_build_filename(home->folder, "ca.crt", NULL);
        int r;

        r = ald_home_make_folder(folder, 0700);
        if (r == ALD_EXIT_OK)
                r = ald_home_make_folder(issued, 0700);
        if (r == ALD_EXIT_OK && !ald_home_is_authority(home))
                r = make_key(home, key);
        if (r == ALD_EXIT_OK && !ald_home_has(home, "ca.crt"))
                r = make_certificate(home, cluster, ca);
        if (r == ALD_EXIT_OK && !ald_home_has(home, "crl.pem"))
                r = make_list(home);
        return r == ALD_EXIT_OK ? ald_authority_open(home, ret) : r;
}

int ald_authority_sign(AldAuthority *authority, const AldPkiSubject *subject, const AldIssued **ret)
{
        g_autofree char *pem = NULL, *reason = NULL;
        X509 *certificate = NULL;
        AldIssued *issued;
        int r;

        r = ald_pki_sign(authority->ca, authority->key, subject, now(), &certificate, &reason);
        if (r < 0)
                return ald_home_failed(r, "Cannot sign", reason);
        issued = add_issued(authority, certificate);
        pem = ald_pki_certificate_to_pem(certificate);
        r = ald_home_write(issued->path, pem, 0600);
        if (r != ALD_EXIT_OK)
                return r;
        *ret = issued;
        return ALD_EXIT_OK;
}

void ald_authority_forget(AldAuthority *authority, const AldIssued *issued)
{
        (void) unlink(issued->path);
        g_ptr_array_remove(authority->issued, (gpointer) issued);
}

bool ald_authority_is_valid(const AldAuthority *authority, const AldIssued *issued)
{
        return issued->facts.not_after > now() && !ald_pki_crl_contains(authority->crl, issued->facts.serial);
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

static bool has_key(const AldIssued *issued, EVP_PKEY *key)
{
        return EVP_PKEY_eq(X509_get0_pubkey(issued->certificate), key) == 1;
}

bool ald_authority_knows(const AldAuthority *authority, const char *node, EVP_PKEY *key)
{
        for (guint i = 0; i < authority->issued->len; i++) {
                const AldIssued *issued = authority->issued->pdata[i];

                if (!issued->is_broker && strcmp(issued->node, node) == 0 && has_key(issued, key) &&
                        ald_authority_is_valid(authority, issued))
                        return true;
        }
        return false;
}

bool ald_authority_is_of(const AldAuthority *authority, const AldIssued *issued, const char *node)
{
        EVP_PKEY *key = X509_get0_pubkey(issued->certificate);

        if (issued->node[0] != '\0')
                return strcmp(issued->node, node) == 0;
        for (guint i = 0; i < authority->issued->len; i++) {
                const AldIssued *other = authority->issued->pdata[i];

                if (strcmp(other->node, node) == 0 && has_key(other, key))
                        return true;
        }
        return false;
}
