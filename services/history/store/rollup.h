/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "services/history/store/database.h"

/*
 * Copies the recent samples of a group into the tiers, each at its place: samples that arrived late join
 * those of their hour, whose minutes and hour are computed anew. If the hour has no samples any more, what is
 * known of its minutes remains, and late ones are added for other minutes. Doing it twice changes nothing, so
 * that what is interrupted is just repeated. It takes several transactions of about this many bytes.
 */
int ald_rollup_group(AldDatabase *database, uint32_t group, size_t transaction_bytes);
