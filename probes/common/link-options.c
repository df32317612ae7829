/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "probes/common/link-options.h"

static int set_mode(AldLinkOptions *options, AldLinkMode mode, const char *host, char **ret_error)
{
        if (options->mode != ALD_LINK_MODE_HELP)
                return ald_arguments_refuse(
                        ret_error, "--listen, --connect and --session-fd cannot be combined");
        options->mode = mode;
        options->host = host;
        return 0;
}

static int set_fd(AldLinkOptions *options, int option, char **ret_error)
{
        static const char *const names[] = { "session-fd", "report-fd", "progress-fd" };
        int *const fds[] = { &options->session_fd, &options->report_fd, &options->progress_fd };
        unsigned which = (unsigned) (option - ALD_LINK_OPTION_SESSION_FD);
        uint64_t value = 0;
        int r = ald_arguments_number(names[which], optarg, 0, 65535, &value, ret_error);

        *fds[which] = (int) value;
        if (r >= 0 && option == ALD_LINK_OPTION_SESSION_FD)
                r = set_mode(options, ALD_LINK_MODE_SESSION, NULL, ret_error);
        return r;
}

static int set_number(AldLinkOptions *options, int option, const AldLinkOptionsRange *range, char **ret_error)
{
        bool is_port = option == ALD_LINK_OPTION_PORT;
        uint64_t value = 0;
        int r;

        if (option == ALD_LINK_OPTION_BYTES)
                return ald_arguments_bytes("bytes-max", optarg, &options->bytes_max, ret_error);
        r = ald_arguments_number(is_port ? "port" : "seconds-max", optarg, 1,
                is_port ? range->port_max : range->seconds_max, &value, ret_error);
        *(is_port ? &options->port : &options->seconds_max) = (unsigned) value;
        return r;
}

static int set_what_ends_it(AldLinkOptions *options, AldLinkMode mode)
{
        options->mode = mode;
        return 1;
}

int ald_link_options_set(
        AldLinkOptions *options, int option, const AldLinkOptionsRange *range, char **ret_error)
{
        const char **words[] = { &options->keys.key_file, &options->keys.identity, &options->keys.crl,
                &options->keys.peer, &options->interface };
        bool *const switches[] = { &options->once, &options->json, &options->ask, &options->automatic,
                &options->overdue };

        if (option == 'h')
                return set_what_ends_it(options, ALD_LINK_MODE_HELP);
        if (option == ALD_LINK_OPTION_VERSION)
                return set_what_ends_it(options, ALD_LINK_MODE_VERSION);
        if (option == ALD_LINK_OPTION_LISTEN)
                return set_mode(options, ALD_LINK_MODE_LISTEN, optarg, ret_error);
        if (option == ALD_LINK_OPTION_CONNECT)
                return set_mode(options, ALD_LINK_MODE_CONNECT, optarg, ret_error);
        if (option < ALD_LINK_OPTION_PORT)
                return set_fd(options, option, ret_error);
        if (option < ALD_LINK_OPTION_ONCE)
                return set_number(options, option, range, ret_error);
        if (option < ALD_LINK_OPTION_KEY_FILE)
                *switches[option - ALD_LINK_OPTION_ONCE] = true;
        else
                *words[option - ALD_LINK_OPTION_KEY_FILE] = optarg;
        return 0;
}

int ald_link_options_check(const AldLinkOptions *options, int argc, char **argv, char **ret_error)
{
        if (optind < argc)
                return ald_arguments_refuse(ret_error, "unexpected argument: %s", argv[optind]);
        if (options->mode == ALD_LINK_MODE_HELP)
                return ald_arguments_refuse(ret_error, "one of --listen and --connect is needed");
        if (options->mode == ALD_LINK_MODE_CONNECT && !*options->host)
                return ald_arguments_refuse(ret_error, "--connect needs a host");
        if (options->ask && options->report_fd < 0)
                return ald_arguments_refuse(ret_error, "--ask needs --report-fd");
        if (options->once && options->mode != ALD_LINK_MODE_LISTEN)
                return ald_arguments_refuse(ret_error, "--once needs --listen");
        return ald_keys_check(&options->keys, ret_error);
}
