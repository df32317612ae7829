/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "clients/command-line/command-session.h"
#include "clients/command-line/print.h"
#include "clients/common/finding-history.h"
#include "clients/common/node-summary.h"

#define CANDIDATES_SHOWN 10u
#define SETTLE_MSEC 2000
#define HISTORY_USEC (2 * G_USEC_PER_SEC) /* the history only adds to the state and must not delay it */
#define STARTUP_USEC \
        (3 * G_USEC_PER_SEC) /* services that just started need a moment for their first records */

static int report_lost_service(const sd_bus_error *error)
{
        if (!error) {
                ald_print_error("The state service disappeared");
                return ALD_EXIT_UNREACHABLE;
        }
        return ald_bus_print_error(error, "Cannot read from " ALD_STATE_NAME, ALD_STATE_UNIT);
}

/* Keeps the exit code, which is more precise than an errno. */
static int open_bus(sd_bus **ret, void *userdata)
{
        AldStateSession *session = userdata;

        session->open_code = ald_bus_open(session->ctl, ret);
        return session->open_code == ALD_EXIT_OK ? 0 : -ENOTCONN;
}

static int opening_exit_code(AldStateSession *session, int r)
{
        if (r >= 0)
                return ALD_EXIT_OK;
        if (session->open_code != ALD_EXIT_OK)
                return session->open_code;
        ald_print_error("Cannot start: %s", strerror(-r));
        return ALD_EXIT_ERROR;
}

int ald_session_resume(AldStateSession *session)
{
        return opening_exit_code(session, ald_state_client_resume(session->client));
}

void ald_session_pause(AldStateSession *session)
{
        ald_state_client_pause(session->client);
}

void ald_session_refresh(AldStateSession *session)
{
        AldFollow *follow = ald_state_client_follow(session->client);

        if (follow)
                ald_follow_refresh(follow);
}

static void destroy_source(void *source)
{
        g_source_destroy(source);
        g_source_unref(source);
}

int ald_session_open(AldStateSession *session, const AldCtl *ctl, bool subscribe,
        const AldFollowHandler *handler, void *userdata)
{
        const AldStateClientSetup setup = { .open = open_bus,
                .open_userdata = session,
                .handler = handler,
                .userdata = userdata,
                .subscribe = subscribe };

        session->ctl = ctl;
        session->loop = g_main_loop_new(NULL, FALSE);
        session->model = ald_model_new();
        if (ctl->host)
                ald_model_limit(session->model, ALD_MODEL_REMOTE_MAX);
        if (session->with_topology || session->with_edges)
                ald_model_add_topology(session->model, session->with_topology);
        session->sources = g_ptr_array_new_with_free_func(destroy_source);
        return opening_exit_code(session, ald_state_client_new(session->model, &setup, &session->client));
}

void ald_session_close(AldStateSession *session)
{
        g_clear_pointer(&session->sources, g_ptr_array_unref);
        g_clear_pointer(&session->client, ald_state_client_free);
        g_clear_pointer(&session->silences, g_ptr_array_unref);
        ald_own_holders_clear(&session->holders);
        g_clear_pointer(&session->model, ald_model_free);
        g_clear_pointer(&session->loop, g_main_loop_unref);
}

void ald_session_add_timer(AldStateSession *session, unsigned msec, GSourceFunc callback, void *userdata)
{
        GSource *source = g_timeout_source_new(msec);

        g_source_set_callback(source, callback, userdata, NULL);
        g_source_attach(source, NULL);
        g_ptr_array_add(session->sources, source);
}

int ald_session_run(AldStateSession *session)
{
        if (!session->ended)
                g_main_loop_run(session->loop);
        return session->exit_code;
}

void ald_session_exit(AldStateSession *session, int exit_code)
{
        if (session->ended)
                return;
        session->ended = true;
        session->exit_code = exit_code;
        g_main_loop_quit(session->loop);
}

void ald_session_fail(AldStateSession *session, const sd_bus_error *error)
{
        if (!session->ended)
                ald_session_exit(session, report_lost_service(error));
}

static gboolean on_waiting(void *userdata)
{
        AldStateSession *session = userdata;
        AldFollow *follow = ald_state_client_follow(session->client);

        if (follow && !ald_follow_in_step(follow))
                ald_print_error("Waiting for %s", ALD_STATE_NAME);
        return G_SOURCE_REMOVE;
}

void ald_session_announce_waiting(AldStateSession *session)
{
        ald_session_add_timer(session, ALD_NOTICE_USEC / 1000, on_waiting, session);
}

/* Returns true if this machine has sent the records that every machine has. */
static bool is_complete(AldModel *model, const AldEntity *own)
{
        const AldSystem *system = ald_entity_as(own, SYSTEM, AldSystem);

        return ald_entity_record(own, ALD_KIND_MEMORY) && ald_entity_record(own, ALD_KIND_NETWORK) &&
               system && isfinite(system->cpu_usage) &&
               ald_model_totals(model)->memory_total_bytes != ALD_ABSENT_UINT64;
}

/* Returns true if no further records are expected soon. */
static bool is_settled(AldModel *model)
{
        const AldEntity *own = ald_model_get(model, ald_model_node_id(model));
        const AldRecord *identity = ald_entity_record(own, ALD_KIND_IDENTITY);

        return identity && (is_complete(model, own) ||
                                   ald_now() - (double) identity->updated_usec > (double) STARTUP_USEC);
}

typedef struct Load {
        AldStateSession *session;
        bool settle;
} Load;

static void exit_when_settled(Load *load)
{
        if (ald_follow_in_step(ald_state_client_follow(load->session->client)) &&
                (!load->settle || is_settled(load->session->model)))
                ald_session_exit(load->session, ALD_EXIT_OK);
}

static gboolean on_settle_timeout(void *userdata)
{
        Load *load = userdata;

        ald_session_exit(load->session, ALD_EXIT_OK);
        return G_SOURCE_REMOVE;
}

static void on_synced(AldFollow *follow, void *userdata)
{
        Load *load = userdata;

        exit_when_settled(load);
        if (load->settle)
                ald_session_add_timer(load->session, SETTLE_MSEC, on_settle_timeout, load);
}

static void on_lost(AldFollow *follow, const sd_bus_error *error, void *userdata)
{
        Load *load = userdata;

        ald_session_fail(load->session, error);
}

static void on_changed(AldModel *model, const AldChange *change, void *userdata)
{
        exit_when_settled(userdata);
}

static uint64_t history_usec(const AldStateSession *session)
{
        gint64 left = session->end_usec - g_get_monotonic_time();

        return session->end_usec == 0 ? HISTORY_USEC : (uint64_t) CLAMP(left / 2, 1, (gint64) HISTORY_USEC);
}

int ald_session_load(AldStateSession *session, const AldCtl *ctl, bool settle)
{
        static const AldFollowHandler handler = { .synced = on_synced, .lost = on_lost };
        Load load = { .session = session, .settle = settle };
        int r;

        r = ald_session_open(session, ctl, false, &handler, &load);
        if (r != ALD_EXIT_OK)
                return r;
        ald_model_watch(session->model, on_changed, &load);
        ald_session_announce_waiting(session);
        r = ald_session_run(session);
        ald_model_watch(session->model, NULL, NULL);
        g_ptr_array_set_size(session->sources, 0);
        if (r == ALD_EXIT_OK && session->with_history)
                session->silences = ald_finding_history_join(
                        ald_state_client_bus(session->client), session->model, history_usec(session));
        if (r == ALD_EXIT_OK && session->with_holders)
                (void) ald_own_holders_read(ald_state_client_bus(session->client), &session->holders);
        ald_session_pause(session); /* the model keeps its contents */
        if (r == ALD_EXIT_OK && session->with_edges && ald_model_topology(session->model)->failure)
                ald_print_error(
                        "Cannot read the topology, so that paths that cannot be used are not marked: %s",
                        ald_model_topology(session->model)->failure);
        return r;
}

static void print_problem_of_node(AldModel *model, const char *what, int r, const GPtrArray *candidates)
{
        const char *closest = r == -ENOTUNIQ ? NULL : ald_model_closest_name(model, what);

        /* A name that looks like an id is the closest one to itself, but was not accepted as a name. */
        if (closest && strcmp(closest, what) != 0) {
                ald_print_error("No node is called \"%s\"; did you mean \"%s\"?", what, closest);
                return;
        }
        if (r != -ENOTUNIQ) {
                ald_print_error("No node is called \"%s\"", what);
                return;
        }
        /* Candidates that match only by their names come first. */
        ald_print_error(
                g_str_has_prefix(((const AldEntity *) candidates->pdata[candidates->len - 1])->id, what)
                        ? "Several nodes are called \"%s\" or have an id that begins with it; give more of "
                          "the id:"
                        : "Several nodes are called \"%s\"; give more of the id:",
                what);
        for (guint i = 0; i < MIN(candidates->len, CANDIDATES_SHOWN); i++) {
                const AldEntity *node = candidates->pdata[i];
                g_autofree char *label = ald_entity_label(node);

                ald_print_error("  %s %s", node->id, label);
        }
        if (candidates->len > CANDIDATES_SHOWN)
                ald_print_error("  and %u more", candidates->len - CANDIDATES_SHOWN);
}

int ald_session_find_node(AldStateSession *session, const char *what, const AldEntity **ret)
{
        g_autoptr(GPtrArray) candidates = g_ptr_array_new();
        int r;

        r = ald_model_find(session->model, what, ret, candidates);
        if (r >= 0)
                return ALD_EXIT_OK;
        print_problem_of_node(session->model, what, r, candidates);
        return ALD_EXIT_NO_NODE;
}

double ald_now(void)
{
        return (double) g_get_real_time();
}
