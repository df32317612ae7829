/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "services/identity/identity-manager.h"

/*
 * Keeps the facts of a manager up to date. Reads them again when the kernel's host name (even without
 * hostname1), or etc/os-release or usr/lib/os-release below the root has changed, and every 30 s, since DMI
 * has no change event.
 */
typedef struct AldFactsWatch AldFactsWatch;

/* `host_name_changed` is called once the manager has the new host name. */
AldFactsWatch *ald_facts_watch_new(
        int root, AldIdentityManager *manager, void (*host_name_changed)(void *userdata), void *userdata);
void ald_facts_watch_free(AldFactsWatch *watch);
