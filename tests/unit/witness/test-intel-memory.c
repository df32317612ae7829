/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Queries of DRM drivers, which the test plays by their layout in the kernel's drm/i915_drm.h and xe_drm.h.
 */
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <string.h>
#include <sys/ioctl.h>

#include "record/message.h"
#include "services/witness/counter-reader.h"
#include "services/witness/intel-memory.h"
#include "services/witness/intel-pmu.h"
#include "tests/unit/fake-root.h"

#define ARC "0000:03:00.0"
#define GIB (UINT64_C(1) << 30)

/* What the driver replies: 88 bytes for each region after its head. */
typedef struct Played {
        uint8_t reply[512];
        size_t length;
        int error;         /* of the call */
        int item_error;    /* of i915's only item */
        uint32_t lie_size; /* which the driver announces */
        unsigned n_calls;
} Played;

static Played played;

int __wrap_ioctl(int fd, unsigned long request, ...);

static int reply_i915(uint8_t *query)
{
        uint64_t items, data;
        int32_t length;
        uint8_t *item;

        memcpy(&items, query + 8, sizeof items);
        item = (uint8_t *) (uintptr_t) items;
        memcpy(&length, item + 8, sizeof length);
        memcpy(&data, item + 16, sizeof data);
        g_assert_cmpuint(item[0], ==, 4);
        if (played.item_error != 0)
                length = played.item_error;
        else if (length == 0)
                length = (int32_t) (played.lie_size ?: played.length);
        else
                memcpy((void *) (uintptr_t) data, played.reply, MIN((size_t) length, played.length));
        memcpy(item + 8, &length, sizeof length);
        return 0;
}

static int reply_xe(uint8_t *query)
{
        uint32_t size = (uint32_t) (played.lie_size ?: played.length);
        uint64_t data;

        memcpy(&data, query + 16, sizeof data);
        g_assert_cmpuint(query[8], ==, 1);
        if (data == 0)
                memcpy(query + 12, &size, sizeof size);
        else
                memcpy((void *) (uintptr_t) data, played.reply, MIN(size, played.length));
        return 0;
}

int __wrap_ioctl(int fd, unsigned long request, ...)
{
        va_list arguments;
        uint8_t *query;

        va_start(arguments, request);
        query = va_arg(arguments, void *);
        va_end(arguments);
        played.n_calls++;
        if (played.error != 0) {
                errno = -played.error;
                return -1;
        }
        /* DRM_IOCTL_I915_QUERY and DRM_IOCTL_XE_DEVICE_QUERY. */
        if (request == 0xc0106479)
                return reply_i915(query);
        g_assert_cmphex(request, ==, 0xc0286440);
        return reply_xe(query);
}

static void begin(size_t head, uint32_t n)
{
        played = (Played){ .length = head };
        memcpy(played.reply, &n, sizeof n);
}

static void add_region(uint16_t class, uint64_t total, uint64_t second)
{
        memcpy(played.reply + played.length, &class, sizeof class);
        memcpy(played.reply + played.length + 8, &total, sizeof total);
        memcpy(played.reply + played.length + 16, &second, sizeof second);
        played.length += 88;
}

static void begin_i915(uint32_t n)
{
        begin(16, n);
}

static void begin_xe(uint32_t n)
{
        begin(8, n);
}

static void assert_used(const char *driver, uint64_t expected)
{
        uint64_t bytes = 0;

        g_assert_cmpint(ald_intel_memory_used(-1, driver, &bytes), ==, 0);
        g_assert_cmpuint(bytes, ==, expected);
}

static void assert_error(const char *driver, int error)
{
        uint64_t bytes = 17;

        g_assert_cmpint(ald_intel_memory_used(-1, driver, &bytes), ==, error);
        g_assert_cmpuint(bytes, ==, 17);
}

static void test_memory_of_the_device(void)
{
        begin_i915(2);
        add_region(0, 64 * GIB, 10 * GIB);
        add_region(1, 16 * GIB, 13 * GIB);
        assert_used("i915", 3 * GIB);

        begin_xe(3);
        add_region(0, 64 * GIB, 10 * GIB);
        add_region(1, 16 * GIB, 5 * GIB);
        add_region(1, 16 * GIB, 1 * GIB);
        assert_used("xe", 6 * GIB);
}

static void test_memory_of_the_host_only(void)
{
        begin_i915(1);
        add_region(0, 64 * GIB, 10 * GIB);
        assert_error("i915", -ENODATA);
        begin_xe(1);
        add_region(0, 64 * GIB, 10 * GIB);
        assert_error("xe", -ENODATA);
        assert_error("amdgpu", -EOPNOTSUPP);
}

static void test_drivers_that_fail(void)
{
        static const char *const drivers[] = { "i915", "xe" };

        for (size_t i = 0; i < G_N_ELEMENTS(drivers); i++) {
                begin(16, 0);
                played.error = -ENODEV;
                assert_error(drivers[i], -ENODEV);
                played = (Played){ .lie_size = 3 };
                assert_error(drivers[i], -EBADMSG);
                played = (Played){ .lie_size = 1u << 30 };
                assert_error(drivers[i], -EBADMSG);
                /* More regions than fit. */
                begin(16, UINT32_MAX);
                assert_error(drivers[i], -EBADMSG);
        }
        begin_i915(1);
        played.item_error = -EINVAL;
        assert_error("i915", -EINVAL);
        begin_xe(1);
        add_region(1, GIB, 2 * GIB);
        assert_error("xe", -EBADMSG);
}

static void set_rights(FakeRoot *root, const char *namespace, const char *capabilities)
{
        g_autofree char *status = g_strdup_printf("Name:\tx\nCapPrm:\t0\nCapEff:\t%s\n", capabilities);

        fake_root_link(root, "proc/self/ns/user", namespace);
        fake_root_write(root, "proc/self/status", status);
}

static void test_the_kernel_must_answer_the_truth(void)
{
        g_autoptr(FakeRoot) root = fake_root_new();

        g_assert_false(ald_intel_memory_is_told(root->fd));
        set_rights(root, "user:[4026531837]", "0000004000000000");
        g_assert_true(ald_intel_memory_is_told(root->fd));
        set_rights(root, "user:[4026531837]", "000000bfffffffff");
        g_assert_false(ald_intel_memory_is_told(root->fd));
        set_rights(root, "user:[4026532000]", "000001ffffffffff");
        g_assert_false(ald_intel_memory_is_told(root->fd));
}

static AldRecord *ask(AldCounterReader *reader, const char *const *ids)
{
        const AldCountersRequest asked = { .ids = ids };
        g_autoptr(AldRecord) request = NULL;
        g_autofree char *text = NULL;
        AldRecord *answer;

        g_assert_cmpint(ald_record_new(ALD_KIND_COUNTERS_REQUEST, &asked, &request), ==, 0);
        text = ald_counter_reader_answer(reader, request);
        g_assert_cmpint(
                ald_message_parse(ALD_KIND_COUNTERS_ANSWER, text, strlen(text), 4096, &answer, NULL), ==, 0);
        return answer;
}

/* Returns the memory in use of the only device; absent if there is none. */
static uint64_t ask_memory(AldCounterReader *reader)
{
        static const char *const ids[] = { ARC, NULL };
        g_autoptr(AldRecord) record = ask(reader, ids);
        const AldCountersAnswer *answer = ald_record_as(record, COUNTERS_ANSWER, AldCountersAnswer);
        const AldCountedDevice *device = ald_rows_at(&answer->devices, 0);

        g_assert_cmpuint(answer->devices.n, ==, 1);
        g_assert_cmpstr(device->id, ==, ARC);
        g_assert_true(isnan(device->usage));
        return device->memory_used_bytes;
}

static void test_answers(void)
{
        g_autoptr(FakeRoot) root = fake_root_new();
        g_autoptr(AldCounterReader) reader = ald_counter_reader_new(root->fd);

        set_rights(root, "user:[4026531837]", "0000004000000000");
        fake_root_link(root, "sys/bus/pci/devices/" ARC "/driver", "../../../drivers/xe");
        fake_root_mkdir(root, "sys/bus/pci/devices/" ARC "/drm/card0");
        fake_root_mkdir(root, "sys/bus/pci/devices/" ARC "/drm/renderD129");
        fake_root_write(root, "sys/bus/pci/devices/" ARC "/power/runtime_status", "active\n");
        fake_root_write(root, "dev/dri/renderD129", "");
        begin_xe(1);
        add_region(1, 16 * GIB, 5 * GIB);
        g_assert_cmpuint(ask_memory(reader), ==, 5 * GIB);

        /* Nobody asks a device that sleeps, nor a kernel that would say that nothing is used. */
        played.n_calls = 0;
        fake_root_write(root, "sys/bus/pci/devices/" ARC "/power/runtime_status", "suspended\n");
        g_assert_cmpuint(ask_memory(reader), ==, ALD_ABSENT_UINT64);
        fake_root_write(root, "sys/bus/pci/devices/" ARC "/power/runtime_status", "active\n");
        set_rights(root, "user:[4026531837]", "0000000000000000");
        g_assert_cmpuint(ask_memory(reader), ==, ALD_ABSENT_UINT64);
        g_assert_cmpuint(played.n_calls, ==, 0);
}

static void test_odd_devices(void)
{
        static const char *const ids[] = { "../../../../etc", "", "0000:03:00.0/..", ARC, NULL };
        g_autoptr(FakeRoot) root = fake_root_new();
        g_autoptr(AldCounterReader) reader = ald_counter_reader_new(root->fd);
        g_autoptr(AldRecord) record = ask(reader, ids);

        g_assert_cmpuint(ald_record_as(record, COUNTERS_ANSWER, AldCountersAnswer)->devices.n, ==, 1);
}

static void test_events_of_perf(void)
{
        static const char *const odd[] = { "", "config=", "config=0x", "config=0x-1", "config=1",
                "config=0x1,umask=0x2", "config=0x11112222333344445" };
        uint64_t config = 0;

        g_assert_cmpint(ald_intel_parse_event("config=0x10002", &config), ==, 0);
        g_assert_cmphex(config, ==, 0x10002);
        for (size_t i = 0; i < G_N_ELEMENTS(odd); i++)
                g_assert_cmpint(ald_intel_parse_event(odd[i], &config), ==, -EBADMSG);
}

int main(int argc, char *argv[])
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/intel-memory/memory-of-the-device", test_memory_of_the_device);
        g_test_add_func("/intel-memory/memory-of-the-host-only", test_memory_of_the_host_only);
        g_test_add_func("/intel-memory/drivers-that-fail", test_drivers_that_fail);
        g_test_add_func(
                "/intel-memory/the-kernel-must-answer-the-truth", test_the_kernel_must_answer_the_truth);
        g_test_add_func("/intel-memory/answers", test_answers);
        g_test_add_func("/intel-memory/odd-devices", test_odd_devices);
        g_test_add_func("/intel-memory/events-of-perf", test_events_of_perf);
        return g_test_run();
}
