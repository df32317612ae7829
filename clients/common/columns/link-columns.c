/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "clients/common/columns/link-columns.h"
#include "clients/common/format.h"
#include "record/translate.h"

static const AldLinkSummary *link_of(const void *row)
{
        return row;
}

/* These columns say what a link joins. */

static char *source_text(const void *row)
{
        return g_strdup(link_of(row)->source);
}

static char *sink_text(const void *row)
{
        return g_strdup(link_of(row)->sink);
}

static char *link_text(const void *row)
{
        const AldLinkSummary *link = row;

        return g_strdup_printf("%s → %s", link->source, link->sink);
}

static char *source_id_text(const void *row)
{
        return g_strndup(link_of(row)->source_id, ALD_SHOWN_ID_LENGTH);
}

static char *source_id_plain(const void *row)
{
        return g_strdup(link_of(row)->source_id);
}

static char *sink_id_text(const void *row)
{
        return g_strndup(link_of(row)->sink_id, ALD_SHOWN_ID_LENGTH);
}

static char *sink_id_plain(const void *row)
{
        return g_strdup(link_of(row)->sink_id);
}

/* These columns describe the path. */

static char *protocol_text(const void *row)
{
        return g_strdup(link_of(row)->rdma ? "RDMA" : "TCP/IP");
}

static char *protocol_plain(const void *row)
{
        return g_strdup(link_of(row)->rdma ? "rdma" : "socket");
}

static char *address_text(const void *row)
{
        return g_strdup(link_of(row)->path);
}

static char *type_text(const void *row)
{
        return g_strdup(link_of(row)->type);
}

static char *interface_text(const void *row)
{
        return g_strdup(link_of(row)->interface);
}

/* These columns have the figures. */

static double upload_number(const void *row)
{
        return link_of(row)->upload.rate;
}

static double upload_interval_number(const void *row)
{
        return link_of(row)->upload.interval;
}

static double download_number(const void *row)
{
        return link_of(row)->download.rate;
}

static double download_interval_number(const void *row)
{
        return link_of(row)->download.interval;
}

static double rtt_number(const void *row)
{
        return link_of(row)->rtt;
}

static double jitter_number(const void *row)
{
        return link_of(row)->jitter;
}

static char *format_half_nsec(double round_trip)
{
        return ald_format_nsec(round_trip / 2);
}

static double age_number(const void *row)
{
        const AldLinkSummary *link = row;

        return link->now - link->measured;
}

static char *age_text(const void *row)
{
        const AldLinkSummary *link = row;

        return ald_format_age(link->measured, link->now);
}

/* Sorts by AldLinkVerdict, in which the worst is last. */
static double verdict_number(const void *row)
{
        return link_of(row)->verdict;
}

static char *verdict_text(const void *row)
{
        AldTone tone;

        return ald_link_verdict_words(row, &tone);
}

static AldTone verdict_tone(const void *row)
{
        AldTone tone;

        g_free(ald_link_verdict_words(row, &tone));
        return tone;
}

const AldListColumn ald_link_columns[ALD_LINK_N_COLUMNS] = {
        [ALD_LINK_COLUMN_SOURCE] = { .id = "source",
                .key = "SourceName",
                .heading = "FROM",
                .title = N_("From"),
                .description = N_("The node that measured the link"),
                .flexible = true,
                .least = 12,
                .text = source_text },
        [ALD_LINK_COLUMN_SINK] = { .id = "sink",
                .key = "SinkName",
                .heading = "TO",
                .title = N_("To"),
                .description = N_("The node at the other end of the link"),
                .flexible = true,
                .least = 12,
                .text = sink_text },
        [ALD_LINK_COLUMN_VERDICT] = { .id = "verdict",
                .key = "Verdict",
                .heading = "VERDICT",
                .title = N_("Verdict"),
                .description = N_("Whether the link is as it should be, or else what is wrong"),
                .flexible = true,
                .least = 5,
                .wanted = 14,
                .text = verdict_text,
                .number = verdict_number,
                .tone = verdict_tone },
        [ALD_LINK_COLUMN_UPLOAD] = { .id = "upload",
                .key = "UploadBitsPerSecond",
                .heading = "UP",
                .title = N_("From → To"),
                .long_title = N_("Rate From → To"),
                .description = N_("How much the node that measured the link sends to the other in a second"),
                .is_number = true,
                .least = 9,
                .priority = 1,
                .number = upload_number },
        [ALD_LINK_COLUMN_DOWNLOAD] = { .id = "download",
                .key = "DownloadBitsPerSecond",
                .heading = "DOWN",
                .title = N_("To → From"),
                .long_title = N_("Rate To → From"),
                .description = N_("How much the other node sends back in a second"),
                .is_number = true,
                .least = 9,
                .priority = 2,
                .number = download_number },
        [ALD_LINK_COLUMN_RTT] = { .id = "rtt",
                .key = "RttP50NSec",
                .heading = "RTT/2",
                .title = N_("RTT/2"),
                .description = N_("Half of the median round trip; in JSON and CSV, the whole one"),
                .is_number = true,
                .least = 7,
                .priority = 4,
                .number = rtt_number,
                .format = format_half_nsec },
        [ALD_LINK_COLUMN_AGE] = { .id = "age",
                .key = "AgeUSec",
                .heading = "AGE",
                .title = N_("Age"),
                .description = N_("How long ago the link was measured"),
                .is_number = true,
                .least = 8,
                .priority = 5,
                .text = age_text,
                .number = age_number },
        [ALD_LINK_COLUMN_PROTOCOL] = { .id = "protocol",
                .key = "Kind",
                .heading = "PROTOCOL",
                .title = N_("Protocol"),
                .description = N_("What it was measured over, TCP/IP or RDMA; in JSON and CSV, socket or "
                                  "rdma"),
                .priority = 9,
                .text = protocol_text,
                .plain = protocol_plain },
        [ALD_LINK_COLUMN_ADDRESS] = { .id = "address",
                .key = "Address",
                .heading = "ADDRESS",
                .title = N_("Address"),
                .description = N_("The address of the other node, or the RDMA ports at both ends"),
                .flexible = true,
                .least = 10,
                .wanted = 15,
                .priority = 3,
                .text = address_text },
        [ALD_LINK_COLUMN_TYPE] = { .id = "type",
                .key = "Type",
                .heading = "TYPE",
                .title = N_("Type"),
                .description = N_("The type of the interface, or the types at both ends if these differ"),
                .priority = 7,
                .text = type_text },
        [ALD_LINK_COLUMN_INTERFACE] = { .id = "interface",
                .key = "SourceInterface",
                .heading = "INTERFACE",
                .title = N_("Interface"),
                .description = N_("The interface of the node that measured the link"),
                .priority = 10,
                .text = interface_text },
        [ALD_LINK_COLUMN_UPLOAD_INTERVAL] = { .id = "upload-interval",
                .key = "UploadInterval",
                .heading = "±",
                .title = N_("± →"),
                .long_title = N_("Uncertainty of From → To"),
                .description = N_("Half the width of the confidence interval of the rate to the other node, "
                                  "in percent"),
                .is_number = true,
                .least = 6,
                .priority = 6,
                .number = upload_interval_number,
                .format = ald_format_interval },
        [ALD_LINK_COLUMN_DOWNLOAD_INTERVAL] = { .id = "download-interval",
                .key = "DownloadInterval",
                .heading = "±",
                .title = N_("± ←"),
                .long_title = N_("Uncertainty of To → From"),
                .description = N_("Half the width of the confidence interval of the rate back, in percent"),
                .is_number = true,
                .least = 6,
                .priority = 6,
                .number = download_interval_number,
                .format = ald_format_interval },
        [ALD_LINK_COLUMN_JITTER] = { .id = "jitter",
                .key = "JitterNSec",
                .heading = "JITTER/2",
                .title = N_("Jitter/2"),
                .description = N_("Half of the mean difference of consecutive round trips; in JSON and CSV, "
                                  "the whole one"),
                .is_number = true,
                .least = 8,
                .priority = 8,
                .number = jitter_number,
                .format = format_half_nsec },
        [ALD_LINK_COLUMN_LINK] = { .id = "link",
                .key = "Link",
                .heading = "LINK",
                .title = N_("Link"),
                .description = N_("The node that measured the link, and the one at its other end"),
                .flexible = true,
                .least = 13,
                .wanted = 16,
                .text = link_text },
        [ALD_LINK_COLUMN_SOURCE_ID] = { .id = "source-id",
                .key = "Source",
                .heading = "FROM ID",
                .title = N_("From (ID)"),
                .description = N_("The first digits of the id of the node that measured the link; in JSON "
                                  "and CSV, all of it"),
                .least = ALD_SHOWN_ID_LENGTH,
                .priority = 11,
                .text = source_id_text,
                .plain = source_id_plain },
        [ALD_LINK_COLUMN_SINK_ID] = { .id = "sink-id",
                .key = "Sink",
                .heading = "TO ID",
                .title = N_("To (ID)"),
                .description = N_("The first digits of the id of the node at the other end; in JSON and CSV, "
                                  "all of it"),
                .least = ALD_SHOWN_ID_LENGTH,
                .priority = 11,
                .text = sink_id_text,
                .plain = sink_id_plain },
};

const AldColumnList ald_link_column_list = {
        .name = "links", .columns = ald_link_columns, .n_columns = ALD_LINK_N_COLUMNS
};
