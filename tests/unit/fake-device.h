/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stddef.h>

#include "tests/unit/fake-platform.h"

/*
 * An OpenCL device whose memory is that of the process. Copies are done when they are queued. A driver takes
 * these functions into its table of calls, or calls them in its own.
 */

/* Each object of OpenCL begins with its dispatch table. */
typedef struct FakeObject {
        const cl_icd_dispatch *dispatch;
        size_t size;
        _Alignas(max_align_t) unsigned char bytes[];
} FakeObject;

void *fake_object_new(size_t size, cl_int *ret_code);
cl_int CL_API_CALL fake_object_free(void *object);
#define FAKE_FREE(type) (cl_int(CL_API_CALL *)(type)) fake_object_free

/* An event of a command that began and ended then. */
cl_int fake_event_new(cl_ulong begin_nsec, cl_ulong end_nsec, cl_event *ret);
cl_ulong fake_event_end(cl_event event);
cl_ulong fake_now(void);

cl_context CL_API_CALL fake_create_context(const cl_context_properties *properties, cl_uint n,
        const cl_device_id *devices, void(CL_CALLBACK *notify)(const char *, const void *, size_t, void *),
        void *userdata, cl_int *ret_code);
cl_command_queue CL_API_CALL fake_create_queue(
        cl_context context, cl_device_id id, cl_command_queue_properties properties, cl_int *ret_code);
cl_mem CL_API_CALL fake_create_buffer(
        cl_context context, cl_mem_flags flags, size_t size, void *host, cl_int *ret_code);
cl_int CL_API_CALL fake_get_kernel_info(cl_kernel kernel, cl_device_id id, cl_kernel_work_group_info what,
        size_t room, void *ret, size_t *ret_size);
cl_int CL_API_CALL fake_read(cl_command_queue queue, cl_mem buffer, cl_bool blocking, size_t offset,
        size_t size, void *to, cl_uint n, const cl_event *events, cl_event *ret);
cl_int CL_API_CALL fake_write(cl_command_queue queue, cl_mem buffer, cl_bool blocking, size_t offset,
        size_t size, const void *from, cl_uint n, const cl_event *events, cl_event *ret);
cl_int CL_API_CALL fake_fill(cl_command_queue queue, cl_mem buffer, const void *pattern, size_t pattern_size,
        size_t offset, size_t size, cl_uint n, const cl_event *events, cl_event *ret);
cl_int CL_API_CALL fake_copy(cl_command_queue queue, cl_mem from, cl_mem to, size_t from_offset,
        size_t to_offset, size_t size, cl_uint n, const cl_event *events, cl_event *ret);
void *CL_API_CALL fake_map(cl_command_queue queue, cl_mem buffer, cl_bool blocking, cl_map_flags flags,
        size_t offset, size_t size, cl_uint n, const cl_event *events, cl_event *ret, cl_int *ret_code);
cl_int CL_API_CALL fake_unmap(
        cl_command_queue queue, cl_mem buffer, void *at, cl_uint n, const cl_event *events, cl_event *ret);
cl_int CL_API_CALL fake_get_event_info(
        cl_event event, cl_event_info what, size_t room, void *ret, size_t *ret_size);
cl_int CL_API_CALL fake_get_profile(
        cl_event event, cl_profiling_info what, size_t room, void *ret, size_t *ret_size);
