/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>

#include "clients/alidadectl/cluster/cluster.h"
#include "clients/alidadectl/cluster/services.h"
#include "clients/alidadectl/print.h"
#include "pki/certificate.h"
#include "pki/crl.h"

static int install(const AldHome *home, X509_CRL *crl)
{
        g_autofree char *path = g_build_filename(home->folder, "crl.pem", NULL),
                        *pem = ald_pki_crl_to_pem(crl);
        int r = ald_home_write(path, pem, 0644);

        if (r != ALD_EXIT_OK)
                return r;
        ald_home_tell_list(home, "Installed", path, crl);
        return ald_services_end_sessions(home);
}

/* The list that came last, where it is newer than the one here; NULL where it is not. */
static int find_newer(const AldHome *home, X509_CRL **ret)
{
        g_autofree char *ca_path = g_build_filename(home->folder, "ca.crt", NULL);
        g_autofree char *path = g_build_filename(home->folder, "crl.pem", NULL), *reason = NULL;
        g_autoptr(X509_CRL) crl = NULL, current = NULL;
        g_autoptr(X509) ca = NULL;
        int r;

        r = ald_pki_crl_load(home->fresh_crl, &crl, &reason);
        if (r == -ENOENT) {
                ald_home_tell(home, "There is no %s: nothing to install", home->fresh_crl);
                return ALD_EXIT_OK;
        }
        if (r >= 0)
                r = ald_pki_certificate_load(ca_path, &ca, &reason);
        if (r < 0)
                return ald_home_failed(r, "Cannot install a revocation list", reason);
        (void) ald_pki_crl_load(path, &current, NULL);
        r = ald_pki_crl_accept(crl, ca, current, &reason);
        if (r == -ESTALE)
                ald_home_tell(home, "Kept %s, which is as new", path);
        else if (r < 0)
                return ald_home_failed(r, home->fresh_crl, reason);
        else
                *ret = g_steal_pointer(&crl);
        return ALD_EXIT_OK;
}

/* Until there is none: systemd does not watch the file while it runs this, and mosquitto takes a while. */
int ald_cluster_install_crl(const AldClusterOrder *order)
{
        g_auto(AldHome) home = ALD_HOME_INIT;
        int r = ald_home_open_to_change(&home, stdout);

        while (r == ALD_EXIT_OK) {
                g_autoptr(X509_CRL) crl = NULL;

                r = find_newer(&home, &crl);
                if (!crl)
                        break;
                r = install(&home, crl);
        }
        return r;
}
