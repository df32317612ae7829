/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "services/link-probe/inhibit/inhibit-bus.h"
#include "common/bus-cleanup.h"
#include "common/excerpt.h"
#include "common/fd.h"
#include "services/common/errors.h"
#include "services/common/polkit.h"

#define ACTION_RELEASE "org.alidade.link-probe.release"

/* The maximum size of a lock in a reply. */
#define WIRE_PER_LOCK (3 * ALD_INHIBIT_TEXT_MAX)

static int validate_lock(const AldInhibitorFile *lock, sd_bus_error *error)
{
        if (ald_inhibit_what_parse(lock->what) < 0) {
                g_autofree char *excerpt = ald_excerpt(lock->what), *list = ald_inhibit_what_list();

                return sd_bus_error_setf(error, SD_BUS_ERROR_INVALID_ARGS,
                        "Not a colon-separated list of %s: %s", list, excerpt);
        }
        if (!ald_inhibit_text_ok(lock->who))
                return sd_bus_error_set(
                        error, SD_BUS_ERROR_INVALID_ARGS, "Who must be 1 to 255 bytes of printable text");
        if (!ald_inhibit_text_ok(lock->why))
                return sd_bus_error_set(
                        error, SD_BUS_ERROR_INVALID_ARGS, "Why must be 1 to 255 bytes of printable text");
        return 0;
}

/* Reads the user and the pid of the caller. The bus does not know the pid of a process in another pid
 * namespace, and sd-bus then fails the whole query. sd-bus of systemd 252 aborts if it is asked for the pid
 * alone. */
static int read_sender(sd_bus_message *message, AldInhibitorFile *lock)
{
        g_autoptr(AldCreds) creds = NULL;
        int r;

        r = sd_bus_query_sender_creds(message, SD_BUS_CREDS_EUID | SD_BUS_CREDS_PID, &creds);
        if (r < 0)
                r = sd_bus_query_sender_creds(message, SD_BUS_CREDS_EUID, &creds);
        if (r >= 0)
                r = sd_bus_creds_get_euid(creds, &lock->uid);
        if (r < 0)
                return r;
        if (sd_bus_creds_get_pid(creds, &lock->pid) < 0)
                lock->pid = 0;
        return 0;
}

static int set_add_error(int r, sd_bus_error *error)
{
        switch (r) {
        case -ALD_E_USER_LIMIT:
                return sd_bus_error_setf(error, SD_BUS_ERROR_LIMITS_EXCEEDED,
                        "This user holds %u locks already, which is the limit", ALD_INHIBITORS_PER_USER_MAX);
        case -ALD_E_COMMON_LIMIT:
                return sd_bus_error_setf(error, SD_BUS_ERROR_LIMITS_EXCEEDED,
                        "%u locks are held already, which is the limit", ALD_INHIBITORS_MAX);
        default:
                return sd_bus_error_setf(
                        error, SD_BUS_ERROR_FAILED, "Cannot create a lock: %s", g_strerror(-r));
        }
}

int ald_inhibit_bus_inhibit(sd_bus_message *message, AldInhibitors *inhibitors, sd_bus_error *error)
{
        AldInhibitorFile lock = { 0 };
        ald_fd int fd = -1;
        int r;

        r = sd_bus_message_read(message, "sss", &lock.what, &lock.who, &lock.why);
        if (r >= 0)
                r = validate_lock(&lock, error);
        if (r < 0)
                return r;
        r = read_sender(message, &lock);
        if (r < 0)
                return sd_bus_error_set(
                        error, SD_BUS_ERROR_ACCESS_DENIED, "Cannot determine the caller's credentials");
        r = ald_inhibitors_add(inhibitors, &lock, &fd);
        if (r < 0)
                return set_add_error(r, error);
        g_info("%s (pid %d of user %u) inhibits %s: %s", lock.who, (int) lock.pid, (unsigned) lock.uid,
                lock.what, lock.why);
        return sd_bus_reply_method_return(message, "h", fd);
}

static const AldInhibitorFile *find_lock(const AldInhibitors *inhibitors, uint32_t number)
{
        for (unsigned i = 0; i < ald_inhibitors_count(inhibitors); i++)
                if (ald_inhibitors_at(inhibitors, i)->number == number)
                        return ald_inhibitors_at(inhibitors, i);
        return NULL;
}

int ald_inhibit_bus_release(AldService *service, sd_bus_message *message, AldInhibitors *inhibitors,
        sd_bus_message_handler_t handler, void *userdata, sd_bus_error *error)
{
        const AldInhibitorFile *lock;
        uint32_t number;
        uid_t uid;
        int r;

        r = sd_bus_message_read(message, "u", &number);
        if (r < 0)
                return r;
        lock = find_lock(inhibitors, number);
        if (!lock)
                return sd_bus_error_setf(
                        error, ALD_ERROR_NO_SUCH_INHIBITOR, "Lock %u does not exist", number);
        if (ald_service_sender_uid(service, message, &uid) < 0 || uid != lock->uid) {
                r = ald_polkit_authorize(service, message, ACTION_RELEASE, handler, userdata, error);
                if (r <= 0)
                        return r < 0 ? r : 1;
        }
        g_message("Lock %u of %s (pid %d of user %u) was released by %s", number, lock->who, (int) lock->pid,
                (unsigned) lock->uid, sd_bus_message_get_sender(message));
        (void) ald_inhibitors_release(inhibitors, number);
        return sd_bus_reply_method_return(message, NULL);
}

int ald_inhibit_bus_list(AldService *service, sd_bus_message *message, const AldInhibitors *inhibitors)
{
        g_autoptr(AldMessage) reply = NULL;
        int r;

        r = sd_bus_message_new_method_return(message, &reply);
        if (r >= 0)
                r = sd_bus_message_open_container(reply, 'a', "(sssuuu)");
        for (unsigned i = 0; r >= 0 && i < ald_inhibitors_count(inhibitors); i++) {
                const AldInhibitorFile *lock = ald_inhibitors_at(inhibitors, i);

                r = sd_bus_message_append(reply, "(sssuuu)", lock->what, lock->who, lock->why,
                        (uint32_t) lock->uid, (uint32_t) lock->pid, (uint32_t) lock->number);
        }
        if (r >= 0)
                r = sd_bus_message_close_container(reply);
        if (r < 0)
                return r;
        ald_service_note_reply(service, message, (size_t) ald_inhibitors_count(inhibitors) * WIRE_PER_LOCK);
        return sd_bus_send(NULL, reply, NULL);
}
