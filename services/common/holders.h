/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "services/common/service.h"

/* Connections that called a method such as Subscribe(): each once, until it takes that back or is gone. */
typedef struct AldHolders AldHolders;

/* Called when the first has come, and when the last has gone. */
typedef void (*AldHoldersChanged)(bool any, void *userdata);

AldHolders *ald_holders_new(AldService *service, AldHoldersChanged changed, void *userdata);
void ald_holders_free(AldHolders *holders);

/* -ENOSPC where there are too many; twice is once. */
int ald_holders_add(AldHolders *holders, sd_bus_message *message);
/* -ENOENT where the sender is not among them. */
int ald_holders_remove(AldHolders *holders, sd_bus_message *message);
