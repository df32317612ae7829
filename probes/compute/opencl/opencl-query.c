/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <stddef.h>
#include <string.h>

#include <glib.h>

#include "probes/compute/opencl/opencl-query.h"

#define TEXT_MAX (64u * 1024)
#define VALUE_MAX 64u

bool ald_query(const AldCl *cl, cl_device_id device, cl_device_info what, void *ret, size_t size)
{
        _Alignas(max_align_t) char value[VALUE_MAX];
        size_t actual = 0;

        if (size > sizeof value || cl->GetDeviceInfo(device, what, size, value, &actual) != CL_SUCCESS ||
                actual != size)
                return false;
        memcpy(ret, value, size);
        return true;
}

cl_uint ald_query_uint(const AldCl *cl, cl_device_id device, cl_device_info what)
{
        cl_uint value = 0;

        return ald_query(cl, device, what, &value, sizeof value) ? value : 0;
}

cl_ulong ald_query_ulong(const AldCl *cl, cl_device_id device, cl_device_info what)
{
        cl_ulong value = 0;

        return ald_query(cl, device, what, &value, sizeof value) ? value : 0;
}

/* Makes a text safe for terminals, and trims it, since some drivers pad their names. */
static char *tidy_text(const char *text)
{
        char *valid = g_utf8_make_valid(text, -1);

        for (char *at = valid; *at; at++)
                if (g_ascii_iscntrl(*at))
                        *at = ' ';
        return g_strstrip(valid);
}

char *ald_query_text(const AldCl *cl, cl_device_id device, cl_device_info what)
{
        g_autofree char *text = NULL;
        size_t size = 0;

        if (cl->GetDeviceInfo(device, what, 0, NULL, &size) != CL_SUCCESS || size > TEXT_MAX)
                return g_strdup("");
        text = g_malloc0(size + 1);
        if (cl->GetDeviceInfo(device, what, size, text, NULL) != CL_SUCCESS)
                return g_strdup("");
        return tidy_text(text);
}

char *ald_query_platform_text(const AldCl *cl, cl_platform_id platform, cl_platform_info what)
{
        g_autofree char *text = NULL;
        size_t size = 0;

        if (cl->GetPlatformInfo(platform, what, 0, NULL, &size) != CL_SUCCESS || size > TEXT_MAX)
                return g_strdup("");
        text = g_malloc0(size + 1);
        if (cl->GetPlatformInfo(platform, what, size, text, NULL) != CL_SUCCESS)
                return g_strdup("");
        return tidy_text(text);
}
