/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "probes/socket/transfer/socket-options.h"

#define STREAMS_MAX 8u

const AldCommandLine ald_socket_command_line = {
        .program = "alidade-probe-socket",
        .parameters = "--listen[=ADDRESS]|--connect=HOST --key-file=FILE",
        .summary = "Measure the path to another machine over TCP: rate each way, round trip, jitter.",
};

static const AldLinkDefaults defaults = {
        .port = ALD_SOCKET_PORT,
        .port_max = 65535 - ALD_SOCKET_DATA_PORTS,
        .seconds = 20,
        .seconds_max = 60,
        .about_port = "Port of the server (7461; data connections use the 16 above)",
        .about_interface = "Use this interface",
        .about_seconds = "At most N seconds for each direction (20; 5 after 16 MB)",
};

const char *ald_socket_scope_to_string(AldSocketScope scope)
{
        static const char *const words[] = {
                [ALD_SOCKET_SCOPE_FULL] = "full",
                [ALD_SOCKET_SCOPE_CHECK] = "check",
                [ALD_SOCKET_SCOPE_ROUND_TRIPS] = "round-trips",
                [ALD_SOCKET_SCOPE_RTT_ONLY] = "round-trips",
        };

        return words[scope];
}

AldSocketScope ald_socket_scope_from_string(const char *text)
{
        for (AldSocketScope scope = ALD_SOCKET_SCOPE_FULL; scope <= ALD_SOCKET_SCOPE_ROUND_TRIPS; scope++)
                if (g_strcmp0(text, ald_socket_scope_to_string(scope)) == 0)
                        return scope;
        return ALD_SOCKET_SCOPE_FULL;
}

static int parse_options(
        AldSocketOptions *options, int argc, char **argv, char **ret_output, char **ret_error)
{
        gboolean no_zerocopy = FALSE, rtt_only = FALSE, round_trips = FALSE, check = FALSE;
        g_autofree char *streams_max = NULL;
        const GOptionEntry entries[] = {
                ALD_COMMAND_LINE_TEXT(
                        "source", &options->source, "Use this address of this machine", "ADDRESS"),
                ALD_COMMAND_LINE_TEXT(
                        "streams-max", &streams_max, "At most N connections at the same time (8)", "N"),
                ALD_COMMAND_LINE_SWITCH(
                        "no-zerocopy", &no_zerocopy, "Copy the data to be sent, whatever the rate"),
                ALD_COMMAND_LINE_SWITCH("rtt-only", &rtt_only, "Measure only the round trip"),
                ALD_COMMAND_LINE_SWITCH(
                        "round-trips", &round_trips, "Measure a few round trips, within a third of a second"),
                ALD_COMMAND_LINE_SWITCH("check", &check, "The same, and the rate each way for some 10 ms"),
                ALD_COMMAND_LINE_HIDDEN_TEXT("busy", &options->busy),
                ALD_COMMAND_LINE_HIDDEN_TEXT("inhibited", &options->inhibited),
                {},
        };
        int r = ald_link_options_parse(&options->link, &ald_socket_command_line, &defaults, entries, argc,
                argv, ret_output, ret_error);

        if (r != 0)
                return r;
        if (rtt_only + round_trips + check > 1)
                return ald_command_line_refuse(
                        ret_error, "--rtt-only, --round-trips and --check cannot be combined");
        options->scope = rtt_only      ? ALD_SOCKET_SCOPE_RTT_ONLY
                         : round_trips ? ALD_SOCKET_SCOPE_ROUND_TRIPS
                         : check       ? ALD_SOCKET_SCOPE_CHECK
                                       : ALD_SOCKET_SCOPE_FULL;
        options->zerocopy = !no_zerocopy;
        r = ald_command_line_unsigned(
                "streams-max", streams_max, 1, STREAMS_MAX, &options->streams_max, ret_error);
        return r < 0 ? r : ald_link_options_check(&options->link, ret_error);
}

int ald_socket_options_parse(
        int argc, char **argv, AldSocketOptions *ret, char **ret_output, char **ret_error)
{
        g_auto(AldSocketOptions) options = { .streams_max = STREAMS_MAX };
        int r = parse_options(&options, argc, argv, ret_output, ret_error);

        if (r == 0) {
                *ret = options;
                options = (AldSocketOptions){};
        }
        return r;
}

void ald_socket_options_clear(AldSocketOptions *options)
{
        ald_link_options_clear(&options->link);
        g_free(options->source);
        g_free(options->busy);
        g_free(options->inhibited);
        *options = (AldSocketOptions){};
}
