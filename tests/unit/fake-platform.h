/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#define CL_TARGET_OPENCL_VERSION 300
#define CL_USE_DEPRECATED_OPENCL_1_1_APIS
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#define CL_USE_DEPRECATED_OPENCL_2_0_APIS
#define CL_USE_DEPRECATED_OPENCL_2_2_APIS
#include <CL/cl.h>
#include <CL/cl_ext.h>
#include <CL/cl_icd.h>

/* What an OpenCL driver with one platform has for the loader. The driver gives the two that follow. */
extern const cl_icd_dispatch fake_dispatch; /* with fake_platforms and fake_platform_info */
const char *fake_platform_name(void);

cl_int CL_API_CALL fake_platforms(cl_uint room, cl_platform_id *ret, cl_uint *ret_n);
cl_int CL_API_CALL fake_platform_info(
        cl_platform_id id, cl_platform_info what, size_t room, void *ret, size_t *ret_size);

/* The answer to a question of OpenCL. */
cl_int fake_tell(const void *value, size_t size, size_t room, void *ret, size_t *ret_size);
cl_int fake_tell_text(const char *text, size_t room, void *ret, size_t *ret_size);

void fake_crash(void);
_Noreturn void fake_hang(void);
