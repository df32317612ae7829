/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "probes/common/link-options.h"

/* The arguments of options that are converted once all have been read. */
typedef struct Texts {
        char *connect, *listen;
        bool listens;
        char *port, *seconds_max, *bytes_max;
        char *session_fd, *report_fd, *progress_fd;
} Texts;

static void texts_clear(Texts *texts)
{
        g_free(texts->connect);
        g_free(texts->listen);
        g_free(texts->port);
        g_free(texts->seconds_max);
        g_free(texts->bytes_max);
        g_free(texts->session_fd);
        g_free(texts->report_fd);
        g_free(texts->progress_fd);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Texts, texts_clear)

static gboolean on_listen(const char *name, const char *value, void *userdata, GError **error)
{
        Texts *texts = userdata;

        texts->listens = true;
        g_free(texts->listen);
        texts->listen = g_strdup(value);
        return TRUE;
}

static int convert_texts(
        AldLinkOptions *options, const Texts *texts, const AldLinkDefaults *defaults, char **ret_error)
{
        int r = ald_command_line_unsigned(
                "port", texts->port, 1, defaults->port_max, &options->port, ret_error);

        if (r >= 0)
                r = ald_command_line_unsigned("seconds-max", texts->seconds_max, 1, defaults->seconds_max,
                        &options->seconds_max, ret_error);
        if (r >= 0)
                r = ald_command_line_bytes("bytes-max", texts->bytes_max, &options->bytes_max, ret_error);
        if (r >= 0)
                r = ald_command_line_fd("session-fd", texts->session_fd, &options->session_fd, ret_error);
        if (r >= 0)
                r = ald_command_line_fd("report-fd", texts->report_fd, &options->report_fd, ret_error);
        if (r >= 0)
                r = ald_command_line_fd("progress-fd", texts->progress_fd, &options->progress_fd, ret_error);
        return r;
}

/* As in iperf3, the address to listen on may also be a separate argument. */
static int set_mode(AldLinkOptions *options, Texts *texts, char **rest, char **ret_error)
{
        if (texts->listens + (texts->connect != NULL) + (options->session_fd >= 0) > 1)
                return ald_command_line_refuse(
                        ret_error, "--listen, --connect and --session-fd cannot be combined");
        options->mode = texts->listens             ? ALD_LINK_MODE_LISTEN
                        : texts->connect           ? ALD_LINK_MODE_CONNECT
                        : options->session_fd >= 0 ? ALD_LINK_MODE_SESSION
                                                   : ALD_LINK_MODE_NONE;
        options->host = texts->listens ? g_steal_pointer(&texts->listen) : g_steal_pointer(&texts->connect);
        if (*rest && options->mode == ALD_LINK_MODE_LISTEN && !options->host)
                options->host = g_strdup(*rest++);
        if (*rest)
                return ald_command_line_refuse(ret_error, "unexpected argument: %s", *rest);
        return 0;
}

int ald_link_options_check(const AldLinkOptions *options, char **ret_error)
{
        if (options->mode == ALD_LINK_MODE_NONE)
                return ald_command_line_refuse(ret_error, "one of --listen and --connect is needed");
        if (options->mode == ALD_LINK_MODE_CONNECT && !*options->host)
                return ald_command_line_refuse(ret_error, "--connect needs a host");
        if (options->ask && options->report_fd < 0)
                return ald_command_line_refuse(ret_error, "--ask needs --report-fd");
        if (options->once && options->mode != ALD_LINK_MODE_LISTEN)
                return ald_command_line_refuse(ret_error, "--once needs --listen");
        return ald_keys_check(&options->keys, ret_error);
}

int ald_link_options_parse(AldLinkOptions *options, const AldCommandLine *line,
        const AldLinkDefaults *defaults, const GOptionEntry *entries, int argc, char **argv,
        char **ret_output, char **ret_error)
{
        g_auto(Texts) texts = {};
        g_auto(GStrv) rest = NULL;
        const GOptionEntry common[] = {
                { "listen", 0, G_OPTION_FLAG_OPTIONAL_ARG | G_OPTION_FLAG_FILENAME, G_OPTION_ARG_CALLBACK,
                        (void *) on_listen, "Serve until Ctrl-C, at any address or at this one", "ADDRESS" },
                ALD_COMMAND_LINE_TEXT(
                        "connect", &texts.connect, "Measure to this name or address (fe80::1%eth0)", "HOST"),
                ALD_COMMAND_LINE_TEXT("port", &texts.port, defaults->about_port, "PORT"),
                ALD_COMMAND_LINE_SWITCH("once", &options->once, "With --listen: exit after one session"),
                ALD_COMMAND_LINE_TEXT("key-file", &options->keys.key_file,
                        "File with a secret that both sides share", "FILE"),
                ALD_COMMAND_LINE_TEXT("identity", &options->keys.identity,
                        "Use the certificates of a cluster instead", "DIR"),
                ALD_COMMAND_LINE_TEXT(
                        "crl", &options->keys.crl, "Revocation list to use if it is newer", "FILE"),
                ALD_COMMAND_LINE_TEXT(
                        "peer", &options->keys.peer, "Require the other side to be this node", "NODEID"),
                ALD_COMMAND_LINE_TEXT("bind-device", &options->interface, defaults->about_interface, "IFACE"),
                ALD_COMMAND_LINE_TEXT("seconds-max", &texts.seconds_max, defaults->about_seconds, "N"),
                ALD_COMMAND_LINE_TEXT("bytes-max", &texts.bytes_max,
                        "At most N bytes in each direction (K, M, G, T: powers of 1000)", "N"),
                ALD_COMMAND_LINE_SWITCH("json", &options->json, "Print the result as JSON"),
                ALD_COMMAND_LINE_HIDDEN_TEXT("session-fd", &texts.session_fd),
                ALD_COMMAND_LINE_HIDDEN_TEXT("report-fd", &texts.report_fd),
                ALD_COMMAND_LINE_HIDDEN_TEXT("progress-fd", &texts.progress_fd),
                ALD_COMMAND_LINE_HIDDEN_SWITCH("ask", &options->ask),
                ALD_COMMAND_LINE_HIDDEN_SWITCH("automatic", &options->automatic),
                ALD_COMMAND_LINE_HIDDEN_SWITCH("overdue", &options->overdue),
                {},
        };
        const GOptionEntry *const tables[] = { common, entries, NULL };
        int r;

        *options = (AldLinkOptions){ .port = defaults->port,
                .session_fd = -1,
                .progress_fd = -1,
                .report_fd = -1,
                .seconds_max = defaults->seconds,
                .bytes_max = ALD_COMMAND_LINE_BYTES_MAX };
        r = ald_command_line_parse(line, tables, &texts, argc, argv, &rest, ret_output, ret_error);
        if (r != 0)
                return r;
        r = convert_texts(options, &texts, defaults, ret_error);
        return r < 0 ? r : set_mode(options, &texts, rest, ret_error);
}

void ald_link_options_clear(AldLinkOptions *options)
{
        g_free(options->host);
        g_free(options->keys.identity);
        g_free(options->keys.crl);
        g_free(options->keys.peer);
        g_free(options->keys.key_file);
        g_free(options->interface);
        *options = (AldLinkOptions){};
}
