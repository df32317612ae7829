/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <glib.h>

#include "probes/common/wait.h"
#include "probes/compute/child.h"
#include "probes/compute/program.h"

/* alidade-probe-compute: measures what the compute devices of the machine can do, by OpenCL. */

enum { EXIT_USAGE = 2 };

/* Within the limits of the program, and with what it needs to end its children. */
static int run(const AldComputeOptions *options)
{
        g_auto(AldCache) cache = {};
        g_auto(GStrv) environment = NULL;
        AldRunner runner = { .timeout = options->timeout, .stop = ald_stop_fd() };
        int r = ald_cache_open(&cache);

        if (runner.stop < 0 || r < 0) {
                fprintf(stderr, "alidade-probe-compute: %s: %s\n",
                        r < 0 ? "cannot open the cache folder" : "cannot wait for signals",
                        strerror(r < 0 ? -r : -runner.stop));
                return EXIT_FAILURE;
        }
        environment = ald_cache_environment(&cache);
        runner.environment = environment;
        return options->mode == ALD_COMPUTE_LIST ? ald_program_list(options, &runner, &cache)
                                                 : ald_program_measure(options, &runner, &cache);
}

int main(int argc, char *argv[])
{
        AldComputeOptions options;
        g_autofree char *error = NULL;

        (void) setlocale(LC_CTYPE, "");
        if (ald_compute_options_parse(argc, argv, &options, &error) < 0) {
                fprintf(stderr, "alidade-probe-compute: %s\n", error);
                return EXIT_USAGE;
        }
        switch (options.mode) {
        case ALD_COMPUTE_HELP:
                fputs(ald_compute_help, stdout);
                return EXIT_SUCCESS;
        case ALD_COMPUTE_VERSION:
                puts("alidade-probe-compute " ALD_VERSION);
                return EXIT_SUCCESS;
        case ALD_COMPUTE_CHILD:
                ald_child_run(&options);
        case ALD_COMPUTE_LIST:
        case ALD_COMPUTE_MEASURE:
                break;
        }
        (void) signal(SIGPIPE, SIG_IGN);
        return run(&options);
}
