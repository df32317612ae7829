/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tests/unit/fake-device.h"

void *fake_object_new(size_t size, cl_int *ret_code)
{
        FakeObject *object = calloc(1, sizeof *object + size);

        if (object) {
                object->dispatch = &fake_dispatch;
                object->size = size;
        }
        if (ret_code)
                *ret_code = object ? CL_SUCCESS : CL_OUT_OF_HOST_MEMORY;
        return object;
}

cl_int CL_API_CALL fake_object_free(void *object)
{
        free(object);
        return CL_SUCCESS;
}

cl_ulong fake_now(void)
{
        struct timespec now;

        clock_gettime(CLOCK_MONOTONIC, &now);
        return (cl_ulong) now.tv_sec * 1000000000 + (cl_ulong) now.tv_nsec;
}

cl_int fake_event_new(cl_ulong begin_nsec, cl_ulong end_nsec, cl_event *ret)
{
        const cl_ulong times[] = { begin_nsec, end_nsec };
        cl_int code = CL_SUCCESS;
        FakeObject *event;

        if (!ret)
                return CL_SUCCESS;
        event = fake_object_new(sizeof times, &code);
        if (event)
                memcpy(event->bytes, times, sizeof times);
        *ret = (cl_event) event;
        return code;
}

static cl_ulong event_time(cl_event event, unsigned which)
{
        cl_ulong times[2];

        memcpy(times, ((FakeObject *) event)->bytes, sizeof times);
        return times[which];
}

cl_ulong fake_event_end(cl_event event)
{
        return event_time(event, 1);
}

static cl_int event_of_now(cl_event *ret)
{
        cl_ulong now = fake_now();

        return fake_event_new(now, now, ret);
}

cl_context CL_API_CALL fake_create_context(const cl_context_properties *properties, cl_uint n,
        const cl_device_id *devices, void(CL_CALLBACK *notify)(const char *, const void *, size_t, void *),
        void *userdata, cl_int *ret_code)
{
        return fake_object_new(0, ret_code);
}

cl_command_queue CL_API_CALL fake_create_queue(
        cl_context context, cl_device_id id, cl_command_queue_properties properties, cl_int *ret_code)
{
        return fake_object_new(0, ret_code);
}

cl_mem CL_API_CALL fake_create_buffer(
        cl_context context, cl_mem_flags flags, size_t size, void *host, cl_int *ret_code)
{
        FakeObject *buffer = fake_object_new(size, ret_code);

        if (buffer && host)
                memcpy(buffer->bytes, host, size);
        return (cl_mem) buffer;
}

cl_int CL_API_CALL fake_get_kernel_info(cl_kernel kernel, cl_device_id id, cl_kernel_work_group_info what,
        size_t room, void *ret, size_t *ret_size)
{
        const size_t group = 256;

        return fake_tell(&group, sizeof group, room, ret, ret_size);
}

cl_int CL_API_CALL fake_read(cl_command_queue queue, cl_mem buffer, cl_bool blocking, size_t offset,
        size_t size, void *to, cl_uint n, const cl_event *events, cl_event *ret)
{
        memcpy(to, ((FakeObject *) buffer)->bytes + offset, size);
        return event_of_now(ret);
}

cl_int CL_API_CALL fake_write(cl_command_queue queue, cl_mem buffer, cl_bool blocking, size_t offset,
        size_t size, const void *from, cl_uint n, const cl_event *events, cl_event *ret)
{
        memcpy(((FakeObject *) buffer)->bytes + offset, from, size);
        return event_of_now(ret);
}

cl_int CL_API_CALL fake_fill(cl_command_queue queue, cl_mem buffer, const void *pattern, size_t pattern_size,
        size_t offset, size_t size, cl_uint n, const cl_event *events, cl_event *ret)
{
        for (size_t at = 0; at + pattern_size <= size; at += pattern_size)
                memcpy(((FakeObject *) buffer)->bytes + offset + at, pattern, pattern_size);
        return event_of_now(ret);
}

cl_int CL_API_CALL fake_copy(cl_command_queue queue, cl_mem from, cl_mem to, size_t from_offset,
        size_t to_offset, size_t size, cl_uint n, const cl_event *events, cl_event *ret)
{
        memcpy(((FakeObject *) to)->bytes + to_offset, ((FakeObject *) from)->bytes + from_offset, size);
        return event_of_now(ret);
}

void *CL_API_CALL fake_map(cl_command_queue queue, cl_mem buffer, cl_bool blocking, cl_map_flags flags,
        size_t offset, size_t size, cl_uint n, const cl_event *events, cl_event *ret, cl_int *ret_code)
{
        if (ret_code)
                *ret_code = CL_SUCCESS;
        (void) event_of_now(ret);
        return ((FakeObject *) buffer)->bytes + offset;
}

cl_int CL_API_CALL fake_unmap(
        cl_command_queue queue, cl_mem buffer, void *at, cl_uint n, const cl_event *events, cl_event *ret)
{
        return event_of_now(ret);
}

cl_int CL_API_CALL fake_get_event_info(
        cl_event event, cl_event_info what, size_t room, void *ret, size_t *ret_size)
{
        const cl_int status = CL_COMPLETE;

        return fake_tell(&status, sizeof status, room, ret, ret_size);
}

cl_int CL_API_CALL fake_get_profile(
        cl_event event, cl_profiling_info what, size_t room, void *ret, size_t *ret_size)
{
        cl_ulong time = event_time(event, what == CL_PROFILING_COMMAND_END);

        return fake_tell(&time, sizeof time, room, ret, ret_size);
}
