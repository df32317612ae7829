/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <glib.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "clients/alidadectl/agent.h"
#include "clients/alidadectl/links/inhibitor-list.h"
#include "clients/alidadectl/verbs.h"
#include "clients/command-line/bus.h"
#include "clients/command-line/options.h"
#include "clients/command-line/print.h"
#include "clients/common/probes/probe-lock.h"
#include "clients/common/safe-text.h"

#define DEVICE_WAIT_USEC (10 * G_USEC_PER_SEC)
#define PROPERTIES_MATCH                                                                 \
        "type='signal',sender='" ALD_LINK_PROBE_NAME "',path='" ALD_LINK_PROBE_PATH      \
        "',interface='org.freedesktop.DBus.Properties',member='PropertiesChanged',arg0=" \
        "'" ALD_LINK_PROBE_INTERFACE "'"
#define EXIT_CANNOT_RUN 126
#define EXIT_NOT_FOUND 127
#define EXIT_SIGNALED 128
#define WHO_MAX 255u /* bytes; the limit of the service */

/* The sender is not checked, since the signal only makes us read the property again. */
static int on_changed(sd_bus_message *m, void *userdata, sd_bus_error *ret_error)
{
        *(bool *) userdata = true;
        return 0;
}

/* Returns 1 if a device is being measured, else 0; negative if the service is too old to report it. */
static int is_measured(sd_bus *bus)
{
        char *device = NULL;
        int r = sd_bus_get_property_string(bus, ALD_LINK_PROBE_NAME, ALD_LINK_PROBE_PATH,
                ALD_LINK_PROBE_INTERFACE, "ComputeDevice", NULL, &device);

        if (r >= 0)
                r = *device != '\0';
        free(device);
        return r;
}

/* Returns 1 after a change, 0 if there is none before the deadline, or the error of the bus. */
static int wait_for_change(sd_bus *bus, const bool *changed, gint64 deadline)
{
        while (!*changed) {
                gint64 left = deadline - g_get_monotonic_time();
                int r = sd_bus_process(bus, NULL);

                if (r == 0 && left > 0)
                        r = sd_bus_wait(bus, (uint64_t) left);
                if (r < 0)
                        return r;
                if (left <= 0)
                        return 0;
        }
        return 1;
}

/* Waits until no device is being measured any more: a lock stops the measurement at once, but a driver may
 * take longer to finish. Reports an error if that takes too long or the bus is gone; does not wait for a
 * service that does not report it. */
static void await_devices(sd_bus *bus)
{
        gint64 deadline = g_get_monotonic_time() + DEVICE_WAIT_USEC;
        sd_bus_slot *slot = NULL;
        bool changed = false;
        int r = sd_bus_add_match(bus, &slot, PROPERTIES_MATCH, on_changed, &changed);

        while (r >= 0 && (r = is_measured(bus)) > 0) {
                r = wait_for_change(bus, &changed, deadline);
                if (r == 0)
                        ald_print_error("A device is still in use by a measurement that was ended");
                if (r <= 0)
                        break;
                changed = false;
        }
        if (r < 0 && !sd_bus_is_open(bus))
                ald_print_error("Cannot find out whether a device is still in use: %s", strerror(-r));
        sd_bus_slot_unref(slot);
}

static const int forwarded[] = { SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2 };

static _Noreturn void exec_command(char **argv, const sigset_t *mask, pid_t parent)
{
        int r;

        (void) sigprocmask(SIG_SETMASK, mask, NULL);
        (void) prctl(PR_SET_PDEATHSIG, SIGTERM);
        if (getppid() != parent)
                _exit(EXIT_CANNOT_RUN); /* the parent died before prctl(), and its lock was released */
        execvp(argv[0], argv);
        r = errno;
        ald_print_error("Cannot run %s: %s", argv[0], strerror(r));
        _exit(r == ENOENT ? EXIT_NOT_FOUND : EXIT_CANNOT_RUN);
}

/* A terminal sends its signals to the whole process group, which includes the command. */
static bool was_sent_to_us_only(const siginfo_t *info)
{
        return info->si_code <= 0;
}

static int await_exit(pid_t pid, const sigset_t *awaited)
{
        siginfo_t info;
        int status;

        for (;;) {
                int number = sigwaitinfo(awaited, &info);

                if (number > 0 && number != SIGCHLD && was_sent_to_us_only(&info))
                        (void) kill(pid, number);
                if (number != SIGCHLD || waitpid(pid, &status, WNOHANG) != pid)
                        continue;
                return WIFSIGNALED(status) ? EXIT_SIGNALED + WTERMSIG(status) : WEXITSTATUS(status);
        }
}

/*
 * Runs a command transparently: forwards signals to it, and kills it when this program dies. Returns its exit
 * status, 128 + the number of the signal that killed it, 127 if the command does not exist and 126 if it
 * cannot be run.
 */
static int run_command(char **argv)
{
        sigset_t awaited, before;
        pid_t parent = getpid(), pid;

        (void) signal(SIGCHLD, SIG_DFL); /* our parent may have ignored it */
        sigemptyset(&awaited);
        sigaddset(&awaited, SIGCHLD);
        for (size_t i = 0; i < sizeof(forwarded) / sizeof(forwarded[0]); i++)
                sigaddset(&awaited, forwarded[i]);
        (void) sigprocmask(SIG_BLOCK, &awaited, &before);
        pid = fork();
        if (pid == 0)
                exec_command(argv, &before, parent);
        if (pid < 0) {
                ald_print_error("Cannot run %s: %s", argv[0], strerror(errno));
                return EXIT_CANNOT_RUN;
        }
        return await_exit(pid, &awaited);
}

typedef struct InhibitOrder {
        AldCtl ctl;
        const char *what, *who, *why;
        const char *release; /* the number of a lock */
        bool list;
        char **command;
} InhibitOrder;

#define COMMA ,
static const char *const what_words[] = { ALD_PROBE_LOCKS(COMMA, COMMA), ALD_PROBE_LOCK_ALL, NULL };

static const AldOption options[] = {
        ALD_OPTION_HELP,
        ALD_OPTION(TEXT, "what", "WHAT", InhibitOrder, what,
                ALD_PROBE_LOCKS(", ", ", ") ", or several separated by colons (default: all)",
                .words = what_words),
        ALD_OPTION(TEXT, "who", "TEXT", InhibitOrder, who, "Who keeps probes away (default: the command)"),
        ALD_OPTION(TEXT, "why", "TEXT", InhibitOrder, why, "The reason"),
        ALD_OPTION(FLAG, "list", NULL, InhibitOrder, list, "List the locks that keep probes away"),
        ALD_OPTION(RAW, "release", "LOCK", InhibitOrder, release,
                "Release the lock with this number, as shown by --list"),
        ALD_OPTION_JSON("With --list: print JSON: short, pretty or off"),
        {},
};

/* The first word begins the command, which has its own options. */
static bool is_command(const char *first)
{
        return true;
}

const AldSynopsis ald_inhibit_synopsis = {
        .usage = "alidadectl inhibit [OPTION…] [--] COMMAND…\n"
                 "alidadectl inhibit --list\n"
                 "alidadectl inhibit --release=LOCK",
        .intro = "Keep probes away from this machine while a command runs.",
        .options = options,
        .ends = is_command,
};

/* Returns true for words of the service, separated by colons and without duplicates. */
static bool is_what(const char *text)
{
        static const char *const known[] = { ALD_PROBE_LOCKS(COMMA, COMMA), NULL };
        g_auto(GStrv) words = g_strsplit(text, ":", -1);

        for (char **word = words; *word; word++)
                if (!g_strv_contains(known, *word) || g_strv_contains((const char *const *) word + 1, *word))
                        return false;
        return *words != NULL;
}

static int check_order(const InhibitOrder *order)
{
        bool alone = order->list || order->release;
        guint64 number;

        if (order->list && order->release)
                ald_print_error("--list and --release cannot be combined");
        else if (alone && order->command[0])
                ald_print_error("--%s takes no command", order->list ? "list" : "release");
        else if (order->release &&
                 !g_ascii_string_to_unsigned(order->release, 10, 0, UINT32_MAX, &number, NULL))
                ald_print_error("--release needs the number of a lock, as shown by --list");
        else if (!alone && !order->command[0])
                ald_print_error("Usage: alidadectl inhibit [OPTION…] [--] COMMAND…");
        else if (!alone && order->ctl.host)
                ald_print_error(
                        "A lock belongs to the machine on which its command runs; run \"ssh %s alidadectl "
                        "inhibit …\" instead",
                        order->ctl.host);
        else if (!order->list && order->ctl.json)
                ald_print_error("--json needs --list");
        else if (!is_what(order->what))
                ald_print_error("--what=%s: must be one or more of %s, separated by colons", order->what,
                        ALD_PROBE_LOCKS(", ", " and "));
        else
                return ALD_EXIT_OK;
        return ALD_EXIT_USAGE;
}

static int list_locks(const InhibitOrder *order, sd_bus *bus)
{
        g_auto(sd_bus_error) error = SD_BUS_ERROR_NULL;
        g_autoptr(GString) out = g_string_new(NULL);
        AldStyleInfo info = ald_style_info();
        g_autoptr(GPtrArray) locks = NULL;
        json_auto_t *object = NULL;

        if (ald_inhibitors_read(bus, &locks, &error) < 0)
                return ald_bus_print_error(&error, "Cannot list the locks", ALD_LINK_PROBE_UNIT);
        if (order->ctl.json) {
                object = json_object();
                json_object_set_new(object, "Inhibitors", ald_inhibitors_to_json(locks));
                return ald_print_json(&order->ctl, object);
        }
        ald_inhibitors_describe(out, locks, !order->ctl.host, info.columns);
        return ald_print(&order->ctl, &info, out->str);
}

static int call_release(sd_bus *bus, const char *number, bool interactive, sd_bus_error *error)
{
        g_autoptr(AldMessage) call = NULL;
        int r;

        r = sd_bus_message_new_method_call(bus, &call, ALD_LINK_PROBE_NAME, ALD_LINK_PROBE_PATH,
                ALD_LINK_PROBE_INTERFACE, "ReleaseInhibitor");
        if (r >= 0)
                r = sd_bus_message_set_allow_interactive_authorization(call, interactive);
        if (r >= 0)
                r = sd_bus_message_append(call, "u", (uint32_t) g_ascii_strtoull(number, NULL, 10));
        return r < 0 ? r : sd_bus_call(bus, call, interactive ? ALD_ASKING_USEC : 0, error, NULL);
}

static int release_lock(const InhibitOrder *order, sd_bus *bus)
{
        g_auto(sd_bus_error) error = SD_BUS_ERROR_NULL;
        int agent, r = ald_bus_await(bus, ALD_LINK_PROBE_NAME, &error);

        if (r >= 0) {
                agent = ald_agent_start(&order->ctl);
                r = call_release(bus, order->release, ald_agent_may_ask(&order->ctl), &error);
                ald_agent_stop(agent);
        }
        if (r >= 0)
                return ALD_EXIT_OK;
        ald_bus_ensure_error(&error, r);
        return ald_bus_print_error(&error, "Cannot release the lock", ALD_LINK_PROBE_UNIT);
}

/* Returns the command as one printable line that is short enough for the service. */
static char *name_command(char **command)
{
        g_autofree char *line = g_strjoinv(" ", command), *safe = ald_text_safe(line);
        const char *end = safe;

        while (*end && g_utf8_next_char(end) - safe <= (ptrdiff_t) WHO_MAX)
                end = g_utf8_next_char(end);
        return g_strndup(safe, (gsize) (end - safe));
}

/* Returns a descriptor, or a negative errno. */
static int call_inhibit(sd_bus *bus, const InhibitOrder *order, sd_bus_error *error)
{
        g_autofree char *who = order->who ? g_strdup(order->who) : name_command(order->command);
        const AldProbeLockCall lock = { order->what, who, order->why };
        g_autoptr(AldMessage) call = NULL, reply = NULL;
        int r = ald_probe_lock_make(bus, &lock, &call);

        if (r >= 0)
                r = sd_bus_call(bus, call, 0, error, &reply);
        return r < 0 ? r : ald_probe_lock_take(reply);
}

static int acquire_lock(const InhibitOrder *order, sd_bus *bus, int *ret_fd)
{
        g_auto(sd_bus_error) error = SD_BUS_ERROR_NULL;
        int r = ald_bus_await(bus, ALD_LINK_PROBE_NAME, &error);

        if (r >= 0)
                r = call_inhibit(bus, order, &error);
        if (r >= 0) {
                *ret_fd = r;
                return ALD_EXIT_OK;
        }
        ald_bus_ensure_error(&error, r);
        return ald_bus_print_error(&error, "Cannot keep probes away", ALD_LINK_PROBE_UNIT);
}

int ald_verb_inhibit(const AldCtl *ctl)
{
        InhibitOrder order = { .ctl = *ctl, .what = ALD_PROBE_LOCK_ALL, .why = "no reason given" };
        g_autofree char **words = NULL;
        g_autoptr(AldOwnBus) bus = NULL;
        int fd = -1, r = ald_options_read(&ald_inhibit_synopsis, &order, &words);

        if (r >= 0)
                return r;
        order.command = words;
        r = check_order(&order);
        if (r == ALD_EXIT_OK)
                r = ald_bus_open(&order.ctl, &bus);
        if (r != ALD_EXIT_OK)
                return r;
        if (order.list)
                return list_locks(&order, bus);
        if (order.release)
                return release_lock(&order, bus);
        r = acquire_lock(&order, bus, &fd);
        if (r != ALD_EXIT_OK)
                return r;
        if (strstr(order.what, "compute"))
                await_devices(bus);
        /* The descriptor alone keeps the lock, so no connection is needed while the command runs. */
        g_clear_pointer(&bus, sd_bus_flush_close_unref);
        r = run_command(order.command);
        (void) close(fd);
        return r;
}
