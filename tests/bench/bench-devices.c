/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The cluster service of 999 nodes with 8 GPUs each, for devices.py: puts their records and that they are
 * online, writes a line, and stays until its standard input ends.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/bus-cleanup.h"
#include "record/json.h"
#include "record/record-bus.h"
#include "tests/bench/bus-tools.h"
#include "tests/bench/fixture.h"

#define STATE "org.alidade.State1", "/org/alidade/State1", "org.alidade.State1"
#define GPUS 8u
#define EPOCH UINT64_C(1700000000000000)

static char *join_rows(const char *format, bool in_use)
{
        g_autoptr(GString) rows = g_string_new(NULL);

        for (unsigned i = 0; i < GPUS; i++) {
                g_autofree char *id = g_strdup_printf("0000:%02x:00.0", 0x19 + 0x12 * i);

                g_string_append(rows, i > 0 ? "," : "");
                g_string_append_printf(rows, "{\"Id\":\"%s\",", id);
                if (in_use)
                        g_string_append_printf(rows, "\"MemoryUsedBytes\":%" G_GUINT64_FORMAT ",",
                                (uint64_t) g_random_int_range(1, 1 << 26) * 1024);
                g_string_append_printf(rows, "%s}", format);
        }
        return g_string_free(g_steal_pointer(&rows), FALSE);
}

/* Returns the record of a node of this kind; NULL if nodes have none here. */
static char *text_of(unsigned node, AldKind kind)
{
        g_autofree char *rows = NULL;

        switch (kind) {
        case ALD_KIND_IDENTITY:
                return g_strdup_printf("{\"FriendlyName\":\"node-%u\"}", node);
        case ALD_KIND_MEMORY:
                return g_strdup("{\"TotalBytes\":2199023255552,\"AvailableBytes\":1199023255552}");
        case ALD_KIND_SYSTEM:
                rows = join_rows("\"PowerState\":\"active\",\"Usage\":97.0,\"ComputeProcesses\":1,"
                                 "\"TemperatureMilliCelsius\":61000,\"PowerMicroWatts\":420000000,"
                                 "\"PowerLimitMicroWatts\":700000000,\"EnergyMicroJoules\":1234567890123,"
                                 "\"MemoryTemperatureMilliCelsius\":72000,\"ClockHz\":1980000000,"
                                 "\"MemoryClockHz\":3201000000,\"Throttled\":true,"
                                 "\"ThrottleReasons\":[\"power\"],\"EncoderUsage\":0.0,\"DecoderUsage\":0.0",
                        true);
                return g_strdup_printf("{\"CpuUsage\":12.0,\"Devices\":[%s]}", rows);
        case ALD_KIND_PROCESSES:
                rows = join_rows("\"Holders\":1,\"HeldBytes\":42949672960", false);
                return g_strdup_printf("{\"Devices\":[%s]}", rows);
        case ALD_KIND_BACKENDS:
                rows = join_rows("\"Class\":\"gpu\",\"Name\":\"NVIDIA H100 80GB HBM3\",\"Vendor\":\"NVIDIA\","
                                 "\"Driver\":\"nvidia\",\"DriverVersion\":\"550.90.07\","
                                 "\"MemoryTotalBytes\":85899345920,\"OpenClPlatform\":\"NVIDIA CUDA\","
                                 "\"Architecture\":\"sm_90\"",
                        false);
                return g_strdup_printf("{\"Devices\":[%s]}", rows);
        case ALD_KIND_COMPUTE:
                rows = join_rows("\"GemmTflops\":742.5,\"TflopsFp16\":742.5,\"Precision\":\"fp16\","
                                 "\"Accumulator\":\"fp32\",\"MemoryBandwidthBytesPerSecond\":3100000000000,"
                                 "\"MeasuredUSec\":1700000000000000",
                        false);
                return g_strdup_printf("{\"Devices\":[%s]}", rows);
        default:
                return NULL;
        }
}

static void append_record(sd_bus_message *message, unsigned node, AldKind kind)
{
        g_autofree char *text = text_of(node, kind);
        AldId id = fixture_id(node);
        char id_text[ALD_ID_STRING_SIZE];
        AldRecord *record;

        if (!text)
                return;
        TRY(ald_record_from_text(kind, text, strlen(text), &record, NULL));
        TRY(sd_bus_message_open_container(message, 'r', "ssstttba{sv}"));
        TRY(sd_bus_message_append(message, "ssstttb", ald_id_format(&id, id_text), ald_kinds[kind].name, "",
                EPOCH, (uint64_t) kind + 1, EPOCH, 0));
        TRY(ald_record_bus_append(message, record, 0));
        TRY(sd_bus_message_close_container(message));
        ald_record_unref(record);
}

static void put(sd_bus *bus, unsigned node)
{
        g_autoptr(AldMessage) message = NULL;

        TRY(sd_bus_message_new_method_call(bus, &message, STATE, "PutRecords"));
        TRY(sd_bus_message_open_container(message, 'a', "(ssstttba{sv})"));
        for (AldKind kind = 0; kind < FIXTURE_KINDS; kind++)
                append_record(message, node, kind);
        TRY(sd_bus_message_close_container(message));
        TRY(sd_bus_call(bus, message, 0, NULL, NULL));
}

static void put_presences(sd_bus *bus)
{
        g_autoptr(AldMessage) message = NULL;
        char id[ALD_ID_STRING_SIZE];

        TRY(sd_bus_message_new_method_call(bus, &message, STATE, "PutPresences"));
        TRY(sd_bus_message_open_container(message, 'a', "(sstxtt)"));
        for (unsigned i = 0; i < NODES; i++) {
                AldId node = fixture_id(i);

                TRY(sd_bus_message_append(message, "(sstxtt)", ald_id_format(&node, id), "online",
                        UINT64_C(1), INT64_C(0), UINT64_C(0), UINT64_C(0)));
        }
        TRY(sd_bus_message_close_container(message));
        TRY(sd_bus_call(bus, message, 0, NULL, NULL));
}

int main(void)
{
        sd_bus *bus = connect_bus("org.alidade.Cluster1");

        wait_for_name(bus, "org.alidade.State1");
        for (unsigned i = 0; i < NODES; i++)
                put(bus, i);
        put_presences(bus);
        puts("filled");
        fflush(stdout);
        while (getchar() != EOF)
                ;
        sd_bus_flush_close_unref(bus);
        return EXIT_SUCCESS;
}
