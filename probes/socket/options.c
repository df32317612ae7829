/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <glib.h>

#include "probes/socket/options.h"

#define SECONDS_MAX 60u
#define SECONDS_USUAL 20u
#define STREAMS_MAX 8u

const char ald_probe_help[] =
        "Usage: alidade-probe-socket --listen[=ADDRESS] --key-file=FILE [OPTION…]\n"
        "       alidade-probe-socket --connect=HOST --key-file=FILE [OPTION…]\n\n"
        "Measure the path to another machine over TCP: rate each way, round trip, jitter.\n\n"
        "     --listen[=ADDRESS]   Serve, until Ctrl-C\n"
        "     --connect=HOST       Measure to this name or address (fe80::1%eth0)\n"
        "     --port=PORT          Port of the server (7461; data connections use the 16 above)\n"
        "     --once               With --listen: exit after one session\n"
        "     --key-file=FILE      File with a secret that both sides share\n"
        "     --identity=DIR       Use the certificates of a cluster instead\n"
        "     --crl=FILE           Revocation list to use if it is newer\n"
        "     --peer=NODEID        Require the other side to be this node\n"
        "     --bind-device=IFACE  Use this interface\n"
        "     --source=ADDRESS     Use this address of this machine\n"
        "     --seconds-max=N      At most N seconds for each direction (20; 5 after 16 MB)\n"
        "     --bytes-max=N        At most N bytes in each direction (K, M, G, T: powers of 1000)\n"
        "     --streams-max=N      At most N connections at the same time (8)\n"
        "     --no-zerocopy        Copy the data to be sent, whatever the rate\n"
        "     --rtt-only           Measure only the round trip\n"
        "     --round-trips        Measure a few round trips, within a third of a second\n"
        "     --check              The same, and the rate each way for some 10 ms\n"
        "     --json               Print the result as JSON\n"
        "  -h --help               Show this help\n"
        "     --version            Show the version\n\n"
        "See alidade-probe-socket(1).\n";

const char *ald_probe_scope_to_string(AldProbeScope scope)
{
        static const char *const words[] = {
                [ALD_PROBE_FULL] = "full",
                [ALD_PROBE_CHECK] = "check",
                [ALD_PROBE_ROUND_TRIPS] = "round-trips",
                [ALD_PROBE_RTT_ONLY] = "round-trips",
        };

        return words[scope];
}

AldProbeScope ald_probe_scope_from_string(const char *text)
{
        for (AldProbeScope scope = ALD_PROBE_FULL; scope <= ALD_PROBE_ROUND_TRIPS; scope++)
                if (g_strcmp0(text, ald_probe_scope_to_string(scope)) == 0)
                        return scope;
        return ALD_PROBE_FULL;
}

enum {
        SOURCE = ALD_LINK_OPTION_END,
        STREAMS,
        NO_ZEROCOPY,
        RTT_ONLY,
        ROUND_TRIPS,
        CHECK,
        BUSY,
        INHIBITED,
};

static const struct option table[] = {
        ALD_LINK_OPTIONS_ROWS,
        { "source", required_argument, NULL, SOURCE },
        { "streams-max", required_argument, NULL, STREAMS },
        { "no-zerocopy", no_argument, NULL, NO_ZEROCOPY },
        { "rtt-only", no_argument, NULL, RTT_ONLY },
        { "round-trips", no_argument, NULL, ROUND_TRIPS },
        { "check", no_argument, NULL, CHECK },
        { "busy", required_argument, NULL, BUSY },
        { "inhibited", required_argument, NULL, INHIBITED },
        {},
};

static int set_streams(AldProbeOptions *options, char **ret_error)
{
        uint64_t value = 0;
        int r = ald_arguments_number("streams-max", optarg, 1, STREAMS_MAX, &value, ret_error);

        options->streams_max = (unsigned) value;
        return r;
}

static int set_scope(AldProbeOptions *options, int option, char **ret_error)
{
        if (options->scope != ALD_PROBE_FULL)
                return ald_arguments_refuse(
                        ret_error, "--rtt-only, --round-trips and --check cannot be combined");
        options->scope = option == RTT_ONLY      ? ALD_PROBE_RTT_ONLY
                         : option == ROUND_TRIPS ? ALD_PROBE_ROUND_TRIPS
                                                 : ALD_PROBE_CHECK;
        return 0;
}

static int set_option(void *userdata, int option, char **ret_error)
{
        static const AldLinkOptionsRange range = { .port_max = 65535 - ALD_PROBE_DATA_PORTS,
                .seconds_max = SECONDS_MAX };
        AldProbeOptions *options = userdata;

        if (option < ALD_LINK_OPTION_END)
                return ald_link_options_set(&options->link, option, &range, ret_error);
        switch (option) {
        case STREAMS:
                return set_streams(options, ret_error);
        case NO_ZEROCOPY:
                options->zerocopy = false;
                return 0;
        case RTT_ONLY:
        case ROUND_TRIPS:
        case CHECK:
                return set_scope(options, option, ret_error);
        case BUSY:
                options->busy = optarg;
                return 0;
        case INHIBITED:
                options->inhibited = optarg;
                return 0;
        default:
                options->source = optarg;
                return 0;
        }
}

int ald_probe_options_parse(int argc, char **argv, AldProbeOptions *ret, char **ret_error)
{
        AldProbeOptions options = {
                .link = ALD_LINK_OPTIONS_INIT(ALD_PROBE_PORT),
                .streams_max = STREAMS_MAX,
                .zerocopy = true,
        };
        int r;

        options.link.seconds_max = SECONDS_USUAL;
        r = ald_arguments_read(argc, argv, table, set_option, &options, ret_error);

        /* As with iperf3, the address may also be a separate argument. */
        if (r == 0 && optind < argc && options.link.mode == ALD_LINK_MODE_LISTEN && !options.link.host)
                options.link.host = argv[optind++];
        if (r == 0)
                r = ald_link_options_check(&options.link, argc, argv, ret_error);
        if (r >= 0)
                *ret = options;
        return MIN(r, 0);
}
