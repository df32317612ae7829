/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <string.h>

#include "record/figure-text.h"
#include "services/common/readers.h"
#include "services/common/service-private.h"
#include "services/common/timer.h"

#define KIBI 1024u
#define MEBI (1024u * KIBI)

/* Assumed sizes of replies whose size is unknown. A reply of Properties may contain a record, one of
 * Introspectable the names of all children. */
#define REPLY_SIZE (2u * KIBI)
#define PROPERTIES_SIZE (256u * KIBI)
#define INTROSPECTION_SIZE (512u * KIBI)
#define REFUSAL_SIZE 512u

/* This much unread is negligible, and may be followed by a reply of any size. */
#define UNREAD_SLACK (1u * MEBI)
/* Reserved beyond ALD_UNREAD_MAX for small replies to users who read. */
#define SMALL_RESERVE (8u * MEBI)
/* Bytes of refusals sent to a user. Further calls get no answer, since answers would also be unread. */
#define REFUSALS_MAX (1u * MEBI)
/* Limit of dropped calls for which the bus has not confirmed that it dropped the answer. More unconfirmed
 * ones mean that the bus lacks the rule for it, so that the answers stay unread. */
#define DROPS_AHEAD 1024u
/* The policy of each service denies this error, so that it never reaches a client. */
#define ERROR_DROPPED "org.alidade.Error.Dropped"

/* A call of a user who has not read enough waits at most this long. */
#define TIMEOUT_USEC (1 * G_USEC_PER_SEC)
/* It waits this long while the bus has not replied, which it does not do once it has stopped reading. */
#define UNANSWERED_USEC (5 * G_USEC_PER_SEC)
/* Limits of the calls that wait until their users have read enough, in total and for one user. The first also
 * limits the calls whose users are not known yet. */
#define WAITING_MAX 1024u
#define WAITING_PER_USER_MAX 256u
/* A call with longer arguments is not kept waiting, since it would use our memory. */
#define ARGUMENT_MAX 4096u

/* The bus is asked once this much may be unread, before it matters. */
#define ASK_UNREAD (ALD_UNREAD_PER_USER_MAX / 2)
/* A user who did not read is asked about again after this time, and later with many connections. */
#define ROUND_USEC (G_USEC_PER_SEC / 10)
#define CONNECTIONS_PER_ROUND 16u
/* Connections without unread messages are forgotten if there are more than this. */
#define CONNECTIONS_MAX 1024u
/* The latest names that have left the bus are remembered, as many as this. A bus never gives a unique name
 * twice. */
#define GONE_MAX 1024u

/* After BROADCASTS_ASK bytes the bus is asked how much of our broadcasts it holds. Until it answers, at most
 * BROADCASTS_AHEAD bytes are sent. */
#define BROADCASTS_ASK (1u * MEBI)
#define BROADCASTS_AHEAD (4u * MEBI)
/* Limit of all unread messages; more would be too close to the limit of the bus. */
#define HELD_MAX (96u * MEBI)
#define BROADCASTS_RETRY_USEC (G_USEC_PER_SEC / 2)

#define LOG_USEC (60 * G_USEC_PER_SEC)

typedef struct User {
        AldReaders *readers;
        uid_t uid;     /* (uid_t) -1 for connections whose user is not known yet */
        size_t unread; /* bytes that we sent and that may be unread, of all connections */
        size_t refusals;
        GQueue connections; /* of Connection, through Connection.place */
        GQueue waiting;     /* of Waiting, until the user has read enough */
        unsigned asking;    /* replies of the bus that are pending */
        gint64 asked;       /* when the last round began */
        bool reads;         /* nearly everything had been read by then */
        gint64 logged;
} User;

typedef struct Connection {
        AldReaders *readers;
        char *name;
        User *user;
        GList place;
        size_t unread;    /* upper limit */
        size_t since_ask; /* part of it sent since the bus was asked */
        GQueue calls;     /* of Waiting, until the bus has named its user */
        sd_bus_slot *uid_query, *stats_query;
} Connection;

typedef struct Waiting {
        sd_bus_message *call;
        gint64 since;
} Waiting;

struct AldReaders {
        AldService *service;
        sd_bus_slot *filter;
        GHashTable *connections; /* unique name → Connection */
        GHashTable *users;       /* uid → User */
        GHashTable *sizes;       /* member → size of its last reply */
        GHashTable *gone;        /* set of unique names that have left the bus */
        GQueue gone_order;       /* the same names, oldest first */
        User *unknown;
        size_t unread;    /* of all users */
        unsigned waiting; /* calls in User.waiting */
        unsigned unnamed; /* calls in Connection.calls */
        unsigned drops;   /* answers not yet confirmed as dropped by the bus */
        AldTimer *timer;
        char *exempt;
        bool unanswered; /* this bus does not report unread messages */

        size_t broadcast; /* bytes since the last reply of the bus */
        size_t since_ask; /* part of it sent since the bus was asked */
        bool paused;
        gint64 asked;
        sd_bus_slot *own_query;
};

static void waiting_free(gpointer data)
{
        Waiting *waiting = data;

        sd_bus_message_unref(waiting->call);
        g_free(waiting);
}

/* Clears a queue. `total` counts the calls in all such queues. */
static void clear_waiting(GQueue *queue, unsigned *total)
{
        *total -= queue->length;
        g_queue_clear_full(queue, waiting_free);
}

static void user_free(gpointer data)
{
        User *user = data;

        clear_waiting(&user->waiting, &user->readers->waiting);
        g_free(user);
}

static User *user_new(AldReaders *readers, uid_t uid)
{
        User *user = g_new0(User, 1);

        user->readers = readers;
        user->uid = uid;
        user->reads = true;
        g_queue_init(&user->connections);
        g_queue_init(&user->waiting);
        return user;
}

static User *find_user(AldReaders *readers, uid_t uid)
{
        User *user = g_hash_table_lookup(readers->users, GUINT_TO_POINTER(uid));

        if (!user) {
                user = user_new(readers, uid);
                g_hash_table_insert(readers->users, GUINT_TO_POINTER(uid), user);
        }
        return user;
}

static void add_unread(Connection *connection, size_t bytes)
{
        connection->unread += bytes;
        connection->since_ask += bytes;
        connection->user->unread += bytes;
        connection->readers->unread += bytes;
}

static void set_unread(Connection *connection, size_t bytes)
{
        connection->user->unread += bytes - connection->unread;
        connection->readers->unread += bytes - connection->unread;
        connection->unread = bytes;
}

static void connection_free(gpointer data)
{
        Connection *connection = data;

        set_unread(connection, 0);
        if (connection->stats_query)
                connection->user->asking--;
        g_queue_unlink(&connection->user->connections, &connection->place);
        clear_waiting(&connection->calls, &connection->readers->unnamed);
        sd_bus_slot_unref(connection->uid_query);
        sd_bus_slot_unref(connection->stats_query);
        g_free(connection->name);
        g_free(connection);
}

/* Frees a connection that has left the bus, and its calls, for which nobody waits any more. */
static void connection_gone(Connection *connection)
{
        AldReaders *readers = connection->readers;
        char *name = g_strdup(connection->name);

        g_hash_table_remove(readers->connections, name);
        g_hash_table_add(readers->gone, name);
        g_queue_push_tail(&readers->gone_order, name);
        if (readers->gone_order.length > GONE_MAX)
                g_hash_table_remove(readers->gone, g_queue_pop_head(&readers->gone_order));
}

/* Handles waiting calls again from the start. */
static void readmit_all(AldReaders *readers, GQueue *queue, unsigned *total)
{
        for (GList *l = queue->head; l; l = l->next) {
                const Waiting *waiting = l->data;
                int r = sd_bus_enqueue_for_read(readers->service->bus, waiting->call);

                if (r < 0)
                        g_warning("Cannot resume a call: %s", g_strerror(-r));
        }
        clear_waiting(queue, total);
}

static int ask_about(AldReaders *readers, const char *name, sd_bus_slot **slot,
        sd_bus_message_handler_t callback, void *userdata)
{
        return sd_bus_call_method_async(readers->service->bus, slot, "org.freedesktop.DBus",
                "/org/freedesktop/DBus", "org.freedesktop.DBus.Debug.Stats", "GetConnectionStats", callback,
                userdata, "s", name);
}

static int read_stats(sd_bus_message *reply, const char *wanted, uint32_t *ret)
{
        const char *name;
        int r;

        r = sd_bus_message_enter_container(reply, 'a', "{sv}");
        while (r >= 0 && (r = sd_bus_message_enter_container(reply, 'e', "sv")) > 0) {
                r = sd_bus_message_read(reply, "s", &name);
                if (r >= 0 && g_str_equal(name, wanted))
                        return sd_bus_message_read(reply, "v", "u", ret);
                if (r >= 0)
                        r = sd_bus_message_skip(reply, "v");
                if (r >= 0)
                        r = sd_bus_message_exit_container(reply);
        }
        return r < 0 ? r : -ENODATA;
}

/* Stops accounting on a bus that does not report unread messages, and lets all waiting calls continue. */
static void stop_asking(AldReaders *readers, const sd_bus_error *failure)
{
        GHashTableIter iter;
        gpointer user;

        if (readers->unanswered)
                return;
        readers->unanswered = true;
        readers->paused = false;
        if (sd_bus_error_has_name(failure, SD_BUS_ERROR_ACCESS_DENIED))
                g_message("Not permitted to ask the bus how much clients leave unread: %s", failure->message);
        else
                g_debug("The bus does not report how much clients leave unread: %s",
                        failure && failure->message ? failure->message : "not supported");
        g_hash_table_iter_init(&iter, readers->users);
        while (g_hash_table_iter_next(&iter, NULL, &user))
                readmit_all(readers, &((User *) user)->waiting, &readers->waiting);
}

/* Returns the size to assume for a reply unless its handler reports more. */
static size_t least_size(sd_bus_message *call)
{
        const char *interface = sd_bus_message_get_interface(call);

        if (sd_bus_message_get_expect_reply(call) == 0)
                return 0;
        if (g_strcmp0(interface, "org.freedesktop.DBus.Properties") == 0)
                return PROPERTIES_SIZE;
        if (g_strcmp0(interface, "org.freedesktop.DBus.Introspectable") == 0)
                return INTROSPECTION_SIZE;
        return REPLY_SIZE;
}

/* Returns the expected size of a reply: the size of the last one of this method, but no less than above. */
static size_t expected_size(AldReaders *readers, sd_bus_message *call)
{
        gpointer size = g_hash_table_lookup(readers->sizes, sd_bus_message_get_member(call));
        size_t least = least_size(call);

        return least == 0 ? 0 : MAX(least, GPOINTER_TO_SIZE(size));
}

/* Returns whether a reply fits the limit of all users. Root is limited only by what it leaves unread itself.
 */
static bool fits_all(const User *user, size_t size)
{
        const AldReaders *readers = user->readers;

        if (user->uid == 0)
                return true;
        if (user->unread <= UNREAD_SLACK && size <= INTROSPECTION_SIZE)
                return readers->unread + size <= ALD_UNREAD_MAX + SMALL_RESERVE;
        return readers->unread + size <= ALD_UNREAD_MAX;
}

static bool fits_limits(const User *user, size_t size)
{
        if (user->readers->unanswered || size == 0)
                return true;
        if (user->unread > UNREAD_SLACK && user->unread + size > ALD_UNREAD_PER_USER_MAX)
                return false;
        return fits_all(user, size);
}

static gint64 next_round(const User *user)
{
        if (user->reads)
                return 0;
        return user->asked +
               ROUND_USEC * (1 + g_queue_get_length((GQueue *) &user->connections) / CONNECTIONS_PER_ROUND);
}

static int refuse_call(User *user, sd_bus_message *call, sd_bus_error *error)
{
        bool alone = user->unread > UNREAD_SLACK;
        g_autofree char *size = ald_format_figure(
                &ald_unit_bytes, (double) (alone ? user->unread : user->readers->unread));
        gint64 now = g_get_monotonic_time();
        int r;

        r = sd_bus_error_setf(error, SD_BUS_ERROR_LIMITS_EXCEEDED,
                alone ? "User %u has %s of unread messages; read them first"
                      : "User %u and others have %s of unread messages; try again later",
                (unsigned) user->uid, size);
        user->refusals += REFUSAL_SIZE;
        if (user->logged == 0 || now >= user->logged + LOG_USEC) {
                user->logged = now;
                g_message("Refused %s() from %s: %s", sd_bus_message_get_member(call),
                        sd_bus_message_get_sender(call), error->message);
        }
        return r;
}

/* Returns when to check the waiting calls again. */
static gint64 next_check(const User *user)
{
        const Waiting *first = g_queue_peek_head((GQueue *) &user->waiting);

        if (!first)
                return ALD_TIMER_NEVER;
        return user->asking == 0 ? next_round(user) : first->since + UNANSWERED_USEC;
}

static void set_timer(AldReaders *readers)
{
        gint64 due = ALD_TIMER_NEVER;
        GHashTableIter iter;
        gpointer value;

        g_hash_table_iter_init(&iter, readers->users);
        while (g_hash_table_iter_next(&iter, NULL, &value))
                due = MIN(due, next_check(value));
        ald_timer_set(readers->timer, due);
}

/* Resumes calls that fit now, and refuses those that have waited too long. */
static void check_waiting(User *user)
{
        gint64 timeout = user->asking == 0 ? TIMEOUT_USEC : UNANSWERED_USEC;
        gint64 now = g_get_monotonic_time();
        const Waiting *first;

        while ((first = g_queue_peek_head(&user->waiting))) {
                sd_bus_error error = SD_BUS_ERROR_NULL;

                if (user->asking == 0 && fits_limits(user, expected_size(user->readers, first->call))) {
                        readmit_all(user->readers, &user->waiting, &user->readers->waiting);
                        return;
                }
                if (now - first->since < timeout)
                        return;
                (void) refuse_call(user, first->call, &error);
                (void) sd_bus_reply_method_error(first->call, &error);
                sd_bus_error_free(&error);
                waiting_free(g_queue_pop_head(&user->waiting));
                user->readers->waiting--;
        }
}

static int on_stats(sd_bus_message *reply, void *userdata, sd_bus_error *error)
{
        Connection *connection = userdata;
        const sd_bus_error *failure = sd_bus_message_get_error(reply);
        AldReaders *readers = connection->readers;
        User *user = connection->user;
        uint32_t held;
        int r;

        connection->stats_query = sd_bus_slot_unref(connection->stats_query);
        user->asking--;
        if (sd_bus_error_has_name(failure, SD_BUS_ERROR_NAME_HAS_NO_OWNER)) {
                connection_gone(connection);
        } else if (failure || (r = read_stats(reply, "OutgoingBytes", &held)) < 0) {
                stop_asking(readers, failure);
                return 0;
        } else {
                /* Messages of other senders are not ours to count. */
                set_unread(connection,
                        MIN(held, connection->unread - connection->since_ask) + connection->since_ask);
        }
        if (user->unread <= UNREAD_SLACK)
                user->refusals = 0;
        if (user->asking == 0) {
                user->reads = user->unread <= UNREAD_SLACK;
                check_waiting(user);
                set_timer(readers);
        }
        return 0;
}

static void ask_about_user(User *user)
{
        gint64 now = g_get_monotonic_time();

        if (user->asking > 0 || user->readers->unanswered || now < next_round(user))
                return;
        user->asked = now;
        user->reads = false; /* unless the replies show otherwise */
        for (GList *l = user->connections.head; l; l = l->next) {
                Connection *connection = l->data;

                if (connection->unread == 0)
                        continue;
                if (ask_about(user->readers, connection->name, &connection->stats_query, on_stats,
                            connection) < 0)
                        continue;
                connection->since_ask = 0;
                user->asking++;
        }
}

/* Asks about this user, and also about all others unless the user alone leaves too much unread, since the
 * others may have read meanwhile. */
static void ask_about_all(User *user, size_t size)
{
        GHashTableIter iter;
        gpointer other;

        ask_about_user(user);
        if (fits_all(user, size))
                return;
        g_hash_table_iter_init(&iter, user->readers->users);
        while (g_hash_table_iter_next(&iter, NULL, &other))
                ask_about_user(other);
}

static void on_timer(void *userdata)
{
        AldReaders *readers = userdata;
        GHashTableIter iter;
        gpointer value;

        g_hash_table_iter_init(&iter, readers->users);
        while (g_hash_table_iter_next(&iter, NULL, &value)) {
                User *user = value;
                const Waiting *first = g_queue_peek_head(&user->waiting);

                if (!first)
                        continue;
                ask_about_all(user, expected_size(readers, first->call));
                check_waiting(user);
        }
        set_timer(readers);
}

static gboolean is_idle(gpointer name, gpointer data, gpointer userdata)
{
        const Connection *connection = data;

        return connection->unread == 0 && !connection->uid_query && !connection->stats_query;
}

static gboolean is_unused(gpointer uid, gpointer data, gpointer userdata)
{
        const User *user = data;

        return user != user->readers->unknown && user->connections.length == 0 && user->waiting.length == 0;
}

static void join_user(Connection *connection, User *user)
{
        connection->user = user;
        connection->place.data = connection;
        g_queue_push_tail_link(&user->connections, &connection->place);
        user->unread += connection->unread;
}

static void leave_user(Connection *connection)
{
        g_queue_unlink(&connection->user->connections, &connection->place);
        connection->user->unread -= connection->unread;
        if (connection->stats_query)
                connection->user->asking--;
        connection->stats_query = sd_bus_slot_unref(connection->stats_query);
}

static int on_uid(sd_bus_message *reply, void *userdata, sd_bus_error *error)
{
        Connection *connection = userdata;
        AldReaders *readers = connection->readers;
        const sd_bus_error *failure = sd_bus_message_get_error(reply);
        uint32_t uid;
        int r;

        connection->uid_query = sd_bus_slot_unref(connection->uid_query);
        if (sd_bus_error_has_name(failure, SD_BUS_ERROR_NAME_HAS_NO_OWNER)) {
                connection_gone(connection);
                return 0;
        }
        r = failure ? -sd_bus_message_get_errno(reply) : sd_bus_message_read(reply, "u", &uid);
        if (r < 0) {
                /* It shares the limits of all connections whose user is unknown, and is not asked about
                 * again. */
                g_debug("The bus does not name the user of %s: %s", connection->name, g_strerror(-r));
        } else {
                leave_user(connection);
                join_user(connection, find_user(readers, uid));
        }
        readmit_all(readers, &connection->calls, &readers->unnamed);
        return 0;
}

/* Returns the connection, new if it is not known yet. NULL if it has left the bus. */
static Connection *find_connection(AldReaders *readers, const char *name)
{
        Connection *connection = g_hash_table_lookup(readers->connections, name);

        if (connection || g_hash_table_contains(readers->gone, name))
                return connection;
        if (g_hash_table_size(readers->connections) >= CONNECTIONS_MAX) {
                g_hash_table_foreach_remove(readers->connections, is_idle, NULL);
                g_hash_table_foreach_remove(readers->users, is_unused, NULL);
        }
        connection = g_new0(Connection, 1);
        connection->readers = readers;
        connection->name = g_strdup(name);
        g_queue_init(&connection->calls);
        join_user(connection, readers->unknown);
        g_hash_table_insert(readers->connections, connection->name, connection);
        (void) sd_bus_call_method_async(readers->service->bus, &connection->uid_query, "org.freedesktop.DBus",
                "/org/freedesktop/DBus", "org.freedesktop.DBus", "GetConnectionUnixUser", on_uid, connection,
                "s", name);
        return connection;
}

/* Returns whether the arguments are few and short, so that the call can be kept for a while. */
static bool is_small(sd_bus_message *call)
{
        const char *contents;
        char type;
        int r;

        while ((r = sd_bus_message_peek_type(call, &type, &contents)) > 0) {
                union {
                        uint64_t number;
                        const char *text;
                } value;

                if (!strchr("ybnqiuxtdsog", type) || sd_bus_message_read_basic(call, type, &value) < 0 ||
                        (strchr("sog", type) && strnlen(value.text, ARGUMENT_MAX) == ARGUMENT_MAX))
                        return false;
        }
        return r == 0 && sd_bus_message_rewind(call, true) >= 0;
}

static void push_waiting(GQueue *queue, unsigned *total, sd_bus_message *call)
{
        Waiting *waiting = g_new(Waiting, 1);

        *waiting = (Waiting){ sd_bus_message_ref(call), g_get_monotonic_time() };
        g_queue_push_tail(queue, waiting);
        ++*total;
}

static int refuse_unnamed(Connection *connection, sd_bus_error *error)
{
        add_unread(connection, REFUSAL_SIZE);
        return sd_bus_error_set(error, SD_BUS_ERROR_LIMITS_EXCEEDED,
                "Too many calls at once from connections whose users are not known yet; try again");
}

/* Makes room by refusing the latest call of the connection with the most calls, so that a client with many
 * calls at once takes no place from others. Returns false if this connection has as many itself. */
static bool make_room(const Connection *connection)
{
        sd_bus_error error = SD_BUS_ERROR_NULL;
        Connection *most = NULL;
        GHashTableIter iter;
        gpointer value;
        Waiting *last;

        g_hash_table_iter_init(&iter, connection->readers->connections);
        while (g_hash_table_iter_next(&iter, NULL, &value))
                if (!most || ((Connection *) value)->calls.length > most->calls.length)
                        most = value;
        if (!most || most->calls.length <= connection->calls.length + 1)
                return false;
        last = g_queue_pop_tail(&most->calls);
        most->readers->unnamed--;
        (void) refuse_unnamed(most, &error);
        (void) sd_bus_reply_method_error(last->call, &error);
        sd_bus_error_free(&error);
        waiting_free(last);
        return true;
}

/* Drops a call without an answer that a client would see. The bus keeps a list of unanswered calls and
 * searches it at each call of any client. Our policy denies this answer only after the bus has removed the
 * call from that list, so neither remains. */
static int drop_call(AldReaders *readers, sd_bus_message *call)
{
        sd_bus_error error = SD_BUS_ERROR_MAKE_CONST(ERROR_DROPPED, "");

        if (readers->drops < DROPS_AHEAD && sd_bus_reply_method_error(call, &error) > 0)
                readers->drops++;
        return 1;
}

static int on_message(sd_bus_message *message, void *userdata, sd_bus_error *error)
{
        AldReaders *readers = userdata;
        const char *sender = sd_bus_message_get_sender(message);
        Connection *connection;
        size_t size;
        User *user;

        if (readers->drops > 0 && sd_bus_message_is_method_error(message, SD_BUS_ERROR_ACCESS_DENIED) > 0 &&
                g_strcmp0(sender, "org.freedesktop.DBus") == 0)
                readers->drops--;
        if (!sender || sd_bus_message_is_method_call(message, NULL, NULL) <= 0 ||
                g_strcmp0(sender, readers->exempt) == 0)
                return 0;
        connection = find_connection(readers, sender);
        if (!connection)
                return 1; /* nobody waits for a reply */
        user = connection->user;
        if (connection->uid_query && is_small(message)) {
                if (readers->unnamed >= WAITING_MAX && !make_room(connection))
                        return refuse_unnamed(connection, error);
                push_waiting(&connection->calls, &readers->unnamed, message);
                return 1;
        }
        size = expected_size(readers, message);
        if (fits_limits(user, size)) {
                add_unread(connection, least_size(message));
                if (user->unread > ASK_UNREAD)
                        ask_about_user(user);
                return 0;
        }
        if (readers->waiting < WAITING_MAX && user->waiting.length < WAITING_PER_USER_MAX &&
                is_small(message)) {
                push_waiting(&user->waiting, &readers->waiting, message);
                ask_about_all(user, size);
                set_timer(readers);
                return 1;
        }
        if (user->refusals >= REFUSALS_MAX)
                return drop_call(readers, message);
        add_unread(connection, REFUSAL_SIZE);
        return refuse_call(user, message, error);
}

/* Updates the broadcasts that are unread: the messages of ours that the bus holds beyond replies and signals
 * to single connections. */
static int on_own_stats(sd_bus_message *reply, void *userdata, sd_bus_error *error)
{
        AldReaders *readers = userdata;
        const sd_bus_error *failure = sd_bus_message_get_error(reply);
        bool was_paused = readers->paused;
        uint32_t held;

        readers->own_query = sd_bus_slot_unref(readers->own_query);
        if (failure || read_stats(reply, "IncomingBytes", &held) < 0) {
                stop_asking(readers, failure);
                return 0;
        }
        readers->broadcast = readers->since_ask;
        readers->paused = held > HELD_MAX || held > readers->unread + ALD_UNREAD_BROADCASTS_MAX;
        if (readers->paused && !was_paused) {
                g_autofree char *size = ald_format_figure(&ald_unit_bytes, held);

                g_message("Not broadcasting signals while clients leave %s unread", size);
        }
        return 0;
}

static void ask_about_broadcasts(AldReaders *readers)
{
        const char *own;

        if (readers->own_query || readers->unanswered)
                return;
        readers->since_ask = 0;
        readers->asked = g_get_monotonic_time();
        if (sd_bus_get_unique_name(readers->service->bus, &own) < 0 ||
                ask_about(readers, own, &readers->own_query, on_own_stats, readers) < 0)
                readers->unanswered = true; /* a connection without a bus in between */
}

void ald_service_note_broadcast(AldService *service, size_t bytes)
{
        AldReaders *readers = service->readers;

        if (!readers)
                return;
        readers->broadcast += bytes;
        readers->since_ask += bytes;
        if (readers->broadcast >= BROADCASTS_ASK)
                ask_about_broadcasts(readers);
}

bool ald_service_may_broadcast(AldService *service)
{
        AldReaders *readers = service->readers;

        if (!readers || readers->unanswered)
                return true;
        if (readers->paused && g_get_monotonic_time() >= readers->asked + BROADCASTS_RETRY_USEC)
                ask_about_broadcasts(readers);
        return !readers->paused && readers->broadcast < BROADCASTS_AHEAD;
}

void ald_service_note_reply(AldService *service, sd_bus_message *call, size_t bytes)
{
        const char *sender = sd_bus_message_get_sender(call), *member = sd_bus_message_get_member(call);
        AldReaders *readers = service->readers;
        Connection *connection;

        if (!readers || !sender || readers->unanswered || g_strcmp0(sender, readers->exempt) == 0)
                return;
        connection = find_connection(readers, sender);
        if (connection)
                add_unread(connection, bytes);
        g_hash_table_insert(readers->sizes, g_strdup(member), GSIZE_TO_POINTER(bytes));
}

void ald_service_note_directed(AldService *service, const char *name, size_t bytes)
{
        AldReaders *readers = service->readers;
        Connection *connection;

        if (!readers || readers->unanswered || g_strcmp0(name, readers->exempt) == 0)
                return;
        connection = find_connection(readers, name);
        if (connection)
                add_unread(connection, bytes);
}

bool ald_service_is_reading(AldService *service, const char *name)
{
        AldReaders *readers = service->readers;
        Connection *connection;

        if (!readers || readers->unanswered)
                return true;
        connection = find_connection(readers, name);
        if (!connection)
                return true; /* the signal goes nowhere, and its subscription ends */
        if (connection->unread <= ALD_UNREAD_SIGNALS_MAX &&
                connection->user->unread <= ALD_UNREAD_PER_USER_MAX && fits_all(connection->user, REPLY_SIZE))
                return true;
        ask_about_all(connection->user, REPLY_SIZE);
        return false;
}

void ald_service_exempt_reader(AldService *service, const char *name)
{
        if (service->readers) {
                g_free(service->readers->exempt);
                service->readers->exempt = g_strdup(name);
        }
}

int ald_service_sender_uid(AldService *service, sd_bus_message *call, uid_t *ret)
{
        const char *sender = sd_bus_message_get_sender(call);
        const Connection *connection;

        if (!service->readers || !sender)
                return -ENODATA;
        connection = find_connection(service->readers, sender);
        if (!connection || connection->user == service->readers->unknown)
                return -ENODATA;
        *ret = connection->user->uid;
        return 0;
}

int ald_readers_new(AldService *service, AldReaders **ret)
{
        g_autoptr(AldReaders) readers = g_new0(AldReaders, 1);
        int r;

        readers->service = service;
        readers->unknown = user_new(readers, (uid_t) -1);
        readers->users = g_hash_table_new_full(NULL, NULL, NULL, user_free);
        g_hash_table_insert(readers->users, GUINT_TO_POINTER((uid_t) -1), readers->unknown);
        readers->connections = g_hash_table_new_full(g_str_hash, g_str_equal, NULL, connection_free);
        readers->sizes = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
        readers->gone = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
        g_queue_init(&readers->gone_order);
        readers->timer = ald_timer_new("readers", on_timer, readers);
        r = sd_bus_add_filter(service->bus, &readers->filter, on_message, readers);
        if (r < 0)
                return r;
        *ret = g_steal_pointer(&readers);
        return 0;
}

void ald_readers_free(AldReaders *readers)
{
        if (!readers)
                return;
        sd_bus_slot_unref(readers->filter);
        sd_bus_slot_unref(readers->own_query);
        ald_timer_free(readers->timer);
        g_hash_table_unref(readers->connections);
        g_hash_table_unref(readers->users);
        g_hash_table_unref(readers->sizes);
        g_hash_table_unref(readers->gone);
        g_queue_clear(&readers->gone_order);
        g_free(readers->exempt);
        g_free(readers);
}
