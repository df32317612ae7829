/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "services/common/service.h"
#include "services/state/state-manager.h"

/*
 * Reads from every running service of Alidade, including this one, what it has refused of its configuration
 * (org.alidade.Service1), and keeps Node1.Configuration in step with it. Starts no service for this, and
 * drops the rows of a service that leaves the bus.
 */
typedef struct AldRefusedSettings AldRefusedSettings;

int ald_refused_settings_new(AldService *service, AldStateManager *manager, AldRefusedSettings **ret);
void ald_refused_settings_free(AldRefusedSettings *settings);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AldRefusedSettings, ald_refused_settings_free)
