/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "state/link-result.h"
#include "state/key.h"
#include "state/planner-path.h"

char *ald_link_result_key(const AldRecord *told)
{
        const AldLinkSocket *row = ald_record_as(told, LINK_SOCKET, AldLinkSocket);
        g_autofree char *key = NULL;

        if (!row->sink || !row->sink_address)
                return NULL;
        key = g_strdup_printf("%s,%s", row->sink, row->sink_address);
        return ald_key_parse(ALD_KIND_LINK_SOCKET, key, NULL) < 0 ? NULL : g_steal_pointer(&key);
}

static bool is_success(const AldLinkSocket *row)
{
        return row->measured_usec != ALD_ABSENT_UINT64 &&
               (row->failed_usec == ALD_ABSENT_UINT64 || row->failed_usec <= row->measured_usec);
}

static uint64_t count_failures(const AldLinkSocket *before, const AldLinkSocket *told)
{
        if (!before)
                return 1;
        if (before->failed_usec == told->failed_usec)
                return MAX(ald_path_failures(before), 1);
        /* One more, unless there was a success meanwhile. */
        return told->measured_usec == ALD_ABSENT_UINT64 || told->measured_usec == before->measured_usec
                       ? ald_path_failures(before) + 1
                       : 1;
}

AldRecord *ald_link_result_merge(AldRecord *before, AldRecord *told)
{
        const AldLinkSocket *old = ald_record_as(before, LINK_SOCKET, AldLinkSocket);
        const AldLinkSocket *new = ald_record_as(told, LINK_SOCKET, AldLinkSocket);
        AldLinkSocket merged = *new;
        AldRecord *record = NULL;
        int r;

        if (is_success(new) || new->failed_usec == ALD_ABSENT_UINT64)
                return ald_record_ref(told);
        if (old && new->measured_usec == ALD_ABSENT_UINT64)
                merged = *old;
        merged.failure = new->failure;
        merged.failed_usec = new->failed_usec;
        merged.failures = count_failures(old, new);
        r = ald_record_new(ALD_KIND_LINK_SOCKET, &merged, &record);
        g_assert(r >= 0); /* A few strings of bounded length always fit. */
        record->updated_usec = told->updated_usec;
        return record;
}
