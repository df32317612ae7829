/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>

#include "record/schema.h"

/*
 * Who this machine is: a name somebody gave it, what hostname1 says, and what the machine tells of itself,
 * merged into one AldIdentity.
 */
typedef struct AldIdentityManager AldIdentityManager;

/* What hostname1 says; NULL or "" where it says nothing. */
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

/* Collects below the root, which stays the caller's, and calls `changed` once before it returns. */
AldIdentityManager *ald_identity_manager_new(
        int root, const char *state_directory, AldIdentityChanged changed, void *userdata);
void ald_identity_manager_free(AldIdentityManager *manager);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AldIdentityManager, ald_identity_manager_free)

/* Collects again: the operating system may have been upgraded under us. */
void ald_identity_manager_reload(AldIdentityManager *manager);

/* Collects again where DMI or os-release differ from what they were; returns whether they do. */
bool ald_identity_manager_refresh(AldIdentityManager *manager);

/* Reads the host name of the kernel again; returns whether it is another one. */
bool ald_identity_manager_reload_host_name(AldIdentityManager *manager);

/* Takes over, by copy, what hostname1 says now. */
void ald_identity_manager_set_hostname1(AldIdentityManager *manager, const AldHostname1 *values);

/* Keeps a name that ald_name_refuse() accepts; "" returns to the system's. On an error the old name stays. */
int ald_identity_manager_set_friendly_name(AldIdentityManager *manager, const char *name);
