/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "services/common/service.h"

/* Connections that called Subscribe(): each once, until it takes that back or is gone. */
typedef struct AldSubscribers AldSubscribers;

typedef void (*AldSubscribersChanged)(bool any, void *userdata);

AldSubscribers *ald_subscribers_new(AldService *service, AldSubscribersChanged changed, void *userdata);
void ald_subscribers_free(AldSubscribers *subscribers);

/* -ENOSPC where too many have subscribed; subscribing twice is once. */
int ald_subscribers_add(AldSubscribers *subscribers, sd_bus_message *message);
/* -ENOENT where the sender has not subscribed. */
int ald_subscribers_remove(AldSubscribers *subscribers, sd_bus_message *message);
