/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "state/link-result.h"
#include "state/key.h"
#include "state/planner-path.h"

/* Either kind of link, as it is put together. */
typedef union Fields {
        AldLinkSocket socket;
        AldLinkRdma rdma;
} Fields;

/* What both kinds have of an attempt. */
typedef struct Outcome {
        uint64_t *measured_usec, *failed_usec, *failures;
        const char **failure;
} Outcome;

static Outcome outcome_of(AldKind kind, Fields *fields)
{
        AldLinkSocket *socket = &fields->socket;
        AldLinkRdma *rdma = &fields->rdma;

        if (kind == ALD_KIND_LINK_SOCKET)
                return (Outcome){ &socket->measured_usec, &socket->failed_usec, &socket->failures,
                        &socket->failure };
        return (Outcome){ &rdma->measured_usec, &rdma->failed_usec, &rdma->failures, &rdma->failure };
}

static void read_fields(const AldRecord *record, Fields *ret)
{
        if (record->kind == ALD_KIND_LINK_SOCKET)
                ret->socket = *ald_record_as(record, LINK_SOCKET, AldLinkSocket);
        else
                ret->rdma = *ald_record_as(record, LINK_RDMA, AldLinkRdma);
}

static AldAttempts attempts_of(const AldRecord *record)
{
        Fields fields;
        Outcome outcome;

        if (!record)
                return ALD_ATTEMPTS_NONE;
        read_fields(record, &fields);
        outcome = outcome_of(record->kind, &fields);
        return (AldAttempts){ *outcome.measured_usec, *outcome.failed_usec, *outcome.failures };
}

char *ald_link_result_key(const AldRecord *told)
{
        g_autofree char *key = NULL;
        Fields fields;

        read_fields(told, &fields);
        if (told->kind == ALD_KIND_LINK_SOCKET && fields.socket.sink && fields.socket.sink_address)
                key = g_strdup_printf("%s,%s", fields.socket.sink, fields.socket.sink_address);
        if (told->kind == ALD_KIND_LINK_RDMA && fields.rdma.source_port && fields.rdma.sink &&
                fields.rdma.sink_port)
                key = g_strdup_printf(
                        "%s,%s,%s", fields.rdma.source_port, fields.rdma.sink, fields.rdma.sink_port);
        return key && ald_key_parse(told->kind, key, NULL) == 0 ? g_steal_pointer(&key) : NULL;
}

static bool is_success(const AldAttempts *attempts)
{
        return attempts->measured_usec != ALD_ABSENT_UINT64 &&
               (attempts->failed_usec == ALD_ABSENT_UINT64 ||
                       attempts->failed_usec <= attempts->measured_usec);
}

static uint64_t count_failures(const AldAttempts *before, const AldAttempts *told)
{
        if (before->failed_usec == told->failed_usec)
                return MAX(ald_attempts_failures(before), 1);
        /* One more, unless there was a success meanwhile. */
        return told->measured_usec == ALD_ABSENT_UINT64 || told->measured_usec == before->measured_usec
                       ? ald_attempts_failures(before) + 1
                       : 1;
}

AldRecord *ald_link_result_merge(AldRecord *before, AldRecord *told)
{
        const AldAttempts old = attempts_of(before), new = attempts_of(told);
        Fields merged, latest;
        Outcome outcome, last;
        AldRecord *record = NULL;
        int r;

        if (is_success(&new) || new.failed_usec == ALD_ABSENT_UINT64)
                return ald_record_ref(told);
        read_fields(told, &latest);
        read_fields(before && new.measured_usec == ALD_ABSENT_UINT64 ? before : told, &merged);
        outcome = outcome_of(told->kind, &merged);
        last = outcome_of(told->kind, &latest);
        *outcome.failure = *last.failure;
        *outcome.failed_usec = new.failed_usec;
        *outcome.failures = count_failures(&old, &new);
        r = ald_record_new(told->kind, &merged, &record);
        g_assert(r >= 0); /* A few strings of bounded length always fit. */
        record->updated_usec = told->updated_usec;
        return record;
}
