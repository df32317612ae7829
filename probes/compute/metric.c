/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "probes/compute/metric.h"

static const struct {
        const char *name;
        int (*measure)(AldOpenclSession *session, const AldMeasureOptions *options, AldMeasure *ret,
                AldFailure *failure);
} metrics[_ALD_METRIC_MAX] = {
        [ALD_METRIC_GEMM] = { "gemm", ald_gemm_measure },
        [ALD_METRIC_READ] = { "read", ald_read_measure },
        [ALD_METRIC_COPY] = { "copy", ald_copy_measure },
        [ALD_METRIC_PEAK] = { "peak", ald_peak_measure },
        [ALD_METRIC_TO_DEVICE] = { "to-device", ald_to_device_measure },
        [ALD_METRIC_TO_HOST] = { "to-host", ald_to_host_measure },
};

const char *ald_metric_to_string(AldMetric metric)
{
        return metrics[metric].name;
}

AldMetric ald_metric_from_string(const char *name)
{
        AldMetric metric = 0;

        while (metric < _ALD_METRIC_MAX && strcmp(name, metrics[metric].name) != 0)
                metric++;
        return metric;
}

bool ald_metric_applies(AldMetric metric, const AldOpenclTarget *device)
{
        return (metric != ALD_METRIC_TO_DEVICE && metric != ALD_METRIC_TO_HOST) ||
               (device->type != ALD_LISTED_DEVICE_TYPE_CPU && device->listed.unified != true);
}

int ald_metric_measure(AldMetric metric, AldOpenclSession *session, const AldMeasureOptions *options,
        AldMeasure *ret, AldFailure *failure)
{
        return metrics[metric].measure(session, options, ret, failure);
}
