/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "clients/common/probes/probe-words.h"
#include "clients/common/tone.h"
#include "tests/unit/model-maker.h"

/* A line for each fact that is known, and one that is empty between rows. */
static char *list_facts(const AldProbeWords *words, json_t *job)
{
        g_autoptr(GPtrArray) rows = words->facts(words, "birch", job);
        GString *text = g_string_new(NULL);

        for (guint i = 0; i < rows->len; i++) {
                const GPtrArray *facts = rows->pdata[i];

                if (i > 0)
                        g_string_append_c(text, '\n');
                for (guint j = 0; j < facts->len; j++) {
                        const AldFact *fact = facts->pdata[j];

                        if (fact->text)
                                g_string_append_printf(text, "%s: %s\n", fact->label, fact->text);
                }
        }
        return g_string_free(text, FALSE);
}

static void test_facts(void)
{
        static const struct {
                const AldProbeWords *words;
                const char *job, *facts;
        } cases[] = {
                { &ald_probe_words_compute, "{}", "" },
                { &ald_probe_words_compute, "{'Result':7}", "" },
                { &ald_probe_words_compute, "{'Result':{'Devices':7}}", "" },
                { &ald_probe_words_compute,
                        "{'Result':{'Devices':[{'Id':'a'},{'Id':'b','Name':'GPU','PeakTflops':20}],"
                        "'Errors':[{'Id':'1','Device':'a','Metric':'read','error':'timeout'},"
                        "{'Id':'2','Device':'a','Metric':'gemm','error':'crashed','message':'it crashed'}]}}",
                        "Device: a\nFailed: gemm: it crashed; read: timeout\n\n"
                        "Device: b, GPU\nRegisters: 20.0 TFLOPS\n" },
                { &ald_probe_words_storage, "{}", "" },
                { &ald_probe_words_storage, "{'Result':{'FileSystems':7}}", "" },
                { &ald_probe_words_storage,
                        "{'Result':{'FileSystems':[{'Id':'/a','FileSystemType':'ext4','Disks':['sda','sdb'],"
                        "'ModelFiles':2,'ModelBytes':3221225472,'ReadBytesPerSecond':3210000000,"
                        "'ReadMedianBytesPerSecond':3200000000,'ReadInterval':1,'ReadSpread':4,"
                        "'BlockBytes':1048576,'QueueDepth':4,'ReadBytes':268435456,'Flags':['busy']},"
                        "{'Id':'/b','FileSystemType':'nfs','Disks':['far:/m'],'Network':true}],"
                        "'Errors':[{'Id':'/b','error':'asleep','message':'it is asleep'},"
                        "{'Id':'/c','error':'missing'}]}}",
                        "Mounted at: /a (sda, sdb), ext4\nHolds: 2 models of 3.00 GiB\n"
                        "Reads: 3.21 GB/s ±1 %, median 3.20 GB/s, spread 4 %\n"
                        "Measured: 256 MiB, in requests of 1.00 MiB, 4 at a time\nFlags: busy\n\n"
                        "Mounted at: /b (far:/m), nfs, on another machine\nFailed: it is asleep\n\n"
                        "Mounted at: /c\nFailed: missing\n" },
                { &ald_probe_words_socket, "{}", "Link to: birch\n" },
                { &ald_probe_words_socket,
                        "{'Address':'192.0.2.1','Result':{'UploadBitsPerSecond':9410000000}}",
                        "Link to: birch over 192.0.2.1\nUpload: 9.41 Gb/s\n" },
                { &ald_probe_words_rdma,
                        "{'Result':{'SourcePort':'mlx5_0.1','SinkPort':'mlx5_1.1','RttP50NSec':2000,"
                        "'MessageBytes':65536}}",
                        "Link to: birch over mlx5_0.1 → mlx5_1.1\nRTT/2: 1.00 µs\nMessages: 64.0 KiB\n" },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                json_auto_t *job = model_parse(cases[i].job);
                g_autofree char *facts = list_facts(cases[i].words, job);

                g_assert_cmpstr(facts, ==, cases[i].facts);
        }
}

int main(int argc, char *argv[])
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/probe-words/facts", test_facts);
        return g_test_run();
}
