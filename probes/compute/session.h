/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "probes/compute/device.h"

/* One device, ready to work. */
typedef struct AldSession {
        const AldCl *cl;
        cl_platform_id platform;
        cl_device_id device;
        cl_context context;
        cl_command_queue queue; /* in order, with profiling */
        const AldOpenclTarget *facts;
        GPtrArray *devices;   /* all of the machine, one of which is facts */
        bool busy;            /* others were at work on it before we were */
        uint64_t memory_free; /* that it can use, bytes; 0: not known */
} AldSession;

/* The device of this id; NULL: the first. */
int ald_session_open(AldSession *ret, const AldCl *cl, const char *id, AldFailure *failure);

/* The same for a device that another process listed, with the same drivers. */
typedef struct AldListed {
        unsigned ordinal; /* in the list of ald_devices_ask() */
        const char *name; /* "" if it cannot be shown */
        const char *pci;  /* that any of its views reports; NULL */
} AldListed;

int ald_session_open_listed(AldSession *ret, const AldCl *cl, const AldListed *listed, AldFailure *failure);
void ald_session_close(AldSession *session);

/* Builds for the device. A failure is of kind build-failed, with what the compiler said. */
int ald_session_build(
        AldSession *session, const char *source, const char *options, cl_program *ret, AldFailure *failure);

/* The same from what GetProgramInfo(CL_PROGRAM_BINARIES) gave, changed since. */
int ald_session_build_ptx(AldSession *session, const char *ptx, cl_program *ret, AldFailure *failure);

/* A buffer of the device. Too large a one is a failure of kind out-of-memory. */
int ald_session_buffer(
        AldSession *session, cl_mem_flags flags, size_t size, cl_mem *ret, AldFailure *failure);
