/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "services/state/findings-watch.h"

/* Follows what the history service of this machine reports about itself, if it runs: why it cannot write. */
typedef struct AldHistoryPeer AldHistoryPeer;

/* The findings are looked for again when that changes. */
int ald_history_peer_new(
        AldService *service, AldStateManager *manager, AldFindingsWatch *findings, AldHistoryPeer **ret);
void ald_history_peer_free(AldHistoryPeer *history);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AldHistoryPeer, ald_history_peer_free)
