/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What link-probed makes of the results of the compute probe. */
#include <errno.h>

#include "services/link-probe/kinds/compute-answer.h"
#include "services/link-probe/kinds/probe-kinds.h"
#include "services/link-probe/local/row-results.h"

#define NOW UINT64_C(1700000000000000)
#define BUSY "busy: other work was running"

static const AldProbeTarget target = { .device = (char *) "a", .driver_version = (char *) "555.1" };
static const AldProbeTarget other = { .device = (char *) "b" };

/* The output of a run for a device, written with ' for ". */
static AldProbeAnswer read_answer_of(const char *device, const char *devices, const char *errors, bool force)
{
        g_autofree char *text = g_strdup_printf(
                "some line\n{'Devices':[%s],'Errors':[%s]}\n", devices, errors);
        AldProbeAnswer answer;

        ald_compute_answer_read(g_strdelimit(text, "'", '"'), NULL, device, force, &answer);
        return answer;
}

static AldProbeAnswer read_answer(const char *devices, const char *errors, bool force)
{
        return read_answer_of("a", devices, errors, force);
}

static void check_failure(const char *devices, const char *errors, bool force, const char *reason)
{
        g_auto(AldProbeAnswer) answer = read_answer(devices, errors, force);

        g_assert_cmpint(answer.verdict, ==, ALD_PROBE_FAILED);
        g_assert_cmpstr(answer.reason, ==, reason);
        g_assert_cmpint(answer.other_work, ==, g_str_equal(reason, BUSY));
        g_assert_null(answer.result);
}

static void test_row(void)
{
        g_auto(AldProbeAnswer) answer = read_answer(
                "{'Id':'b','Name':'N','GemmTflops':1.5,'Precision':'fp16','Method':'m','PeakMethod':'p',"
                "'MemoryBandwidthBytesPerSecond':7,'ClockHz':0,'DriverVersion':'of OpenCL','MeasuredUSec':5}",
                "", false);
        g_autoptr(AldRecord) record = NULL;
        const AldComputeDevice *row;

        g_assert_cmpint(answer.verdict, ==, ALD_PROBE_DONE);
        g_assert_cmpint(ald_compute_answer_record(&target, &answer, NOW, &record), ==, 0);
        row = ald_rows_find(&ald_record_as(record, COMPUTE, AldCompute)->devices, "a");
        g_assert_nonnull(row);
        g_assert_cmpfloat(row->gemm_tflops, ==, 1.5);
        g_assert_cmpstr(row->precision, ==, "fp16");
        g_assert_cmpstr(row->method, ==, "m");
        g_assert_cmpuint(row->memory_bandwidth_bytes_per_second, ==, 7);
        g_assert_cmpuint(row->clock_hz, ==, ALD_ABSENT_UINT64);
        g_assert_cmpstr(row->driver_version, ==, "555.1");
        g_assert_cmpuint(row->measured_usec, ==, NOW);
        g_assert_null(row->failure);
        g_assert_cmpuint(row->failed_usec, ==, ALD_ABSENT_UINT64);
}

/* The program cannot know why it was started beside other work. */
static void test_first_beside_work(void)
{
        g_auto(AldProbeAnswer)
                answer = read_answer("{'Id':'a','GemmTflops':1.5,'Flags':['unstable']}", "", false);
        AldProbeTarget beside = target;
        g_autoptr(AldRecord) record = NULL;
        g_autofree char *flags = NULL;

        beside.despite_work = true;
        g_assert_cmpint(ald_compute_answer_record(&beside, &answer, NOW, &record), ==, 0);
        flags = g_strjoinv(" ", (char **) ((const AldComputeDevice *) ald_rows_at(
                                                   &ald_record_as(record, COMPUTE, AldCompute)->devices, 0))
                                        ->flags);
        g_assert_cmpstr(flags, ==, "unstable busy");
}

static void test_failed_in_part(void)
{
        g_auto(AldProbeAnswer) answer = read_answer("{'Id':'a','PeakTflops':2}",
                "{'Id':'2','Device':'a','Metric':'read','error':'timeout'},"
                "{'Id':'1','Device':'a','Metric':'gemm','error':'crashed','message':'it fell'}",
                false);
        g_autoptr(AldRecord) record = NULL;
        const AldComputeDevice *row;

        g_assert_cmpint(ald_compute_answer_record(&other, &answer, NOW, &record), ==, 0);
        row = ald_rows_at(&ald_record_as(record, COMPUTE, AldCompute)->devices, 0);
        g_assert_cmpstr(row->failure, ==, "gemm: it fell; read: timeout");
        g_assert_cmpuint(row->failed_usec, ==, NOW);
        g_assert_cmpfloat(row->peak_tflops, ==, 2);
        g_assert_null(row->driver_version);
}

/* A copy to the device that fails costs nothing else. */
static void test_transfers(void)
{
        g_auto(AldProbeAnswer) answer = read_answer(
                "{'Id':'a','DeviceToHostBytesPerSecond':5,'DeviceToHostMedianBytesPerSecond':4,"
                "'DeviceToHostInterval':0.5}",
                "{'Id':'1','Device':'a','Metric':'to-device','error':'timeout'}", false);
        g_autofree char *all = ald_compute_metrics_format(ALD_COMPUTE_ALL);
        g_autoptr(AldRecord) record = NULL;
        const AldComputeDevice *row;

        g_assert_cmpint(ald_compute_answer_record(&other, &answer, NOW, &record), ==, 0);
        row = ald_rows_at(&ald_record_as(record, COMPUTE, AldCompute)->devices, 0);
        g_assert_cmpstr(row->failure, ==, "to-device: timeout");
        g_assert_cmpuint(row->device_to_host_bytes_per_second, ==, 5);
        g_assert_cmpuint(row->device_to_host_median_bytes_per_second, ==, 4);
        g_assert_cmpfloat(row->device_to_host_interval, ==, 0.5);
        g_assert_cmpuint(row->host_to_device_bytes_per_second, ==, ALD_ABSENT_UINT64);
        g_assert_cmpstr(all, ==, "gemm,read,copy,peak,to-device,to-host");
        g_assert_cmpuint(ald_compute_metric_parse("to-device"), ==, ALD_COMPUTE_TO_DEVICE);
        g_assert_cmpuint(ald_compute_metric_parse("to-host"), ==, ALD_COMPUTE_TO_HOST);
}

/* Copies do not apply to a device that computes in host memory. */
static void test_partial(void)
{
        static const struct {
                int unified;
                unsigned metrics;
                bool partial;
        } cases[] = {
                { 0, ALD_COMPUTE_ALL, false },
                { 0, ALD_COMPUTE_ALL & ~ALD_COMPUTE_TO_HOST, true },
                { 1, ALD_COMPUTE_ALL, false },
                { 1, ALD_COMPUTE_ALL & ~ALD_COMPUTE_TO_HOST, false },
                { 1, ALD_COMPUTE_ALL & ~ALD_COMPUTE_PEAK, true },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                AldBackend backend = ALD_BACKEND_INIT;
                AldProbeTarget made;

                backend.id = "a";
                backend.unified = cases[i].unified;
                made = ald_compute_target(&ald_probe_compute, &backend, cases[i].metrics, false);
                g_assert_cmpint(made.partial, ==, cases[i].partial);
                ald_probe_target_clear(&made);
        }
}

/* OpenCL shows both instances by the name of their card. */
static void test_instances_of_one_card(void)
{
        static const char figures[] = "{'Id':'card','PeakTflops':2}";
        static const char errors[] =
                "{'Id':'card gemm','Device':'card','Metric':'gemm','error':'crashed','message':'it fell'}";
        g_auto(AldProbeAnswer) first = read_answer_of("card/1", figures, errors, false);
        g_auto(AldProbeAnswer) second = read_answer_of("card/2", figures, errors, false);
        g_autoptr(AldRecord) joined = NULL;
        const AldComputeResult *result;
        const AldComputeError *error;

        g_assert_cmpint(ald_probe_answer_join(first.result, second.result, &joined), ==, 0);
        result = ald_record_as(joined, COMPUTE_RESULT, AldComputeResult);
        g_assert_cmpuint(result->devices.n, ==, 2);
        g_assert_nonnull(ald_rows_find(&result->devices, "card/1"));
        g_assert_nonnull(ald_rows_find(&result->devices, "card/2"));
        g_assert_cmpuint(result->errors.n, ==, 2);
        g_assert_nonnull(ald_rows_find(&result->errors, "card/1 gemm"));
        error = ald_rows_find(&result->errors, "card/2 gemm");
        g_assert_nonnull(error);
        g_assert_cmpstr(error->device, ==, "card/2");
        g_assert_cmpstr(error->message, ==, "it fell");
}

/* More than half of what a record holds. */
static AldRecord *make_large_result(const char *prefix)
{
        const unsigned n = ALD_RECORD_MAX / 2 / sizeof(AldComputeFigures);
        g_autofree AldComputeFigures *rows = g_new(AldComputeFigures, n);
        g_autoptr(GPtrArray) ids = g_ptr_array_new_with_free_func(g_free);
        AldComputeResult result = ALD_COMPUTE_RESULT_INIT;
        AldRecord *record;

        for (unsigned i = 0; i < n; i++) {
                rows[i] = (AldComputeFigures) ALD_COMPUTE_FIGURES_INIT;
                rows[i].id = g_strdup_printf("%s%u", prefix, i);
                g_ptr_array_add(ids, (gpointer) rows[i].id);
        }
        result.devices.items = rows;
        result.devices.n = n;
        g_assert_cmpint(ald_record_new(ALD_KIND_COMPUTE_RESULT, &result, &record), ==, 0);
        return record;
}

static void test_too_much_for_one_result(void)
{
        g_autoptr(AldRecord) first = make_large_result("a");
        g_autoptr(AldRecord) second = make_large_result("b");
        AldRecord *joined = NULL;

        g_assert_cmpint(ald_probe_answer_join(first, second, &joined), ==, -E2BIG);
        g_assert_null(joined);
}

static void test_no_result(void)
{
        static const char busy[] = "{'Id':'a','PeakTflops':2,'Flags':['busy']}";
        static const char met[] = "{'Id':'x','Device':'a','Metric':'copy','error':'busy','message':'m'}";
        g_auto(AldProbeAnswer) forced = read_answer(busy, "", true);
        g_auto(AldProbeAnswer) partly = read_answer("{'Id':'a','PeakTflops':2}", met, true);

        check_failure("", "", false, "the probe returned no figures");
        check_failure("{'Id':'a','Precision':'fp16'}", "", false, "the probe returned no figures");
        check_failure("{'Id':'a','PeakTflops':-2}", "", false, "the probe returned no figures");
        check_failure("{'Id':'a'}", "{'Id':'x','Device':'a','Metric':'gemm','error':'crashed'}", false,
                "gemm: crashed");
        check_failure(busy, "", false, BUSY);
        check_failure("{'Id':'a','PeakTflops':2}", met, false, BUSY);
        check_failure("{'Id':'a'}", met, true, BUSY);
        g_assert_cmpint(forced.verdict, ==, ALD_PROBE_DONE);
        g_assert_cmpint(partly.verdict, ==, ALD_PROBE_DONE);
        g_assert_false(partly.other_work);
}

static void test_too_many_words(void)
{
        GString *words = g_string_new("'w'");
        g_autofree char *device = NULL;
        g_auto(AldProbeAnswer) answer = { 0 };
        const AldComputeFigures *row;

        for (unsigned i = 0; i < 32; i++)
                g_string_append(words, ",'w'");
        device = g_strdup_printf(
                "{'Id':'a','PeakTflops':2,'Flags':[%s],'ThrottleReasons':['heat']}", words->str);
        answer = read_answer(device, "", false);
        row = ald_rows_at(&ald_record_as(answer.result, COMPUTE_RESULT, AldComputeResult)->devices, 0);
        g_assert_null(row->flags);
        g_assert_cmpstr(row->throttle_reasons[0], ==, "heat");
        g_string_free(words, TRUE);
}

/* A result may be nearly as large as all that the program prints. */
static void test_large_result(void)
{
        g_autofree char *words = g_strnfill(60 * 1024, 'a');
        g_autofree char *device = g_strdup_printf("{'Id':'a','PeakTflops':2,'newer':'%s'}", words);
        g_auto(AldProbeAnswer) answer = read_answer(device, "", false);

        g_assert_cmpint(answer.verdict, ==, ALD_PROBE_DONE);
}

/* What was said last takes the place of what was said before: the state service keeps that. */
static void test_last_word(void)
{
        AldRowResults *results = ald_row_results_new(&ald_probe_compute);
        g_auto(AldProbeAnswer) good = read_answer("{'Id':'a','PeakTflops':2}", "", false);
        const AldProbeAnswer crashed = { .verdict = ALD_PROBE_FAILED, .reason = (char *) "it fell" };
        const AldProbeAnswer later = { .verdict = ALD_PROBE_LATER, .reason = (char *) "locked" };
        const AldProbeTarget part = { .device = (char *) "c", .partial = true };
        const AldComputeDevice *row;

        ald_row_results_take(results, &target, &good, NOW);
        ald_row_results_take(results, &other, &crashed, NOW + 1);
        ald_row_results_take(results, &target, &later, NOW + 2);
        ald_row_results_take(results, &part, &good, NOW + 2);
        g_assert_null(ald_row_results_find(results, "c"));
        row = ald_row_results_find(results, "a");
        g_assert_cmpfloat(row->peak_tflops, ==, 2);

        ald_row_results_take(results, &target, &crashed, NOW + 3);
        row = ald_row_results_find(results, "a");
        g_assert_true(isnan(row->peak_tflops));
        g_assert_cmpstr(row->failure, ==, "it fell");
        g_assert_cmpuint(row->failed_usec, ==, NOW + 3);
        g_assert_cmpuint(row->failures, ==, ALD_ABSENT_UINT64);
        g_assert_cmpuint(ald_row_results_read(results, "b").failed_usec, ==, NOW + 1);
        ald_row_results_free(results);
}

static void test_waiting(void)
{
        AldRowResults *results = ald_row_results_new(&ald_probe_compute);
        g_auto(AldProbeAnswer) good = read_answer("{'Id':'a','PeakTflops':2}", "", false);
        g_auto(AldProbeAnswer) busy = read_answer("{'Id':'a','PeakTflops':2,'Flags':['busy']}", "", false);
        const AldComputeDevice *row;

        ald_row_results_take(results, &target, &good, NOW);
        ald_row_results_wait(results, "a", NOW + 1, "processes compute on it");
        row = ald_row_results_find(results, "a");
        g_assert_cmpfloat(row->peak_tflops, ==, 2);
        g_assert_cmpstr(row->waiting_reason, ==, "processes compute on it");

        /* A run that meets other work waits since it first did. */
        ald_row_results_take(results, &target, &busy, NOW + 2);
        row = ald_row_results_find(results, "a");
        g_assert_cmpuint(row->waiting_since_usec, ==, NOW + 1);
        g_assert_cmpuint(row->failed_usec, ==, NOW + 2);
        g_assert_true(ald_row_results_met_other_work(results, "a"));
        ald_row_results_wait(results, "a", ALD_ABSENT_UINT64, NULL);
        row = ald_row_results_find(results, "a");
        g_assert_cmpuint(row->waiting_since_usec, ==, ALD_ABSENT_UINT64);
        g_assert_null(row->waiting_reason);
        g_assert_cmpuint(row->failed_usec, ==, NOW + 2);
        ald_row_results_take(results, &target, &good, NOW + 3);
        g_assert_false(ald_row_results_met_other_work(results, "a"));
        ald_row_results_free(results);
}

int main(int argc, char *argv[])
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/link-probe-compute/row", test_row);
        g_test_add_func("/link-probe-compute/failed-in-part", test_failed_in_part);
        g_test_add_func("/link-probe-compute/first-beside-work", test_first_beside_work);
        g_test_add_func("/link-probe-compute/transfers", test_transfers);
        g_test_add_func("/link-probe-compute/partial", test_partial);
        g_test_add_func("/link-probe-compute/instances", test_instances_of_one_card);
        g_test_add_func("/link-probe-compute/too-much", test_too_much_for_one_result);
        g_test_add_func("/link-probe-compute/no-result", test_no_result);
        g_test_add_func("/link-probe-compute/too-many-words", test_too_many_words);
        g_test_add_func("/link-probe-compute/large", test_large_result);
        g_test_add_func("/link-probe-compute/last-word", test_last_word);
        g_test_add_func("/link-probe-compute/waiting", test_waiting);
        return g_test_run();
}
