/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "probes/common/small-files.h"
#include "probes/compute/opencl/cards.h"
#include "probes/compute/opencl/devices.h"
#include "probes/compute/opencl/opencl-query.h"
#include "probes/compute/run/contention.h"
#include "probes/compute/run/opencl-session.h"

#define LOG_MAX (1024u * 1024)
#define QUERY_AMD_FREE_MEMORY 0x4039

static char *read_log(const AldOpenclSession *session, cl_program program)
{
        g_autofree char *log = NULL;
        size_t size = 0;

        if (session->cl->GetProgramBuildInfo(
                    program, session->device, CL_PROGRAM_BUILD_LOG, 0, NULL, &size) != CL_SUCCESS ||
                size == 0 || size > LOG_MAX)
                return NULL;
        log = g_malloc0(size + 1);
        if (session->cl->GetProgramBuildInfo(
                    program, session->device, CL_PROGRAM_BUILD_LOG, size, log, NULL) != CL_SUCCESS)
                return NULL;
        return g_utf8_make_valid(log, -1);
}

/* Builds a program, and takes ownership of it. It is NULL if it could not even be created. */
static int build_program(AldOpenclSession *session, cl_program program, const char *options,
        const char *refusal, cl_program *ret, AldFailure *failure)
{
        const AldCl *cl = session->cl;
        cl_build_status status = CL_BUILD_ERROR;
        g_autofree char *log = NULL;

        if (!program)
                return ald_fail(failure, ALD_FAILURE_BUILD_FAILED, "%s", refusal);
        if (cl->BuildProgram(program, 1, &session->device, options, NULL, NULL) == CL_SUCCESS &&
                cl->GetProgramBuildInfo(program, session->device, CL_PROGRAM_BUILD_STATUS, sizeof status,
                        &status, NULL) == CL_SUCCESS &&
                status == CL_BUILD_SUCCESS) {
                *ret = program;
                return 0;
        }
        log = read_log(session, program);
        cl->ReleaseProgram(program);
        return ald_fail(failure, ALD_FAILURE_BUILD_FAILED, "%s%s%s", refusal, log ? ": " : "", log ?: "");
}

int ald_opencl_session_build(AldOpenclSession *session, const char *source, const char *options,
        cl_program *ret, AldFailure *failure)
{
        cl_program program = session->cl->CreateProgramWithSource(session->context, 1, &source, NULL, NULL);

        return build_program(session, program, options, "cannot be compiled", ret, failure);
}

int ald_opencl_session_build_ptx(
        AldOpenclSession *session, const char *ptx, cl_program *ret, AldFailure *failure)
{
        const unsigned char *bytes = (const unsigned char *) ptx;
        size_t size = strlen(ptx);
        cl_program program = session->cl->CreateProgramWithBinary(
                session->context, 1, &session->device, &size, &bytes, NULL, NULL);

        return build_program(session, program, "", "the driver refuses the patched PTX", ret, failure);
}

int ald_opencl_session_buffer(
        AldOpenclSession *session, cl_mem_flags flags, size_t size, cl_mem *ret, AldFailure *failure)
{
        cl_int code = CL_SUCCESS;
        cl_mem buffer = session->cl->CreateBuffer(session->context, flags, size, NULL, &code);

        if (!buffer)
                return ald_cl_fail(failure, code, "allocating device memory");
        *ret = buffer;
        return 0;
}

static int find_by_id(AldOpenclSession *session, const char *id, AldFailure *failure)
{
        g_autoptr(GPtrArray) cards = ald_cards_read("/");
        int r = ald_devices_query(session->cl, &session->devices, failure);

        if (r < 0)
                return r;
        ald_devices_match(session->devices, cards);
        session->facts = id ? ald_devices_find(session->devices, id) : session->devices->pdata[0];
        if (!session->facts)
                return ald_fail(failure, ALD_FAILURE_NO_SUCH_DEVICE, "OpenCL shows no device %s", id);
        return 0;
}

static int find_listed(AldOpenclSession *session, const AldDeviceIdentity *listed, AldFailure *failure)
{
        int r = ald_devices_query(session->cl, &session->devices, failure);
        AldOpenclTarget *device;

        if (r < 0)
                return r;
        device = listed->ordinal < session->devices->len ? session->devices->pdata[listed->ordinal] : NULL;
        if (!device || (*listed->name && g_strcmp0(device->listed.name, listed->name) != 0) ||
                (device->listed.pci && g_strcmp0(device->listed.pci, listed->pci) != 0))
                return ald_fail(failure, ALD_FAILURE_NO_SUCH_DEVICE, "OpenCL no longer shows the device");
        if (!device->listed.pci)
                device->listed.pci = ald_opencl_target_take(device, g_strdup(listed->pci));
        session->facts = device;
        return 0;
}

static int open_queue(AldOpenclSession *session, AldFailure *failure)
{
        const cl_context_properties properties[] = { CL_CONTEXT_PLATFORM,
                (cl_context_properties) session->platform, 0 };
        cl_int code = CL_SUCCESS;

        session->context = session->cl->CreateContext(properties, 1, &session->device, NULL, NULL, &code);
        if (!session->context)
                return ald_cl_fail(failure, code, "opening the device");
        session->queue = session->cl->CreateCommandQueue(
                session->context, session->device, CL_QUEUE_PROFILING_ENABLE, &code);
        if (!session->queue)
                return ald_cl_fail(failure, code, "creating a command queue");
        return 0;
}

/* Queries the free memory by AMD's extension. It is in KiB, and some drivers add the largest block. */
static uint64_t query_free_memory(const AldOpenclSession *session)
{
        size_t kib[2] = {};

        if (!ald_opencl_target_has_extension(session->facts, "cl_amd_device_attribute_query") ||
                (!ald_query(session->cl, session->device, QUERY_AMD_FREE_MEMORY, kib, sizeof kib) &&
                        !ald_query(session->cl, session->device, QUERY_AMD_FREE_MEMORY, kib, sizeof *kib)))
                return 0;
        return kib[0] <= UINT64_MAX / 1024 ? kib[0] * 1024 : 0;
}

static uint64_t least_known(uint64_t a, uint64_t b)
{
        return a == 0 ? b : b == 0 ? a : MIN(a, b);
}

/* Returns the free memory in bytes, 0 if unknown. A device that shares memory with the host has what is free
 * for both. */
static uint64_t find_free_memory(const AldOpenclSession *session, AldClocks *clocks)
{
        uint64_t host = ald_host_memory_available("/");

        if (session->facts->type == ALD_LISTED_DEVICE_TYPE_CPU)
                return host;
        return session->facts->listed.unified
                       ? least_known(host, query_free_memory(session))
                       : least_known(ald_clocks_memory_free(clocks), query_free_memory(session));
}

/* Checks whether others use the device, before anything of ours is there. */
static void check_use(AldOpenclSession *session)
{
        g_autoptr(AldClocks) clocks = ald_clocks_open("/", session->facts);

        session->busy = session->facts->type == ALD_LISTED_DEVICE_TYPE_CPU ? ald_processors_in_use("/")
                                                                           : ald_device_in_use(clocks, 0);
        session->memory_free = find_free_memory(session, clocks);
}

/* Finishes opening a device. `found` is the result of finding it. */
static int finish_opening(AldOpenclSession *session, int found, AldOpenclSession *ret, AldFailure *failure)
{
        int r = found;

        if (r >= 0) {
                session->platform = session->facts->platform;
                session->device = session->facts->handle;
                check_use(session);
                r = open_queue(session, failure);
        }
        if (r < 0)
                ald_opencl_session_close(session);
        else
                *ret = *session;
        return r;
}

int ald_opencl_session_open(AldOpenclSession *ret, const AldCl *cl, const char *id, AldFailure *failure)
{
        AldOpenclSession session = { .cl = cl };

        return finish_opening(&session, find_by_id(&session, id, failure), ret, failure);
}

int ald_opencl_session_open_listed(
        AldOpenclSession *ret, const AldCl *cl, const AldDeviceIdentity *listed, AldFailure *failure)
{
        AldOpenclSession session = { .cl = cl };

        return finish_opening(&session, find_listed(&session, listed, failure), ret, failure);
}

void ald_opencl_session_close(AldOpenclSession *session)
{
        if (session->queue)
                session->cl->ReleaseCommandQueue(session->queue);
        if (session->context)
                session->cl->ReleaseContext(session->context);
        g_clear_pointer(&session->devices, g_ptr_array_unref);
        session->facts = NULL;
        session->queue = NULL;
        session->context = NULL;
}
