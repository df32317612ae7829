/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "clients/command-line/ctl.h"
#include "clients/common/plan-order.h"
#include "record/schema.h"

/* What `place` was asked for. */
typedef struct AldPlaceOrder {
        AldCtl ctl;
        const char *model; /* a file or folder; NULL: it is given in numbers */
        char *title;       /* of what is placed */
        char *note;        /* what a person should know of it besides; NULL: nothing */
        char *choice;      /* why other engines were not chosen; NULL: there was no choice */
        AldLlm *llm;       /* of the file or folder, once it is read */
        AldPlanOrder order;
        AldPlanWorkload workload;
        AldPlanOptions options;
        GPtrArray *must, *without, *split; /* strings of the command line */
        char **words;                      /* of it, which are no options */
} AldPlaceOrder;

void ald_place_order_init(AldPlaceOrder *order, const AldCtl *ctl);
void ald_place_order_clear(AldPlaceOrder *order);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(AldPlaceOrder, ald_place_order_clear)

/* Reads the options that follow the verb. Returns an exit code if there is nothing more to do, else -1.
 * Reports errors. */
int ald_place_order_parse(AldPlaceOrder *order);

/* Reads the model, or reckons with the numbers instead. Reports errors and returns an exit code. */
int ald_place_order_complete(AldPlaceOrder *order);
