/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include <glib.h>

#include "probes/rdma/options.h"
#include "probes/rdma/plan.h"

#define PORT 7480u

const char ald_rdma_help[] =
        "Usage: alidade-probe-rdma --listen[=ADDRESS] --key-file=FILE [OPTION…]\n"
        "       alidade-probe-rdma --connect=HOST --key-file=FILE [OPTION…]\n\n"
        "Measure the path to another machine over RDMA: rate each way, round trip, jitter.\n\n"
        "     --listen[=ADDRESS]   Serve, until Ctrl-C\n"
        "     --connect=HOST       Measure to this name or address (fe80::1%eth0)\n"
        "     --port=PORT          Port of the control connection (7480)\n"
        "     --bind-device=IFACE  Use this interface for the control connection\n"
        "     --device=DEVICE      RDMA device, or a port of it (mlx5_0.1)\n"
        "     --peer-device=DEVICE  The same of the other side\n"
        "     --once               With --listen: exit after one peer\n"
        "     --key-file=FILE      File with a secret that both sides share\n"
        "     --identity=DIR       Use the certificates of a cluster instead\n"
        "     --crl=FILE           Revocation list to use if it is newer\n"
        "     --peer=NODEID        Require the other side to be this node\n"
        "     --seconds-max=N      At most N seconds for each direction (5)\n"
        "     --bytes-max=N        At most N bytes in each direction (K, M, G, T: powers of 1000)\n"
        "     --timeout=N          At most N seconds in all (50)\n"
        "     --message-bytes=N    Size of a message (as fits the port)\n"
        "     --method=METHOD      write (with immediate) or send (as the devices can)\n"
        "     --qps=N              Queue pairs, at most 8 (as fits the port)\n"
        "     --cm                 Connect with rdma_cm\n"
        "     --json               Print the result as JSON\n"
        "  -h --help               Show this help\n"
        "     --version            Show the version\n\n"
        "See alidade-probe-rdma(1).\n";

enum {
        MANAGER = ALD_LINK_OPTION_END,
        METHOD,
        TIMEOUT,
        SIZE,
        QUEUES,
        DEVICE,
        PEER_DEVICE,
};

static const struct option table[] = {
        ALD_LINK_OPTIONS_ROWS,
        { "cm", no_argument, NULL, MANAGER },
        { "method", required_argument, NULL, METHOD },
        { "timeout", required_argument, NULL, TIMEOUT },
        { "message-bytes", required_argument, NULL, SIZE },
        { "qps", required_argument, NULL, QUEUES },
        { "device", required_argument, NULL, DEVICE },
        { "peer-device", required_argument, NULL, PEER_DEVICE },
        {},
};

static int set_number(AldRdmaOptions *options, int option, char **ret_error)
{
        static const struct {
                const char *name;
                uint64_t min, max;
        } numbers[] = {
                { "timeout", 1, 600 },
                { "message-bytes", 1024, 8u << 20 },
                { "qps", 1, ALD_RDMA_QUEUES_MAX },
        };
        unsigned which = (unsigned) (option - TIMEOUT);
        uint64_t value = 0;
        int r = ald_arguments_number(
                numbers[which].name, optarg, numbers[which].min, numbers[which].max, &value, ret_error);

        if (option == TIMEOUT)
                options->timeout = (unsigned) value;
        else if (option == SIZE)
                options->size = (size_t) value;
        else
                options->queues = (unsigned) value;
        return r;
}

static int set_method(AldRdmaOptions *options, char **ret_error)
{
        options->method = strcmp(optarg, "write") == 0  ? ALD_RDMA_METHOD_WRITE
                          : strcmp(optarg, "send") == 0 ? ALD_RDMA_METHOD_SEND
                                                        : ALD_RDMA_METHOD_ANY;
        return options->method == ALD_RDMA_METHOD_ANY
                       ? ald_arguments_refuse(ret_error, "--method: not write or send: %s", optarg)
                       : 0;
}

static int set_option(void *userdata, int option, char **ret_error)
{
        static const AldLinkOptionsRange range = { .port_max = 65535, .seconds_max = 9 };
        AldRdmaOptions *options = userdata;

        if (option < ALD_LINK_OPTION_END)
                return ald_link_options_set(&options->link, option, &range, ret_error);
        switch (option) {
        case MANAGER:
                options->manager = true;
                return 0;
        case METHOD:
                return set_method(options, ret_error);
        case DEVICE:
                options->device = optarg;
                return 0;
        case PEER_DEVICE:
                options->peer_device = optarg;
                return 0;
        default:
                return set_number(options, option, ret_error);
        }
}

int ald_rdma_options_parse(int argc, char **argv, AldRdmaOptions *ret, char **ret_error)
{
        AldRdmaOptions options = { .link = ALD_LINK_OPTIONS_INIT(PORT), .timeout = 50 };
        int r = ald_arguments_read(argc, argv, table, set_option, &options, ret_error);

        if (r == 0)
                r = ald_link_options_check(&options.link, argc, argv, ret_error);
        if (r >= 0)
                *ret = options;
        return MIN(r, 0);
}
