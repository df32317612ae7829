/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>

#include "services/common/service.h"

/*
 * Accounts for messages of ours that the bus holds because clients have not read them yet. dbus-daemon keeps
 * all of them, and at 127 MiB it permanently stops reading from the service that sent them. So each service
 * counts what it sends to each user, verifies with the bus how much of that is unread (GetConnectionStats)
 * before it refuses calls, and then replies LimitsExceeded to that user until enough has been read.
 * dbus-broker has quotas of its own and no such call; nothing is counted there.
 */
typedef struct AldReaders AldReaders;

/* Limits of unread bytes, for one user and for all users together. */
#define ALD_UNREAD_PER_USER_MAX (16u * 1024 * 1024)
#define ALD_UNREAD_MAX (64u * 1024 * 1024)
/* Nothing is broadcast while more than this of earlier broadcasts is unread. */
#define ALD_UNREAD_BROADCASTS_MAX (32u * 1024 * 1024)
/* A connection with more than this unread is sent no signals of its own. */
#define ALD_UNREAD_SIGNALS_MAX (256u * 1024)

/* Starts the accounting: from now on, calls of users who leave too much unread are refused. */
int ald_readers_new(AldService *service, AldReaders **ret);
void ald_readers_free(AldReaders *readers);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AldReaders, ald_readers_free)
