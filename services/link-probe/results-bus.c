/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "services/link-probe/results-bus.h"
#include "services/common/record-export.h"
#include "services/link-probe/paths.h"

struct AldResultsBus {
        AldResults *results;
        AldRecordExport *export;
};

static void on_put(const char *key, const AldLinkSocket *fields, void *userdata)
{
        AldResultsBus *self = userdata;

        (void) ald_record_export_put(self->export, key, fields);
}

static void on_drop(const char *key, void *userdata)
{
        AldResultsBus *self = userdata;

        ald_record_export_drop(self->export, key);
}

int ald_results_bus_new(AldService *service, AldResults *results, AldResultsBus **ret)
{
        static const AldResultsHandler handler = { .put = on_put, .drop = on_drop };
        AldResultsBus *self = g_new0(AldResultsBus, 1);

        *ret = self;
        self->results = results;
        ald_results_watch(results, &handler, self);
        return ald_record_export_new(service, ALD_LINK_PROBE_LINK_PATH, ALD_KIND_LINK_SOCKET, &self->export);
}

void ald_results_bus_free(AldResultsBus *self)
{
        if (!self)
                return;
        ald_results_watch(self->results, NULL, NULL);
        ald_record_export_free(self->export);
        g_free(self);
}
