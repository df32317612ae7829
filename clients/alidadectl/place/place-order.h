/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "clients/command-line/ctl.h"
#include "clients/common/plan-order.h"
#include "record/schema.h"

/* The command line of `place`. */
typedef struct AldPlaceOrder {
        AldCtl ctl;
        const char *model; /* a file or folder; NULL: numbers are given instead */
        char *title;       /* of what is placed */
        char *note;        /* what else a person should know about it; NULL: nothing */
        char *choice;      /* why other engines were not chosen; NULL: there was no choice */
        AldLlm *llm;       /* from the file or folder, once it is read */
        AldPlanOrder order;
        AldPlanWorkload workload;
        AldPlanOptions options;
        GPtrArray *must, *without, *split; /* strings of the command line */
        char **words;                      /* of the command line that are not options */
} AldPlaceOrder;

void ald_place_order_init(AldPlaceOrder *order, const AldCtl *ctl);
void ald_place_order_clear(AldPlaceOrder *order);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(AldPlaceOrder, ald_place_order_clear)

/* Reads the options after the verb. Returns an exit code if there is nothing more to do, else -1. Reports
 * errors. */
int ald_place_order_parse(AldPlaceOrder *order);

/* Reads the model, or uses the numbers instead. Reports errors and returns an exit code. */
int ald_place_order_complete(AldPlaceOrder *order);
