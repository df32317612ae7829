/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "clients/cluster/command-report.h"
#include "clients/command-line/print.h"
#include "pki/crl.h"

int ald_report_failure(int r, const char *what, const char *reason)
{
        ald_print_error("%s: %s", what, reason ? reason : strerror(-r));
        return r == -EACCES || r == -EPERM ? ALD_EXIT_DENIED : ALD_EXIT_ERROR;
}

void ald_report_keep_first(int *result, int r)
{
        if (*result == ALD_EXIT_OK)
                *result = r;
}

char *ald_report_day(uint64_t usec)
{
        g_autoptr(GDateTime) time = g_date_time_new_from_unix_utc((gint64) (usec / G_USEC_PER_SEC));

        return time ? g_date_time_format(time, "%F") : g_strdup("?");
}

char *ald_report_crl(X509_CRL *crl)
{
        size_t n = ald_pki_crl_count(crl);

        return g_strdup_printf("number %" PRIu64 ", %zu certificate%s revoked", ald_pki_crl_number(crl), n,
                n == 1 ? "" : "s");
}
