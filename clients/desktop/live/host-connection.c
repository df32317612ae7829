/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <fcntl.h>
#include <glib.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "clients/common/connection.h"
#include "clients/common/safe-text.h"
#include "clients/desktop/live/host-connection.h"
#include "common/bus-cleanup.h"
#include "common/fd.h"

#define COMPLAINTS_BYTES 8192
#define COMPLAINT_LETTERS 240

typedef struct SshProcess {
        GPid pid;
        bool unused, ended; /* it is freed once both are true */
} SshProcess;

/* The parts of [USER@]HOST[:PORT][/CONTAINER], of which HOST may be an address in brackets. */
typedef struct SshHost {
        char *host, *port, *container; /* port and container are NULL if absent */
} SshHost;

static void ssh_host_clear(SshHost *parts)
{
        g_free(parts->host);
        g_free(parts->port);
        g_free(parts->container);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(SshHost, ssh_host_clear)

/* An IPv6 address without brackets has several colons, none of which begins a port. */
static const char *find_port(const char *text, const char *end)
{
        const char *bracket = memchr(text, ']', (size_t) (end - text));
        const char *colon = memchr(
                bracket ? bracket : text, ':', (size_t) (end - (bracket ? bracket : text)));

        if (!colon || (!bracket && memchr(colon + 1, ':', (size_t) (end - colon - 1))))
                return NULL;
        return colon;
}

static char *strip_brackets(char *host)
{
        char *open = strchr(host, '['), *close = strchr(host, ']');

        if (open && close) {
                memmove(close, close + 1, strlen(close));
                memmove(open, open + 1, strlen(open));
        }
        return host;
}

static SshHost split_host(const char *text)
{
        const char *at = strrchr(text, '@'), *host = at ? at + 1 : text, *slash = strchr(host, '/'),
                   *end = slash ? slash : host + strlen(host), *port = find_port(host, end);
        SshHost parts = { 0 };

        parts.host = strip_brackets(g_strndup(text, (size_t) ((port ? port : end) - text)));
        if (slash)
                parts.container = g_strdup(slash + 1);
        if (!port)
                return parts;
        /* systemd also accepts the name of a container in place of the port. */
        if (g_ascii_isdigit(port[1]))
                parts.port = g_strndup(port + 1, (size_t) (end - port - 1));
        else if (!parts.container)
                parts.container = g_strndup(port + 1, (size_t) (end - port - 1));
        return parts;
}

char **ald_host_connection_command(const char *host)
{
        g_auto(SshHost) parts = split_host(host);
        g_autoptr(GStrvBuilder) builder = g_strv_builder_new();

        g_strv_builder_add_many(builder, "ssh", "-xT", NULL);
        if (parts.port)
                g_strv_builder_add_many(builder, "-p", parts.port, NULL);
        g_strv_builder_add_many(builder, "--", parts.host, "systemd-stdio-bridge", NULL);
        if (parts.container) {
                g_autofree char *machine = g_strconcat("--machine=", parts.container, NULL);

                g_strv_builder_add(builder, machine);
        }
        return g_strv_builder_end(builder);
}

/* The process. */

static void free_process_if_done(SshProcess *process)
{
        if (process->unused && process->ended)
                g_free(process);
}

static void on_process_ended(GPid pid, int status, void *userdata)
{
        SshProcess *process = userdata;

        process->ended = true;
        free_process_if_done(process);
}

/* Destroy callback of the bus slot: ends ssh. */
static void on_connection_freed(void *userdata)
{
        SshProcess *process = userdata;

        process->unused = true;
        if (!process->ended)
                (void) kill(process->pid, SIGTERM);
        free_process_if_done(process);
}

/* Runs in the child. It makes ssh end with this program, which may be killed, even before this call. */
static void die_with_parent(void *userdata)
{
        if (prctl(PR_SET_PDEATHSIG, SIGTERM) < 0 || getppid() != GPOINTER_TO_INT(userdata))
                _exit(1);
}

static int start_ssh(const char *host, int socket, int complaints, SshProcess **ret)
{
        g_auto(GStrv) command = ald_host_connection_command(host);
        g_autoptr(GError) error = NULL;
        SshProcess *process;
        GPid pid;

        if (!g_spawn_async_with_fds(NULL, command, NULL, G_SPAWN_SEARCH_PATH | G_SPAWN_DO_NOT_REAP_CHILD,
                    die_with_parent, GINT_TO_POINTER(getpid()), &pid, socket, socket, complaints, &error))
                return g_error_matches(error, G_SPAWN_ERROR, G_SPAWN_ERROR_NOENT) ? -ENOENT : -ECHILD;
        process = g_new0(SshProcess, 1);
        process->pid = pid;
        g_child_watch_add(pid, on_process_ended, process);
        *ret = process;
        return 0;
}

/* The connection. */

static int on_message(sd_bus_message *message, void *userdata, sd_bus_error *error)
{
        return 0;
}

/* Makes ssh end with the connection, by a slot that is freed with it. Takes ownership of the process. */
static int bind_process(sd_bus *bus, SshProcess *process)
{
        sd_bus_slot *slot;
        int r = sd_bus_add_filter(bus, &slot, on_message, process);

        if (r < 0) {
                on_connection_freed(process);
                return r;
        }
        (void) sd_bus_slot_set_destroy_callback(slot, on_connection_freed);
        (void) sd_bus_slot_set_floating(slot, true);
        sd_bus_slot_unref(slot);
        return 0;
}

/* Starts the connection over a socket. Takes ownership of the socket. */
static int start_on_socket(sd_bus *bus, int socket)
{
        int r = sd_bus_set_fd(bus, socket, socket);

        if (r < 0) {
                (void) close(socket);
                return r;
        }
        r = sd_bus_set_bus_client(bus, true);
        return r >= 0 ? sd_bus_start(bus) : r;
}

static int open_over_ssh(const char *host, int complaints, sd_bus **ret)
{
        ald_fd int our_end = -1, ssh_end = -1;
        g_autoptr(AldBus) bus = NULL;
        SshProcess *process;
        int ends[2], r;

        if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0)
                return -errno;
        our_end = ends[0];
        ssh_end = ends[1];
        r = sd_bus_new(&bus);
        if (r < 0)
                return r;
        r = start_ssh(host, ssh_end, complaints, &process);
        if (r < 0)
                return r;
        r = bind_process(bus, process);
        if (r >= 0)
                r = start_on_socket(bus, ald_fd_steal(&our_end));
        if (r >= 0)
                *ret = g_steal_pointer(&bus);
        return r;
}

/* Creates a file of fixed size, since ssh may run for days and write anything. Returns -1 on error. */
static int create_complaints_file(void)
{
        ald_fd int fd = memfd_create("alidade-ssh", MFD_CLOEXEC | MFD_ALLOW_SEALING);

        if (fd < 0 || ftruncate(fd, COMPLAINTS_BYTES) < 0 ||
                fcntl(fd, F_ADD_SEALS, F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL) < 0)
                return -1;
        return ald_fd_steal(&fd);
}

int ald_host_connection_open(const char *host, int *ret_complaints, sd_bus **ret)
{
        *ret_complaints = -1;
        if (!host)
                return ald_connection_open(NULL, ret);
        if (!ald_connection_is_host(host))
                return -EINVAL;
        *ret_complaints = create_complaints_file();
        return open_over_ssh(host, *ret_complaints, ret);
}

char *ald_host_connection_last_error_line(int complaints)
{
        char text[COMPLAINTS_BYTES + 1] = "", *line;
        g_autofree char *safe = NULL;

        if (complaints < 0 || pread(complaints, text, COMPLAINTS_BYTES, 0) < 0)
                return NULL;
        g_strchomp(text);
        line = strrchr(text, '\n');
        line = g_strchug(line ? line : text);
        if (!*line)
                return NULL;
        safe = ald_text_safe(line);
        return ald_text_shortened(safe, COMPLAINT_LETTERS);
}
