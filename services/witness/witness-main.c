/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <systemd/sd-daemon.h>

#include "common/log.h"
#include "services/common/sysroot.h"
#include "services/witness/counter-reader.h"
#include "services/witness/process-scan.h"
#include "services/witness/witness-server.h"

/* alidade-witness reads what needs a capability: one unit for each source, so that each has one capability.
 */

#define IDLE_MSEC (30 * 1000)

static char *answer_processes(void *userdata, const AldRecord *request, size_t max_bytes)
{
        return ald_process_scan_answer(userdata, request, max_bytes);
}

static char *answer_counters(void *userdata, const AldRecord *request, size_t max_bytes)
{
        return ald_counter_reader_answer(userdata, request);
}

static int serve_processes(int root)
{
        g_autoptr(AldProcessScan) scan = ald_process_scan_new(root);
        const AldWitnessTask task = { ALD_KIND_PROCESSES_REQUEST, answer_processes, scan };

        return ald_witness_serve(SD_LISTEN_FDS_START, &task, IDLE_MSEC);
}

static int serve_counters(int root)
{
        g_autoptr(AldCounterReader) reader = ald_counter_reader_new(root);
        const AldWitnessTask task = { ALD_KIND_COUNTERS_REQUEST, answer_counters, reader };

        return ald_witness_serve(SD_LISTEN_FDS_START, &task, IDLE_MSEC);
}

int main(int argc, char *argv[])
{
        bool reads_processes = argc == 2 && g_str_equal(argv[1], "processes");
        int root = ald_sysroot_open(), r;

        ald_log_install("alidade-witness");
        if (!reads_processes && (argc != 2 || !g_str_equal(argv[1], "counters"))) {
                g_critical("The argument must be \"processes\" or \"counters\"");
                return EXIT_FAILURE;
        }
        if (root < 0 || sd_listen_fds(true) != 1 ||
                sd_is_socket_unix(SD_LISTEN_FDS_START, SOCK_SEQPACKET, 1, NULL, 0) <= 0) {
                g_critical("This program is started by alidade-witness-%s.socket", argv[1]);
                return EXIT_FAILURE;
        }
        r = reads_processes ? serve_processes(root) : serve_counters(root);
        if (r < 0)
                g_critical("Could not serve: %s", g_strerror(-r));
        return r < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
