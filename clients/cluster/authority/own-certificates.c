/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "clients/cluster/authority/own-certificates.h"
#include "clients/cluster/broker/addresses.h"
#include "clients/cluster/broker/broker-files.h"
#include "clients/cluster/enrolment/enrol.h"
#include "clients/cluster/shown-names.h"
#include "clients/command-line/print.h"
#include "pki/types.h"
#include "pki/verify.h"

int ald_own_addresses(const AldClusterCommand *command, char ***ret)
{
        g_autoptr(GPtrArray) list = g_ptr_array_new_with_free_func(g_free);

        for (guint i = 0; i < command->addresses->len; i++) {
                const char *host = command->addresses->pdata[i], *reason = ald_host_refuse(host);

                if (reason || i >= ALD_ADDRESSES_MAX) {
                        ald_print_error("--address=%s: %s", host, reason ? reason : "too many of them");
                        return ALD_EXIT_USAGE;
                }
                g_ptr_array_add(list, ald_pki_host_without_dot(host));
        }
        if (list->len == 0) {
                *ret = ald_addresses_of_machine();
                return ALD_EXIT_OK;
        }
        g_ptr_array_add(list, NULL);
        *ret = (char **) g_ptr_array_steal(list, NULL);
        return ALD_EXIT_OK;
}

int ald_own_addresses_again(const AldClusterCommand *command, const AldClusterFiles *files, char ***ret)
{
        g_autofree char *path = g_build_filename(files->folder, "broker", "broker.crt", NULL);
        g_autoptr(X509) certificate = NULL;

        if (command->addresses->len > 0 || ald_pki_certificate_load(path, &certificate, NULL) < 0)
                return ald_own_addresses(command, ret);
        *ret = ald_pki_certificate_names(certificate);
        return ALD_EXIT_OK;
}

/* Returns whether a certificate on this machine is valid, for this key and, for a broker, for these
 * addresses. */
static bool is_usable(const AldAuthority *authority, const char *path, EVP_PKEY *key, char **addresses)
{
        g_autoptr(X509) certificate = NULL;
        g_auto(GStrv) names = NULL;

        if (ald_pki_certificate_load(path, &certificate, NULL) < 0 ||
                EVP_PKEY_eq(X509_get0_pubkey(certificate), key) != 1 ||
                ald_pki_verify(authority->ca, authority->crl, certificate,
                        addresses ? ALD_PKI_ROLE_BROKER : ALD_PKI_ROLE_NODE,
                        addresses ? NULL : authority->files->id, (uint64_t) g_get_real_time(), NULL) < 0)
                return false;
        names = ald_pki_certificate_names(certificate);
        for (; addresses && *addresses; addresses++)
                if (!g_strv_contains((const char *const *) names, *addresses))
                        return false;
        return true;
}

int ald_own_node_certify(AldAuthority *authority, bool anew)
{
        const AldClusterFiles *files = authority->files;
        g_autofree char *path = g_build_filename(files->folder, "node.crt", NULL), *name = NULL;
        g_autoptr(EVP_PKEY) key = NULL;
        const AldIssued *issued;
        int r;

        r = ald_enrol_key(files, false, &key);
        if (r != ALD_EXIT_OK)
                return r;
        if (!anew && is_usable(authority, path, key, NULL)) {
                ald_changes_note(files->changes, "Kept %s: it is still valid", path);
                return ALD_EXIT_OK;
        }
        name = ald_shown_own_name();
        r = ald_authority_sign(authority,
                &(AldPkiSubject){ .role = ALD_PKI_ROLE_NODE, .name = files->id, .key = key }, name, &issued);
        if (r != ALD_EXIT_OK)
                return r;
        r = ald_enrol_install_node(files, issued->certificate);
        if (r != ALD_EXIT_OK && !ald_enrol_is_installed(path, issued->certificate))
                ald_authority_forget(authority, issued);
        return r;
}

int ald_own_broker_certify(AldAuthority *authority, const char *cluster, char **addresses, bool anew)
{
        const AldClusterFiles *files = authority->files;
        g_autofree char *path = g_build_filename(files->folder, "broker", "broker.crt", NULL), *name = NULL;
        AldPkiSubject subject = { .role = ALD_PKI_ROLE_BROKER, .name = files->id };
        g_autoptr(EVP_PKEY) key = NULL;
        const AldIssued *issued;
        int r;

        r = ald_enrol_key(files, true, &key);
        if (r != ALD_EXIT_OK)
                return r;
        if (!anew && is_usable(authority, path, key, addresses)) {
                ald_changes_note(files->changes, "Kept %s: it is still valid", path);
                return ald_broker_files_write(files, cluster);
        }
        subject.key = key;
        subject.names = (const char *const *) addresses;
        name = ald_shown_own_name();
        r = ald_authority_sign(authority, &subject, name, &issued);
        if (r != ALD_EXIT_OK)
                return r;
        r = ald_enrol_install_broker(files, cluster, issued->certificate);
        if (r != ALD_EXIT_OK && !ald_enrol_is_installed(path, issued->certificate))
                ald_authority_forget(authority, issued);
        return r;
}
