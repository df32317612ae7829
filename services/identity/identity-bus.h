/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "services/common/service.h"
#include "services/identity/identity-manager.h"

/* Exports the object /org/alidade/Identity1. */
typedef struct AldIdentityBus AldIdentityBus;

int ald_identity_bus_new(AldService *service, AldIdentityManager *manager, AldIdentityBus **ret);
void ald_identity_bus_free(AldIdentityBus *bus);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AldIdentityBus, ald_identity_bus_free)
