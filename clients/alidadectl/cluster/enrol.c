/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "clients/alidadectl/cluster/broker-files.h"
#include "clients/alidadectl/cluster/enrol.h"
#include "clients/alidadectl/print.h"
#include "pki/certificate.h"
#include "pki/crl.h"
#include "pki/key.h"
#include "pki/request.h"
#include "pki/verify.h"

static char *path_of(const AldHome *home, bool broker, const char *suffix)
{
        return g_strdup_printf("%s/%s%s", home->folder, broker ? "broker/broker" : "node", suffix);
}

/* A key that is there keeps its content, but gets its rights. */
static int protect(const char *path, gid_t group)
{
        if (chown(path, 0, group) < 0 || chmod(path, 0640) < 0)
                return ald_home_failed(-errno, path, NULL);
        return ALD_EXIT_OK;
}

int ald_enrol_key(const AldHome *home, bool broker, EVP_PKEY **ret)
{
        g_autofree char *path = path_of(home, broker, ".key"), *folder = g_path_get_dirname(path);
        g_autofree char *reason = NULL;
        gid_t group = ald_home_group(broker ? ALD_HOME_BROKER_GROUP : ALD_HOME_KEY_GROUP);
        g_autoptr(EVP_PKEY) key = NULL;
        int r;

        r = ald_home_make_folder(folder, 0755);
        if (r != ALD_EXIT_OK)
                return r;
        r = ald_pki_key_load(path, ret, &reason);
        if (r >= 0)
                return protect(path, group);
        if (r != -ENOENT)
                return ald_home_failed(r, path, reason);
        g_clear_pointer(&reason, g_free);
        r = ald_pki_key_generate(&key, &reason);
        if (r >= 0)
                r = ald_pki_key_save(key, path, 0640, 0, group, &reason);
        if (r < 0)
                return ald_home_failed(r, "Cannot make a key", reason);
        ald_home_tell(home, "Made %s: the key of %s, which stays on this machine", path,
                broker ? "its broker" : "this node");
        *ret = g_steal_pointer(&key);
        return ALD_EXIT_OK;
}

int ald_enrol_request(const AldHome *home, char **addresses, char **ret_text)
{
        g_auto(AldRequest) request = { .addresses = g_strdupv(addresses) };
        g_autoptr(EVP_PKEY) node = NULL, broker = NULL;
        g_autofree char *reason = NULL;
        int r;

        r = ald_enrol_key(home, false, &node);
        if (r == ALD_EXIT_OK && addresses)
                r = ald_enrol_key(home, true, &broker);
        if (r != ALD_EXIT_OK)
                return r;
        r = ald_pki_request_make(node, home->id, &request.node, &reason);
        if (r >= 0 && broker)
                r = ald_pki_request_make(broker, home->id, &request.broker, &reason);
        if (r < 0)
                return ald_home_failed(r, "Cannot make a request", reason);
        *ret_text = ald_request_format(&request);
        return ALD_EXIT_OK;
}

/* What a bundle holds, read. */
typedef struct Parts {
        X509 *ca;
        X509_CRL *crl;
        X509 *node;
        X509 *broker; /* NULL: none */
} Parts;

static void parts_clear(Parts *parts)
{
        X509_free(parts->ca);
        X509_CRL_free(parts->crl);
        X509_free(parts->node);
        X509_free(parts->broker);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Parts, parts_clear)

static int read_parts(const AldBundle *bundle, Parts *parts)
{
        g_autofree char *reason = NULL;
        int r;

        r = ald_pki_certificate_parse(bundle->ca, strlen(bundle->ca), &parts->ca, &reason);
        if (r >= 0)
                r = ald_pki_crl_parse(bundle->crl, strlen(bundle->crl), &parts->crl, &reason);
        if (r >= 0)
                r = ald_pki_certificate_parse(bundle->node, strlen(bundle->node), &parts->node, &reason);
        if (r >= 0 && bundle->broker)
                r = ald_pki_certificate_parse(
                        bundle->broker, strlen(bundle->broker), &parts->broker, &reason);
        return r < 0 ? ald_home_failed(r, "The bundle cannot be read", reason) : ALD_EXIT_OK;
}

/* Whether a certificate is good, and for the key that lies here. */
static int check_certificate(const AldHome *home, const Parts *parts, bool broker)
{
        X509 *certificate = broker ? parts->broker : parts->node;
        g_autofree char *path = path_of(home, broker, ".key"), *reason = NULL;
        const char *whose = broker ? "The broker's certificate in the bundle"
                                   : "The certificate in the bundle";
        g_autofree char *common_name = NULL;
        g_autoptr(EVP_PKEY) key = NULL;
        AldPkiFacts facts;
        int r;

        r = ald_pki_verify(parts->ca, parts->crl, certificate,
                broker ? ALD_PKI_ROLE_BROKER : ALD_PKI_ROLE_NODE, broker ? NULL : home->id,
                (uint64_t) g_get_real_time(), &reason);
        if (r < 0)
                return ald_home_failed(r, "The bundle is refused", reason);
        ald_pki_certificate_facts(certificate, &facts);
        common_name = g_strconcat("broker-", home->id, NULL);
        if (broker && strcmp(facts.common_name, common_name) != 0) {
                ald_complain("%s is for another node", whose);
                return ALD_EXIT_ERROR;
        }
        r = ald_pki_key_load(path, &key, &reason);
        if (r < 0)
                return ald_home_failed(r, "There is no key here that the bundle could be for", reason);
        if (EVP_PKEY_eq(X509_get0_pubkey(certificate), key) != 1) {
                ald_complain("%s is not for the key that lies here: have the newest request of this machine "
                             "signed",
                        whose);
                return ALD_EXIT_ERROR;
        }
        return ALD_EXIT_OK;
}

/* A node that is in one cluster does not slip into another. */
static int check_cluster(const AldHome *home, const AldBundle *bundle, const Parts *parts)
{
        g_autofree char *path = g_build_filename(home->folder, "ca.crt", NULL);
        g_autoptr(X509) own = NULL;
        AldPkiFacts facts;

        ald_pki_certificate_facts(parts->ca, &facts);
        if (strcmp(facts.organization, bundle->cluster) != 0) {
                ald_complain("The bundle calls the cluster %s, its certificate authority another name",
                        bundle->cluster);
                return ALD_EXIT_ERROR;
        }
        if (*home->name == '\0' && !ald_home_is_authority(home))
                return ALD_EXIT_OK;
        if (ald_pki_certificate_load(path, &own, NULL) >= 0 && X509_cmp(own, parts->ca) == 0)
                return ALD_EXIT_OK;
        ald_complain("The bundle is of another cluster, called %s, with another certificate authority; this "
                     "machine is in %s: alidadectl cluster leave, then join",
                bundle->cluster, *home->name ? home->name : "one that was begun here");
        return ALD_EXIT_ERROR;
}

/* The newer of both lists stays: someone may have been revoked since the bundle was made. */
static int install_crl(const AldHome *home, const Parts *parts)
{
        g_autofree char *path = g_build_filename(home->folder, "crl.pem", NULL), *pem = NULL;
        g_autoptr(X509_CRL) own = NULL;

        if (ald_pki_crl_load(path, &own, NULL) >= 0 && ald_pki_crl_verify(own, parts->ca, NULL) >= 0 &&
                ald_pki_crl_accept(parts->crl, parts->ca, own, NULL) < 0)
                return ALD_EXIT_OK;
        pem = ald_pki_crl_to_pem(parts->crl);
        return ald_home_write(path, pem, 0644);
}

static int install_certificate(const AldHome *home, bool broker, X509 *certificate)
{
        g_autofree char *path = path_of(home, broker, ".crt"), *pem = ald_pki_certificate_to_pem(certificate);
        g_autofree char *until = NULL;
        AldPkiFacts facts;
        int r;

        r = ald_home_write(path, pem, 0644);
        if (r != ALD_EXIT_OK)
                return r;
        ald_pki_certificate_facts(certificate, &facts);
        until = ald_home_day(facts.not_after);
        ald_home_tell(home, "Installed %s, valid until %s", path, until);
        return ALD_EXIT_OK;
}

int ald_enrol_install_node(const AldHome *home, X509 *certificate)
{
        return install_certificate(home, false, certificate);
}

int ald_enrol_install_broker(const AldHome *home, const char *cluster, X509 *certificate)
{
        int r = install_certificate(home, true, certificate);

        return r == ALD_EXIT_OK ? ald_broker_files_write(home, cluster) : r;
}

static int install(AldHome *home, const AldBundle *bundle, const Parts *parts)
{
        g_autofree char *ca = g_build_filename(home->folder, "ca.crt", NULL);
        g_autofree char *pem = ald_pki_certificate_to_pem(parts->ca);
        int r;

        r = ald_home_write(ca, pem, 0644);
        if (r == ALD_EXIT_OK)
                r = install_crl(home, parts);
        if (r == ALD_EXIT_OK)
                r = ald_enrol_install_node(home, parts->node);
        if (r == ALD_EXIT_OK && parts->broker)
                r = ald_enrol_install_broker(home, bundle->cluster, parts->broker);
        /* Last, for this is what makes the machine a node of the cluster. */
        if (r == ALD_EXIT_OK)
                r = ald_home_configure(home, bundle->cluster, (const char *const *) bundle->brokers);
        return r;
}

int ald_enrol_accept(AldHome *home, const AldBundle *bundle)
{
        g_auto(Parts) parts = {};
        int r;

        r = read_parts(bundle, &parts);
        if (r == ALD_EXIT_OK)
                r = check_cluster(home, bundle, &parts);
        if (r == ALD_EXIT_OK)
                r = check_certificate(home, &parts, false);
        if (r == ALD_EXIT_OK && parts.broker)
                r = check_certificate(home, &parts, true);
        return r == ALD_EXIT_OK ? install(home, bundle, &parts) : r;
}
