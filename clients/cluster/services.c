/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <sys/wait.h>
#include <unistd.h>

#include "clients/cluster/services.h"
#include "clients/command-line/bus.h"
#include "clients/command-line/print.h"
#include "common/bus-source.h"

#define CLUSTERD "alidade-clusterd.service"
#define BROKER "mosquitto.service"

int ald_services_run(const char *const *argv)
{
        g_autoptr(GError) error = NULL;
        int status;

        if (!g_spawn_sync(NULL, (char **) argv, NULL,
                    G_SPAWN_SEARCH_PATH | G_SPAWN_STDOUT_TO_DEV_NULL | G_SPAWN_CHILD_INHERITS_STDIN, NULL,
                    NULL, NULL, NULL, &status, &error))
                return g_error_matches(error, G_SPAWN_ERROR, G_SPAWN_ERROR_NOENT) ? -ENOENT : -EIO;
        return WIFEXITED(status) ? WEXITSTATUS(status) : -EINTR;
}

/* Returns whether systemd manages the service. If the variable is set, the files are not those of the
 * services of this machine. */
static bool has_systemd(const char *variable)
{
        const char *elsewhere = g_getenv(variable);

        return !(elsewhere && *elsewhere) && access("/run/systemd/system", F_OK) == 0;
}

static int run_systemctl(const AldClusterFiles *files, const char *verb, const char *unit)
{
        const char *const argv[] = { "systemctl", verb, unit, NULL };
        g_autofree char *command = g_strjoinv(" ", (char **) argv);

        if (!files->changes->check && ald_services_run(argv) != 0) {
                ald_print_error("systemctl %s %s failed; see journalctl -u %s", verb, unit, unit);
                return ALD_EXIT_ERROR;
        }
        ald_changes_add(files->changes, ALD_CHANGE_RUN, command, "%s", "");
        return ALD_EXIT_OK;
}

static int call_reload(sd_bus_error *error)
{
        const char *address = g_getenv("ALIDADE_BUS_ADDRESS");
        g_autoptr(AldMessage) m = NULL;
        g_autoptr(AldOwnBus) bus = NULL;
        int r;

        r = address && *address ? ald_bus_open_address(address, &bus) : sd_bus_open_system(&bus);
        if (r >= 0)
                r = sd_bus_message_new_method_call(
                        bus, &m, ALD_CLUSTER_NAME, ALD_CLUSTER_PATH, ALD_CLUSTER_INTERFACE, "Reload");
        if (r >= 0)
                r = sd_bus_message_set_auto_start(m, false);
        if (r >= 0)
                r = sd_bus_call(bus, m, 0, error, NULL);
        return r;
}

static int reload_clusterd(const AldClusterFiles *files)
{
        g_auto(sd_bus_error) error = SD_BUS_ERROR_NULL;
        int r;

        if (has_systemd("ALIDADE_BUS_ADDRESS"))
                return run_systemctl(files, "reload-or-restart", CLUSTERD);
        r = files->changes->check ? 0 : call_reload(&error);
        if (r >= 0)
                ald_changes_add(files->changes, ALD_CHANGE_ASK, ALD_CLUSTER_NAME, " to reload its files");
        else if (!error.name || sd_bus_error_has_name(&error, SD_BUS_ERROR_NAME_HAS_NO_OWNER) ||
                 sd_bus_error_has_name(&error, SD_BUS_ERROR_SERVICE_UNKNOWN))
                ald_changes_note(files->changes, "alidade-clusterd is not running: start it");
        else {
                ald_print_error("alidade-clusterd could not reload: %s", error.message);
                return ald_bus_exit_code(&error);
        }
        return ALD_EXIT_OK;
}

AldServices ald_services_of_broker(const AldClusterFiles *files)
{
        return ald_files_is_broker(files) ? ALD_SERVICES_BROKER : 0;
}

bool ald_services_restarts_broker(void)
{
        return has_systemd("ALIDADE_MOSQUITTO_DIR");
}

static int restart_broker(const AldClusterFiles *files, bool start)
{
        const char *const reset[] = { "systemctl", "reset-failed", BROKER, NULL };
        const char *const reread[] = { "systemctl", "daemon-reload", NULL };

        if (ald_services_restarts_broker()) {
                /* The drop-in with the limits of its unit may be new. */
                if (start && !files->changes->check)
                        (void) ald_services_run(reread);
                /* Revoking several nodes restarts mosquitto so often that systemd would refuse it. */
                if (!files->changes->check)
                        (void) ald_services_run(reset);
                return run_systemctl(files, start ? "restart" : "try-restart", BROKER);
        }
        ald_changes_add(files->changes, ALD_CHANGE_RESTART, "mosquitto", " to apply the changes");
        return ALD_EXIT_OK;
}

int ald_services_apply(const AldClusterFiles *files, AldServices which)
{
        int r = ALD_EXIT_OK;

        if (!files->changes->unread)
                return ALD_EXIT_OK;
        if (files->interrupted)
                which |= ALD_SERVICES_CLUSTERD |
                         (files->interrupted_broker ? ALD_SERVICES_BROKER : ald_services_of_broker(files));
        if (files->interrupted_start)
                which |= ALD_SERVICES_START_BROKER;
        if (which & ALD_SERVICES_START_BROKER)
                r = ald_files_begin_start(files);
        if (r == ALD_EXIT_OK && which & (ALD_SERVICES_BROKER | ALD_SERVICES_START_BROKER))
                r = restart_broker(files, which & ALD_SERVICES_START_BROKER);
        /* The cluster service is reloaded even if mosquitto does not start, so that other nodes get the
         * changes. */
        if (which & ALD_SERVICES_CLUSTERD) {
                int reloaded = reload_clusterd(files);

                if (r == ALD_EXIT_OK)
                        r = reloaded;
        }
        return r == ALD_EXIT_OK ? ald_files_end(files) : r;
}
