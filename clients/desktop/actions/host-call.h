/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>

#include "clients/desktop/actions/host-bus.h"

/* A method of a service on the bus of a machine. */
typedef struct AldHostMethod {
        const char *name, *path, *interface, *member;
        bool asks; /* a person may have to type a password before the service answers */
} AldHostMethod;

/* One call whose answer is awaited. It is freed before the function is called. */
typedef struct AldHostCall AldHostCall;

/* The reply, or else the error. Called once, from the main loop. */
typedef void (*AldHostReplied)(sd_bus_message *reply, const sd_bus_error *error, void *userdata);

/* Arguments are as for sd_bus_message_append(). */
AldHostCall *ald_host_call_new(AldHostBus *bus, const AldHostMethod *method, AldHostReplied replied,
        void *userdata, const char *types, ...);

/* Makes a call. Negative errno of sd-bus. */
typedef int (*AldHostMake)(sd_bus *bus, const void *data, sd_bus_message **ret);

/* The same with a call that `make` makes now from the data. The answer may take this long. */
AldHostCall *ald_host_call_new_made(AldHostBus *bus, AldHostMake make, const void *data, uint64_t usec,
        AldHostReplied replied, void *userdata);

/* The answer is not wanted any more. */
void ald_host_call_free(AldHostCall *call);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AldHostCall, ald_host_call_free)
