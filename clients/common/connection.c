/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "clients/common/connection.h"
#include "common/bus-source.h"
#include "common/fd.h"
#include "record/translate.h"

#define ALPHANUMERIC "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
/* The characters of names and addresses, with zone, brackets and port. */
#define HOST_CHARACTERS ALPHANUMERIC ".-_:%[]"
#define CONTAINER_CHARACTERS ALPHANUMERIC ".-"
/* Excludes characters that are special in a shell or in the address of a bus; names of domains have @ and
 * \\. */
#define USER_CHARACTERS ALPHANUMERIC "._-+@\\"
#define HOST_MAX_BYTES 320u

#define ADDRESS_VARIABLE "ALIDADE_BUS_ADDRESS"

#define SD_BUS_PATIENCE_USEC (85 * G_USEC_PER_SEC)

static bool is_container(const char *text)
{
        return text[0] != '\0' && text[strspn(text, CONTAINER_CHARACTERS)] == '\0';
}

/* Checks what follows a colon, up to `end`: a port, or a container. Several colons without brackets belong to
 * an IPv6 address. */
static bool has_possible_port(const char *host, const char *end)
{
        const char *bracket = memchr(host, ']', (size_t) (end - host)), *from = bracket ? bracket : host;
        const char *colon = memchr(from, ':', (size_t) (end - from));
        g_autofree char *port = colon ? g_strndup(colon + 1, (size_t) (end - colon - 1)) : NULL;
        guint64 number;

        if (!port || (!bracket && strchr(port, ':')))
                return true;
        return g_ascii_isdigit(port[0]) ? g_ascii_string_to_unsigned(port, 10, 1, G_MAXUINT16, &number, NULL)
                                        : is_container(port);
}

static bool is_user(const char *text, size_t length)
{
        return length > 0 && text[0] != '-' && strspn(text, USER_CHARACTERS) >= length;
}

bool ald_connection_is_host(const char *text)
{
        const char *at = strrchr(text, '@'), *host = at ? at + 1 : text, *slash = strchr(host, '/'),
                   *end = slash ? slash : host + strlen(host);

        if ((at && !is_user(text, (size_t) (at - text))) || (slash && !is_container(slash + 1)))
                return false;
        return (g_ascii_isalnum(*host) || strchr("[:_", *host)) && host != end &&
               strlen(text) <= HOST_MAX_BYTES && host + strspn(host, HOST_CHARACTERS) >= end &&
               has_possible_port(host, end);
}

bool ald_connection_has_ssh(void)
{
        g_autofree char *ssh = g_find_program_in_path("ssh");

        return ssh;
}

/* Returns NULL for the system bus. */
static const char *local_address(void)
{
        const char *address = getenv(ADDRESS_VARIABLE);

        return address && address[0] ? address : NULL;
}

int ald_connection_open(const char *host, sd_bus **ret)
{
        if (host)
                return sd_bus_open_system_remote(ret, host);
        return local_address() ? ald_bus_open_address(local_address(), ret) : sd_bus_open_system(ret);
}

const char *ald_connection_place(const char *host)
{
        return host ?: local_address() ?: _("the system bus");
}

/* If there is a terminal, ssh can ask somebody for a password. */
static bool has_terminal(void)
{
        ald_fd int fd = open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY);

        return fd >= 0;
}

int ald_connection_await(sd_bus *bus, bool is_remote, void (*notice)(void *userdata), void *userdata)
{
        bool may_ask = is_remote && has_terminal();
        uint64_t limit = is_remote ? ALD_REMOTE_ANSWER_USEC : ALD_ANSWER_USEC;
        gint64 start = g_get_monotonic_time();
        uint64_t waited, next = ALD_NOTICE_USEC;
        int r;

        while ((r = sd_bus_is_ready(bus)) == 0) {
                r = sd_bus_process(bus, NULL);
                if (r < 0)
                        return r;
                if (r > 0)
                        continue;
                waited = (uint64_t) (g_get_monotonic_time() - start);
                if (!may_ask && waited >= limit)
                        return -ETIMEDOUT;
                if (waited >= next) {
                        if (notice)
                                notice(userdata);
                        next = may_ask ? UINT64_MAX : limit;
                }
                r = sd_bus_wait(bus, next - waited);
                if (r < 0 && r != -EINTR)
                        return r;
        }
        /* sd-bus gives up after 90 s, as if the connection had ended. */
        return r < 0 && g_get_monotonic_time() - start > SD_BUS_PATIENCE_USEC ? -ETIMEDOUT : r;
}
