/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "clients/alidadectl/check/check-result.h"
#include "clients/alidadectl/check/missing-services.h"
#include "clients/alidadectl/check/requirement.h"
#include "clients/alidadectl/verbs.h"
#include "clients/command-line/command-session.h"
#include "clients/command-line/options.h"
#include "clients/command-line/print.h"
#include "clients/common/node-summary.h"
#include "clients/common/safe-text.h"
#include "common/fd.h"

#define TIMEOUT_SEC 10u
#define TIMEOUT_SEC_MAX 3600u

#define ID_REQUIREMENT "requirement-not-met"
#define ID_STATE "state-unreachable"
#define ID_TIMEOUT "timeout"

typedef struct CheckOrder {
        AldCtl ctl;
        bool all, others, plugin, lists_requirements;
        const char *severity_word;
        AldFindingRowSeverity severity; /* the mildest severity that counts */
        GPtrArray *ignored;             /* strings */
        GPtrArray *requirements;
        uint64_t timeout_sec;
        gint64 end_usec; /* CLOCK_MONOTONIC */
} CheckOrder;

static bool read_requirements(void *order, const char *list)
{
        CheckOrder *check = order;
        g_autofree char *reason = NULL;

        if (strcmp(list, "help") == 0) {
                check->lists_requirements = true;
                return true;
        }
        if (ald_requirements_parse(list, check->requirements, &reason) >= 0)
                return true;
        ald_print_error("%s", reason);
        return false;
}

static bool read_ignored(void *order, const char *list)
{
        g_autofree char **words = g_strsplit(list, ",", -1);

        for (size_t i = 0; words[i]; i++)
                g_ptr_array_add(((CheckOrder *) order)->ignored, words[i]);
        return true;
}

static const AldOption options[] = {
        ALD_OPTION_HELP,
        ALD_OPTION(FLAG, "all", NULL, CheckOrder, all, "Check all findings of the cluster"),
        ALD_OPTION(FLAG, "others", NULL, CheckOrder, others,
                "Also count what other nodes report about this machine"),
        ALD_OPTION(WORD, "severity", "SEVERITY", CheckOrder, severity_word,
                "Mildest finding that counts: error, warning (default) or notice",
                .type = &ald_finding_row_struct, .field = "Severity"),
        { .name = "ignore",
                .argument = "ID,…",
                .help = "Findings that do not count",
                .kind = ALD_OPTION_READ,
                .read = read_ignored },
        { .name = "require",
                .argument = "WHAT,…",
                .help = "What this machine must have: memory>=64GiB, available>=8GiB,\n"
                        "device-memory>=24GiB, compute>=5 (TFLOPS), gpus>=2, rdma, links\n"
                        "(in a shell, quote it: --require='memory>=64GiB')",
                .kind = ALD_OPTION_READ,
                .completion = ALD_COMPLETE_LISTED,
                .read = read_requirements },
        ALD_OPTION(NUMBER, "timeout", "SECONDS", CheckOrder, timeout_sec, "Time limit (default: 10)",
                .max = TIMEOUT_SEC_MAX),
        ALD_OPTION(FLAG, "plugin", NULL, CheckOrder, plugin, "Text and exit status of monitoring plugins"),
        ALD_OPTION_JSON("Print JSON: short (as without MODE), pretty or off"),
        ALD_OPTION_HOST("Check another machine, over ssh"),
        {},
};

const AldSynopsis ald_check_synopsis = {
        .usage = "alidadectl check [OPTION…]",
        .intro = "Check this machine in one line, for schedulers and monitoring.\n\n"
                 "The exit status is 0 if all is well, and 1 if not.",
        .options = options,
};

static bool is_ignored(const CheckOrder *order, const char *id)
{
        return id && g_ptr_array_find_with_equal_func(order->ignored, id, g_str_equal, NULL);
}

/* An offline node is only a notice, since laptops come and go; but a cluster with a dead node is not well. */
static bool is_offline(const AldFindingRow *row)
{
        return ald_finding_row_id_from_string(row->id) == ALD_FINDING_ROW_ID_NODE_OFFLINE;
}

/* Other nodes cannot make this machine fail the check by what they report about it: either its own record is
 * the evidence, or its state service concludes something about it alone, without comparing it with other
 * nodes. */
static bool is_own_finding(const AldFindingRow *row, const char *own)
{
        if (row->reporter)
                return strcmp(row->reporter, own) == 0;
        if (row->reference_name || row->equal_nodes != ALD_ABSENT_UINT64)
                return false;
        return row->nodes && row->nodes[0] && !row->nodes[1] && strcmp(row->nodes[0], own) == 0;
}

static bool does_count(const CheckOrder *order, const AldFindingRow *row, const char *own)
{
        if (is_ignored(order, row->id) || (!order->all && !order->others && !is_own_finding(row, own)))
                return false;
        return ald_finding_severity_of(row) <= order->severity || (order->all && is_offline(row));
}

static void check_findings(const CheckOrder *order, AldModel *model, const char *own, AldCheckResult *result)
{
        g_autoptr(GPtrArray) findings = ald_findings_sorted(model, order->all ? NULL : own);

        for (guint i = 0; i < findings->len; i++) {
                const AldFindingRow *row = findings->pdata[i];
                g_autofree char *id = ald_text_safe(row->id ?: "finding"), *reporter = NULL;

                if (!does_count(order, row, own))
                        continue;
                ald_check_result_add(
                        result, id, ald_finding_severity_of(row), ald_finding_words(row) ?: g_strdup(""));
                if (row->reporter && strcmp(row->reporter, own) != 0) {
                        reporter = ald_node_name(model, row->reporter);
                        ald_check_result_set_reporter(result, row->reporter, reporter);
                }
        }
}

static void check_requirements(
        const CheckOrder *order, AldModel *model, const AldEntity *own, AldCheckResult *result)
{
        for (guint i = 0; i < order->requirements->len; i++) {
                const AldRequirement *requirement = order->requirements->pdata[i];
                g_autofree char *reason = ald_requirement_judge(requirement, model, own, ald_now());

                if (reason)
                        ald_check_result_add(result, ID_REQUIREMENT, ALD_FINDING_ROW_SEVERITY_ERROR,
                                g_strdup_printf("%s: %s", requirement->text, reason));
        }
        result->n_required = order->requirements->len;
}

static char *format_result(const CheckOrder *order, const AldCheckResult *result)
{
        json_auto_t *json = NULL;

        if (order->ctl.json == ALD_JSON_OFF)
                return ald_check_result_line(result, order->plugin);
        json = ald_check_result_to_json(result);
        return ald_json_text(json, order->ctl.json);
}

/* Formats the result of a check that could not be made. The reason is on standard error, if there is one.
 * Returns the exit code. */
static int format_unknown(const CheckOrder *order, const char *id, char *text, char **ret)
{
        g_auto(AldCheckResult) result = {};

        ald_check_result_init(&result);
        result.unknown = true;
        /* Over ssh, anything on the way may be late. */
        result.is_state_late = strcmp(id, ID_TIMEOUT) == 0 && !order->ctl.host;
        ald_check_result_add(&result, id, ALD_FINDING_ROW_SEVERITY_ERROR, text);
        *ret = format_result(order, &result);
        return ald_check_result_exit_code(&result, order->plugin);
}

/* Makes the check and formats its result. Returns the exit code. */
static int check_state(const CheckOrder *order, char **ret)
{
        g_auto(AldStateSession) session = ALD_STATE_SESSION_INIT;
        g_auto(AldCheckResult) result = {};
        const AldEntity *own;
        const char *id;

        session.with_history = true;
        session.end_usec = order->end_usec;
        if (ald_session_load(&session, &order->ctl, true) != ALD_EXIT_OK)
                return format_unknown(order, ID_STATE, g_strdup("the state service cannot be read"), ret);
        id = ald_model_node_id(session.model);
        if (!id)
                return format_unknown(order, ID_STATE, g_strdup("the id of the machine is unknown"), ret);
        own = ald_model_get(session.model, id);
        ald_check_result_init(&result);
        result.severity = order->severity;
        result.is_history_late = !session.silences;
        result.about = order->all ? g_strdup("the cluster") : ald_node_name(session.model, id);
        if (!is_ignored(order, ALD_CHECK_ID_SERVICE))
                ald_check_services(&order->ctl, ald_entity_record(own, ALD_KIND_MEMBERSHIP) != NULL, &result);
        check_requirements(order, session.model, own, &result);
        check_findings(order, session.model, id, &result);
        *ret = format_result(order, &result);
        return ald_check_result_exit_code(&result, order->plugin);
}

/* Runs the check, sends the result to the parent, which alone prints, and exits. */
_Noreturn static void run_child(const CheckOrder *order, int fd)
{
        g_autofree char *text = NULL;
        int code;

        /* If the parent is killed together with its group, this process must end as well. */
        (void) prctl(PR_SET_PDEATHSIG, SIGKILL);
        code = check_state(order, &text);
        _exit(dprintf(fd, "%s", text) < 0 ? ALD_EXIT_ERROR : code);
}

/* Reads until the child closes the pipe; returns -ETIMEDOUT if the child does so only after the deadline. Its
 * own calls may time out at the same moment; such a result counts as late, since otherwise chance would
 * decide which of two results is printed. */
static int read_in_time(int fd, gint64 end_usec, GString *text)
{
        char buffer[4096];
        ssize_t n = 1;

        while (n > 0) {
                struct pollfd pollfd = { .fd = fd, .events = POLLIN };
                gint64 left = end_usec - g_get_monotonic_time();
                int r = left > 0 ? poll(&pollfd, 1, (int) ((left + 999) / 1000)) : 0;

                if (r < 0 && errno != EINTR)
                        return -errno;
                if (g_get_monotonic_time() >= end_usec)
                        return -ETIMEDOUT;
                if (r <= 0)
                        continue;
                n = read(fd, buffer, sizeof buffer);
                if (n < 0 && errno != EINTR)
                        return -errno;
                g_string_append_len(text, buffer, MAX(n, 0));
                n = n < 0 ? 1 : n;
        }
        return 0;
}

/* Without a group of its own, ssh, which the child starts, would outlive it and keep standard error open. But
 * ssh may ask for a password, and only the foreground group of a terminal can read from it. */
static bool needs_own_group(const CheckOrder *order)
{
        ald_fd int terminal = order->ctl.host ? open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC) : -1;

        return order->ctl.host && terminal < 0;
}

/* Checks in a child process, so that nothing that hangs there can block this one. Returns the exit code. */
static int check_in_time(const CheckOrder *order, char **ret)
{
        g_autoptr(GString) text = g_string_new(NULL);
        bool own_group = needs_own_group(order);
        ald_fd int from_child = -1, to_parent = -1;
        int fds[2], r, status;
        pid_t child = -1;

        if (pipe2(fds, O_CLOEXEC) >= 0) {
                from_child = fds[0];
                to_parent = fds[1];
                child = fork();
        }
        if (child < 0) {
                ald_print_error("Cannot start a process: %s", strerror(errno));
                return format_unknown(order, ID_STATE, g_strdup("the state service cannot be read"), ret);
        }
        /* Both processes set the group, since either may run first. */
        if (own_group)
                (void) setpgid(child, child);
        if (child == 0)
                run_child(order, to_parent);
        ald_fd_close(&to_parent);
        r = read_in_time(from_child, order->end_usec, text);
        if (r < 0)
                (void) kill(own_group ? -child : child, SIGKILL);
        if (r == -ETIMEDOUT)
                return format_unknown(order, ID_TIMEOUT,
                        g_strdup_printf("%s did not answer within %u s",
                                order->ctl.host ? "the machine" : "the bus or " ALD_STATE_UNIT,
                                (unsigned) order->timeout_sec),
                        ret);
        if (waitpid(child, &status, 0) < 0 || !WIFEXITED(status) || text->len == 0)
                return format_unknown(order, ID_STATE, g_strdup("the check ended unexpectedly"), ret);
        *ret = g_strdup(text->str);
        return WEXITSTATUS(status);
}

static int run_order(CheckOrder *order)
{
        g_autofree char *text = NULL;
        int code, r;

        order->end_usec = g_get_monotonic_time() + (gint64) order->timeout_sec * G_USEC_PER_SEC;
        code = check_in_time(order, &text);
        puts(text);
        r = ald_print_finish();
        return r == ALD_EXIT_OK ? code : r;
}

static int list_requirements(void)
{
        g_autofree char *help = ald_requirements_help();

        fputs(help, stdout);
        return ald_print_finish();
}

int ald_verb_check(const AldCtl *ctl)
{
        g_autoptr(GPtrArray) ignored = g_ptr_array_new_with_free_func(g_free);
        g_autoptr(GPtrArray) requirements = g_ptr_array_new_with_free_func(ald_requirement_free);
        CheckOrder order = { .ctl = *ctl,
                .severity_word = ald_finding_row_severity_to_string(ALD_FINDING_ROW_SEVERITY_WARNING),
                .ignored = ignored,
                .requirements = requirements,
                .timeout_sec = TIMEOUT_SEC };
        g_autofree char **words = NULL;
        int r = ald_options_read(&ald_check_synopsis, &order, &words);

        if (r < 0 && words[0])
                r = ald_options_print_usage(&ald_check_synopsis);
        if (r < 0 && order.lists_requirements)
                return list_requirements();
        if (r < 0 && ald_bus_check_host(&order.ctl) != ALD_EXIT_OK)
                r = ALD_EXIT_USAGE;
        order.severity = (AldFindingRowSeverity) ald_finding_row_severity_from_string(order.severity_word);
        if (r < 0)
                return run_order(&order);
        /* The option also determines the exit status of errors, even of those before it. */
        return r == ALD_EXIT_USAGE && ald_options_have(&ald_check_synopsis, ctl, "plugin")
                       ? ALD_PLUGIN_UNKNOWN
                       : r;
}
