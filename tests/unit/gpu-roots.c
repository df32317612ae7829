/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "tests/unit/gpu-roots.h"

#define DEADLINE_USEC (G_USEC_PER_SEC * 20)
#define LOOK_MS 2

void gpu_root_set(FakeRoot *root, const char *id, const char *name, const char *content)
{
        g_autofree char *path = g_strdup_printf("sys/bus/pci/devices/%s/%s", id, name);

        fake_root_write(root, path, content);
}

void gpu_root_pci(FakeRoot *root, const char *id, const char *class, const char *vendor, const char *device,
        const char *driver)
{
        g_autofree char *link = g_strdup_printf("sys/bus/pci/devices/%s/driver", id);
        g_autofree char *target = g_strdup_printf("../../../../bus/pci/drivers/%s", driver ?: "");

        gpu_root_set(root, id, "class", class);
        gpu_root_set(root, id, "vendor", vendor);
        gpu_root_set(root, id, "device", device);
        if (driver)
                fake_root_link(root, link, target);
}

void gpu_root_way(FakeRoot *root, const char *way)
{
        g_auto(GStrv) hops = g_strsplit(way, "/", -1);
        g_autofree char *folder = g_strdup_printf("sys/devices/%s", way);
        g_autofree char *target = g_strdup("../../../devices");

        fake_root_mkdir(root, folder);
        for (char **hop = hops; *hop; hop++) {
                g_autofree char *link = g_strdup_printf("sys/bus/pci/devices/%s", *hop);
                char *longer = g_strdup_printf("%s/%s", target, *hop);

                g_free(target);
                target = longer;
                if (g_str_has_prefix(*hop, "pci"))
                        continue;
                fake_root_remove(root, link);
                fake_root_link(root, link, target);
        }
}

static void set_line(FakeRoot *root, const char *id, const char *name, const char *text)
{
        g_autofree char *line = g_strdup_printf("%s\n", text);

        gpu_root_set(root, id, name, line);
}

void gpu_root_link(FakeRoot *root, const char *id, const char *most_lanes, const char *most_rate,
        const char *lanes, const char *rate)
{
        set_line(root, id, "max_link_width", most_lanes);
        set_line(root, id, "max_link_speed", most_rate);
        set_line(root, id, "current_link_width", lanes ?: most_lanes);
        set_line(root, id, "current_link_speed", rate ?: most_rate);
}

void gpu_root_power(FakeRoot *root, const char *id, const char *status, const char *control)
{
        gpu_root_set(root, id, "power/runtime_status", status);
        gpu_root_set(root, id, "power/control", control);
        gpu_root_set(root, id, "power/autosuspend_delay_ms", "5000\n");
}

void gpu_root_host(FakeRoot *root)
{
        fake_root_write_all(root, "proc/meminfo", "MemTotal:       131072000 kB\nMemFree: 1 kB\n",
                "proc/cpuinfo",
                "processor\t: 0\nvendor_id\t: AuthenticAMD\ncpu family\t: 25\n"
                "model name\t: AMD Ryzen 9 7950X 16-Core Processor\n\n",
                NULL);
}

void gpu_root_nvidia(FakeRoot *root, const char *id, const char *device, const char *model)
{
        g_autofree char *path = g_strdup_printf("proc/driver/nvidia/gpus/%s/information", id);
        g_autofree char *text = g_strdup_printf("Model: \t\t %s\nIRQ:   \t\t 150\n"
                                                "GPU UUID: \t GPU-0\n"
                                                "Bus Location: \t %s\nGPU Excluded:\t No\n",
                model, id);

        gpu_root_pci(root, id, "0x030000\n", "0x10de\n", device, "nvidia");
        gpu_root_power(root, id, "active\n", "on\n");
        fake_root_write(root, path, text);
        fake_root_write(root, "sys/module/nvidia/version", "535.183.01\n");
}

void gpu_root_dual_nvidia(FakeRoot *root)
{
        gpu_root_host(root);
        gpu_root_nvidia(root, "0000:01:00.0", "0x2684\n", "NVIDIA GeForce RTX 4090");
        gpu_root_nvidia(root, "0000:02:00.0", "0x2231\n", "NVIDIA RTX A5000");
}

static void set_all(FakeRoot *root, const char *id, const char *const *files)
{
        for (; *files; files += 2)
                gpu_root_set(root, id, files[0], files[1]);
}

void gpu_root_radeon(FakeRoot *root)
{
        static const char id[] = "0000:03:00.0";
        static const char *const files[] = { "mem_info_vram_total", "25753026560\n", "mem_info_vram_used",
                "1610612736\n", "mem_info_gtt_total", "67411128320\n", "gpu_busy_percent", "37\n",
                "product_name", "\n", "hwmon/hwmon3/name", "amdgpu\n", "hwmon/hwmon3/in0_label", "vddgfx\n",
                "hwmon/hwmon3/temp1_input", "45000\n", "hwmon/hwmon3/power1_average", "55000000\n",
                "hwmon/hwmon3/freq1_input", "1500000000\n", NULL };

        gpu_root_host(root);
        gpu_root_pci(root, id, "0x030000\n", "0x1002\n", "0x744c\n", "amdgpu");
        gpu_root_power(root, id, "active\n", "auto\n");
        set_all(root, id, files);
}

void gpu_root_iris(FakeRoot *root)
{
        gpu_root_host(root);
        gpu_root_pci(root, "0000:00:02.0", "0x030000\n", "0x8086\n", "0x46a6\n", "i915");
        gpu_root_power(root, "0000:00:02.0", "active\n", "auto\n");
        gpu_root_set(root, "0000:00:02.0", "drm/card0/gt/gt0/rps_act_freq_mhz", "1300\n");
        gpu_root_set(root, "0000:00:02.0", "drm/renderD128/dev", "226:128\n");
}

void gpu_root_arc(FakeRoot *root)
{
        static const char id[] = "0000:04:00.0";
        static const char *const files[] = { "tile0/gt0/freq0/act_freq", "2400\n", "hwmon/hwmon5/name",
                "xe\n", "hwmon/hwmon5/temp2_input", "52000\n", "hwmon/hwmon5/energy1_input", "1000000\n",
                NULL };

        gpu_root_host(root);
        gpu_root_pci(root, id, "0x030000\n", "0x8086\n", "0x56a0\n", "xe");
        gpu_root_power(root, id, "active\n", "on\n");
        set_all(root, id, files);
}

void gpu_root_strix_halo(FakeRoot *root)
{
        static const char id[] = "0000:c5:00.0";
        static const char *const files[] = { "mem_info_vram_total", "536870912\n", "mem_info_vram_used",
                "400000000\n", "mem_info_gtt_total", "67108864000\n", "mem_info_gtt_used", "1000000000\n",
                "gpu_busy_percent", "2\n", "hwmon/hwmon4/in0_label", "vddgfx\n", "hwmon/hwmon4/in1_label",
                "vddnb\n", "hwmon/hwmon4/temp1_input", "38000\n", "hwmon/hwmon4/power1_input", "12000000\n",
                "hwmon/hwmon4/freq1_input", "600000000\n", NULL };

        gpu_root_host(root);
        gpu_root_pci(root, id, "0x038000\n", "0x1002\n", "0x1586\n", "amdgpu");
        gpu_root_power(root, id, "active\n", "on\n");
        set_all(root, id, files);
}

void gpu_root_mi300a(FakeRoot *root)
{
        static const char id[] = "0000:05:00.0";
        static const char *const files[] = { "mem_info_vram_total", "137438953472\n", "mem_info_vram_used",
                "3000000000\n", "mem_info_gtt_total", "68719476736\n", "mem_info_gtt_used", "20000000\n",
                NULL };

        gpu_root_host(root);
        gpu_root_pci(root, id, "0x120000\n", "0x1002\n", "0x74a0\n", "amdgpu");
        gpu_root_power(root, id, "active\n", "on\n");
        set_all(root, id, files);
}

static void set_partition(FakeRoot *root, unsigned number)
{
        g_autofree char *name = g_strdup_printf("amdgpu_xcp_%u", number);
        g_autofree char *device = g_strdup_printf("sys/devices/platform/%s", name);
        g_autofree char *node = g_strdup_printf("%s/drm/renderD%u/dev", device, 136 + number);
        g_autofree char *subsystem = g_strdup_printf("%s/subsystem", device);
        g_autofree char *card = g_strdup_printf("sys/class/drm/card%u", 8 + number);
        g_autofree char *link = g_strdup_printf("%s/device", card);
        g_autofree char *target = g_strdup_printf("../../../devices/platform/%s", name);

        fake_root_write(root, node, "226:1\n");
        fake_root_link(root, subsystem, "../../../bus/platform");
        fake_root_mkdir(root, card);
        fake_root_link(root, link, target);
}

void gpu_root_mi300x(FakeRoot *root, unsigned n, const char *mode)
{
        gpu_root_host(root);
        fake_root_remove(root, "sys/class/drm");
        fake_root_remove(root, "sys/devices/platform");
        fake_root_remove(root, "sys/bus/pci/devices");
        for (unsigned i = 0; i < n; i++) {
                g_autofree char *id = g_strdup_printf("0000:%02x:00.0", 5 + i);

                gpu_root_pci(root, id, "0x120000\n", "0x1002\n", "0x74a1\n", "amdgpu");
                gpu_root_power(root, id, "active\n", "on\n");
                gpu_root_set(root, id, "mem_info_vram_total", "206141652992\n");
                gpu_root_set(root, id, "current_compute_partition", mode);
                gpu_root_set(root, id, "hwmon/hwmon1/temp2_input", "40000\n");
                /* The first partition has the nodes of the card. */
                for (unsigned part = 1; part < 8 && !g_str_equal(mode, "SPX\n"); part++)
                        set_partition(root, 8 * i + part);
        }
}

void gpu_root_virtual_function(FakeRoot *root, const char *id, const char *card, const char *driver)
{
        g_autofree char *link = g_strdup_printf("sys/bus/pci/devices/%s/physfn", id);
        g_autofree char *target = g_strdup_printf("../%s", card);

        gpu_root_pci(root, id, "0x030200\n", "0x10de\n", "0x20b5\n", driver);
        fake_root_link(root, link, target);
}

void gpu_root_kfd_node(FakeRoot *root, unsigned node, unsigned gpu, unsigned location)
{
        g_autofree char *folder = g_strdup_printf("sys/class/kfd/kfd/topology/nodes/%u", node);
        g_autofree char *id_path = g_strdup_printf("%s/gpu_id", folder);
        g_autofree char *id = g_strdup_printf("%u\n", gpu);
        g_autofree char *properties_path = g_strdup_printf("%s/properties", folder);
        g_autofree char *properties = g_strdup_printf(
                "cpu_cores_count 0\nsimd_count 304\nlocation_id %u\ndomain 0\n", location);

        fake_root_write(root, id_path, id);
        fake_root_write(root, properties_path, properties);
        fake_root_mkdir(root, "sys/class/kfd/kfd/proc");
}

void gpu_root_kfd_version(FakeRoot *root, unsigned node, unsigned version)
{
        g_autofree char *path = g_strdup_printf(
                "%s/sys/class/kfd/kfd/topology/nodes/%u/properties", root->dir, node);
        g_autofree char *text = NULL, *longer = NULL;

        g_assert_true(g_file_get_contents(path, &text, NULL, NULL));
        longer = g_strdup_printf("%sgfx_target_version %u\n", text, version);
        fake_root_write(root, path + strlen(root->dir) + 1, longer);
}

void gpu_root_kfd_link(
        FakeRoot *root, unsigned node, unsigned number, unsigned to, unsigned type, unsigned bandwidth)
{
        g_autofree char *path = g_strdup_printf(
                "sys/class/kfd/kfd/topology/nodes/%u/io_links/%u/properties", node, number);
        g_autofree char *text = g_strdup_printf("type %u\nversion_major 0\nnode_from %u\nnode_to %u\n"
                                                "weight 15\nmin_bandwidth %u\nmax_bandwidth %u\nflags 1\n",
                type, node, to, bandwidth, bandwidth);

        fake_root_write(root, path, text);
}

void gpu_root_kfd_queue(FakeRoot *root, unsigned process, const char *queue, unsigned gpu)
{
        g_autofree char *path = g_strdup_printf("sys/class/kfd/kfd/proc/%u/%s/gpuid", process, queue);
        g_autofree char *id = g_strdup_printf("%u\n", gpu);

        fake_root_write(root, path, id);
}

void gpu_root_gb10(FakeRoot *root)
{
        fake_root_write_all(root, "proc/meminfo", "MemTotal:       125500000 kB\n", "proc/cpuinfo",
                "processor\t: 0\nCPU implementer\t: 0x41\nCPU architecture: 8\nCPU part\t: 0xd87\n", NULL);
        gpu_root_nvidia(root, "000f:01:00.0", "0x2e12\n", "NVIDIA GB10");
}

void gpu_root_raspberry(FakeRoot *root)
{
        fake_root_write_all(root, "proc/meminfo", "MemTotal:        8245000 kB\n", "proc/cpuinfo",
                "processor\t: 0\nCPU implementer\t: 0x41\nCPU part\t: 0xd0b\n",
                "sys/devices/soc/v3d/drm/renderD128/dev", "226:128\n", "sys/devices/soc/v3d/gpu_stats",
                "queue\ttimestamp\tjobs\truntime\nbin\t1000000000\t10\t500000\nrender\t1000000000\t20\t900000"
                "\n",
                "sys/devices/soc/v3d/of_node/compatible", "brcm,2712-v3d",
                "sys/devices/soc/vc4/drm/card1/dev", "226:1\n", NULL);
        /* The names of the folders are those that the links end with. */
        fake_root_mkdir(root, "sys/class/drm/card0");
        fake_root_mkdir(root, "sys/class/drm/card1");
        fake_root_mkdir(root, "sys/class/drm/card1-HDMI-A-1");
        fake_root_link(root, "sys/devices/soc/1002000000.v3d", "v3d");
        fake_root_link(root, "sys/devices/soc/axi:gpu", "vc4");
        fake_root_link(root, "sys/class/drm/card0/device", "../../../devices/soc/1002000000.v3d");
        fake_root_link(root, "sys/class/drm/card1/device", "../../../devices/soc/axi:gpu");
        fake_root_link(root, "sys/devices/soc/v3d/subsystem", "../../../bus/platform");
        fake_root_link(root, "sys/devices/soc/vc4/subsystem", "../../../bus/platform");
        fake_root_link(root, "sys/devices/soc/v3d/driver", "../../../bus/platform/drivers/v3d");
        fake_root_link(root, "sys/devices/soc/vc4/driver", "../../../bus/platform/drivers/vc4-drm");
}

void gpu_root_jetson(FakeRoot *root)
{
        fake_root_write_all(root, "proc/meminfo", "MemTotal:       31400000 kB\n", "proc/cpuinfo",
                "processor\t: 0\nCPU implementer\t: 0x41\nCPU part\t: 0xd42\n",
                "sys/bus/platform/drivers/gk20a/17000000.gpu/load", "515\n",
                "sys/bus/platform/drivers/gk20a/17000000.gpu/of_node/compatible", "nvidia,ga10b",
                "sys/bus/platform/drivers/gk20a/17000000.gpu/power/runtime_status", "active\n",
                "sys/bus/platform/drivers/gk20a/17000000.gpu/devfreq/17000000.gpu/cur_freq", "918000000\n",
                "sys/bus/platform/drivers/gk20a/uevent", "", NULL);
        fake_root_link(root, "sys/bus/platform/drivers/gk20a/17000000.gpu/driver", "../../gk20a");
}

void gpu_root_bmc(FakeRoot *root)
{
        gpu_root_host(root);
        gpu_root_pci(root, "0000:09:00.0", "0x030000\n", "0x1a03\n", "0x2000\n", "ast");
        gpu_root_pci(root, "0000:0a:00.0", "0x020000\n", "0x8086\n", "0x1521\n", "igb");
}

static gboolean look(gpointer userdata)
{
        return G_SOURCE_CONTINUE;
}

void gpu_wait(GpuCondition holds, void *userdata)
{
        gint64 end = g_get_monotonic_time() + DEADLINE_USEC;
        guint source = g_timeout_add(LOOK_MS, look, NULL);

        while (!holds(userdata)) {
                g_assert_cmpint(g_get_monotonic_time(), <, end);
                g_main_context_iteration(NULL, TRUE);
        }
        g_source_remove(source);
}
