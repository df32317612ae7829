/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <string.h>

#include <glib.h>

#include "probes/common/arguments.h"
#include "probes/socket/options.h"

#define SECONDS_MAX 60u
#define STREAMS_MAX 8u

const char ald_probe_help[] =
        "Usage: alidade-probe-socket --listen[=ADDRESS] --key-file=FILE [OPTION…]\n"
        "       alidade-probe-socket --connect=HOST --key-file=FILE [OPTION…]\n\n"
        "Measure the way to another machine over TCP: rate each way, round trip, jitter.\n\n"
        "     --listen[=ADDRESS]   Serve, until Ctrl-C\n"
        "     --connect=HOST       Measure towards a name or address (fe80::1%eth0)\n"
        "     --port=PORT          Of the server (7461; data connections use the 16 above)\n"
        "     --once               --listen: end after one session\n"
        "     --key-file=FILE      A secret that both sides have\n"
        "     --identity=DIR       Instead, the certificates of a cluster\n"
        "     --crl=FILE           A newer revocation list, if it is one\n"
        "     --peer=NODEID        Whom the other side must be\n"
        "     --bind-device=IFACE  Use this interface\n"
        "     --source=ADDRESS     Use this address of ours\n"
        "     --seconds-max=N      Of each direction, at most (5)\n"
        "     --bytes-max=N        Of each direction, at most (K, M, G, T: powers of 1000)\n"
        "     --streams-max=N      Connections at the same time, at most (8)\n"
        "     --no-zerocopy        Copy what is sent at any rate\n"
        "     --rtt-only           Measure the round trip alone\n"
        "     --json               Print the result as JSON\n"
        "  -h --help               Show this help\n"
        "     --version            Show the version\n\n"
        "See alidade-probe-socket(1).\n";

enum {
        VERSION = 0x100,
        LISTEN,
        CONNECT,
        SESSION_FD,
        PORT,
        ONCE,
        KEY_FILE,
        IDENTITY,
        CRL,
        PEER,
        BIND_DEVICE,
        SOURCE,
        SECONDS,
        BYTES,
        STREAMS,
        NO_ZEROCOPY,
        RTT_ONLY,
        JSON,
        PROGRESS_FD,
        REPORT_FD,
        BUSY,
        INHIBITED,
        ASK,
};

static const struct option table[] = {
        { "help", no_argument, NULL, 'h' },
        { "version", no_argument, NULL, VERSION },
        { "listen", optional_argument, NULL, LISTEN },
        { "connect", required_argument, NULL, CONNECT },
        { "session-fd", required_argument, NULL, SESSION_FD },
        { "port", required_argument, NULL, PORT },
        { "once", no_argument, NULL, ONCE },
        { "key-file", required_argument, NULL, KEY_FILE },
        { "identity", required_argument, NULL, IDENTITY },
        { "crl", required_argument, NULL, CRL },
        { "peer", required_argument, NULL, PEER },
        { "bind-device", required_argument, NULL, BIND_DEVICE },
        { "source", required_argument, NULL, SOURCE },
        { "seconds-max", required_argument, NULL, SECONDS },
        { "bytes-max", required_argument, NULL, BYTES },
        { "streams-max", required_argument, NULL, STREAMS },
        { "no-zerocopy", no_argument, NULL, NO_ZEROCOPY },
        { "rtt-only", no_argument, NULL, RTT_ONLY },
        { "json", no_argument, NULL, JSON },
        { "progress-fd", required_argument, NULL, PROGRESS_FD },
        { "report-fd", required_argument, NULL, REPORT_FD },
        { "busy", required_argument, NULL, BUSY },
        { "inhibited", required_argument, NULL, INHIBITED },
        { "ask", no_argument, NULL, ASK },
        {},
};

static int set_mode(AldProbeOptions *options, AldProbeMode mode, const char *host, char **ret_error)
{
        if (options->mode != ALD_PROBE_HELP)
                return ald_arguments_refuse(
                        ret_error, "only one of --listen, --connect and --session-fd can be");
        options->mode = mode;
        options->host = host;
        return 0;
}

static int set_number(AldProbeOptions *options, int option, char **ret_error)
{
        uint64_t value = 0;
        int r;

        switch (option) {
        case PORT:
                r = ald_arguments_number("port", optarg, 1, 65535 - ALD_PROBE_DATA_PORTS, &value, ret_error);
                options->port = (unsigned) value;
                return r;
        case SECONDS:
                r = ald_arguments_number("seconds-max", optarg, 1, SECONDS_MAX, &value, ret_error);
                options->seconds_max = (unsigned) value;
                return r;
        case STREAMS:
                r = ald_arguments_number("streams-max", optarg, 1, STREAMS_MAX, &value, ret_error);
                options->streams_max = (unsigned) value;
                return r;
        default:
                return ald_arguments_bytes("bytes-max", optarg, &options->bytes_max, ret_error);
        }
}

static int set_fd(AldProbeOptions *options, int option, char **ret_error)
{
        const char *name = option == SESSION_FD  ? "session-fd"
                           : option == REPORT_FD ? "report-fd"
                                                 : "progress-fd";
        int *fd = option == SESSION_FD  ? &options->session_fd
                  : option == REPORT_FD ? &options->report_fd
                                        : &options->progress_fd;
        uint64_t value = 0;
        int r = ald_arguments_number(name, optarg, 0, 65535, &value, ret_error);

        *fd = (int) value;
        if (r >= 0 && option == SESSION_FD)
                r = set_mode(options, ALD_PROBE_SESSION, NULL, ret_error);
        return r;
}

static void set_word(AldProbeOptions *options, int option)
{
        const char **words[] = {
                [KEY_FILE - KEY_FILE] = &options->keys.key_file,
                [IDENTITY - KEY_FILE] = &options->keys.identity,
                [CRL - KEY_FILE] = &options->keys.crl,
                [PEER - KEY_FILE] = &options->keys.peer,
                [BIND_DEVICE - KEY_FILE] = &options->device,
                [SOURCE - KEY_FILE] = &options->source,
        };

        *words[option - KEY_FILE] = optarg;
}

static int set_option(void *userdata, int option, char **ret_error)
{
        AldProbeOptions *options = userdata;

        switch (option) {
        case 'h':
                options->mode = ALD_PROBE_HELP;
                return 1;
        case VERSION:
                options->mode = ALD_PROBE_VERSION;
                return 1;
        case LISTEN:
                return set_mode(options, ALD_PROBE_LISTEN, optarg, ret_error);
        case CONNECT:
                return set_mode(options, ALD_PROBE_CONNECT, optarg, ret_error);
        case SESSION_FD:
        case PROGRESS_FD:
        case REPORT_FD:
                return set_fd(options, option, ret_error);
        case PORT:
        case SECONDS:
        case STREAMS:
        case BYTES:
                return set_number(options, option, ret_error);
        case ONCE:
                options->once = true;
                return 0;
        case NO_ZEROCOPY:
                options->zerocopy = false;
                return 0;
        case RTT_ONLY:
                options->rtt_only = true;
                return 0;
        case JSON:
                options->json = true;
                return 0;
        case ASK:
                options->ask = true;
                return 0;
        case BUSY:
                options->busy = optarg;
                return 0;
        case INHIBITED:
                options->inhibited = optarg;
                return 0;
        default:
                set_word(options, option);
                return 0;
        }
}

static int check(const AldProbeOptions *options, char **ret_error)
{
        if (options->mode == ALD_PROBE_HELP)
                return ald_arguments_refuse(ret_error, "one of --listen and --connect is needed");
        if (options->mode == ALD_PROBE_CONNECT && !*options->host)
                return ald_arguments_refuse(ret_error, "--connect: no host");
        if (options->ask && options->report_fd < 0)
                return ald_arguments_refuse(ret_error, "--ask is for --report-fd");
        if (options->once && options->mode != ALD_PROBE_LISTEN)
                return ald_arguments_refuse(ret_error, "--once is for --listen");
        return ald_keys_check(&options->keys, ret_error);
}

int ald_probe_options_parse(int argc, char **argv, AldProbeOptions *ret, char **ret_error)
{
        AldProbeOptions options = {
                .port = ALD_PROBE_PORT,
                .session_fd = -1,
                .progress_fd = -1,
                .report_fd = -1,
                .seconds_max = 5,
                .bytes_max = ALD_ARGUMENTS_BYTES_MAX,
                .streams_max = STREAMS_MAX,
                .zerocopy = true,
        };
        int r = ald_arguments_read(argc, argv, table, set_option, &options, ret_error);

        /* As iperf3 has it: an address may also follow as a word of its own. */
        if (r == 0 && optind < argc && options.mode == ALD_PROBE_LISTEN && !options.host)
                options.host = argv[optind++];
        if (r == 0 && optind < argc)
                r = ald_arguments_refuse(ret_error, "not understood: %s", argv[optind]);
        if (r == 0)
                r = check(&options, ret_error);
        if (r >= 0)
                *ret = options;
        return MIN(r, 0);
}
