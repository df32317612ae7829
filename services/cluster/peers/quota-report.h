/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "record/id.h"

/*
 * Reads the reports of the plugin of a broker about nodes whose messages it has refused because they exceed
 * the limits of a node. Only brokers can publish below $SYS.
 */
#define ALD_QUOTA_REPORT_TOPIC "$SYS/broker/alidade/quota"
#define ALD_QUOTA_REPORT_NODES 8u

typedef struct AldQuotaReportRow {
        AldId node;
        uint64_t kept_bytes, kept_topics;
        uint64_t refused; /* messages */
} AldQuotaReportRow;

/* Returns the number of nodes in a report, the worst first; 0 if it is not a report. */
size_t ald_quota_report_read(
        const char *bytes, size_t n, AldQuotaReportRow ret[static ALD_QUOTA_REPORT_NODES]);

/* Describes the problem for users; free with g_free(). */
char *ald_quota_report_describe(const AldId *node, bool is_own);
