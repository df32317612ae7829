/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include <glib-unix.h>
#include <glib.h>
#include <systemd/sd-daemon.h>

#include "common/bus-source.h"
#include "common/fd.h"
#include "common/log.h"
#include "common/program-options.h"
#include "common/source.h"
#include "services/common/errors.h"
#include "services/common/service-private.h"

/* A stopping service waits at most this long until the bus has accepted its last messages. */
#define DRAIN_USEC (G_USEC_PER_SEC / 2)

/* Forged signals are logged this often at most; all are counted. */
#define REFUSAL_LOG_USEC (60 * G_USEC_PER_SEC)

/* Fewer queued messages than this are normal. With more, only this many further calls are answered, since
 * each reply may have 16 MiB. */
#define UNSENT_MAX 16u

void ald_service_delay_bus(AldService *service, unsigned msec)
{
        ald_bus_source_delay(service->bus_source, msec);
}

sd_bus *ald_service_bus(AldService *service)
{
        return service->bus;
}

const AldConfig *ald_service_config(AldService *service)
{
        return service->config;
}

int ald_service_root(AldService *service)
{
        return service->root;
}

uint64_t ald_realtime_usec(void)
{
        return (uint64_t) g_get_real_time();
}

void ald_service_quit(AldService *service, int error, const char *reason)
{
        if (error < 0) {
                service->status = EXIT_FAILURE;
                g_critical("%s: %s", reason, g_strerror(-error));
        } else {
                g_info("%s", reason);
        }
        service->running = false;
        g_main_context_wakeup(NULL);
}

void ald_service_refuse_signal(AldService *service, sd_bus_message *message)
{
        gint64 now = g_get_monotonic_time();

        service->refused_signals++;
        if (service->refusal_logged != 0 && now < service->refusal_logged + REFUSAL_LOG_USEC)
                return;
        service->refusal_logged = now;
        g_warning("Ignored signal %s of %s from %s, which does not own that name",
                sd_bus_message_get_member(message), sd_bus_message_get_interface(message),
                sd_bus_message_get_sender(message));
}

uint64_t ald_service_refused_signals(AldService *service)
{
        return service->refused_signals;
}

static void on_bus_closed(sd_bus *bus, int error, gpointer userdata)
{
        ald_service_quit(userdata, error,
                error == -EBUSY
                        ? "The bus has stopped reading: it hangs, or holds too much for a client that "
                          "does not read"
                        : "The bus has closed the connection");
}

/* Without the system bus some data is missing, but the service continues. */
static void on_system_bus_closed(sd_bus *bus, int error, gpointer userdata)
{
        g_warning("The system bus has %s: %s", error == -EBUSY ? "stopped reading" : "closed the connection",
                g_strerror(-error));
}

static int connect_bus(AldService *service)
{
        const char *address = g_getenv("ALIDADE_BUS_ADDRESS");
        int r;

        if (address && *address)
                r = ald_bus_open_address(address, &service->bus);
        else
                r = sd_bus_open_system(&service->bus);
        if (r < 0) {
                g_critical("Cannot connect to %s: %s", address && *address ? address : "the system bus",
                        g_strerror(-r));
                return r;
        }
        service->bus_source = ald_bus_source_new(service->bus, on_bus_closed, service);
        return 0;
}

sd_bus *ald_service_system_bus(AldService *service)
{
        const char *address = g_getenv("ALIDADE_BUS_ADDRESS");
        int r;

        if (!address || !*address)
                return service->bus;
        if (service->system_bus || service->system_bus_failed)
                return service->system_bus;

        r = sd_bus_open_system(&service->system_bus);
        if (r < 0) {
                g_info("No system bus: %s", g_strerror(-r));
                service->system_bus_failed = true;
                return NULL;
        }
        service->system_source = ald_bus_source_new(service->system_bus, on_system_bus_closed, service);
        return service->system_bus;
}

/* Handles the reply to RequestName() and logs why it failed; the default handler of sd-bus would close the
 * connection. */
static int on_name_reply(sd_bus_message *reply, void *userdata, sd_bus_error *error)
{
        AldService *service = userdata;
        const sd_bus_error *failure = sd_bus_message_get_error(reply);
        g_autofree char *reason = NULL;
        uint32_t result;
        int r;

        if (failure) {
                reason = g_strdup_printf("Cannot own %s (%s)", service->info->bus_name, failure->message);
                ald_service_quit(service, -sd_bus_message_get_errno(reply), reason);
                return 0;
        }
        r = sd_bus_message_read(reply, "u", &result);
        if (r < 0)
                return r;
        if (result != 1) {
                reason = g_strdup_printf("Another process owns %s", service->info->bus_name);
                ald_service_quit(service, -EEXIST, reason);
                return 0;
        }
        service->owns_name = true;
        if (service->info->name_owned)
                service->info->name_owned(service->manager);
        sd_notify(false, "READY=1");
        g_info("%s is ready", service->info->bus_name);
        return 0;
}

static int on_released(sd_bus_message *reply, void *userdata, sd_bus_error *error)
{
        AldService *service = userdata;

        service->name_released(service->released_userdata);
        return 0;
}

/* Notifies systemd first: otherwise it would take the unit for a running one, and the next call would wait
 * for the name. */
void ald_service_release_name(AldService *service, void (*released)(void *userdata), void *userdata)
{
        int r;

        sd_notify(false, "STOPPING=1");
        service->owns_name = false;
        service->name_released = released;
        service->released_userdata = userdata;
        r = sd_bus_release_name_async(
                service->bus, &service->releasing, service->info->bus_name, on_released, service);
        if (r < 0)
                ald_service_quit(service, r, "Cannot release the name");
}

static gboolean on_terminate(gpointer userdata)
{
        ald_service_quit(userdata, 0, "Stopping");
        return G_SOURCE_CONTINUE;
}

void ald_service_reload(AldService *service)
{
        sd_notifyf(false, "RELOADING=1\nMONOTONIC_USEC=%" G_GINT64_FORMAT, g_get_monotonic_time());
        ald_service_take_config(service, ald_config_load_again(service->config, NULL));
        if (service->owns_name)
                sd_notify(false, "READY=1");
        g_info("Reloaded the configuration");
}

static gboolean on_hangup(gpointer userdata)
{
        ald_service_reload(userdata);
        return G_SOURCE_CONTINUE;
}

static gboolean on_watchdog(gpointer userdata)
{
        sd_notify(false, "WATCHDOG=1");
        return G_SOURCE_CONTINUE;
}

static void add_watchdog(AldService *service)
{
        uint64_t usec;

        if (sd_watchdog_enabled(false, &usec) > 0)
                service->watchdog = g_timeout_add((guint) (usec / 2000), on_watchdog, service);
}

/* Sends queued messages, but does not wait long for a bus that has stopped reading. */
static void flush_bus(AldService *service)
{
        gint64 until = g_get_monotonic_time() + DRAIN_USEC;
        uint64_t queued = 0;

        while (sd_bus_is_open(service->bus) > 0 && sd_bus_get_n_queued_write(service->bus, &queued) >= 0 &&
                queued > 0) {
                gint64 left = until - g_get_monotonic_time();

                if (left <= 0 || sd_bus_process(service->bus, NULL) < 0)
                        return;
                sd_bus_wait(service->bus, (uint64_t) left);
        }
}

static void disconnect_bus(sd_bus **bus, GSource **source)
{
        ald_source_clear(source);
        if (*bus) {
                sd_bus_close(*bus);
                *bus = sd_bus_unref(*bus);
        }
}

static void stop_service(AldService *service)
{
        sd_notify(false, "STOPPING=1");
        if (service->owns_name && sd_bus_is_open(service->bus) > 0)
                sd_bus_release_name_async(service->bus, NULL, service->info->bus_name, NULL, NULL);
        /* Messages are still processed below, when the userdata of this call no longer exists. */
        service->releasing = sd_bus_slot_unref(service->releasing);
        if (service->manager)
                service->info->stop(service->manager);
        ald_polkit_forget_all(service);
        g_clear_pointer(&service->readers, ald_readers_free);
        if (service->bus)
                flush_bus(service);
        disconnect_bus(&service->system_bus, &service->system_source);
        disconnect_bus(&service->bus, &service->bus_source);
        g_clear_handle_id(&service->watchdog, g_source_remove);
        g_clear_handle_id(&service->sigterm, g_source_remove);
        g_clear_handle_id(&service->sigint, g_source_remove);
        g_clear_handle_id(&service->sighup, g_source_remove);
        ald_config_free(service->config);
        ald_config_free(service->unused_config);
        ald_fd_close(&service->root);
}

/* Refuses calls while the bus does not read from us, as happens when a client calls without reading. The bus
 * still delivers calls then, and sd-bus cannot write without reading, so these calls get minimal replies. */
static int on_message(sd_bus_message *message, void *userdata, sd_bus_error *error)
{
        AldService *service = userdata;
        uint64_t unsent = 0;

        if (sd_bus_message_is_method_call(message, NULL, NULL) <= 0)
                return 0;
        sd_bus_get_n_queued_write(service->bus, &unsent);
        if (unsent < UNSENT_MAX) {
                service->answers_behind = 0;
                return 0;
        }
        if (service->answers_behind++ < UNSENT_MAX)
                return 0;
        if (service->answers_behind == UNSENT_MAX + 1)
                g_warning("The bus does not accept messages; refusing calls until it does");
        return sd_bus_error_set(error, SD_BUS_ERROR_LIMITS_EXCEEDED,
                "Earlier replies have not been delivered yet; try again");
}

static int start_service(AldService *service)
{
        int r;

        service->root = ald_sysroot_open();
        if (service->root < 0) {
                g_critical("Cannot open the root directory: %s", g_strerror(-service->root));
                return service->root;
        }
        service->config = ald_config_load(service->info->config_keys, NULL);
        r = connect_bus(service);
        if (r < 0)
                return r;
        r = sd_bus_add_filter(service->bus, NULL, on_message, service);
        if (r >= 0)
                r = ald_readers_new(service, &service->readers);
        if (r >= 0)
                r = ald_log_export(service->log, service->bus);
        if (r >= 0)
                r = ald_service_export_problems(service);
        if (r < 0)
                return r;
        service->sigterm = g_unix_signal_add(SIGTERM, on_terminate, service);
        service->sigint = g_unix_signal_add(SIGINT, on_terminate, service);
        service->sighup = g_unix_signal_add(SIGHUP, on_hangup, service);
        r = service->info->start(service, &service->manager);
        if (r < 0) {
                g_critical("Cannot start: %s", g_strerror(-r));
                return r;
        }
        add_watchdog(service);
        return sd_bus_request_name_async(
                service->bus, NULL, service->info->bus_name, 0, on_name_reply, service);
}

int ald_service_main(const AldServiceInfo *info, int argc, char *argv[])
{
        AldService service = { .info = info, .running = true, .root = -1 };
        int r;

        if (!ald_program_options(info->name, info->description, argc, argv, &service.status))
                return service.status;
        signal(SIGPIPE, SIG_IGN);
        service.log = ald_log_install(info->name);
        ald_errors_register();

        r = start_service(&service);
        if (r < 0) {
                service.status = EXIT_FAILURE;
                service.running = false;
        }
        while (service.running)
                g_main_context_iteration(NULL, TRUE);
        stop_service(&service);
        return service.status;
}
