/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "clients/alidadectl/fields.h"
#include "clients/alidadectl/links/inhibitors.h"
#include "clients/alidadectl/links/job-text.h"
#include "clients/alidadectl/links/probe-private.h"
#include "clients/alidadectl/print.h"
#include "clients/alidadectl/text.h"

#define INHIBITED "org.alidade.Error.Inhibited"
#define NOT_JOINED "org.alidade.Error.NotJoined"
#define NAMED_MAX 10u

/* By whom, and why. */
static void name_inhibitors(AldProbe *probe)
{
        g_auto(sd_bus_error) error = SD_BUS_ERROR_NULL;
        json_t *rows = json_array(), *row;
        unsigned n = 0;
        size_t i;

        (void) ald_inhibitors_read(probe->bus, rows, &error);
        json_array_foreach(rows, i, row) {
                const char *who = ald_field_text(row, "Who"), *why = ald_field_text(row, "Why");

                if (ald_inhibitor_holds_links(row) && who && why && n++ < NAMED_MAX)
                        ald_complain("  %s: %s", who, why);
        }
        if (n > NAMED_MAX)
                ald_complain("  and %u more; see \"alidadectl inhibit --list\"", n - NAMED_MAX);
        json_decref(rows);
}

int ald_probe_complain(AldProbe *probe, const sd_bus_error *error)
{
        g_autofree char *what = g_strdup_printf("Cannot probe %s", probe->order->node->label);
        int r = ald_bus_complain(error, what, ALD_LINK_PROBE_UNIT);

        if (sd_bus_error_has_name(error, INHIBITED))
                name_inhibitors(probe);
        else if (sd_bus_error_has_name(error, NOT_JOINED))
                ald_complain("\"alidadectl cluster join\" lets this machine into a cluster");
        return r;
}

static int print_as_json(AldProbe *probe)
{
        json_t *object = json_copy(probe->job);
        int r;

        json_object_del(object, "Phase");
        json_object_del(object, "Progress");
        r = ald_print_json(probe->order->ctl, object);
        json_decref(object);
        return r;
}

static int print_as_text(AldProbe *probe)
{
        g_autoptr(GString) out = g_string_new(NULL);
        AldStyleInfo info = ald_style_info();

        ald_job_describe_result(out, probe->job, probe->order->node->label, info.columns);
        return ald_print(probe->order->ctl, &info, out->str);
}

int ald_probe_report(AldProbe *probe)
{
        AldJobState state = ald_job_state(probe->job);
        g_autofree char *reason = ald_job_reason(probe->job);
        int r = ALD_EXIT_OK;

        if (probe->order->ctl->json)
                r = print_as_json(probe);
        else if (state == ALD_JOB_DONE)
                r = print_as_text(probe);
        if (r != ALD_EXIT_OK || state == ALD_JOB_DONE)
                return r;
        if (state == ALD_JOB_FAILED)
                ald_complain("The probe of %s failed: %s", probe->order->node->label, reason);
        else
                ald_complain("The probe of %s was canceled", probe->order->node->label);
        return ALD_EXIT_ERROR;
}
