/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "services/placement/state-reader.h"
#include "services/common/timer.h"
#include "services/placement/state-reading-bus.h"

#define TIME_MAX_USEC (20 * G_USEC_PER_SEC)

typedef struct StateQuestion {
        AldStateAnswer answer;
        void *userdata;
} StateQuestion;

struct AldStateReader {
        AldService *service;
        GArray *questions; /* of StateQuestion */
        AldModel *model;   /* while it is read, and until the questions have been answered */
        AldStateReading *reading;
        AldTimer *limit;
        guint answering; /* answers later, since a callback of the reading must not free it */
        char *reason;    /* why the state could not be read */
};

static void stop_reading(AldStateReader *reader)
{
        ald_timer_set(reader->limit, ALD_TIMER_NEVER);
        g_clear_pointer(&reader->reading, ald_state_reading_free);
        g_clear_pointer(&reader->model, ald_model_free);
}

static gboolean on_answer(gpointer userdata)
{
        AldStateReader *reader = userdata;
        g_autoptr(GArray) questions = g_steal_pointer(&reader->questions);
        g_autofree char *reason = g_strdup(reader->reason ?: ald_model_topology(reader->model)->failure);
        g_autoptr(AldModel) model = NULL;

        reader->answering = 0;
        reader->questions = g_array_new(false, false, sizeof(StateQuestion));
        g_clear_pointer(&reader->reason, g_free);
        g_clear_pointer(&reader->reading, ald_state_reading_free);
        model = g_steal_pointer(&reader->model);
        stop_reading(reader);
        for (guint i = 0; i < questions->len; i++) {
                const StateQuestion *question = &g_array_index(questions, StateQuestion, i);

                question->answer(reason ? NULL : model, reason, question->userdata);
        }
        return G_SOURCE_REMOVE;
}

static void answer_soon(const char *reason, void *userdata)
{
        AldStateReader *reader = userdata;

        if (reader->answering != 0)
                return;
        reader->reason = g_strdup(reason);
        reader->answering = g_idle_add_full(G_PRIORITY_DEFAULT, on_answer, reader, NULL);
}

static void on_limit(void *userdata)
{
        answer_soon("it does not answer", userdata);
}

AldStateReader *ald_state_reader_new(AldService *service)
{
        AldStateReader *reader = g_new(AldStateReader, 1);

        *reader = (AldStateReader){ .service = service,
                .questions = g_array_new(false, false, sizeof(StateQuestion)) };
        reader->limit = ald_timer_new("state-reader", on_limit, reader);
        return reader;
}

void ald_state_reader_free(AldStateReader *reader)
{
        if (!reader)
                return;
        stop_reading(reader);
        g_clear_handle_id(&reader->answering, g_source_remove);
        ald_timer_free(reader->limit);
        g_array_unref(reader->questions);
        g_free(reader->reason);
        g_free(reader);
}

static void begin_reading(AldStateReader *reader)
{
        int r;

        reader->model = ald_model_new();
        ald_model_add_topology(reader->model, false);
        r = ald_state_reading_new(reader->service, reader->model, answer_soon, reader, &reader->reading);
        if (r < 0)
                answer_soon(g_strerror(-r), reader);
        else
                ald_timer_set(reader->limit, g_get_monotonic_time() + TIME_MAX_USEC);
}

void ald_state_reader_request(AldStateReader *reader, AldStateAnswer answer, void *userdata)
{
        const StateQuestion question = { answer, userdata };

        g_array_append_val(reader->questions, question);
        if (!reader->model)
                begin_reading(reader);
}

void ald_state_reader_forget(AldStateReader *reader, void *userdata)
{
        for (guint i = reader->questions->len; i > 0; i--)
                if (g_array_index(reader->questions, StateQuestion, i - 1).userdata == userdata)
                        g_array_remove_index(reader->questions, i - 1);
}
