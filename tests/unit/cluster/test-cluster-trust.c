/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include <glib/gstdio.h>

#include "pki/certificate.h"
#include "pki/crl.h"
#include "pki/file.h"
#include "pki/private-key.h"
#include "services/cluster/trust/trust.h"
#include "tests/unit/pki-maker.h"

/* Below the folder of the lab, in the order in which they can be removed. */
static const char *const names[] = { "cluster/broker", "cluster/ca.crt", "cluster/crl.pem",
        "cluster/node.crt", "cluster/node.key", "cluster", "crl.pem" };

typedef struct Lab {
        PkiMaker maker;
        X509 *node;
        char *folder, *newest;
        AldTrust *trust;
} Lab;

/* The trust judges by the clock. */
static uint64_t now_usec(void)
{
        return (uint64_t) g_get_real_time();
}

static char *path_of(const Lab *lab, const char *name)
{
        return g_build_filename(lab->folder, name, NULL);
}

static void put(const Lab *lab, const char *name, char *text)
{
        g_autofree char *path = path_of(lab, name);

        g_assert_cmpint(ald_pki_file_write(path, text, 0644, (uid_t) -1, (gid_t) -1), ==, 0);
        g_free(text);
}

static void set_up(Lab *lab, const void *data)
{
        g_autofree char *cluster = NULL, *key = NULL;

        pki_maker_init(&lab->maker, "lab", now_usec());
        lab->node = pki_maker_sign(&lab->maker, ALD_PKI_ROLE_NODE, PKI_A, now_usec());
        lab->folder = g_dir_make_tmp("alidade-trust-XXXXXX", NULL);
        lab->newest = path_of(lab, "crl.pem");
        cluster = path_of(lab, "cluster");
        key = path_of(lab, "cluster/node.key");
        g_assert_cmpint(g_mkdir(cluster, 0755), ==, 0);
        put(lab, "cluster/ca.crt", ald_pki_certificate_to_pem(lab->maker.ca));
        put(lab, "cluster/crl.pem", ald_pki_crl_to_pem(lab->maker.crl));
        put(lab, "cluster/node.crt", ald_pki_certificate_to_pem(lab->node));
        g_assert_cmpint(ald_pki_key_save(lab->maker.key, key, 0600, (uid_t) -1, (gid_t) -1, NULL), ==, 0);
        g_setenv("ALIDADE_CONFIG_DIR", lab->folder, TRUE);
        g_setenv("STATE_DIRECTORY", lab->folder, TRUE);
        lab->trust = ald_trust_new(PKI_A);
        g_assert_true(ald_trust_load(lab->trust));
}

static void tear_down(Lab *lab, const void *data)
{
        ald_trust_free(lab->trust);
        for (unsigned i = 0; i < G_N_ELEMENTS(names); i++) {
                g_autofree char *path = path_of(lab, names[i]);

                g_remove(path);
        }
        g_assert_cmpint(g_rmdir(lab->folder), ==, 0);
        X509_free(lab->node);
        g_free(lab->folder);
        g_free(lab->newest);
        pki_maker_clear(&lab->maker);
}

static void take_newer(Lab *lab)
{
        g_autoptr(X509) other = pki_maker_sign(&lab->maker, ALD_PKI_ROLE_NODE, PKI_B, now_usec());
        g_autofree char *pem = NULL;

        pki_maker_revoke(&lab->maker, other, now_usec());
        pem = ald_pki_crl_to_pem(lab->maker.crl);
        g_assert_cmpint(ald_trust_take_crl(lab->trust, pem, strlen(pem), NULL), ==, 1);
        g_assert_true(ald_trust_has_crl(lab->trust, pem, strlen(pem)));
}

/* Whether the file of the newest list is replaced, which is what systemd looks for. */
static bool reminds(const Lab *lab)
{
        g_assert_cmpint(g_remove(lab->newest), ==, 0);
        ald_trust_remind_broker(lab->trust);
        if (g_file_test(lab->newest, G_FILE_TEST_EXISTS))
                return true;
        put(lab, "crl.pem", g_strdup(ald_trust_crl(lab->trust)));
        return false;
}

static void test_remind_broker(Lab *lab, const void *data)
{
        g_autofree char *broker = path_of(lab, "cluster/broker");

        ald_trust_remind_broker(lab->trust);
        take_newer(lab);
        g_assert_false(reminds(lab)); /* no broker is here */
        g_assert_cmpint(g_mkdir(broker, 0755), ==, 0);
        g_assert_true(reminds(lab));
        g_assert_true(reminds(lab));
        put(lab, "cluster/crl.pem", ald_pki_crl_to_pem(lab->maker.crl));
        g_assert_false(reminds(lab));
        take_newer(lab);
        g_assert_true(reminds(lab));
}

int main(int argc, char *argv[])
{
        g_test_init(&argc, &argv, NULL);
        g_test_add("/cluster-trust/remind-broker", Lab, NULL, set_up, test_remind_broker, tear_down);
        return g_test_run();
}
