/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <glib.h>

#include "probes/common/arguments.h"
#include "probes/rdma/options.h"

#define PORT 7480u

const char ald_rdma_help[] =
        "Usage: alidade-probe-rdma --listen[=ADDRESS] --key-file=FILE [OPTION…]\n"
        "       alidade-probe-rdma --connect=HOST --key-file=FILE [OPTION…]\n\n"
        "Measure the way to another machine over RDMA: rate each way, round trip, jitter.\n\n"
        "     --listen[=ADDRESS]   Serve, until Ctrl-C\n"
        "     --connect=HOST       Measure towards a name or address (fe80::1%eth0)\n"
        "     --port=PORT          Of the control connection (7480)\n"
        "     --device=DEVICE      The RDMA device, or its port (mlx5_0.1)\n"
        "     --once               --listen: end after one peer\n"
        "     --key-file=FILE      A secret that both sides have\n"
        "     --identity=DIR       Instead, the certificates of a cluster\n"
        "     --crl=FILE           A newer revocation list, if it is one\n"
        "     --peer=NODEID        Whom the other side must be\n"
        "     --seconds-max=N      Of each direction, at most (5)\n"
        "     --message-bytes=N    Size of a message (as fits the port)\n"
        "     --json               Print the result as JSON\n"
        "  -h --help               Show this help\n"
        "     --version            Show the version\n\n"
        "See alidade-probe-rdma(1).\n";

enum {
        VERSION = 0xff,
        LISTEN = 0x100,
        CONNECT,
        PORT_OPTION,
        ONCE,
        KEY_FILE,
        IDENTITY,
        CRL,
        PEER,
        DEVICE,
        SECONDS,
        SIZE,
        JSON
};

static const struct option table[] = {
        { "help", no_argument, NULL, 'h' },
        { "version", no_argument, NULL, VERSION },
        { "listen", optional_argument, NULL, LISTEN },
        { "connect", required_argument, NULL, CONNECT },
        { "port", required_argument, NULL, PORT_OPTION },
        { "once", no_argument, NULL, ONCE },
        { "key-file", required_argument, NULL, KEY_FILE },
        { "identity", required_argument, NULL, IDENTITY },
        { "crl", required_argument, NULL, CRL },
        { "peer", required_argument, NULL, PEER },
        { "device", required_argument, NULL, DEVICE },
        { "seconds-max", required_argument, NULL, SECONDS },
        { "message-bytes", required_argument, NULL, SIZE },
        { "json", no_argument, NULL, JSON },
        {},
};

static int set_number(AldRdmaOptions *options, int option, char **ret_error)
{
        uint64_t value = 0;
        int r;

        if (option == PORT_OPTION) {
                r = ald_arguments_number("port", optarg, 1, 65535, &value, ret_error);
                options->port = (unsigned) value;
        } else if (option == SECONDS) {
                r = ald_arguments_number("seconds-max", optarg, 1, 9, &value, ret_error);
                options->seconds_max = (unsigned) value;
        } else {
                r = ald_arguments_number("message-bytes", optarg, 1024, 8u << 20, &value, ret_error);
                options->size = (size_t) value;
        }
        return r;
}

static int set_option(void *userdata, int option, char **ret_error)
{
        AldRdmaOptions *options = userdata;
        const char **words[] = { &options->keys.key_file, &options->keys.identity, &options->keys.crl,
                &options->keys.peer, &options->device };

        switch (option) {
        case LISTEN:
                options->listens = true;
                options->listen = optarg;
                return 0;
        case CONNECT:
                options->connect = optarg;
                return 0;
        case ONCE:
                options->once = true;
                return 0;
        case JSON:
                options->json = true;
                return 0;
        case PORT_OPTION:
        case SECONDS:
        case SIZE:
                return set_number(options, option, ret_error);
        case 'h':
                options->help = true;
                return 1;
        case VERSION:
                options->version = true;
                return 1;
        default:
                *words[option - KEY_FILE] = optarg;
                return 0;
        }
}

static int check(const AldRdmaOptions *options, char **ret_error)
{
        if (options->listens == !!options->connect)
                return ald_arguments_refuse(ret_error, "one of --listen and --connect is needed");
        return ald_keys_check(&options->keys, ret_error);
}

int ald_rdma_options_parse(int argc, char **argv, AldRdmaOptions *ret, char **ret_error)
{
        AldRdmaOptions options = { .port = PORT, .seconds_max = 5 };
        int r = ald_arguments_read(argc, argv, table, set_option, &options, ret_error);

        if (r == 0 && optind < argc)
                r = ald_arguments_refuse(ret_error, "not understood: %s", argv[optind]);
        if (r == 0)
                r = check(&options, ret_error);
        if (r >= 0)
                *ret = options;
        return MIN(r, 0);
}
