/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "probes/rdma/rdma-options.h"
#include "probes/rdma/transfer-plan.h"

#define TIMEOUT 50u
#define TIMEOUT_MAX 600u
#define MESSAGE_MIN 1024u
#define MESSAGE_MAX (8u << 20)

const AldCommandLine ald_rdma_command_line = {
        .program = "alidade-probe-rdma",
        .parameters = "--listen[=ADDRESS]|--connect=HOST --key-file=FILE",
        .summary = "Measure the path to another machine over RDMA: rate each way, round trip, jitter.",
};

static const AldLinkDefaults defaults = {
        .port = 7480,
        .port_max = 65535,
        .seconds = 5,
        .seconds_max = 9,
        .about_port = "Port of the control connection (7480)",
        .about_interface = "Use this interface for the control connection",
        .about_seconds = "At most N seconds for each direction (5)",
};

static int set_method(AldRdmaOptions *options, const char *method, char **ret_error)
{
        if (!method)
                return 0;
        if (g_str_equal(method, "write"))
                options->method = ALD_RDMA_METHOD_WRITE;
        else if (g_str_equal(method, "send"))
                options->method = ALD_RDMA_METHOD_SEND;
        else
                return ald_command_line_refuse(ret_error, "--method: not write or send: %s", method);
        return 0;
}

static int parse_options(AldRdmaOptions *options, int argc, char **argv, char **ret_output, char **ret_error)
{
        g_autofree char *timeout = NULL, *size = NULL, *queues = NULL, *method = NULL;
        const GOptionEntry entries[] = {
                ALD_COMMAND_LINE_TEXT(
                        "device", &options->device, "RDMA device, or a port of it (mlx5_0.1)", "DEVICE"),
                ALD_COMMAND_LINE_TEXT(
                        "peer-device", &options->peer_device, "The same of the other side", "DEVICE"),
                ALD_COMMAND_LINE_TEXT("timeout", &timeout, "At most N seconds in all (50)", "N"),
                ALD_COMMAND_LINE_TEXT("message-bytes", &size, "Size of a message (as fits the port)", "N"),
                ALD_COMMAND_LINE_TEXT(
                        "method", &method, "write (with immediate) or send (as the devices can)", "METHOD"),
                ALD_COMMAND_LINE_TEXT("qps", &queues, "Queue pairs, at most 8 (as fits the port)", "N"),
                ALD_COMMAND_LINE_SWITCH("cm", &options->manager, "Connect with rdma_cm"),
                {},
        };
        uint64_t bytes = 0;
        int r = ald_link_options_parse(&options->link, &ald_rdma_command_line, &defaults, entries, argc, argv,
                ret_output, ret_error);

        if (r != 0)
                return r;
        r = ald_command_line_unsigned("timeout", timeout, 1, TIMEOUT_MAX, &options->timeout, ret_error);
        if (r >= 0)
                r = ald_command_line_uint64(
                        "message-bytes", size, MESSAGE_MIN, MESSAGE_MAX, &bytes, ret_error);
        if (r >= 0)
                r = ald_command_line_unsigned(
                        "qps", queues, 1, ALD_RDMA_QUEUES_MAX, &options->queues, ret_error);
        if (r >= 0)
                r = set_method(options, method, ret_error);
        options->size = (size_t) bytes;
        return r < 0 ? r : ald_link_options_check(&options->link, ret_error);
}

int ald_rdma_options_parse(int argc, char **argv, AldRdmaOptions *ret, char **ret_output, char **ret_error)
{
        g_auto(AldRdmaOptions) options = { .timeout = TIMEOUT };
        int r = parse_options(&options, argc, argv, ret_output, ret_error);

        if (r == 0) {
                *ret = options;
                options = (AldRdmaOptions){};
        }
        return r;
}

void ald_rdma_options_clear(AldRdmaOptions *options)
{
        ald_link_options_clear(&options->link);
        g_free(options->device);
        g_free(options->peer_device);
        *options = (AldRdmaOptions){};
}
