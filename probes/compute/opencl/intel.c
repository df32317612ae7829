/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "probes/compute/opencl/intel.h"

AldFit ald_intel_fit_matrix(const AldOpenclTarget *device)
{
        return device->type != ALD_LISTED_DEVICE_TYPE_CPU && device->vendor == ALD_VENDOR_INTEL &&
                               ald_opencl_target_has(device, "cl_intel_subgroup_matrix_multiply_accumulate")
                       ? ALD_FIT_YES
                       : ALD_FIT_NO;
}
