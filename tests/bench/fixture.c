/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "tests/bench/fixture.h"

#define EPOCH UINT64_C(1700000000000000)
#define GIB (UINT64_C(1) << 30)

AldId fixture_id(unsigned node)
{
        AldId id = { .bytes = { 0xa1, 0x1d, 0xad, 0xe0 } };
        uint64_t mixed = (node + 1) * UINT64_C(0x9e3779b97f4a7c15);

        memcpy(id.bytes + 8, &mixed, sizeof mixed);
        memcpy(id.bytes, &mixed, 4); /* as random in front as real ids are */
        return id;
}

static AldRecord *make(AldKind kind, const void *fields)
{
        AldRecord *record;

        if (ald_record_new(kind, fields, &record) < 0)
                g_error("A fixture record cannot be made");
        return record;
}

static AldRecord *identity(unsigned node)
{
        g_autofree char *name = g_strdup_printf("node-%u", node);

        return make(ALD_KIND_IDENTITY, &(AldIdentity){ .friendly_name = name,
                                               .model_id = "PowerEdge R760",
                                               .chip_id = "Intel(R) Xeon(R) Platinum 8480+",
                                               .vendor = "Dell Inc.",
                                               .chassis = "server",
                                               .operating_system = "Debian GNU/Linux 12 (bookworm)",
                                               .kernel_release = "6.1.0-25-amd64",
                                               .architecture = "x86_64",
                                               .boot_id = "63b261106ae3416bb1da30173caf5c2b" });
}

static AldRecord *memory(uint64_t turn)
{
        return make(ALD_KIND_MEMORY, &(AldMemory){ .total_bytes = 512 * GIB,
                                             .available_bytes = 300 * GIB + turn * 4096,
                                             .swap_total_bytes = 8 * GIB,
                                             .swap_available_bytes = 8 * GIB,
                                             .pressure_some10 = 0,
                                             .pressure_full10 = 0 });
}

static const char *const gpus[] = { "0000:17:00.0", "0000:ca:00.0" };

static AldRecord *system_record(uint64_t turn)
{
        AldDevice devices[G_N_ELEMENTS(gpus)];
        AldSystem system = ALD_SYSTEM_INIT;

        for (unsigned i = 0; i < G_N_ELEMENTS(gpus); i++) {
                devices[i] = (AldDevice) ALD_DEVICE_INIT;
                devices[i].id = gpus[i];
                devices[i].power_state = "active";
                devices[i].usage = (double) ((turn + i) % 100);
                devices[i].memory_used_bytes = 40 * GIB;
                devices[i].compute_processes = 1;
                devices[i].temperature_milli_celsius = 61000;
                devices[i].power_micro_watts = 420000000;
                devices[i].clock_hz = 1980000000;
        }
        system.cpu_usage = (double) (turn % 100);
        system.temperature_milli_celsius = 54000;
        system.power_micro_watts = 310000000;
        system.devices.items = devices;
        system.devices.n = G_N_ELEMENTS(gpus);
        return make(ALD_KIND_SYSTEM, &system);
}

static AldRecord *processes(void)
{
        AldHeldDevice rows[G_N_ELEMENTS(gpus)];
        AldProcesses fields = ALD_PROCESSES_INIT;

        for (unsigned i = 0; i < G_N_ELEMENTS(gpus); i++)
                rows[i] = (AldHeldDevice){ .id = gpus[i], .holders = 1, .held_bytes = 39 * GIB };
        fields.devices.items = rows;
        fields.devices.n = G_N_ELEMENTS(gpus);
        return make(ALD_KIND_PROCESSES, &fields);
}

static AldRecord *backends(void)
{
        AldBackend rows[G_N_ELEMENTS(gpus) + 1];
        AldBackends fields = ALD_BACKENDS_INIT;

        rows[G_N_ELEMENTS(gpus)] = (AldBackend){ .id = "cpu",
                .class = "cpu",
                .name = "Intel(R) Xeon(R) Platinum 8480+",
                .vendor = "Intel",
                .memory_total_bytes = ALD_ABSENT_UINT64,
                .shared_bytes = 512 * GIB,
                .unified = true };

        for (unsigned i = 0; i < G_N_ELEMENTS(gpus); i++)
                rows[i] = (AldBackend){ .id = gpus[i],
                        .class = "gpu",
                        .name = "NVIDIA H100 80GB HBM3",
                        .vendor = "NVIDIA",
                        .driver = "nvidia",
                        .driver_version = "550.90.07",
                        .memory_total_bytes = 80 * GIB,
                        .shared_bytes = ALD_ABSENT_UINT64,
                        .unified = false,
                        .open_cl_platform = "NVIDIA CUDA" };
        fields.devices.items = rows;
        fields.devices.n = G_N_ELEMENTS(rows);
        return make(ALD_KIND_BACKENDS, &fields);
}

#define SPEED UINT64_C(100000000000)

static AldRecord *network(unsigned node, uint64_t speed)
{
        static const char *const names[] = { "eno1", "eno2", "enp23s0f0np0", "enp23s0f1np1", "ib0", "lo" };
        AldInterface rows[G_N_ELEMENTS(names)];
        char addresses[G_N_ELEMENTS(names)][32];
        const char *lists[G_N_ELEMENTS(names)][3];
        AldNetwork fields = ALD_NETWORK_INIT;

        for (unsigned i = 0; i < G_N_ELEMENTS(names); i++) {
                g_snprintf(addresses[i], sizeof addresses[i], "10.%u.%u.%u/16", i, node / 250 % 250,
                        node % 250 + 1);
                lists[i][0] = addresses[i];
                lists[i][1] = "fe80::5054:ff:fe12:3456/64";
                lists[i][2] = NULL;
                rows[i] = (AldInterface){ .id = names[i],
                        .type = i == 5   ? "loopback"
                                : i == 4 ? "infiniband"
                                         : "ethernet",
                        .hardware_address = "52:54:00:12:34:56",
                        .addresses = lists[i],
                        .speed_bits_per_second = speed,
                        .mtu = 1500,
                        .driver = "mlx5_core",
                        .carrier = true,
                        .connection = "Wired connection" };
        }
        rows[5].hardware_address = rows[5].driver = NULL;
        rows[5].speed_bits_per_second = ALD_ABSENT_UINT64;
        fields.interfaces.items = rows;
        fields.interfaces.n = G_N_ELEMENTS(rows);
        return make(ALD_KIND_NETWORK, &fields);
}

static AldRecord *disk(void)
{
        const AldDiskPath row = { .id = "/", .total_bytes = 960 * GIB, .available_bytes = 400 * GIB };
        AldDisk fields = ALD_DISK_INIT;

        fields.paths.items = &row;
        fields.paths.n = 1;
        return make(ALD_KIND_DISK, &fields);
}

static AldRecord *fabric(void)
{
        static const char *const gids[] = { "0 rocev2 fe80::5054:ff:fe12:3456", NULL };
        const AldRdmaPort row = { .id = "mlx5_0.1",
                .node_guid = "5054:00ff:fe12:3456",
                .port_guid = "5054:00ff:fe12:3456",
                .link_layer = "ethernet",
                .state = "active",
                .rate_bits_per_second = UINT64_C(200000000000),
                .mtu = 4096,
                .gids = gids,
                .interface = "enp23s0f0np0" };
        AldFabric fields = ALD_FABRIC_INIT;

        fields.rdma_ports.items = &row;
        fields.rdma_ports.n = 1;
        return make(ALD_KIND_FABRIC, &fields);
}

static AldRecord *compute(void)
{
        AldComputeDevice rows[G_N_ELEMENTS(gpus)];
        AldCompute fields = ALD_COMPUTE_INIT;

        for (unsigned i = 0; i < G_N_ELEMENTS(gpus); i++) {
                rows[i] = (AldComputeDevice) ALD_COMPUTE_DEVICE_INIT;
                rows[i].id = gpus[i];
                rows[i].gemm_tflops = rows[i].tflops_fp16 = 742.5;
                rows[i].precision = "fp16";
                rows[i].accumulator = "fp32";
                rows[i].memory_bandwidth_bytes_per_second = UINT64_C(3100000000000);
                rows[i].measured_usec = EPOCH;
        }
        fields.devices.items = rows;
        fields.devices.n = G_N_ELEMENTS(gpus);
        return make(ALD_KIND_COMPUTE, &fields);
}

static AldRecord *processor(void)
{
        static const char *const governors[] = { "performance", NULL };
        static const char *const sets[] = { "amx_bf16", "amx_int8", "amx_tile", "avx", "avx2", "avx512_bf16",
                "avx512_fp16", "avx512_vnni", "avx512f", "fma", NULL };
        static const AldProcessorCache caches[] = { { "L1d", 1, "data", 48 * 1024, 112 },
                { "L1i", 1, "instruction", 32 * 1024, 112 }, { "L2", 2, "unified", 2 * 1024 * 1024, 112 },
                { "L3", 3, "unified", 105 * 1024 * 1024, 2 } };
        static const AldNumaNode numa_nodes[] = { { "0", "0-55,112-167", 256 * GIB },
                { "1", "56-111,168-223", 256 * GIB } };
        AldProcessor fields = ALD_PROCESSOR_INIT;

        fields.model = "Intel(R) Xeon(R) Platinum 8480+";
        fields.sockets = 2;
        fields.cores = 112;
        fields.threads = 224;
        fields.threads_per_core = 2;
        fields.max_clock_hz = UINT64_C(3800000000);
        fields.frequency_driver = "intel_pstate";
        fields.governors = governors;
        fields.instruction_sets = sets;
        fields.caches.items = caches;
        fields.caches.n = G_N_ELEMENTS(caches);
        fields.numa_nodes.items = numa_nodes;
        fields.numa_nodes.n = G_N_ELEMENTS(numa_nodes);
        return make(ALD_KIND_PROCESSOR, &fields);
}

static AldRecord *link_record(unsigned node, unsigned peer, uint64_t turn, char key[static 128])
{
        char source[ALD_ID_STRING_SIZE], sink[ALD_ID_STRING_SIZE], address[32];
        const AldId source_id = fixture_id(node), sink_id = fixture_id(peer);
        AldLinkSocket link = ALD_LINK_SOCKET_INIT;

        g_snprintf(address, sizeof address, "10.2.%u.%u", peer / 250 % 250, peer % 250 + 1);
        link.source = ald_id_format(&source_id, source);
        link.sink = ald_id_format(&sink_id, sink);
        link.sink_address = address;
        link.source_interface = "enp23s0f0np0";
        link.source_interface_type = "ethernet";
        link.upload.bits_per_second = UINT64_C(94000000000) + turn;
        link.download.bits_per_second = UINT64_C(93000000000);
        link.rtt_min_nsec = 9000;
        link.rtt_p50_nsec = 12000;
        link.rtt_p99_nsec = 31000;
        link.jitter_nsec = 900;
        link.streams = 4;
        link.upload.limiter = link.download.limiter = "network";
        link.measured_usec = EPOCH;
        g_snprintf(key, 128, "%s,%s", sink, address);
        return make(ALD_KIND_LINK_SOCKET, &link);
}

static AldRecord *storage(void)
{
        static const char *const disks[] = { "nvme0n1", NULL };
        AldStorageFileSystem row = ALD_STORAGE_FILE_SYSTEM_INIT;
        AldStorage fields = ALD_STORAGE_INIT;

        row.id = "/";
        row.file_system_type = "ext4";
        row.disks = disks;
        row.model_files = 12;
        row.model_bytes = 240 * GIB;
        row.read_bytes_per_second = UINT64_C(6800000000);
        row.measured_usec = EPOCH;
        fields.file_systems.items = &row;
        fields.file_systems.n = 1;
        return make(ALD_KIND_STORAGE, &fields);
}

static AldRecord *node_record(unsigned node, AldKind kind, uint64_t turn)
{
        switch (kind) {
        case ALD_KIND_IDENTITY:
                return identity(node);
        case ALD_KIND_MEMORY:
                return memory(turn);
        case ALD_KIND_SYSTEM:
                return system_record(turn);
        case ALD_KIND_PROCESSES:
                return processes();
        case ALD_KIND_PROCESSOR:
                return processor();
        case ALD_KIND_BACKENDS:
                return backends();
        case ALD_KIND_NETWORK:
                return network(node, SPEED);
        case ALD_KIND_DISK:
                return disk();
        case ALD_KIND_FABRIC:
                return fabric();
        case ALD_KIND_COMPUTE:
                return compute();
        case ALD_KIND_STORAGE:
                return storage();
        default:
                g_assert_not_reached();
        }
}

AldUpdate fixture_update(unsigned node, unsigned which, unsigned nodes, uint64_t turn, char key[static 128])
{
        AldUpdate update = {
                .node = fixture_id(node),
                .key = key,
                .stamp = { EPOCH, turn * FIXTURE_RECORDS + which + 1 },
                .updated_usec = EPOCH + turn,
        };

        key[0] = '\0';
        if (which < FIXTURE_KINDS) {
                update.kind = (AldKind) which;
                update.record = node_record(node, update.kind, turn);
        } else {
                unsigned peer = (node + 1 + which - FIXTURE_KINDS) % MAX(nodes, FIXTURE_PEERS + 1);
                update.kind = ALD_KIND_LINK_SOCKET;
                update.record = link_record(node, peer, turn, key);
        }
        return update;
}

AldUpdate fixture_link(unsigned node, unsigned peer, uint64_t turn, char key[static 128])
{
        return (AldUpdate){
                .node = fixture_id(node),
                .kind = ALD_KIND_LINK_SOCKET,
                .key = key,
                .stamp = { EPOCH, turn + 1 },
                .updated_usec = EPOCH + turn,
                .record = link_record(node, peer, turn, key),
        };
}

AldUpdate fixture_speed(unsigned node, uint64_t turn)
{
        return (AldUpdate){
                .node = fixture_id(node),
                .kind = ALD_KIND_NETWORK,
                .key = "",
                .stamp = { EPOCH, FIXTURE_RECORDS * (turn + 1) },
                .updated_usec = EPOCH + turn,
                .record = network(node, SPEED / 10 * (turn % 9 + 1)),
        };
}
