/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "services/history/store/database.h"

/*
 * Copies the recent samples of a group into the tiers: samples that arrived late are merged with those of
 * their hour, whose minutes and hour are computed again. If the hour no longer has samples, its minutes
 * remain, and late samples are added for other minutes. Repeating it changes nothing, so an interrupted call
 * is simply repeated. It takes several transactions of about `transaction_bytes`.
 */
int ald_rollup_group(AldDatabase *database, uint32_t group, size_t transaction_bytes);
