/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>

#include "clients/desktop/actions/host-bus.h"

/* A method of a service on the bus of a machine. */
typedef struct AldHostMethod {
        const char *name, *path, *interface, *member;
        bool asks; /* a person may have to type a password before the service answers */
} AldHostMethod;

/* A pending call. It is freed before the callback is called. */
typedef struct AldHostCall AldHostCall;

/* Receives either the reply or the error. Called once, from the main loop. */
typedef void (*AldHostReplied)(sd_bus_message *reply, const sd_bus_error *error, void *userdata);

/* Calls a method. The arguments are as for sd_bus_message_append(). */
AldHostCall *ald_host_call_new(AldHostBus *bus, const AldHostMethod *method, AldHostReplied replied,
        void *userdata, const char *types, ...);

/* Creates the message of a call. Returns a negative errno of sd-bus on failure. */
typedef int (*AldHostMake)(sd_bus *bus, const void *data, sd_bus_message **ret);

/* Sends the call that `make` creates from the data, which need not outlive this. The answer may take `usec`.
 */
AldHostCall *ald_host_call_new_with_message(AldHostBus *bus, AldHostMake make, const void *data,
        uint64_t usec, AldHostReplied replied, void *userdata);

/* Cancels the call; its callback is not called. */
void ald_host_call_free(AldHostCall *call);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AldHostCall, ald_host_call_free)
