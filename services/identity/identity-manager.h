/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>

#include "record/schema.h"

/*
 * Merges the identity of this machine into one AldIdentity: its friendly name, the values of hostname1, and
 * its own facts.
 */
typedef struct AldIdentityManager AldIdentityManager;

/* The values of hostname1; NULL or "" if unknown. */
typedef struct AldHostname1 {
        const char *pretty_hostname;
        const char *static_hostname;
        const char *hostname;
        const char *vendor;
        const char *model;
        const char *chassis;
} AldHostname1;

/* The identity is valid during the call. */
typedef void (*AldIdentityChanged)(const AldIdentity *identity, void *userdata);

/* Creates a manager and reads the facts below the root, which stays the caller's. */
AldIdentityManager *ald_identity_manager_new(int root, const char *state_directory);
void ald_identity_manager_free(AldIdentityManager *manager);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AldIdentityManager, ald_identity_manager_free)

/* Calls back at once, and whenever the identity has changed. NULL removes the callback. */
void ald_identity_manager_watch(AldIdentityManager *manager, AldIdentityChanged changed, void *userdata);

/* Reads the facts again, as the operating system may have been upgraded. */
void ald_identity_manager_reload(AldIdentityManager *manager);

/* Reads the facts again if DMI or os-release have changed; returns whether they have. */
bool ald_identity_manager_refresh(AldIdentityManager *manager);

/* Reads the host name of the kernel again; returns whether it has changed. */
bool ald_identity_manager_reload_host_name(AldIdentityManager *manager);

/* Copies the present values of hostname1. */
void ald_identity_manager_set_hostname1(AldIdentityManager *manager, const AldHostname1 *values);

/* Stores a name that ald_name_refuse() accepts; "" returns to the system's name. On error the old name stays.
 */
int ald_identity_manager_set_friendly_name(AldIdentityManager *manager, const char *name);
