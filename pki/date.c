/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <openssl/err.h>

#include "pki/date.h"

#define SECONDS_PER_DAY 86400

uint64_t ald_pki_date_read(const ASN1_TIME *time)
{
        ASN1_TIME *epoch = ASN1_TIME_set(NULL, 0);
        int days = 0, seconds = 0, ok;

        /* Not by time_t, which ends in 2038 on some machines. */
        ok = epoch && time && ASN1_TIME_diff(&days, &seconds, epoch, time);
        ASN1_TIME_free(epoch);
        ERR_clear_error();
        if (!ok || days < 0 || seconds < 0)
                return 0;
        return ((uint64_t) days * SECONDS_PER_DAY + (uint64_t) seconds) * G_USEC_PER_SEC;
}

gboolean ald_pki_date_set(ASN1_TIME *time, uint64_t now, int days, long seconds)
{
        uint64_t second = now / G_USEC_PER_SEC;

        return second <= INT32_MAX * UINT64_C(64) && ASN1_TIME_adj(time, (time_t) second, days, seconds);
}

char *ald_pki_date_format(uint64_t usec)
{
        g_autoptr(GDateTime) time = g_date_time_new_from_unix_utc((gint64) (usec / G_USEC_PER_SEC));

        return time ? g_date_time_format(time, "%Y-%m-%d %H:%M UTC") : g_strdup("an unknown time");
}
