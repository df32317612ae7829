/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "services/common/service.h"

/* The connections that have called a method such as Subscribe(). Each counts once, until it reverts that or
 * closes. */
typedef struct AldHolders AldHolders;

/* Called for each connection that is added or removed, with its unique name and user. */
typedef void (*AldHoldersChanged)(const char *name, uid_t uid, bool held, void *userdata);

/* Limits: in total, for one user, and the places reserved for root. */
#define ALD_HOLDERS_MAX 256u
#define ALD_HOLDERS_PER_USER_MAX 32u
#define ALD_HOLDERS_OF_ROOT 32u

AldHolders *ald_holders_new(AldService *service, AldHoldersChanged changed, void *userdata);
void ald_holders_free(AldHolders *holders);

/* Adds the sender. Returns -ENOSPC if the user holds too many, -EUSERS if there are too many in total,
 * -ENODATA if the bus does not report the user. A second call changes nothing. */
int ald_holders_add(AldHolders *holders, sd_bus_message *message);
/* Sets the D-Bus error for an error of ald_holders_add(). */
int ald_holders_set_error(int r, const char *method, sd_bus_error *error);
/* Removes the sender. Returns -ENOENT if it has not called the method. */
int ald_holders_remove(AldHolders *holders, sd_bus_message *message);

bool ald_holders_any(const AldHolders *holders);
