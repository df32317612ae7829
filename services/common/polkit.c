/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "services/common/polkit.h"
#include "services/common/service-private.h"

/* The user may be typing a password. */
#define POLKIT_TIMEOUT_USEC (UINT64_C(180) * 1000 * 1000)

/* Limits of pending queries, in total and for one user, who may have many connections. */
#define QUERIES_MAX 64u
#define QUERIES_PER_USER_MAX 8u

typedef enum QueryState {
        QUERY_PENDING,
        QUERY_ALLOWED,
        QUERY_REFUSED,
        QUERY_CHALLENGED, /* would be allowed after authentication */
        QUERY_FAILED,     /* polkit did not answer */
} QueryState;

typedef struct Query {
        AldService *service;
        sd_bus_message *message;
        uid_t uid; /* of its sender */
        sd_bus_message_handler_t handler;
        void *userdata;
        char *action;
        sd_bus_slot *slot;
        QueryState state;
        char *failure;
} Query;

static void query_free(Query *query)
{
        sd_bus_slot_unref(query->slot);
        sd_bus_message_unref(query->message);
        g_free(query->action);
        g_free(query->failure);
        g_free(query);
}

void ald_polkit_forget_all(AldService *service)
{
        g_list_free_full(g_steal_pointer(&service->polkit_queries), (GDestroyNotify) query_free);
}

static QueryState read_answer(Query *query, sd_bus_message *reply)
{
        const sd_bus_error *error = sd_bus_message_get_error(reply);
        int allowed, challenge, r;

        if (error) {
                query->failure = g_strdup(error->message);
                return QUERY_FAILED;
        }
        r = sd_bus_message_enter_container(reply, 'r', "bba{ss}");
        if (r >= 0)
                r = sd_bus_message_read(reply, "bb", &allowed, &challenge);
        if (r < 0) {
                query->failure = g_strdup("its answer is invalid");
                return QUERY_FAILED;
        }
        return allowed ? QUERY_ALLOWED : challenge ? QUERY_CHALLENGED : QUERY_REFUSED;
}

/* Runs the method again from its start, now that polkit has answered. */
static int on_answer(sd_bus_message *reply, void *userdata, sd_bus_error *unused)
{
        Query *query = userdata;
        sd_bus_error error = SD_BUS_ERROR_NULL;
        int r;

        query->state = read_answer(query, reply);
        r = sd_bus_message_rewind(query->message, true);
        if (r >= 0)
                r = query->handler(query->message, query->userdata, &error);
        if (r < 0 || sd_bus_error_is_set(&error))
                sd_bus_reply_method_errno(query->message, r, &error);
        sd_bus_error_free(&error);
        query->service->polkit_queries = g_list_remove(query->service->polkit_queries, query);
        query_free(query);
        return 0;
}

static int send_query(Query *query)
{
        g_autoptr(AldMessage) call = NULL;
        sd_bus *bus = query->service->bus;
        int interactive = sd_bus_message_get_allow_interactive_authorization(query->message);
        int r;

        r = sd_bus_message_new_method_call(bus, &call, "org.freedesktop.PolicyKit1",
                "/org/freedesktop/PolicyKit1/Authority", "org.freedesktop.PolicyKit1.Authority",
                "CheckAuthorization");
        if (r < 0)
                return r;
        r = sd_bus_message_append(call, "(sa{sv})sa{ss}us", "system-bus-name", 1, "name", "s",
                sd_bus_message_get_sender(query->message), query->action, 0, (uint32_t) (interactive > 0),
                "");
        if (r < 0)
                return r;
        return sd_bus_call_async(bus, &query->slot, call, on_answer, query, POLKIT_TIMEOUT_USEC);
}

static Query *find_query(AldService *service, sd_bus_message *message)
{
        for (GList *l = service->polkit_queries; l; l = l->next) {
                Query *query = l->data;

                if (query->message == message)
                        return query;
        }
        return NULL;
}

static bool has_too_many_queries(AldService *service, uid_t uid)
{
        unsigned all = 0, of_user = 0;

        for (GList *l = service->polkit_queries; l; l = l->next) {
                const Query *query = l->data;

                all++;
                of_user += query->uid == uid;
        }
        return all >= QUERIES_MAX || of_user >= QUERIES_PER_USER_MAX;
}

static int start_query(AldService *service, sd_bus_message *message, uid_t uid, const char *action,
        sd_bus_message_handler_t handler, void *userdata, sd_bus_error *error)
{
        Query *query;
        int r;

        if (has_too_many_queries(service, uid))
                return sd_bus_error_set(
                        error, SD_BUS_ERROR_LIMITS_EXCEEDED, "Too many polkit checks are pending");

        query = g_new0(Query, 1);
        query->service = service;
        query->message = sd_bus_message_ref(message);
        query->uid = uid;
        query->handler = handler;
        query->userdata = userdata;
        query->action = g_strdup(action);
        r = send_query(query);
        if (r < 0) {
                query_free(query);
                return sd_bus_error_setf(
                        error, SD_BUS_ERROR_ACCESS_DENIED, "Cannot ask polkit about %s", action);
        }
        service->polkit_queries = g_list_prepend(service->polkit_queries, query);
        return 0;
}

static int report_answer(const Query *query, sd_bus_error *error)
{
        switch (query->state) {
        case QUERY_PENDING:
                g_assert_not_reached();
        case QUERY_ALLOWED:
                return 1;
        case QUERY_REFUSED:
                return sd_bus_error_setf(error, SD_BUS_ERROR_ACCESS_DENIED, "Not allowed: %s", query->action);
        case QUERY_CHALLENGED:
                return sd_bus_error_setf(error, SD_BUS_ERROR_INTERACTIVE_AUTHORIZATION_REQUIRED,
                        "%s needs authentication", query->action);
        case QUERY_FAILED:
                return sd_bus_error_setf(error, SD_BUS_ERROR_ACCESS_DENIED,
                        "Not allowed: cannot ask polkit about %s: %s", query->action, query->failure);
        }
        g_assert_not_reached();
}

static int uid_of_sender(sd_bus_message *message, uid_t *ret)
{
        g_autoptr(AldCreds) creds = NULL;
        int r;

        r = sd_bus_query_sender_creds(message, SD_BUS_CREDS_EUID, &creds);
        return r < 0 ? r : sd_bus_creds_get_euid(creds, ret);
}

int ald_polkit_authorize(AldService *service, sd_bus_message *message, const char *action,
        sd_bus_message_handler_t handler, void *userdata, sd_bus_error *error)
{
        Query *query = find_query(service, message);
        uid_t uid;
        int r;

        if (query) {
                /* The answer for one action does not apply to another. */
                g_assert(g_str_equal(query->action, action));
                return report_answer(query, error);
        }
        r = uid_of_sender(message, &uid);
        if (r < 0)
                return sd_bus_error_set(
                        error, SD_BUS_ERROR_ACCESS_DENIED, "Cannot determine the caller's credentials");
        if (uid == 0)
                return 1;
        return start_query(service, message, uid, action, handler, userdata, error);
}
