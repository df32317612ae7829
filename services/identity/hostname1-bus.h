/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "services/common/service.h"
#include "services/identity/identity-manager.h"

/*
 * Reads org.freedesktop.hostname1 on the system bus at the start and after each of its signals. The service
 * exits when idle, and a call starts it again; its last values are kept meanwhile.
 */
typedef struct AldHostname1Client AldHostname1Client;

/* The values are valid during the call. */
typedef void (*AldHostname1Changed)(const AldHostname1 *values, void *userdata);

/* Creates a client. Leaves *ret as it is if there is no system bus. */
int ald_hostname1_client_new(
        AldService *service, AldHostname1Changed changed, void *userdata, AldHostname1Client **ret);
void ald_hostname1_client_free(AldHostname1Client *client);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AldHostname1Client, ald_hostname1_client_free)

/* Reads the values again. The client may be NULL. */
void ald_hostname1_client_refresh(AldHostname1Client *client);
