/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What joins the devices of made-up machines, by the kernel and by what NVML's helper may report. */
#include <string.h>

#include "record/message.h"
#include "services/telemetry/gpu/gpu-joins.h"
#include "services/telemetry/gpu/gpu-nvlink.h"
#include "services/telemetry/helper/helper.h"
#include "tests/unit/gpu-roots.h"
#include "tests/unit/log-count.h"

#define NONE ALD_ABSENT_UINT64
#define GT UINT64_C(1000000000)
#define A "0000:01:00.0"
#define B "0000:02:00.0"

typedef struct Host {
        FakeRoot *root;
        GPtrArray *gpus;
        AldGpuKfd *kfd;
        GStringChunk *texts;
        GArray *rows;
} Host;

static Host *begin(void)
{
        Host *host = g_new0(Host, 1);

        log_count_reset();
        host->root = fake_root_new();
        host->gpus = ald_gpu_list_new();
        host->kfd = ald_gpu_kfd_new(host->root->fd);
        host->texts = g_string_chunk_new(64);
        host->rows = g_array_new(FALSE, FALSE, sizeof(AldDeviceJoin));
        return host;
}

static void end(Host *host)
{
        g_ptr_array_unref(host->gpus);
        ald_gpu_kfd_free(host->kfd);
        fake_root_free(host->root);
        g_string_chunk_free(host->texts);
        g_array_unref(host->rows);
        g_free(host);
}

/* A device, awake; the way may be NULL. */
static AldGpu *add(Host *host, const char *id, const char *way)
{
        AldGpu *gpu = ald_gpu_new(id, NULL, ALD_BACKEND_CLASS_GPU);

        if (way) {
                gpu_root_way(host->root, way);
                gpu->pcie = ald_gpu_pcie_new(host->root->fd, id, NULL);
                g_assert_nonnull(gpu->pcie);
                (void) ald_gpu_pcie_sample(gpu->pcie, true, 0, 1);
        }
        g_ptr_array_add(host->gpus, gpu);
        return gpu;
}

static guint look(Host *host)
{
        g_array_set_size(host->rows, 0);
        (void) ald_gpu_kfd_look(host->kfd);
        ald_gpu_joins(host->root->fd, host->gpus, host->kfd, host->texts, host->rows);
        return host->rows->len;
}

static const AldDeviceJoin *row(const Host *host, const char *id)
{
        for (guint i = 0; i < host->rows->len; i++) {
                const AldDeviceJoin *join = &g_array_index(host->rows, AldDeviceJoin, i);

                if (g_str_equal(join->id, id))
                        return join;
        }
        return NULL;
}

static const char *through(Host *host)
{
        const AldDeviceJoin *join;

        g_assert_cmpuint(look(host), ==, 1);
        join = row(host, A "," B ",pcie");
        g_assert_nonnull(join);
        g_assert_cmpstr(join->device, ==, A);
        g_assert_cmpstr(join->peer, ==, B);
        g_assert_cmpstr(join->kind, ==, "pcie");
        g_assert_cmpuint(join->lanes, ==, NONE);
        g_assert_cmpuint(join->bits_per_second, ==, NONE);
        return join->through;
}

static void test_host(void)
{
        Host *host = begin();
        const AldDeviceJoin *join;
        AldGpu *gpu;

        gpu_root_way(host->root, "pci0000:00/0000:00:01.0/" A);
        gpu_root_link(host->root, "0000:00:01.0", "8", "16.0 GT/s PCIe", NULL, NULL);
        gpu_root_link(host->root, A, "16", "16.0 GT/s PCIe", "8", NULL);
        gpu = add(host, A, "pci0000:00/0000:00:01.0/" A);
        g_assert_cmpuint(look(host), ==, 1);
        join = row(host, A ",host,pcie");
        g_assert_cmpstr(join->device, ==, A);
        g_assert_cmpstr(join->peer, ==, "host");
        g_assert_cmpstr(join->through, ==, NULL);
        g_assert_cmpuint(join->links, ==, NONE);
        g_assert_cmpuint(join->lanes, ==, 8);
        g_assert_cmpuint(join->bits_per_second, ==, ald_gpu_pcie_bandwidth(8, 16 * GT));

        /* An APU shows 16 lanes that it does not use. */
        gpu->sysfs.unified = 1;
        g_assert_cmpuint(look(host), ==, 0);
        end(host);
}

static void test_switch(void)
{
        Host *host = begin();

        add(host, B, "pci0000:80/0000:80:01.0/0000:81:00.0/0000:82:01.0/" B);
        add(host, A, "pci0000:80/0000:80:01.0/0000:81:00.0/0000:82:00.0/" A);
        g_assert_cmpstr(through(host), ==, "switch");
        end(host);
}

static void test_root_complex(void)
{
        Host *host = begin();

        add(host, A, "pci0000:00/0000:00:01.0/" A);
        add(host, B, "pci0000:00/0000:00:02.0/" B);
        g_assert_cmpstr(through(host), ==, "root-complex");
        end(host);
}

/* Two functions of one card have nothing in between. */
static void test_one_card(void)
{
        Host *host = begin();

        add(host, A, "pci0000:00/0000:00:01.0/" A);
        add(host, B, "pci0000:00/0000:00:01.0/" B);
        g_assert_cmpstr(through(host), ==, NULL);
        end(host);
}

static void test_numa(void)
{
        Host *host = begin();
        AldGpu *a = add(host, A, "pci0000:00/0000:00:01.0/" A);
        AldGpu *b = add(host, B, "pci0000:80/0000:80:01.0/" B);

        /* The kernel shows nothing of NUMA. */
        g_assert_cmpstr(through(host), ==, NULL);
        fake_root_write(host->root, "sys/devices/system/node/has_cpu", "0-1\n");
        g_assert_cmpstr(through(host), ==, NULL);
        a->numa_node = 0;
        g_assert_cmpstr(through(host), ==, NULL);
        b->numa_node = 1;
        g_assert_cmpstr(through(host), ==, "machine");
        a->numa_node = 1;
        g_assert_cmpstr(through(host), ==, "numa-node");
        fake_root_write(host->root, "sys/devices/system/node/has_cpu", "0,8\n");
        g_assert_cmpstr(through(host), ==, "numa-node");
        /* With all processors in one node there is only one. */
        fake_root_write(host->root, "sys/devices/system/node/has_cpu", "0\n");
        a->numa_node = b->numa_node = NONE;
        g_assert_cmpstr(through(host), ==, "numa-node");
        end(host);
}

static void test_many(void)
{
        Host *host = begin();

        for (unsigned i = 0; i < 17; i++) {
                g_autofree char *id = g_strdup_printf("0000:%02x:00.0", 0x20 + i);
                g_autofree char *way = g_strdup_printf("pci0000:00/0000:00:%02x.0/%s", i, id);

                g_assert_cmpuint(look(host), ==, i * (i - 1) / 2 * (i > 0));
                add(host, id, way);
        }
        g_assert_cmpuint(look(host), ==, 0);
        end(host);
}

/* Four MI300X in one or two partitions each, all of them linked, with the processors over PCIe. */
static void test_xgmi(void)
{
        for (unsigned parts = 1; parts <= 2; parts++) {
                Host *host = begin();
                unsigned n = 4 * parts;

                gpu_root_kfd_node(host->root, 0, 0, 0);
                for (unsigned i = 0; i < n; i++) {
                        g_autofree char *id = g_strdup_printf("0000:%02x:00.0", 5 + i / parts);
                        unsigned location = (5 + i / parts) << 8 | i % parts;

                        gpu_root_kfd_node(host->root, i + 1, 1000 + i, location);
                        gpu_root_kfd_version(host->root, i + 1, 90402);
                        gpu_root_kfd_link(host->root, i + 1, 0, 0, 2, 64000);
                        for (unsigned j = 0; j < n; j++)
                                if (j != i)
                                        gpu_root_kfd_link(host->root, i + 1, j + 1, j + 1, 11, 50000);
                        if (i % parts == 0)
                                add(host, id, NULL);
                }
                g_assert_cmpuint(look(host), ==, 6);
                g_assert_cmpuint(row(host, "0000:05:00.0,0000:08:00.0,xgmi")->bits_per_second, ==, 400 * GT);
                g_assert_cmpstr(row(host, "0000:06:00.0,0000:07:00.0,xgmi")->kind, ==, "xgmi");
                g_assert_cmpstr(ald_gpu_kfd_architecture(host->kfd, "0000:05:00.0"), ==, "gfx942");
                end(host);
        }
}

/* Cards that are linked to the processors, too; a card without a row; odd files. */
static void test_xgmi_host(void)
{
        Host *host = begin();

        gpu_root_kfd_node(host->root, 0, 0, 0);
        gpu_root_kfd_node(host->root, 1, 1001, 0x0100);
        gpu_root_kfd_node(host->root, 2, 1002, 0x0200);
        gpu_root_kfd_node(host->root, 3, 1003, 0x0300);
        gpu_root_kfd_version(host->root, 1, 90010);
        gpu_root_kfd_version(host->root, 2, 110501);
        gpu_root_kfd_version(host->root, 3, 7);
        gpu_root_kfd_link(host->root, 1, 0, 0, 11, 36000);
        gpu_root_kfd_link(host->root, 1, 1, 2, 11, 0);
        gpu_root_kfd_link(host->root, 1, 2, 3, 11, 50000);
        gpu_root_kfd_link(host->root, 1, 3, 9, 11, 50000);
        gpu_root_kfd_link(host->root, 1, 4, 1, 11, 50000);
        gpu_root_kfd_link(host->root, 2, 0, 0, 11, 4000000000);
        fake_root_write(host->root, "sys/class/kfd/kfd/topology/nodes/2/io_links/1/properties", "type\n");
        fake_root_mkdir(host->root, "sys/class/kfd/kfd/topology/nodes/2/io_links/2");
        add(host, B, NULL);
        add(host, A, NULL);
        g_assert_cmpuint(look(host), ==, 3);
        g_assert_cmpuint(row(host, A ",host,xgmi")->bits_per_second, ==, 288 * GT);
        g_assert_cmpuint(row(host, B ",host,xgmi")->bits_per_second, ==, NONE);
        g_assert_cmpuint(row(host, A "," B ",xgmi")->bits_per_second, ==, NONE);
        g_assert_cmpstr(ald_gpu_kfd_architecture(host->kfd, A), ==, "gfx90a");
        g_assert_cmpstr(ald_gpu_kfd_architecture(host->kfd, B), ==, "gfx1151");
        g_assert_null(ald_gpu_kfd_architecture(host->kfd, "0000:03:00.0"));

        /* The other end knows better. */
        gpu_root_kfd_link(host->root, 2, 3, 1, 11, 50000);
        fake_root_write(host->root, "sys/class/kfd/kfd/topology/generation_id", "2\n");
        g_assert_true(ald_gpu_kfd_look(host->kfd));
        g_assert_false(ald_gpu_kfd_look(host->kfd));
        g_assert_cmpuint(look(host), ==, 3);
        g_assert_cmpuint(row(host, A "," B ",xgmi")->bits_per_second, ==, 400 * GT);
        end(host);
}

#define LINK(device, number, rest) "{\"Id\":\"" device "," #number "\",\"Device\":\"" device "\"," rest "}"
#define TO(remote) "\"Remote\":\"" remote "\",\"ToSwitch\":false"
#define SPEED ",\"BitsPerSecond\":200000000000"
#define SWITCH "\"Remote\":\"0000:0a:00.0\",\"ToSwitch\":true"

static void set_links(GPtrArray *gpus, const char *links)
{
        g_autofree char *text = g_strdup_printf("{\"Devices\":[{\"Id\":\"" A "\"}],\"NvLinks\":[%s]}", links);
        g_autoptr(AldRecord) answer = NULL;

        g_assert_cmpint(ald_message_parse(ALD_KIND_NVML_ANSWER, text, strlen(text), ALD_CHILD_MESSAGE_MAX,
                                &answer, NULL),
                ==, 0);
        for (guint i = 0; i < gpus->len; i++) {
                AldGpu *gpu = gpus->pdata[i];

                g_clear_pointer(&gpu->nvlinks, g_array_unref);
                gpu->nvlinks = ald_gpu_nvlinks_new(
                        ald_record_as(answer, NVML_ANSWER, AldNvmlAnswer), gpu->id);
        }
        ald_gpu_joins_check(gpus);
}

static void test_nvlink(void)
{
        Host *host = begin();
        g_autoptr(GArray) before = NULL;
        AldGpu *b = add(host, B, NULL);
        AldGpu *a = add(host, A, NULL);
        const AldDeviceJoin *join;

        g_assert_true(ald_gpu_nvlinks_equal(a->nvlinks, b->nvlinks));
        set_links(host->gpus, LINK(A, 0, TO(B) SPEED) "," LINK(A, 1, TO(B) SPEED) "," LINK(
                                      B, 4, TO(A) SPEED) "," LINK(B, 5, TO(A) SPEED));
        g_assert_cmpuint(look(host), ==, 1);
        join = row(host, A "," B ",nvlink");
        g_assert_cmpstr(join->through, ==, NULL);
        g_assert_cmpuint(join->links, ==, 2);
        g_assert_cmpuint(join->bits_per_second, ==, 400 * GT);
        g_assert_false(ald_gpu_nvlinks_equal(a->nvlinks, b->nvlinks));
        g_assert_false(ald_gpu_nvlinks_equal(a->nvlinks, NULL));
        before = g_steal_pointer(&a->nvlinks);

        /* The speed of one of them is unknown. */
        set_links(host->gpus, LINK(A, 0, TO(B) SPEED) "," LINK(A, 1, TO(B)) "," LINK(
                                      B, 4, TO(A) SPEED) "," LINK(B, 5, TO(A) SPEED));
        g_assert_cmpuint(look(host), ==, 1);
        g_assert_cmpuint(row(host, A "," B ",nvlink")->bits_per_second, ==, NONE);
        g_assert_false(ald_gpu_nvlinks_equal(a->nvlinks, before));
        g_assert_cmpuint(log_count(""), ==, 0);
        end(host);
}

static void test_nvlink_through_switch(void)
{
        Host *host = begin();
        const AldDeviceJoin *join;

        add(host, A, NULL);
        add(host, B, NULL);
        add(host, "0000:03:00.0", NULL);
        set_links(host->gpus,
                LINK(A, 0, SWITCH SPEED) "," LINK(A, 1, SWITCH SPEED) "," LINK(A, 2, SWITCH SPEED) "," LINK(
                        B, 0, SWITCH SPEED) "," LINK(B, 1, "\"ToSwitch\":true" SPEED));
        g_assert_cmpuint(look(host), ==, 1);
        join = row(host, A "," B ",nvlink");
        g_assert_cmpstr(join->through, ==, "switch");
        g_assert_cmpuint(join->links, ==, 2);
        g_assert_cmpuint(join->bits_per_second, ==, 400 * GT);

        /* A pair has one row. */
        set_links(host->gpus, LINK(A, 0, SWITCH SPEED) "," LINK(B, 0, SWITCH SPEED) "," LINK(
                                      A, 1, TO(B) SPEED) "," LINK(B, 1, TO(A) SPEED));
        g_assert_cmpuint(look(host), ==, 1);
        g_assert_cmpstr(row(host, A "," B ",nvlink")->through, ==, NULL);
        end(host);
}

/* Ends that disagree have no row; nor have devices that do not exist, and nonsense. */
static void test_nvlink_hostile(void)
{
        static const char *const wrong[] = {
                LINK(A, 0, TO(B)) "," LINK(A, 1, TO(B)) "," LINK(B, 0, TO(A)),
                LINK(A, 0, TO("0000:09:00.0")) "," LINK(B, 0, TO("0000:09:00.0")) "," LINK(
                        "0000:09:00.0", 0, TO(A)),
                LINK(A, 0, TO(A)) "," LINK(A, 1, TO(A)),
                LINK(A, 0, TO("host")) "," LINK(B, 0, TO("")),
                LINK(A, 0, "\"ToSwitch\":false") "," LINK(B, 0, "\"Remote\":7"),
                LINK("", 0, TO(B)) "," LINK("../..", 0, TO(A)),
                "{\"Id\":\"x\"},{\"Device\":\"" A "\"},7,[]",
                LINK(A, 0, SWITCH),
        };

        for (size_t i = 0; i < G_N_ELEMENTS(wrong); i++) {
                Host *host = begin();

                g_test_message("%s", wrong[i]);
                add(host, A, NULL);
                add(host, B, NULL);
                set_links(host->gpus, wrong[i]);
                g_assert_cmpuint(look(host), ==, 0);
                g_assert_cmpuint(
                        log_count(A " reports 2 links of NVLink to " B ", which reports 1"), ==, i == 0);
                end(host);
        }
}

/* More links than there are. */
static void test_nvlink_flood(void)
{
        g_autoptr(GString) links = g_string_new(NULL);
        Host *host = begin();

        for (unsigned i = 0; i < 400; i++)
                g_string_append_printf(links,
                        "%s{\"Id\":\"%u\",\"Device\":\"%s\",\"Remote\":\"%s\",\"BitsPerSecond\":"
                        "9999999999999}",
                        i > 0 ? "," : "", i, i % 2 ? A : B, i % 2 ? B : A);
        add(host, A, NULL);
        add(host, B, NULL);
        set_links(host->gpus, links->str);
        g_assert_cmpuint(look(host), ==, 1);
        g_assert_cmpuint(row(host, A "," B ",nvlink")->links, ==, 18);
        end(host);
}

int main(int argc, char *argv[])
{
        g_test_init(&argc, &argv, NULL);
        log_count_install();
        g_test_add_func("/gpu-joins/host", test_host);
        g_test_add_func("/gpu-joins/switch", test_switch);
        g_test_add_func("/gpu-joins/root-complex", test_root_complex);
        g_test_add_func("/gpu-joins/one-card", test_one_card);
        g_test_add_func("/gpu-joins/numa", test_numa);
        g_test_add_func("/gpu-joins/many", test_many);
        g_test_add_func("/gpu-joins/xgmi", test_xgmi);
        g_test_add_func("/gpu-joins/xgmi-host", test_xgmi_host);
        g_test_add_func("/gpu-joins/nvlink", test_nvlink);
        g_test_add_func("/gpu-joins/nvlink-through-switch", test_nvlink_through_switch);
        g_test_add_func("/gpu-joins/nvlink-hostile", test_nvlink_hostile);
        g_test_add_func("/gpu-joins/nvlink-flood", test_nvlink_flood);
        return g_test_run();
}
