/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "clients/cluster/broker/broker-files.h"
#include "clients/cluster/command-report.h"
#include "clients/cluster/enrolment/enrol.h"
#include "clients/cluster/shown-names.h"
#include "clients/command-line/print.h"
#include "pki/certificate.h"
#include "pki/crl.h"
#include "pki/private-key.h"
#include "pki/verify.h"

#define BEGIN "-----BEGIN CERTIFICATE-----"

static char *path_of(const AldClusterFiles *files, bool broker, const char *suffix)
{
        return g_strdup_printf("%s/%s%s", files->folder, broker ? "broker/broker" : "node", suffix);
}

/* Sets the owner and mode of an existing key, and keeps its content. */
static int protect_key(const AldClusterFiles *files, const char *path, gid_t group)
{
        struct stat st;

        if (stat(path, &st) == 0 && st.st_uid == 0 && st.st_gid == group && (st.st_mode & 07777) == 0640)
                return ALD_EXIT_OK;
        if (!files->changes->check && (chown(path, 0, group) < 0 || chmod(path, 0640) < 0)) {
                /* The unit that renews has no capabilities. */
                if (errno != EPERM)
                        return ald_report_failure(-errno, path, NULL);
                ald_print_error(
                        "%s keeps its owner and mode: only root with all capabilities can change them", path);
                return ALD_EXIT_OK;
        }
        ald_changes_add(files->changes, ALD_CHANGE_PROTECT, path, "%s", "");
        return ALD_EXIT_OK;
}

int ald_enrol_key(const AldClusterFiles *files, bool broker, EVP_PKEY **ret)
{
        g_autofree char *path = path_of(files, broker, ".key"), *folder = g_path_get_dirname(path);
        g_autofree char *reason = NULL;
        gid_t group = ald_files_group(broker ? ALD_FILES_BROKER_GROUP : ALD_FILES_KEY_GROUP);
        g_autoptr(EVP_PKEY) key = NULL;
        int r;

        r = ald_files_make_folder(files, folder, 0755);
        if (r != ALD_EXIT_OK)
                return r;
        r = ald_pki_key_load(path, &key, &reason);
        if (r < 0 && r != -ENOENT)
                return ald_report_failure(r, path, reason);
        if (r >= 0) {
                r = protect_key(files, path, group);
                if (r == ALD_EXIT_OK)
                        *ret = g_steal_pointer(&key);
                return r;
        }
        g_clear_pointer(&reason, g_free);
        r = ald_pki_key_generate(&key, &reason);
        if (r >= 0 && !files->changes->check)
                r = ald_pki_key_save(key, path, 0640, 0, group, &reason);
        if (r < 0)
                return ald_report_failure(r, "Cannot create a key", reason);
        ald_changes_add(files->changes, ALD_CHANGE_MAKE, path, ": the key of %s, which stays on this machine",
                broker ? "its broker" : "this node");
        *ret = g_steal_pointer(&key);
        return ALD_EXIT_OK;
}

bool ald_enrol_has_key(const AldClusterFiles *files, bool broker, EVP_PKEY *key)
{
        g_autofree char *path = path_of(files, broker, ".key");
        g_autoptr(EVP_PKEY) own = NULL;

        return key && ald_pki_key_load(path, &own, NULL) >= 0 && EVP_PKEY_eq(own, key) == 1;
}

int ald_enrol_request(
        const AldClusterFiles *files, AldRequestPurpose purpose, char **addresses, char **ret_text)
{
        g_auto(AldRequest) request = { .purpose = purpose, .addresses = g_strdupv(addresses) };
        g_autofree char *reason = NULL;
        int r;

        (void) g_strlcpy(request.id, files->id, sizeof request.id);
        request.name = ald_shown_own_name();
        r = ald_enrol_key(files, false, &request.node);
        if (r == ALD_EXIT_OK && addresses)
                r = ald_enrol_key(files, true, &request.broker);
        if (r != ALD_EXIT_OK)
                return r;
        r = ald_request_make(&request, (uint64_t) g_get_real_time(), ret_text, &reason);
        return r < 0 ? ald_report_failure(r, "Cannot create a request", reason) : ALD_EXIT_OK;
}

/* The parsed contents of a bundle. */
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
        return r < 0 ? ald_report_failure(r, "Cannot read the bundle", reason) : ALD_EXIT_OK;
}

/* Appends the time of this machine to the reason, since its clock may be wrong. */
static void append_clock(char **reason)
{
        g_autoptr(GDateTime) here = g_date_time_new_now_utc();
        g_autofree char *time = g_date_time_format(here, "%F %H:%M UTC"), *before = *reason;

        *reason = g_strdup_printf("%s; the clock of this machine shows %s: check it", before, time);
}

/* Checks that a certificate is valid, and for the key of this machine. */
static int check_certificate(const AldClusterFiles *files, const Parts *parts, bool broker)
{
        X509 *certificate = broker ? parts->broker : parts->node;
        g_autofree char *path = path_of(files, broker, ".key"), *reason = NULL;
        const char *whose = broker ? "The broker's certificate in the bundle"
                                   : "The certificate in the bundle";
        g_autofree char *common_name = NULL;
        g_autoptr(EVP_PKEY) key = NULL;
        AldPkiFacts facts;
        int r;

        r = ald_pki_verify(parts->ca, parts->crl, certificate,
                broker ? ALD_PKI_ROLE_BROKER : ALD_PKI_ROLE_NODE, broker ? NULL : files->id,
                (uint64_t) g_get_real_time(), &reason);
        if (r == -EKEYEXPIRED)
                append_clock(&reason);
        if (r < 0)
                return ald_report_failure(r, "The bundle is refused", reason);
        ald_pki_certificate_facts(certificate, &facts);
        common_name = g_strconcat(ALD_PKI_BROKER_PREFIX, files->id, NULL);
        if (broker && strcmp(facts.common_name, common_name) != 0) {
                ald_print_error("%s is for another node", whose);
                return ALD_EXIT_ERROR;
        }
        r = ald_pki_key_load(path, &key, &reason);
        if (r < 0)
                return ald_report_failure(
                        r, "No key on this machine matches the bundle; create a new request", reason);
        if (EVP_PKEY_eq(X509_get0_pubkey(certificate), key) != 1) {
                ald_print_error("%s does not match the key on this machine: have the newest request of this "
                                "machine signed",
                        whose);
                return ALD_EXIT_ERROR;
        }
        return ALD_EXIT_OK;
}

/* Refuses a bundle of another cluster: a node must leave its cluster before it joins another. */
static int check_cluster(const AldClusterFiles *files, const AldBundle *bundle, const Parts *parts)
{
        g_autofree char *path = g_build_filename(files->folder, "ca.crt", NULL);
        g_autoptr(X509) own = NULL;
        AldPkiFacts facts;

        ald_pki_certificate_facts(parts->ca, &facts);
        if (strcmp(facts.organization, bundle->cluster) != 0) {
                ald_print_error(
                        "The bundle names the cluster %s, but its certificate authority has another name",
                        bundle->cluster);
                return ALD_EXIT_ERROR;
        }
        if (*files->name == '\0' && !ald_files_is_authority(files))
                return ALD_EXIT_OK;
        if (ald_pki_certificate_load(path, &own, NULL) >= 0 && X509_cmp(own, parts->ca) == 0)
                return ALD_EXIT_OK;
        ald_print_error("The bundle is for another cluster, %s, with another certificate authority; this "
                        "machine is in %s: run alidadectl cluster leave, then join",
                bundle->cluster, *files->name ? files->name : "one that was created here");
        return ALD_EXIT_ERROR;
}

/* Installs the list of the bundle unless the one here is newer: a node may have been revoked since the bundle
 * was made. */
static int install_crl(const AldClusterFiles *files, const Parts *parts)
{
        g_autofree char *path = g_build_filename(files->folder, "crl.pem", NULL), *pem = NULL;
        g_autofree char *text = ald_report_crl(parts->crl);
        g_autoptr(X509_CRL) own = NULL;

        if (ald_pki_crl_load(path, &own, NULL) >= 0 && ald_pki_crl_verify(own, parts->ca, NULL) >= 0 &&
                ald_pki_crl_accept(parts->crl, parts->ca, own, NULL) < 0)
                return ALD_EXIT_OK;
        pem = ald_pki_crl_to_pem(parts->crl);
        return ald_files_install(files, ALD_CHANGE_INSTALL, path, pem, 0644, ": %s", text);
}

static int install_certificate_at(const AldClusterFiles *files, const char *path, X509 *certificate)
{
        g_autofree char *pem = ald_pki_certificate_to_pem(certificate), *until = NULL;
        AldPkiFacts facts;

        ald_pki_certificate_facts(certificate, &facts);
        until = ald_report_day(facts.not_after);
        return ald_files_install(files, ALD_CHANGE_INSTALL, path, pem, 0644, ", valid until %s", until);
}

static int install_certificate(const AldClusterFiles *files, bool broker, X509 *certificate)
{
        g_autofree char *path = path_of(files, broker, ".crt");

        return install_certificate_at(files, path, certificate);
}

int ald_enrol_install_node(const AldClusterFiles *files, X509 *certificate)
{
        return install_certificate(files, false, certificate);
}

int ald_enrol_install_broker(const AldClusterFiles *files, const char *cluster, X509 *certificate)
{
        int r = install_certificate(files, true, certificate);

        return r == ALD_EXIT_OK ? ald_broker_files_write(files, cluster) : r;
}

/* Returns whether the certificate here is valid for the same key and expires later, because it was renewed
 * since. */
static bool is_renewed(const AldClusterFiles *files, const Parts *parts, bool broker)
{
        g_autofree char *path = path_of(files, broker, ".crt");
        X509 *certificate = broker ? parts->broker : parts->node;
        g_autoptr(X509) own = NULL;
        AldPkiFacts facts, own_facts;

        if (ald_pki_certificate_load(path, &own, NULL) < 0 ||
                EVP_PKEY_eq(X509_get0_pubkey(own), X509_get0_pubkey(certificate)) != 1 ||
                ald_pki_verify(parts->ca, parts->crl, own, broker ? ALD_PKI_ROLE_BROKER : ALD_PKI_ROLE_NODE,
                        broker ? NULL : files->id, (uint64_t) g_get_real_time(), NULL) < 0)
                return false;
        ald_pki_certificate_facts(certificate, &facts);
        ald_pki_certificate_facts(own, &own_facts);
        if (own_facts.not_after <= facts.not_after)
                return false;
        ald_changes_note(files->changes, "Kept %s, which is newer", path);
        return true;
}

static int install_bundle(AldClusterFiles *files, const AldBundle *bundle, const Parts *parts, bool renew)
{
        g_autofree char *ca = g_build_filename(files->folder, "ca.crt", NULL);
        g_autofree char *pem = ald_pki_certificate_to_pem(parts->ca);
        int r;

        r = ald_files_install(files, ALD_CHANGE_INSTALL, ca, pem, 0644,
                ": the certificate authority of cluster %s", bundle->cluster);
        if (r == ALD_EXIT_OK)
                r = install_crl(files, parts);
        if (r == ALD_EXIT_OK && (renew || !is_renewed(files, parts, false)))
                r = ald_enrol_install_node(files, parts->node);
        if (r == ALD_EXIT_OK && parts->broker && !renew && is_renewed(files, parts, true))
                r = ald_broker_files_write(files, bundle->cluster);
        else if (r == ALD_EXIT_OK && parts->broker)
                r = ald_enrol_install_broker(files, bundle->cluster, parts->broker);
        /* This comes last, because it makes the machine a node of the cluster. */
        if (r == ALD_EXIT_OK)
                r = ald_files_configure(files, bundle->cluster, (const char *const *) bundle->brokers);
        return r;
}

int ald_enrol_accept(AldClusterFiles *files, const AldBundle *bundle, bool renew)
{
        g_auto(Parts) parts = {};
        int r;

        r = read_parts(bundle, &parts);
        if (r == ALD_EXIT_OK)
                r = check_cluster(files, bundle, &parts);
        if (r == ALD_EXIT_OK)
                r = check_certificate(files, &parts, false);
        if (r == ALD_EXIT_OK && parts.broker)
                r = check_certificate(files, &parts, true);
        return r == ALD_EXIT_OK ? install_bundle(files, bundle, &parts, renew) : r;
}

static uint64_t read_expiry(const AldClusterFiles *files, bool broker)
{
        g_autofree char *path = path_of(files, broker, ".crt");
        g_autoptr(X509) certificate = NULL;
        AldPkiFacts facts;

        if (ald_pki_certificate_load(path, &certificate, NULL) < 0)
                return 0;
        ald_pki_certificate_facts(certificate, &facts);
        return facts.not_after;
}

static char *bridge_path(const AldClusterFiles *files)
{
        return g_build_filename(files->folder, "broker", "bridge.crt", NULL);
}

/* Reads the certificate of the bridge of this broker. Returns false if it has none. */
static bool read_bridge(const AldClusterFiles *files, AldPkiFacts *ret)
{
        g_autofree char *path = bridge_path(files);
        g_autoptr(X509) certificate = NULL;

        if (!ald_files_is_broker(files) || ald_pki_certificate_load(path, &certificate, NULL) < 0)
                return false;
        ald_pki_certificate_facts(certificate, ret);
        return g_str_has_prefix(ret->common_name, ALD_PKI_BRIDGE_PREFIX);
}

uint64_t ald_enrol_expiry(const AldClusterFiles *files)
{
        uint64_t end = read_expiry(files, false);
        uint64_t broker = ald_files_is_broker(files) ? read_expiry(files, true) : 0;
        AldPkiFacts bridge;

        if (broker != 0)
                end = MIN(end, broker);
        return read_bridge(files, &bridge) ? MIN(end, bridge.not_after) : end;
}

/* Installs a renewed certificate if it expires later. It is verified with the CA that was trusted before:
 * only the signature of the authority counts, not where the certificate came from. */
static int take_renewed(const AldClusterFiles *files, Parts *parts, bool broker, bool *taken)
{
        X509 *certificate = broker ? parts->broker : parts->node;
        AldPkiFacts facts;
        int r;

        if (!certificate)
                return ALD_EXIT_OK;
        ald_pki_certificate_facts(certificate, &facts);
        if (facts.not_after <= read_expiry(files, broker))
                return ALD_EXIT_OK;
        r = check_certificate(files, parts, broker);
        if (r == ALD_EXIT_OK)
                r = install_certificate(files, broker, certificate);
        *taken = *taken || r == ALD_EXIT_OK;
        return r;
}

bool ald_enrol_is_installed(const char *path, X509 *certificate)
{
        g_autoptr(X509) found = NULL;

        return ald_pki_certificate_load(path, &found, NULL) >= 0 && X509_cmp(found, certificate) == 0;
}

int ald_enrol_replace(const AldClusterFiles *files, bool broker, X509 *certificate)
{
        return install_certificate(files, broker, certificate);
}

/* Checks that a certificate is for the same site and for the key of this broker, which its bridge uses. */
static int check_bridge(const AldClusterFiles *files, const Parts *parts, X509 *certificate, const char *site)
{
        g_autofree char *path = path_of(files, true, ".key"), *reason = NULL;
        g_autoptr(EVP_PKEY) key = NULL;
        int r;

        r = ald_pki_verify(parts->ca, parts->crl, certificate, ALD_PKI_ROLE_BRIDGE, site,
                (uint64_t) g_get_real_time(), &reason);
        if (r >= 0)
                r = ald_pki_key_load(path, &key, &reason);
        if (r >= 0 && EVP_PKEY_eq(X509_get0_pubkey(certificate), key) != 1) {
                reason = g_strdup("it is for another key");
                r = -EKEYREJECTED;
        }
        return r < 0 ? ald_report_failure(r, "The renewed certificate of the bridge is refused", reason)
                     : ALD_EXIT_OK;
}

static int take_bridge(const AldClusterFiles *files, const Parts *parts, const char *text, bool *taken)
{
        g_autofree char *path = bridge_path(files);
        AldPkiFacts own, made;

        if (!read_bridge(files, &own))
                return ALD_EXIT_OK;
        for (const char *at = strstr(text + 1, BEGIN); at; at = strstr(at + 1, BEGIN)) {
                g_autoptr(X509) certificate = NULL;
                int r;

                if (ald_pki_certificate_parse(at, strlen(at), &certificate, NULL) < 0)
                        continue;
                ald_pki_certificate_facts(certificate, &made);
                if (strcmp(made.common_name, own.common_name) != 0 || made.not_after <= own.not_after)
                        continue;
                r = check_bridge(files, parts, certificate, own.common_name + strlen(ALD_PKI_BRIDGE_PREFIX));
                if (r == ALD_EXIT_OK)
                        r = install_certificate_at(files, path, certificate);
                *taken = *taken || r == ALD_EXIT_OK;
                return r;
        }
        return ALD_EXIT_OK;
}

static int read_renewed(const AldClusterFiles *files, const char *text, Parts *parts)
{
        g_autofree char *ca = g_build_filename(files->folder, "ca.crt", NULL), *reason = NULL;
        g_autofree char *crl = g_build_filename(files->folder, "crl.pem", NULL);
        const char *second = strstr(text + 1, BEGIN);
        int r;

        r = ald_pki_certificate_load(ca, &parts->ca, &reason);
        if (r >= 0)
                r = ald_pki_crl_load(crl, &parts->crl, &reason);
        if (r >= 0)
                r = ald_pki_certificate_parse(text, strlen(text), &parts->node, &reason);
        if (r >= 0 && second && ald_files_is_broker(files))
                r = ald_pki_certificate_parse(second, strlen(second), &parts->broker, &reason);
        return r < 0 ? ald_report_failure(r, "Cannot read the renewed certificates", reason) : ALD_EXIT_OK;
}

int ald_enrol_take_renewed(const AldClusterFiles *files, const char *text, bool *node, bool *broker)
{
        g_auto(Parts) parts = {};
        int r;

        if (*text == '\0')
                return ALD_EXIT_OK;
        r = read_renewed(files, text, &parts);
        if (r == ALD_EXIT_OK)
                r = take_renewed(files, &parts, false, node);
        if (r == ALD_EXIT_OK)
                r = take_renewed(files, &parts, true, broker);
        return r == ALD_EXIT_OK ? take_bridge(files, &parts, text, broker) : r;
}
