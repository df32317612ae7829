/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "clients/common/job-words.h"
#include "clients/common/probe-words.h"
#include "record/translate.h"

/* For a service that reports no paths. */
static GPtrArray *link_facts(const AldProbeWords *words, const char *subject, json_t *job)
{
        GPtrArray *rows = g_ptr_array_new_with_free_func((GDestroyNotify) g_ptr_array_unref);
        const json_t *result = json_object_get(job, "Result");
        json_auto_t *row = json_is_object(result) ? json_copy((json_t *) result) : json_object();
        g_auto(AldProbedPath) path = {};

        json_object_set(row, "Address", json_object_get(job, "Address"));
        ald_probed_path_read(&path, words->result, row);
        g_ptr_array_add(rows, ald_probed_path_facts(&path, subject));
        return rows;
}

static const char *const options[] = { "path", "rtt-only", NULL };
static const char *const locks[] = { "link", NULL };

const AldProbeWords ald_probe_words_socket = { .method = "ProbeLink",
        .options = options,
        .locks = locks,
        .title = "%s",
        .result = ALD_KIND_SOCKET_RESULT,
        .facts = link_facts };

const AldProbeWords ald_probe_words_rtt = { .method = "ProbeLink",
        .flag = "RttOnly",
        .options = options,
        .locks = locks,
        .title = N_("%s, round trips"),
        .result = ALD_KIND_SOCKET_RESULT,
        .facts = link_facts };

static const char *const rdma_options[] = { "port", "peer-port", NULL };
/* A lock on links is one on all kinds of them. */
static const char *const rdma_locks[] = { "link", "rdma", NULL };

const AldProbeWords ald_probe_words_rdma = { .method = "ProbeRdma",
        .options = rdma_options,
        .locks = rdma_locks,
        .title = N_("%s over RDMA"),
        .result = ALD_KIND_RDMA_RESULT,
        .facts = link_facts };
