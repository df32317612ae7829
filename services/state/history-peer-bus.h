/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "services/state/findings-watch.h"

/* Follows the problem that the history service of this machine reports while it is running: why it cannot
 * write. */
typedef struct AldHistoryPeer AldHistoryPeer;

/* The findings are computed again when the problem changes. */
int ald_history_peer_new(
        AldService *service, AldStateManager *manager, AldFindingsWatch *findings, AldHistoryPeer **ret);
void ald_history_peer_free(AldHistoryPeer *history);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AldHistoryPeer, ald_history_peer_free)
