/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

#include <glib.h>

#include "record/figure-text.h"
#include "services/common/errors.h"
#include "services/link-probe/compute/compute-prober.h"
#include "services/link-probe/probe/descendants.h"
#include "services/link-probe/probe/probe-child.h"

/* The program stops its children and exits; if it does not, it is killed. */
#define END_MSEC 1000u

struct AldComputeProber {
        void (*changed)(void *userdata);
        void *userdata;

        AldProbeTarget target;
        AldProbeChild *child; /* NULL: nothing is measured */
        const AldComputeHandler *handler;
        void *handler_userdata;
        char *reason; /* why it was ended, if it was */
        gint64 ended; /* and when, in µs */
        bool free;    /* and its device since */
        AldDescendants *rest;
        AldProbeAnswer answer; /* kept after the exit of the program, until its children have exited */
        uint64_t time_to_free;
};

AldComputeProber *ald_compute_prober_new(void (*changed)(void *userdata), void *userdata)
{
        AldComputeProber *prober = g_new0(AldComputeProber, 1);

        prober->changed = changed;
        prober->userdata = userdata;
        prober->time_to_free = ALD_ABSENT_UINT64;
        return prober;
}

static void clear(AldComputeProber *prober)
{
        g_clear_pointer(&prober->child, ald_probe_child_free);
        g_clear_pointer(&prober->rest, ald_descendants_free);
        g_clear_pointer(&prober->reason, g_free);
        ald_probe_answer_clear(&prober->answer);
        ald_probe_target_clear(&prober->target);
}

void ald_compute_prober_free(AldComputeProber *prober)
{
        if (!prober)
                return;
        clear(prober);
        g_free(prober);
}

static void on_line(const char *line, void *userdata)
{
        const AldComputeProber *prober = userdata;
        g_autofree char *phase = NULL;
        double fraction;

        if (!prober->reason &&
                prober->target.kind->read_progress(line, &prober->target, &phase, &fraction) >= 0)
                prober->handler->progress(phase, fraction, prober->handler_userdata);
}

/* The program itself does not use a device; if its children are unknown, its own exit counts. */
static void note_free(AldComputeProber *prober)
{
        if (!prober->free)
                prober->time_to_free = (uint64_t) (g_get_monotonic_time() - prober->ended);
        prober->free = true;
}

/* A stopped measurement has no result. */
static void note_end(AldComputeProber *prober)
{
        g_autofree char *duration = NULL;

        note_free(prober);
        duration = ald_format_duration((double) prober->time_to_free);
        ald_probe_answer_clear(&prober->answer);
        prober->answer.verdict = ALD_PROBE_LATER;
        prober->answer.reason = g_strdup_printf("%s; the device was free after %s", prober->reason, duration);
        g_message("Stopped measuring %s: %s", prober->target.device, prober->answer.reason);
}

/* The callback may start the next one at once. */
static void finish(AldComputeProber *prober)
{
        const AldComputeHandler *handler = prober->handler;
        void *userdata = prober->handler_userdata;
        AldProbeTarget target = prober->target;
        g_auto(AldProbeAnswer) answer = { 0 };

        if (prober->reason)
                note_end(prober);
        answer = prober->answer;
        prober->answer = (AldProbeAnswer){ 0 };
        prober->target = (AldProbeTarget){ 0 };
        clear(prober);
        prober->changed(prober->userdata);
        handler->ended(&target, &answer, userdata);
        ald_probe_target_clear(&target);
}

static void on_rest_gone(void *userdata)
{
        AldComputeProber *prober = userdata;

        note_free(prober);
        if (!prober->child)
                finish(prober);
}

static void on_ended(const char *output, const char *failure, void *userdata)
{
        AldComputeProber *prober = userdata;

        prober->target.kind->read(output, failure, &prober->target, &prober->answer);
        g_clear_pointer(&prober->child, ald_probe_child_free);
        if (!prober->rest || ald_descendants_are_gone(prober->rest))
                finish(prober);
}

int ald_compute_prober_start(AldComputeProber *prober, const AldProbeTarget *target,
        const AldComputeHandler *handler, void *userdata)
{
        static const AldProbeChildHandler child_handler = { .line = on_line, .ended = on_ended };
        const AldProbeKind *kind = target->kind;
        g_autofree char *program = ald_program_find(kind->program);
        g_autoptr(GPtrArray) arguments = NULL;
        int r;

        if (prober->target.device)
                return -ALD_E_BUSY;
        arguments = kind->make_arguments(NULL, target);
        g_ptr_array_add(arguments, NULL);
        r = ald_probe_child_new(program, (const char *const *) arguments->pdata, -1, kind->deadline_msec,
                &child_handler, prober, &prober->child);
        if (r < 0) {
                g_warning("Cannot run %s: %s", program, g_strerror(-r));
                return r;
        }
        prober->handler = handler;
        prober->handler_userdata = userdata;
        prober->target = ald_probe_target_copy(target);
        prober->changed(prober->userdata);
        return 0;
}

void ald_compute_prober_end(AldComputeProber *prober, const char *reason)
{
        pid_t pid;

        if (!prober->child || prober->reason)
                return;
        prober->reason = g_strdup(reason);
        prober->ended = g_get_monotonic_time();
        prober->free = false;
        pid = ald_probe_child_pid(prober->child);
        prober->rest = ald_descendants_new(pid, on_rest_gone, prober);
        /* The program first, so that it does not take the exit of its children for a crash. */
        (void) kill(pid, SIGTERM);
        ald_descendants_kill(prober->rest);
        ald_probe_child_set_deadline(prober->child, END_MSEC);
}

const char *ald_compute_prober_device(const AldComputeProber *prober)
{
        return prober->target.device;
}

uint64_t ald_compute_prober_time_to_free(const AldComputeProber *prober)
{
        return prober->time_to_free;
}
