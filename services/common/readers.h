/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>

#include "services/common/service.h"

/*
 * What the bus holds of ours because clients have not read it yet. dbus-daemon keeps all of it, and at 127
 * MiB it stops reading from the service that sent it, for ever. So each service counts what it sends to each
 * user, has the bus confirm how much of that is unread (GetConnectionStats) before it refuses anybody, and
 * answers a user that holds too much with LimitsExceeded until it has read. dbus-broker has quotas of its
 * own, and no such call; there nothing is counted.
 */
typedef struct AldReaders AldReaders;

/* What one user may leave unread, and all of them together. */
#define ALD_UNREAD_PER_USER_MAX (16u * 1024 * 1024)
#define ALD_UNREAD_MAX (64u * 1024 * 1024)
/* Nothing is broadcast while more than this of earlier broadcasts is unread. */
#define ALD_UNREAD_BROADCASTS_MAX (32u * 1024 * 1024)
/* A connection that has left more than this unread is sent no signals of its own. */
#define ALD_UNREAD_SIGNALS_MAX (256u * 1024)

/* From now on calls of those who do not read are refused. */
int ald_readers_new(AldService *service, AldReaders **ret);
void ald_readers_free(AldReaders *readers);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AldReaders, ald_readers_free)
