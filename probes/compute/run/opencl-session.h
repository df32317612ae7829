/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "probes/compute/opencl/device.h"

/* An open device. */
typedef struct AldOpenclSession {
        const AldCl *cl;
        cl_platform_id platform;
        cl_device_id device;
        cl_context context;
        cl_command_queue queue; /* in order, with profiling */
        const AldOpenclTarget *facts;
        GPtrArray *devices;   /* all devices of the machine, including facts */
        bool busy;            /* others used the device before */
        uint64_t memory_free; /* bytes that the device can use; 0 if unknown */
} AldOpenclSession;

/* Opens the device with this id, or the first if that is NULL. */
int ald_opencl_session_open(AldOpenclSession *ret, const AldCl *cl, const char *id, AldFailure *failure);

/* Identifies a device that another process listed with the same drivers. */
typedef struct AldDeviceIdentity {
        unsigned ordinal; /* in the list of ald_devices_query() */
        const char *name; /* "" if it is not printable */
        const char *pci;  /* PCI address from any platform that shows it; or NULL */
} AldDeviceIdentity;

int ald_opencl_session_open_listed(
        AldOpenclSession *ret, const AldCl *cl, const AldDeviceIdentity *listed, AldFailure *failure);
void ald_opencl_session_close(AldOpenclSession *session);

/* Builds for the device. A failure is of kind build-failed, with the compiler's output. */
int ald_opencl_session_build(AldOpenclSession *session, const char *source, const char *options,
        cl_program *ret, AldFailure *failure);

/* Builds for the device from patched output of GetProgramInfo(CL_PROGRAM_BINARIES). */
int ald_opencl_session_build_ptx(
        AldOpenclSession *session, const char *ptx, cl_program *ret, AldFailure *failure);

/* Allocates a buffer on the device. If it is too large, the failure is of kind out-of-memory. */
int ald_opencl_session_buffer(
        AldOpenclSession *session, cl_mem_flags flags, size_t size, cl_mem *ret, AldFailure *failure);
