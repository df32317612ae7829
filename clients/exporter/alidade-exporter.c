/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sysexits.h>
#include <unistd.h>

#include <glib-unix.h>
#include <systemd/sd-daemon.h>

#include "clients/exporter/exporter-config.h"
#include "clients/exporter/exporter.h"
#include "clients/exporter/listen-sockets.h"
#include "common/log.h"
#include "common/program-options.h"

#define NAME "alidade-exporter"

typedef struct ExporterMain {
        GMainLoop *loop;
        AldExporter *exporter;
        AldConfig *config;
        GArray *fds;
        bool is_ready;
} ExporterMain;

static gboolean on_terminate(void *userdata)
{
        g_main_loop_quit(((ExporterMain *) userdata)->loop);
        return G_SOURCE_CONTINUE;
}

static void on_ready(void *userdata)
{
        ((ExporterMain *) userdata)->is_ready = true;
        sd_notify(false, "READY=1");
}

static gboolean on_hangup(void *userdata)
{
        ExporterMain *all = userdata;
        AldConfig *fresh;

        sd_notifyf(false, "RELOADING=1\nMONOTONIC_USEC=%" G_GINT64_FORMAT, g_get_monotonic_time());
        fresh = ald_config_load(ald_exporter_keys, NULL);
        if (ald_exporter_reload(all->exporter, fresh) >= 0) {
                ald_config_free(all->config);
                all->config = fresh;
                g_info("Reloaded the configuration; new addresses need a restart");
        } else {
                ald_config_free(fresh);
                g_critical("Keeping the previous configuration");
        }
        if (all->is_ready)
                sd_notify(false, "READY=1");
        return G_SOURCE_CONTINUE;
}

static gboolean on_watchdog(void *userdata)
{
        sd_notify(false, "WATCHDOG=1");
        return G_SOURCE_CONTINUE;
}

/* Takes the sockets that systemd has passed, or else opens those in the configuration, of which one
 * suffices. */
static int open_sockets(ExporterMain *all)
{
        const char *const *addresses = ald_config_strv(all->config, "listen");
        int r = ald_listen_take_passed(all->fds);

        if (r != 0)
                return r;
        for (; *addresses; addresses++)
                (void) ald_listen_bind(*addresses, all->fds);
        if (all->fds->len > 0)
                return 0;
        g_critical("Cannot listen on any address");
        return -EADDRNOTAVAIL;
}

static int run_exporter(ExporterMain *all)
{
        uint64_t usec;
        int r;

        r = ald_exporter_config_check(all->config);
        if (r >= 0)
                r = open_sockets(all);
        if (r >= 0)
                r = ald_exporter_new(all->config, all->fds, on_ready, all, &all->exporter);
        if (r < 0)
                return r;
        g_unix_signal_add(SIGTERM, on_terminate, all);
        g_unix_signal_add(SIGINT, on_terminate, all);
        g_unix_signal_add(SIGHUP, on_hangup, all);
        if (sd_watchdog_enabled(false, &usec) > 0)
                g_timeout_add((guint) (usec / 2000), on_watchdog, all);
        g_main_loop_run(all->loop);
        sd_notify(false, "STOPPING=1");
        return 0;
}

static void main_clear(ExporterMain *all)
{
        ald_exporter_free(all->exporter);
        for (guint i = 0; i < all->fds->len; i++)
                close(g_array_index(all->fds, int, i));
        g_array_unref(all->fds);
        ald_config_free(all->config);
        g_main_loop_unref(all->loop);
}

int main(int argc, char *argv[])
{
        ExporterMain all = {};
        int status, r;

        if (!ald_program_options(NAME, "Serves metrics of the cluster to Prometheus and others over HTTP.",
                    argc, argv, &status))
                return status;
        signal(SIGPIPE, SIG_IGN);
        (void) ald_log_install(NAME);
        all.loop = g_main_loop_new(NULL, FALSE);
        all.config = ald_config_load(ald_exporter_keys, NULL);
        all.fds = g_array_new(FALSE, FALSE, sizeof(int));
        r = run_exporter(&all);
        /* The unit does not restart the program after EX_CONFIG. */
        status = r == -EBADMSG ? EX_CONFIG : r < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
        main_clear(&all);
        return status;
}
