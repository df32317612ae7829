/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include <glib.h>

#include "probes/common/arguments.h"
#include "probes/rdma/message.h"
#include "probes/rdma/options.h"

#define PORT 7480u

const char ald_rdma_help[] =
        "Usage: alidade-probe-rdma --listen[=ADDRESS] --key-file=FILE [OPTION…]\n"
        "       alidade-probe-rdma --connect=HOST --key-file=FILE [OPTION…]\n\n"
        "Measure the way to another machine over RDMA: rate each way, round trip, jitter.\n\n"
        "     --listen[=ADDRESS]   Serve, until Ctrl-C\n"
        "     --connect=HOST       Measure towards a name or address (fe80::1%eth0)\n"
        "     --port=PORT          Of the control connection (7480)\n"
        "     --bind-device=IFACE  Use this interface for the control connection\n"
        "     --device=DEVICE      The RDMA device, or its port (mlx5_0.1)\n"
        "     --peer-device=DEVICE The same of the other side\n"
        "     --once               --listen: end after one peer\n"
        "     --key-file=FILE      A secret that both sides have\n"
        "     --identity=DIR       Instead, the certificates of a cluster\n"
        "     --crl=FILE           A newer revocation list, if it is one\n"
        "     --peer=NODEID        Whom the other side must be\n"
        "     --seconds-max=N      Of each direction, at most (5)\n"
        "     --bytes-max=N        Of each direction, at most (K, M, G, T: powers of 1000)\n"
        "     --timeout=N          Seconds for everything (50)\n"
        "     --message-bytes=N    Size of a message (as fits the port)\n"
        "     --method=METHOD      write (with immediate) or send (as the devices can)\n"
        "     --qps=N              Queue pairs, at most 8 (as fits the port)\n"
        "     --cm                 Connect by rdma_cm\n"
        "     --json               Print the result as JSON\n"
        "  -h --help               Show this help\n"
        "     --version            Show the version\n\n"
        "See alidade-probe-rdma(1).\n";

enum {
        VERSION = 0x100,
        LISTEN,
        CONNECT,
        SESSION_FD,
        REPORT_FD,
        PROGRESS_FD,
        ASK,
        ONCE,
        JSON,
        MANAGER,
        METHOD,
        BYTES,
        PORT_OPTION,
        SECONDS,
        TIMEOUT,
        SIZE,
        QUEUES,
        KEY_FILE,
        IDENTITY,
        CRL,
        PEER,
        DEVICE,
        PEER_DEVICE,
        BIND_DEVICE,
};

static const struct option table[] = {
        { "help", no_argument, NULL, 'h' },
        { "version", no_argument, NULL, VERSION },
        { "listen", optional_argument, NULL, LISTEN },
        { "connect", required_argument, NULL, CONNECT },
        { "session-fd", required_argument, NULL, SESSION_FD },
        { "report-fd", required_argument, NULL, REPORT_FD },
        { "progress-fd", required_argument, NULL, PROGRESS_FD },
        { "ask", no_argument, NULL, ASK },
        { "once", no_argument, NULL, ONCE },
        { "json", no_argument, NULL, JSON },
        { "cm", no_argument, NULL, MANAGER },
        { "method", required_argument, NULL, METHOD },
        { "bytes-max", required_argument, NULL, BYTES },
        { "port", required_argument, NULL, PORT_OPTION },
        { "seconds-max", required_argument, NULL, SECONDS },
        { "timeout", required_argument, NULL, TIMEOUT },
        { "message-bytes", required_argument, NULL, SIZE },
        { "qps", required_argument, NULL, QUEUES },
        { "key-file", required_argument, NULL, KEY_FILE },
        { "identity", required_argument, NULL, IDENTITY },
        { "crl", required_argument, NULL, CRL },
        { "peer", required_argument, NULL, PEER },
        { "device", required_argument, NULL, DEVICE },
        { "peer-device", required_argument, NULL, PEER_DEVICE },
        { "bind-device", required_argument, NULL, BIND_DEVICE },
        {},
};

static int set_mode(AldRdmaOptions *options, AldRdmaMode mode, const char *host, char **ret_error)
{
        if (options->mode != ALD_RDMA_HELP)
                return ald_arguments_refuse(
                        ret_error, "only one of --listen, --connect and --session-fd can be");
        options->mode = mode;
        options->host = host;
        return 0;
}

static int set_fd(AldRdmaOptions *options, int option, char **ret_error)
{
        static const char *const names[] = { "session-fd", "report-fd", "progress-fd" };
        int *const fds[] = { &options->session_fd, &options->report_fd, &options->progress_fd };
        uint64_t value = 0;
        int r = ald_arguments_number(names[option - SESSION_FD], optarg, 0, 65535, &value, ret_error);

        *fds[option - SESSION_FD] = (int) value;
        if (r >= 0 && option == SESSION_FD)
                r = set_mode(options, ALD_RDMA_SESSION, NULL, ret_error);
        return r;
}

static int set_number(AldRdmaOptions *options, int option, char **ret_error)
{
        static const struct {
                const char *name;
                uint64_t min, max;
        } numbers[] = {
                { "port", 1, 65535 },
                { "seconds-max", 1, 9 },
                { "timeout", 1, 600 },
                { "message-bytes", 1024, 8u << 20 },
                { "qps", 1, ALD_RDMA_QUEUES_MAX },
        };
        unsigned which = (unsigned) (option - PORT_OPTION);
        uint64_t value = 0;
        int r = ald_arguments_number(
                numbers[which].name, optarg, numbers[which].min, numbers[which].max, &value, ret_error);

        if (option == SIZE)
                options->size = (size_t) value;
        else
                *(unsigned *[]){ &options->port, &options->seconds_max, &options->timeout, NULL,
                        &options->queues }[which] = (unsigned) value;
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
        AldRdmaOptions *options = userdata;
        const char **words[] = { &options->keys.key_file, &options->keys.identity, &options->keys.crl,
                &options->keys.peer, &options->device, &options->peer_device, &options->interface };
        bool *const switches[] = { &options->ask, &options->once, &options->json, &options->manager };

        if (option == 'h' || option == VERSION) {
                options->mode = option == 'h' ? ALD_RDMA_HELP : ALD_RDMA_VERSION;
                return 1;
        }
        if (option >= KEY_FILE)
                *words[option - KEY_FILE] = optarg;
        else if (option >= PORT_OPTION)
                return set_number(options, option, ret_error);
        else if (option == BYTES)
                return ald_arguments_bytes("bytes-max", optarg, &options->bytes_max, ret_error);
        else if (option == METHOD)
                return set_method(options, ret_error);
        else if (option >= ASK)
                *switches[option - ASK] = true;
        else if (option >= SESSION_FD)
                return set_fd(options, option, ret_error);
        else
                return set_mode(
                        options, option == LISTEN ? ALD_RDMA_LISTEN : ALD_RDMA_CONNECT, optarg, ret_error);
        return 0;
}

static int check(const AldRdmaOptions *options, char **ret_error)
{
        if (options->mode == ALD_RDMA_HELP)
                return ald_arguments_refuse(ret_error, "one of --listen and --connect is needed");
        if (options->mode == ALD_RDMA_CONNECT && !*options->host)
                return ald_arguments_refuse(ret_error, "--connect: no host");
        if (options->ask && options->report_fd < 0)
                return ald_arguments_refuse(ret_error, "--ask is for --report-fd");
        if (options->once && options->mode != ALD_RDMA_LISTEN)
                return ald_arguments_refuse(ret_error, "--once is for --listen");
        return ald_keys_check(&options->keys, ret_error);
}

int ald_rdma_options_parse(int argc, char **argv, AldRdmaOptions *ret, char **ret_error)
{
        AldRdmaOptions options = {
                .port = PORT,
                .session_fd = -1,
                .progress_fd = -1,
                .report_fd = -1,
                .seconds_max = 5,
                .bytes_max = ALD_ARGUMENTS_BYTES_MAX,
                .timeout = 50,
        };
        int r = ald_arguments_read(argc, argv, table, set_option, &options, ret_error);

        if (r == 0 && optind < argc)
                r = ald_arguments_refuse(ret_error, "not understood: %s", argv[optind]);
        if (r == 0)
                r = check(&options, ret_error);
        if (r >= 0)
                *ret = options;
        return MIN(r, 0);
}
