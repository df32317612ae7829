/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <string.h>

#include <glib/gstdio.h>

#include "pki/certificate.h"
#include "pki/crl.h"
#include "pki/file.h"
#include "pki/private-key.h"
#include "tests/unit/pki-maker.h"

static const char *const names[] = { "ca.crt", "crl.pem", "node.crt", "node.key", "newer.pem" };

typedef struct Lab {
        PkiMaker maker;
        X509 *node;
        char *folder;
        char *newer;
} Lab;

static void put(const Lab *lab, const char *name, char *text)
{
        g_autofree char *path = g_build_filename(lab->folder, name, NULL);

        g_assert_cmpint(ald_pki_file_write(path, text, 0644, (uid_t) -1, (gid_t) -1), ==, 0);
        g_free(text);
}

static void set_up(Lab *lab, const void *data)
{
        g_autofree char *key = NULL;

        pki_maker_init(&lab->maker, "lab", PKI_NOW);
        lab->node = pki_maker_sign(&lab->maker, ALD_PKI_ROLE_NODE, PKI_A, PKI_NOW);
        lab->folder = g_dir_make_tmp("alidade-pki-XXXXXX", NULL);
        lab->newer = g_build_filename(lab->folder, "newer.pem", NULL);
        key = g_build_filename(lab->folder, "node.key", NULL);
        put(lab, "ca.crt", ald_pki_certificate_to_pem(lab->maker.ca));
        put(lab, "crl.pem", ald_pki_crl_to_pem(lab->maker.crl));
        put(lab, "node.crt", ald_pki_certificate_to_pem(lab->node));
        g_assert_cmpint(ald_pki_key_save(lab->maker.key, key, 0600, (uid_t) -1, (gid_t) -1, NULL), ==, 0);
}

static void tear_down(Lab *lab, const void *data)
{
        for (unsigned i = 0; i < G_N_ELEMENTS(names); i++) {
                g_autofree char *path = g_build_filename(lab->folder, names[i], NULL);

                g_remove(path);
        }
        g_assert_cmpint(g_rmdir(lab->folder), ==, 0);
        X509_free(lab->node);
        g_free(lab->folder);
        g_free(lab->newer);
        pki_maker_clear(&lab->maker);
}

/* The number of the list that is taken, or the error. */
static int64_t load(const Lab *lab, const char *newer, char **ret_error)
{
        g_auto(AldPkiIdentity) identity = { 0 };
        int r = ald_pki_identity_load(lab->folder, newer, &identity, ret_error);

        if (r < 0) {
                g_assert_null(identity.ca);
                return r;
        }
        g_assert_cmpint(X509_cmp(identity.ca, lab->maker.ca), ==, 0);
        g_assert_cmpint(X509_cmp(identity.certificate, lab->node), ==, 0);
        g_assert_cmpint(EVP_PKEY_eq(identity.key, lab->maker.key), ==, 1);
        return (int64_t) ald_pki_crl_number(identity.crl);
}

static void test_fine(Lab *lab, const void *data)
{
        g_assert_cmpint(load(lab, NULL, NULL), ==, 1);
        g_assert_cmpint(load(lab, lab->newer, NULL), ==, 1);
}

static void test_newer_list(Lab *lab, const void *data)
{
        char *old = ald_pki_crl_to_pem(lab->maker.crl);

        pki_maker_revoke(&lab->maker, lab->node, PKI_NOW);
        put(lab, "newer.pem", ald_pki_crl_to_pem(lab->maker.crl));
        g_assert_cmpint(load(lab, lab->newer, NULL), ==, 2);
        put(lab, "crl.pem", ald_pki_crl_to_pem(lab->maker.crl));
        put(lab, "newer.pem", old);
        g_assert_cmpint(load(lab, lab->newer, NULL), ==, 2);
}

static void refused(const Lab *lab, const char *newer, int code, const char *words)
{
        g_autofree char *error = NULL;

        g_assert_cmpint(load(lab, newer, &error), ==, code);
        if (!strstr(error, words))
                g_error("\"%s\" does not say \"%s\"", error, words);
}

static void test_missing(Lab *lab, const void *data)
{
        for (unsigned i = 0; i < 4; i++) {
                g_autofree char *path = g_build_filename(lab->folder, names[i], NULL), *aside = NULL,
                                *words = NULL;

                aside = g_strconcat(path, "-aside", NULL);
                words = g_strdup_printf("Cannot read %s: No such file or directory", path);
                g_assert_cmpint(g_rename(path, aside), ==, 0);
                refused(lab, NULL, -ENOENT, words);
                g_assert_cmpint(g_rename(aside, path), ==, 0);
        }
}

static void test_damaged(Lab *lab, const void *data)
{
        for (unsigned i = 0; i < G_N_ELEMENTS(names); i++) {
                g_autofree char *path = g_build_filename(lab->folder, names[i], NULL), *text = NULL,
                                *words = NULL;
                bool there = g_file_get_contents(path, &text, NULL, NULL);

                words = g_strconcat(names[i], ": not a ", NULL);
                put(lab, names[i], g_strdup("rubbish\n"));
                refused(lab, lab->newer, -EBADMSG, words);
                if (there)
                        put(lab, names[i], g_steal_pointer(&text));
        }
}

static void test_from_elsewhere(Lab *lab, const void *data)
{
        g_autofree char *key = g_build_filename(lab->folder, "node.key", NULL);
        g_auto(PkiMaker) other;

        pki_maker_init(&other, "other", PKI_NOW);
        put(lab, "newer.pem", ald_pki_crl_to_pem(other.crl));
        refused(lab, lab->newer, -EKEYREJECTED, "newer.pem: the revocation list is from another CA");
        put(lab, "crl.pem", ald_pki_crl_to_pem(other.crl));
        refused(lab, NULL, -EKEYREJECTED, "crl.pem: the revocation list is from another CA");
        put(lab, "crl.pem", ald_pki_crl_to_pem(lab->maker.crl));
        g_assert_cmpint(ald_pki_key_save(other.key, key, 0600, (uid_t) -1, (gid_t) -1, NULL), ==, 0);
        refused(lab, NULL, -EKEYREJECTED, "node.key is not the key of ");
}

#define ADD(name, function) g_test_add("/pki/identity/" name, Lab, NULL, set_up, function, tear_down)

int main(int argc, char *argv[])
{
        g_test_init(&argc, &argv, NULL);
        ADD("fine", test_fine);
        ADD("newer-list", test_newer_list);
        ADD("missing", test_missing);
        ADD("damaged", test_damaged);
        ADD("from-elsewhere", test_from_elsewhere);
        return g_test_run();
}
