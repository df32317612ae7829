/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>

#include "probes/compute/session.h"

#define LOG_MAX (1024u * 1024)

static char *read_log(const AldSession *session, cl_program program)
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

static int build(
        AldSession *session, cl_program program, const char *options, cl_program *ret, char **ret_log)
{
        cl_int code = session->cl->BuildProgram(program, 1, &session->device, options, NULL, NULL);
        cl_build_status status = CL_BUILD_ERROR;

        if (ret_log)
                *ret_log = read_log(session, program);
        if (code == CL_SUCCESS)
                code = session->cl->GetProgramBuildInfo(
                        program, session->device, CL_PROGRAM_BUILD_STATUS, sizeof status, &status, NULL);
        if (code != CL_SUCCESS || status != CL_BUILD_SUCCESS) {
                session->cl->ReleaseProgram(program);
                return -ENOEXEC;
        }
        *ret = program;
        return 0;
}

int ald_session_build(
        AldSession *session, const char *source, const char *options, cl_program *ret, char **ret_log)
{
        cl_program program = session->cl->CreateProgramWithSource(session->context, 1, &source, NULL, NULL);

        if (ret_log)
                *ret_log = NULL;
        return program ? build(session, program, options, ret, ret_log) : -ENOMEM;
}

int ald_session_build_binary(AldSession *session, const void *binary, size_t size, const char *options,
        cl_program *ret, char **ret_log)
{
        const unsigned char *bytes = binary;
        cl_program program = session->cl->CreateProgramWithBinary(
                session->context, 1, &session->device, &size, &bytes, NULL, NULL);

        if (ret_log)
                *ret_log = NULL;
        return program ? build(session, program, options, ret, ret_log) : -ENOEXEC;
}

int ald_session_buffer(AldSession *session, cl_mem_flags flags, size_t size, cl_mem *ret, AldFailure *failure)
{
        cl_int code = CL_SUCCESS;
        cl_mem buffer = session->cl->CreateBuffer(session->context, flags, size, NULL, &code);

        if (!buffer)
                return ald_cl_fail(failure, code, "allocating memory of the device");
        *ret = buffer;
        return 0;
}

void ald_session_close(AldSession *session)
{
        if (session->queue)
                session->cl->ReleaseCommandQueue(session->queue);
        if (session->context)
                session->cl->ReleaseContext(session->context);
        session->queue = NULL;
        session->context = NULL;
}
