/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <glib.h>

#include "clients/desktop/actions/host-prompt.h"
#include "clients/desktop/actions/job-outcome.h"
#include "clients/desktop/actions/name-prompt.h"
#include "clients/desktop/live/bus-error-words.h"
#include "state-client/value.h"

static void test_names(void)
{
        static const struct {
                const char *name;
                bool valid;
        } cases[] = {
                { "", true },
                { "Ada's laptop", true },
                { "الحاسوب", true },
                { "123456789 123456789 123456789 123456789 123456789 123456789 1234", true },
                { "123456789 123456789 123456789 123456789 123456789 123456789 12345", false },
                { "   ", false },
                { "a\tb", false },
                { "a\u202Eb", false },
                { "a\u2028b", false },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++)
                g_assert_cmpint(ald_name_problem(cases[i].name) == NULL, ==, cases[i].valid);
}

static void test_hosts(void)
{
        static const struct {
                const char *host, *problem;
        } cases[] = {
                { "birch", NULL },
                { "ada@192.0.2.7:2222", NULL },
                { "a b", "A host cannot contain spaces" },
                { "-oProxyCommand=x", "A host cannot begin with a hyphen" },
                { "@birch", "The name of the user before “@” is missing" },
                { "ada@", "The host after “@” is missing" },
                { "bürch", "Enter a host name or an address, such as ada@birch or ada@192.0.2.7:2222" },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++)
                g_assert_cmpstr(ald_host_problem(cases[i].host), ==, cases[i].problem);
}

static void test_errors(void)
{
        static const struct {
                const char *name, *message, *words;
                bool absent;
        } cases[] = {
                { SD_BUS_ERROR_NO_REPLY, "x", "unit does not answer; restarting it may help", true },
                { SD_BUS_ERROR_SERVICE_UNKNOWN, "x", "unit is not running", true },
                { "org.freedesktop.DBus.Error.Spawn.ChildExited", "x", "unit is not running", true },
                { SD_BUS_ERROR_DISCONNECTED, "it is gone", "it is gone", true },
                { SD_BUS_ERROR_UNKNOWN_METHOD, "x", "unit is of a version that does this differently",
                        false },
                { SD_BUS_ERROR_ACCESS_DENIED, "Not allowed: org.alidade.x", "you are not authorized", false },
                { SD_BUS_ERROR_ACCESS_DENIED, "Not allowed: cannot ask polkit",
                        "you are not authorized: cannot ask "
                        "polkit",
                        false },
                { SD_BUS_ERROR_ACCESS_DENIED, NULL, "you are not authorized", false },
                { "org.alidade.Error.Busy", "it is in use; use Force", "it is in use", false },
                { "org.alidade.Error.New", "it\033[31mis", "it\uFFFD[31mis", false },
                { "org.alidade.Error.New", NULL, "no reason was given", false },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                const sd_bus_error error = SD_BUS_ERROR_MAKE_CONST(cases[i].name, cases[i].message);
                g_autofree char *words = ald_bus_error_words(&error, "unit");

                g_assert_cmpstr(words, ==, cases[i].words);
                g_assert_cmpint(ald_bus_error_is_absence(&error), ==, cases[i].absent);
        }
}

#define FAST "'UploadBitsPerSecond':9410000000,'DownloadBitsPerSecond':9400000000,'RttP50NSec':36400"
#define SLOW "'UploadBitsPerSecond':1000000,'RttP50NSec':2000"

static void test_outcomes(void)
{
        static const struct {
                const AldProbeWords *kind;
                const char *job, *words;
        } cases[] = {
                { &ald_probe_words_socket, "{}", "The measurement of a → b was canceled" },
                { &ald_probe_words_socket, "{'State':'canceled'}", "The measurement of a → b was canceled" },
                { &ald_probe_words_socket, "{'State':'failed'}", "Cannot measure a → b: no reason given" },
                { &ald_probe_words_socket, "{'State':'failed','Error':'deaf'}",
                        "Cannot measure a → b: deaf" },
                { &ald_probe_words_socket, "{'State':'done'}",
                        "Cannot measure a → b: the result has no figures" },
                { &ald_probe_words_socket, "{'State':'done','Result':{" FAST "}}",
                        "a → b: 9.41 Gb/s up, 9.40 Gb/s down, RTT/2 18.2 µs" },
                { &ald_probe_words_rtt, "{'State':'done','Result':{'RttP50NSec':36400}}",
                        "a → b: RTT/2 18.2 µs" },
                { &ald_probe_words_socket,
                        "{'State':'done','Paths':[{'Address':'192.0.2.1','Error':'deaf'}]}",
                        "Cannot measure a → b: deaf" },
                { &ald_probe_words_socket,
                        "{'State':'done','Paths':[{'Address':'192.0.2.1'," SLOW
                        "},{'Address':'192.0.2.2'," FAST
                        ",'Flags':['disturbed']},{'Address':'192.0.2.3','Error':'deaf'}]}",
                        "a → b: 9.41 Gb/s up, 9.40 Gb/s down, RTT/2 18.2 µs over 192.0.2.2, the best of 2 "
                        "paths, "
                        "disturbed by other traffic; 1 path was not measured: deaf" },
                { &ald_probe_words_compute, "{'State':'done','Result':{}}",
                        "Cannot measure a → b: the result has no figures" },
                { &ald_probe_words_compute,
                        "{'State':'done','Result':{'Devices':[{'Id':'x','Name':'GPU','TflopsFp16':165.2}]}}",
                        "GPU: 165 TFLOPS FP16" },
                { &ald_probe_words_compute,
                        "{'State':'done','Result':{'Devices':[{'Id':'x'}],'Errors':[{'Id':'x "
                        "gemm','Device':'x',"
                        "'Metric':'gemm','error':'crashed','message':'it crashed'}]}}",
                        "Cannot measure x: it crashed" },
                { &ald_probe_words_storage, "{'State':'done','Result':{}}",
                        "Cannot measure a → b: the result has no figures" },
                { &ald_probe_words_storage,
                        "{'State':'done','Result':{'FileSystems':[{'Id':'/m','Disks':['sda'],"
                        "'ReadBytesPerSecond':3210000000,'ReadInterval':1.0,'ReadSpread':4.0,'Flags':['busy']"
                        "}],"
                        "'Errors':[{'Id':'/n','error':'asleep','message':'it is asleep'}]}}",
                        "/m (sda): 3.21 GB/s ±1 %, spread 4 %, busy; Cannot measure /n: it is asleep" },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_autofree char *text = g_strdelimit(g_strdup(cases[i].job), "'", '"'), *words = NULL;
                json_auto_t *json = json_loads(text, 0, NULL);
                AldProbeJob job;

                g_assert_nonnull(json);
                ald_value_to_struct(json, &ald_probe_job_struct, &job);
                words = ald_job_outcome(cases[i].kind, "a → b", &job, json);
                g_assert_cmpstr(words, ==, cases[i].words);
        }
}

int main(int argc, char *argv[])
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/actions-words/names", test_names);
        g_test_add_func("/actions-words/hosts", test_hosts);
        g_test_add_func("/actions-words/errors", test_errors);
        g_test_add_func("/actions-words/outcomes", test_outcomes);
        return g_test_run();
}
