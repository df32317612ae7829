/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* bench-model-head MODEL ROUNDS: the median of the milliseconds in which a model is read. */
#include <glib.h>
#include <stdio.h>
#include <stdlib.h>

#include "placement/model/model-file.h"

#define USEC_PER_MSEC 1e3

static int compare(const void *a, const void *b)
{
        gint64 left = *(const gint64 *) a, right = *(const gint64 *) b;

        return (left > right) - (left < right);
}

static gint64 read_usec(const char *path)
{
        gint64 begin = g_get_monotonic_time();
        g_autofree char *error = NULL;
        AldLlm *llm;

        if (ald_llm_read(path, &llm, &error) < 0)
                g_error("%s", error);
        ald_llm_free(llm);
        return g_get_monotonic_time() - begin;
}

int main(int argc, char **argv)
{
        int rounds = argc == 3 ? atoi(argv[2]) : 0;
        g_autofree gint64 *usec = NULL;

        if (rounds < 1)
                return EXIT_FAILURE;
        usec = g_new(gint64, rounds);
        for (int i = 0; i < rounds; i++)
                usec[i] = read_usec(argv[1]);
        qsort(usec, rounds, sizeof usec[0], compare);
        printf("%.2f\n", (double) usec[rounds / 2] / USEC_PER_MSEC);
        return EXIT_SUCCESS;
}
