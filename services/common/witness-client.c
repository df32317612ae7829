/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <glib-unix.h>

#include "common/fd.h"
#include "record/message.h"
#include "services/common/timer.h"
#include "services/common/witness-client.h"

struct AldWitnessClient {
        const char *name;
        AldKind answer;
        const AldWitnessTiming *timing;
        AldWitnessAnswered answered;
        void *userdata;

        int socket;
        guint socket_source;
        AldTimer *deadline;
        AldBackOff *back_off;
        bool works;   /* it has answered since the last failure */
        bool waiting; /* for an answer */
        bool pausing; /* after a failure */
        char *reason; /* why it fails at present, or NULL */
};

/* A machine that is busy may take seconds to start the witness. */
static const AldWitnessTiming default_timing = {
        .answer_msec = 10 * 1000,
        .pause = { .first_usec = G_USEC_PER_SEC,
                .least_usec = 5 * G_USEC_PER_SEC,
                .most_usec = 5 * 60 * G_USEC_PER_SEC },
};

static void disconnect(AldWitnessClient *client)
{
        if (client->socket_source != 0)
                g_source_remove(client->socket_source);
        client->socket_source = 0;
        ald_fd_close(&client->socket);
        ald_timer_set(client->deadline, ALD_TIMER_NEVER);
        client->waiting = false;
}

static void fail(AldWitnessClient *client, const char *reason)
{
        bool is_first = !client->reason;

        disconnect(client);
        client->works = false;
        client->pausing = true;
        ald_back_off_failed(client->back_off);
        g_free(client->reason);
        client->reason = g_strdup(reason);
        if (is_first)
                g_warning("The witness of %s failed: %s; its values are omitted until it works again",
                        client->name, reason);
        else
                g_debug("The witness of %s still fails: %s", client->name, reason);
        client->answered(NULL, client->userdata);
}

static void on_deadline(void *userdata)
{
        fail(userdata, "it did not answer in time");
}

static void on_pause_over(void *userdata)
{
        AldWitnessClient *client = userdata;

        client->pausing = false;
}

AldWitnessClient *ald_witness_client_new(const char *name, AldKind answer, const AldWitnessTiming *timing,
        AldWitnessAnswered answered, void *userdata)
{
        AldWitnessClient *client = g_new0(AldWitnessClient, 1);

        client->name = name;
        client->answer = answer;
        client->timing = timing ?: &default_timing;
        client->answered = answered;
        client->userdata = userdata;
        client->socket = -1;
        client->deadline = ald_timer_new("witness-deadline", on_deadline, client);
        client->back_off = ald_back_off_new("witness-pause", &client->timing->pause, on_pause_over, client);
        return client;
}

void ald_witness_client_free(AldWitnessClient *client)
{
        if (!client)
                return;
        disconnect(client);
        ald_timer_free(client->deadline);
        ald_back_off_free(client->back_off);
        g_free(client->reason);
        g_free(client);
}

static void handle_answer(AldWitnessClient *client, const char *text, size_t length)
{
        g_autoptr(AldRecord) record = NULL;

        if (!client->waiting) {
                fail(client, "it sent an unexpected message");
                return;
        }
        if (ald_message_parse(client->answer, text, length, ALD_WITNESS_ANSWER_MAX, &record, NULL) < 0) {
                fail(client, "its answer is invalid");
                return;
        }
        client->waiting = false;
        ald_timer_set(client->deadline, ALD_TIMER_NEVER);
        if (!client->works)
                ald_back_off_works(client->back_off);
        client->works = true;
        if (client->reason)
                g_message("The witness of %s works again", client->name);
        g_clear_pointer(&client->reason, g_free);
        client->answered(record, client->userdata);
}

/* The witness closes a connection that has not been used for a while, which is no failure. */
static gboolean on_message(gint fd, GIOCondition condition, gpointer userdata)
{
        AldWitnessClient *client = userdata;
        g_autofree char *buffer = g_malloc(ALD_WITNESS_ANSWER_MAX + 1);
        ssize_t n = recv(fd, buffer, ALD_WITNESS_ANSWER_MAX, MSG_DONTWAIT | MSG_TRUNC);

        if (n < 0 && (errno == EAGAIN || errno == EINTR))
                return G_SOURCE_CONTINUE;
        if (n > ALD_WITNESS_ANSWER_MAX) {
                fail(client, "its answer is too long");
        } else if (n > 0) {
                buffer[n] = '\0';
                handle_answer(client, buffer, (size_t) n);
        } else if (client->waiting) {
                fail(client, "it closed the connection");
        } else {
                disconnect(client);
        }
        /* It was removed already if it is no longer needed. */
        return G_SOURCE_CONTINUE;
}

/* Connecting to a local socket never waits: it fails where the queue of the listener is full. */
static int connect_socket(AldWitnessClient *client)
{
        const char *directory = g_getenv("ALIDADE_WITNESS_DIRECTORY") ?: ALD_WITNESS_DIRECTORY;
        struct sockaddr_un address = { .sun_family = AF_UNIX };
        ald_fd int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

        if (fd < 0)
                return -errno;
        if ((size_t) g_snprintf(address.sun_path, sizeof address.sun_path, "%s/%s", directory,
                    client->name) >= sizeof address.sun_path)
                return -ENAMETOOLONG;
        if (connect(fd, (const struct sockaddr *) &address, sizeof address) < 0)
                return -errno;
        client->socket = ald_fd_steal(&fd);
        client->socket_source = g_unix_fd_add(
                client->socket, G_IO_IN | G_IO_HUP | G_IO_ERR, on_message, client);
        return 0;
}

static int send_request(AldWitnessClient *client, const char *text)
{
        return send(client->socket, text, strlen(text), MSG_DONTWAIT | MSG_NOSIGNAL) < 0 ? -errno : 0;
}

/* Sends on the connection that there is, and on a new one if the witness has closed that meanwhile. */
static int send_connected(AldWitnessClient *client, const char *text)
{
        int r = client->socket < 0 ? -EPIPE : send_request(client, text);

        if (r != -EPIPE && r != -ECONNRESET)
                return r;
        disconnect(client);
        r = connect_socket(client);
        return r < 0 ? r : send_request(client, text);
}

int ald_witness_client_ask(AldWitnessClient *client, AldKind kind, const void *request)
{
        g_autofree char *text = NULL, *reason = NULL;
        int r;

        if (client->waiting)
                return -EBUSY;
        if (client->pausing)
                return -EAGAIN;
        text = ald_message_format(kind, request);
        r = !text || strlen(text) > ALD_WITNESS_REQUEST_MAX ? -EMSGSIZE : send_connected(client, text);
        if (r < 0) {
                reason = r == -ENOENT || r == -ECONNREFUSED
                                 ? g_strdup_printf("alidade-witness-%s.socket is not active", client->name)
                                 : g_strdup(g_strerror(-r));
                fail(client, reason);
                return r;
        }
        client->waiting = true;
        ald_timer_set(client->deadline,
                g_get_monotonic_time() + (gint64) client->timing->answer_msec * (G_USEC_PER_SEC / 1000));
        return 0;
}

const char *ald_witness_client_reason(const AldWitnessClient *client)
{
        return client->reason;
}
