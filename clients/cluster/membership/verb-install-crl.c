/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <fcntl.h>

#include "clients/cluster/authority/authority.h"
#include "clients/cluster/command-report.h"
#include "clients/cluster/command.h"
#include "clients/cluster/services.h"
#include "pki/certificate.h"
#include "pki/crl.h"
#include "pki/file.h"

static int install_crl(const AldClusterFiles *files, X509_CRL *crl)
{
        g_autofree char *path = g_build_filename(files->folder, "crl.pem", NULL),
                        *pem = ald_pki_crl_to_pem(crl), *about = ald_report_crl(crl);

        return ald_files_install(files, ALD_CHANGE_INSTALL, path, pem, 0644, ": %s", about);
}

/* Returns the list received last if it is newer than the one here, else NULL. */
static int find_newer(const AldClusterFiles *files, bool again, X509_CRL **ret)
{
        g_autofree char *ca_path = g_build_filename(files->folder, "ca.crt", NULL);
        g_autofree char *path = g_build_filename(files->folder, "crl.pem", NULL), *reason = NULL;
        g_autofree char *text = NULL;
        g_autoptr(X509_CRL) crl = NULL, current = NULL;
        g_autoptr(X509) ca = NULL;
        size_t n;
        int r;

        r = ald_pki_file_read_at(AT_FDCWD, files->received_crl, ALD_PKI_CRL_MAX, &text, &n);
        if (r == -ENOENT) {
                ald_changes_note(files->changes, "There is no %s: nothing to install", files->received_crl);
                return ALD_EXIT_OK;
        }
        if (r < 0)
                return ald_report_failure(r, files->received_crl, NULL);
        r = ald_pki_crl_parse(text, n, &crl, &reason);
        if (r >= 0)
                r = ald_pki_certificate_load(ca_path, &ca, &reason);
        if (r < 0)
                return ald_report_failure(r, "Cannot install a revocation list", reason);
        (void) ald_pki_crl_load(path, &current, NULL);
        r = ald_pki_crl_accept(crl, ca, current, &reason);
        if (r == -ESTALE && !again)
                ald_changes_note(files->changes, "Kept %s, which is not older", path);
        else if (r < 0 && r != -ESTALE)
                return ald_report_failure(r, files->received_crl, reason);
        else if (r >= 0)
                *ret = g_steal_pointer(&crl);
        return ALD_EXIT_OK;
}

/* Repeats until there is no newer list: systemd does not watch the file while this runs, and restarting
 * mosquitto takes a while. */
int ald_cluster_install_crl(const AldClusterCommand *command)
{
        g_auto(AldClusterFiles) files = ALD_FILES_INIT;
        int r = ald_files_open_to_change(&files, command->changes), merged = ALD_EXIT_OK;

        for (bool again = false; r == ALD_EXIT_OK; again = true) {
                g_autoptr(X509_CRL) crl = NULL;

                /* Opening the authority merges the list into its own, so that what this machine has revoked
                 * stays revoked. If that fails, the list is installed nevertheless. */
                if (ald_files_is_authority(&files)) {
                        g_auto(AldAuthority) authority = {};

                        merged = ald_authority_open(&files, &authority);
                }
                r = find_newer(&files, again, &crl);
                if (r == ALD_EXIT_OK && crl)
                        r = install_crl(&files, crl);
                /* Restarting mosquitto ends the connections of revoked nodes. */
                if (r == ALD_EXIT_OK)
                        r = ald_services_apply(&files, ald_services_of_broker(&files));
                if (!crl || command->changes->check)
                        break;
        }
        return r == ALD_EXIT_OK ? merged : r;
}
