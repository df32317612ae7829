/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "services/common/service.h"

/* Connections that called a method such as Subscribe(): each once, until it takes that back or is gone. */
typedef struct AldHolders AldHolders;

/* Called for each that comes, or goes, with its unique name and user. */
typedef void (*AldHoldersChanged)(const char *name, uid_t uid, bool held, void *userdata);

/* All, of one user, and those that only root has. */
#define ALD_HOLDERS_MAX 256u
#define ALD_HOLDERS_PER_USER_MAX 32u
#define ALD_HOLDERS_OF_ROOT 32u

AldHolders *ald_holders_new(AldService *service, AldHoldersChanged changed, void *userdata);
void ald_holders_free(AldHolders *holders);

/* -ENOSPC where the user holds too many, -EUSERS where there are too many in all, -ENODATA where the bus does
 * not say who it is; twice is once. */
int ald_holders_add(AldHolders *holders, sd_bus_message *message);
/* The error for it. */
int ald_holders_refuse(int r, const char *method, sd_bus_error *error);
/* -ENOENT where the sender is not among them. */
int ald_holders_remove(AldHolders *holders, sd_bus_message *message);

bool ald_holders_any(const AldHolders *holders);
