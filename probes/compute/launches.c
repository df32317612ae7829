/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "probes/compute/launches.h"
#include "probes/common/clock.h"

static int queue(AldLaunches *launches, unsigned n, cl_event *ret)
{
        for (unsigned i = 0; i < n; i++) {
                int r = launches->launch(launches->userdata, i == n - 1 ? ret : NULL);

                if (r < 0)
                        return r;
        }
        launches->session->cl->Flush(launches->session->queue);
        return 0;
}

/* When the command ended by the clock of the device, 0 if unknown. */
static uint64_t ended(const AldCl *cl, cl_event event)
{
        cl_ulong end = 0;

        if (cl->GetEventProfilingInfo(event, CL_PROFILING_COMMAND_END, sizeof end, &end, NULL) != CL_SUCCESS)
                return 0;
        return end;
}

/*
 * A kernel that faults takes its context along, so that none can follow it in this process; drivers call that
 * a want of resources, or by numbers of their own.
 */
static int fail(AldLaunches *launches, cl_int code)
{
        if (code == CL_MEM_OBJECT_ALLOCATION_FAILURE || code == CL_OUT_OF_HOST_MEMORY)
                return ald_cl_fail(launches->failure, code, "running a kernel");
        return ald_fail(launches->failure, ALD_FAILURE_DEVICE_LOST, "running a kernel: %s (%d)",
                ald_cl_error_name(code), code);
}

/* Releases the event. */
static int await(AldLaunches *launches, cl_event event, AldSpan *ret)
{
        const AldCl *cl = launches->session->cl;
        cl_int code = cl->WaitForEvents(1, &event);
        uint64_t wall = ald_now(), end = ended(cl, event);

        cl->ReleaseEvent(event);
        if (code != CL_SUCCESS)
                return fail(launches, code);
        *ret = (AldSpan){ .wall = (double) (wall - launches->wall_nsec) / ALD_NSEC_PER_SEC };
        if (end > launches->event_nsec && launches->event_nsec > 0)
                ret->event = (double) (end - launches->event_nsec) / ALD_NSEC_PER_SEC;
        launches->wall_nsec = wall;
        launches->event_nsec = end;
        return 0;
}

int ald_launches_once(AldLaunches *launches, AldSpan *ret)
{
        cl_event event;
        int r;

        launches->wall_nsec = ald_now();
        launches->event_nsec = 0;
        r = queue(launches, 1, &event);
        if (r < 0)
                return r;
        r = await(launches, event, ret);
        if (r < 0)
                return r;
        ret->n = 1;
        return 0;
}

int ald_launches_next(AldLaunches *launches, unsigned n, AldSpan *ret)
{
        cl_event event, pending = launches->pending;
        unsigned n_pending = launches->n_pending;
        int r = queue(launches, n, &event);

        if (r < 0)
                return r;
        launches->pending = event;
        launches->n_pending = n;
        if (!pending) {
                *ret = (AldSpan){};
                return 0;
        }
        r = await(launches, pending, ret);
        if (r < 0)
                return r;
        ret->n = n_pending;
        return 0;
}

void ald_launches_end(AldLaunches *launches)
{
        launches->session->cl->Finish(launches->session->queue);
        if (launches->pending)
                launches->session->cl->ReleaseEvent(launches->pending);
        launches->pending = NULL;
        launches->n_pending = 0;
}
