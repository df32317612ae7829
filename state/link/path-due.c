/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <glib.h>
#include <string.h>

#include "record/record-key.h"
#include "state/link/path-due.h"

const char *ald_due_reason_to_string(AldDueReason reason)
{
        static const char *const names[] = { "never", "future", "changed", "expired", "failed", "driver" };

        return names[reason];
}

uint64_t ald_path_seed(const AldId *source, const AldId *sink, const char *address)
{
        uint64_t hash = ALD_HASH_BASIS;

        hash = ald_hash_bytes(hash, source, sizeof *source);
        hash = ald_hash_bytes(hash, sink, sizeof *sink);
        /* Few bytes differ between the paths of a pair. */
        return ald_hash_mix(ald_hash_bytes(hash, address, strlen(address)));
}

static uint64_t retry_delay(const AldAttempts *attempts, uint64_t seed, uint64_t failures)
{
        bool rarely = attempts->routed && attempts->measured_usec == ALD_ABSENT_UINT64;
        uint64_t most = rarely ? ALD_PATH_RETRY_ROUTED_MAX_USEC : ALD_PATH_RETRY_MAX_USEC;
        uint64_t delay = ALD_PATH_RETRY_MIN_USEC;

        for (uint64_t i = 1; i < failures && delay < most; i++)
                delay *= rarely ? 4 : 2;
        delay = MIN(delay, most);
        return delay - ald_hash_mix(seed + failures) % (delay / 4);
}

AldAttempts ald_path_attempts(const AldLinkSocket *row)
{
        return row ? (AldAttempts){ row->measured_usec, row->failed_usec, row->failures, false }
                   : ALD_ATTEMPTS_NONE;
}

uint64_t ald_attempts_failures(const AldAttempts *attempts)
{
        if (attempts->failed_usec == ALD_ABSENT_UINT64)
                return 0;
        if (attempts->failures != ALD_ABSENT_UINT64)
                return attempts->failures;
        /* A sender that does not count failures had at least one. */
        return attempts->measured_usec == ALD_ABSENT_UINT64 ||
               attempts->failed_usec > attempts->measured_usec;
}

uint64_t ald_path_failures(const AldLinkSocket *row)
{
        const AldAttempts attempts = ald_path_attempts(row);

        return ald_attempts_failures(&attempts);
}

static AldPathState due_at(AldDueReason reason, uint64_t since, uint64_t now)
{
        return (AldPathState){ .due = since <= now, .reason = reason, .since = since };
}

AldPathState ald_attempts_state(const AldAttempts *attempts, uint64_t seed, uint64_t ttl_usec, uint64_t now)
{
        const AldPathState never = { true, ALD_DUE_NEVER, ALD_ABSENT_UINT64 };
        const AldPathState future = { true, ALD_DUE_FUTURE, ALD_ABSENT_UINT64 };
        uint64_t failures = ald_attempts_failures(attempts);

        if (failures > 0)
                return attempts->failed_usec > now
                               ? future
                               : due_at(ALD_DUE_FAILED,
                                         attempts->failed_usec + retry_delay(attempts, seed, failures), now);
        if (attempts->measured_usec == ALD_ABSENT_UINT64)
                return never;
        return attempts->measured_usec > now
                       ? future
                       : due_at(ALD_DUE_EXPIRED, attempts->measured_usec + ttl_usec, now);
}

const AldLinkSocket *ald_path_find_row(
        AldStore *store, const AldId *source, const AldId *sink, const char *address)
{
        char key[ALD_KEY_MAX + 1], id[ALD_ID_STRING_SIZE];
        const AldEntry *entry;

        g_snprintf(key, sizeof key, "%s,%s", ald_id_format(sink, id), address);
        entry = ald_store_find(store, source, ALD_KIND_LINK_SOCKET, key);
        return entry ? ald_record_as(entry->record, LINK_SOCKET, AldLinkSocket) : NULL;
}
