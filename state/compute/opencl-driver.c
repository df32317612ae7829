/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "state/compute/opencl-driver.h"
#include "state/compute/compute-summary.h"

#define POCL "pocl-opencl-icd"
#define MESA "mesa-opencl-icd"

static bool has_class(const AldBackend *device, AldBackendClass class)
{
        return g_strcmp0(device->class, ald_backend_class_to_string(class)) == 0;
}

/* NVIDIA's OpenCL works with NVIDIA's own kernel driver only. */
static bool has_free_nvidia_driver(const AldBackend *device)
{
        return g_strcmp0(device->driver, "nouveau") == 0 || g_strcmp0(device->driver, "nova") == 0;
}

const char *ald_opencl_package(const AldBackend *device)
{
        /* Vendors are named as telemetryd names them. */
        static const struct {
                const char *vendor, *package;
        } of_gpus[] = {
                { "AMD", MESA },
                { "Apple", MESA },
                { "Arm", MESA },
                { "Broadcom", MESA },
                { "Intel", "intel-opencl-icd" },
                { "NVIDIA", "nvidia-opencl-icd" },
                { "Qualcomm", MESA },
        };

        if (has_class(device, ALD_BACKEND_CLASS_CPU))
                return POCL;
        if (!has_class(device, ALD_BACKEND_CLASS_GPU) || has_free_nvidia_driver(device))
                return NULL;
        for (size_t i = 0; i < G_N_ELEMENTS(of_gpus); i++)
                if (device->vendor && g_str_has_prefix(device->vendor, of_gpus[i].vendor))
                        return of_gpus[i].package;
        return NULL;
}

bool ald_opencl_is_missing(const AldBackends *backends, const AldBackend *device)
{
        if (!backends->open_cl || device->open_cl_platform || !device->class)
                return false;
        return (has_class(device, ALD_BACKEND_CLASS_CPU) || device->driver || device->parent) &&
               !ald_compute_is_split(backends, device);
}

static bool shows_other_than_processor(const AldBackends *backends)
{
        for (size_t i = 0; i < backends->devices.n; i++) {
                const AldBackend *device = ald_rows_at(&backends->devices, i);

                if (device->open_cl_platform && device->class && !has_class(device, ALD_BACKEND_CLASS_CPU))
                        return true;
        }
        return false;
}

GPtrArray *ald_opencl_missing_packages(const AldBackends *backends)
{
        GPtrArray *packages = g_ptr_array_new();
        const char *of_processor = NULL;

        for (size_t i = 0; backends && i < backends->devices.n; i++) {
                const AldBackend *device = ald_rows_at(&backends->devices, i);
                const char *package = ald_opencl_package(device);

                if (!package || !ald_opencl_is_missing(backends, device))
                        continue;
                if (has_class(device, ALD_BACKEND_CLASS_CPU))
                        of_processor = package;
                else if (!g_ptr_array_find_with_equal_func(packages, package, g_str_equal, NULL))
                        g_ptr_array_add(packages, (gpointer) package);
        }
        if (of_processor && packages->len == 0 && !shows_other_than_processor(backends))
                g_ptr_array_add(packages, (gpointer) of_processor);
        return packages;
}
