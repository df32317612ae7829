/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <glib.h>

#include "probes/common/wait.h"
#include "probes/compute/child.h"
#include "probes/compute/program.h"

/* alidade-probe-compute: measures what the compute devices of the machine can do, by OpenCL. */

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
        g_auto(AldComputeOptions) options = {};
        g_autofree char *output = NULL, *error = NULL;
        int r;

        ald_command_line_set_up();
        r = ald_compute_options_parse(argc, argv, &options, &output, &error);
        if (r != 0)
                return ald_command_line_end(&ald_compute_command_line, r, output, error);
        if (options.mode == ALD_COMPUTE_CHILD)
                ald_child_run(&options);
        return run(&options);
}
