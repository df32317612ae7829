/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <gtk/gtk.h>

#include "clients/common/plan-order.h"

/*
 * A form for what is to be placed, and for what: a model out of a file or folder, or numbers, and options.
 *
 * Signals:
 *   "changed": whether it is complete may have changed.
 *   "submitted": Enter was pressed in one of its rows.
 */
#define ALD_TYPE_ORDER_FORM (ald_order_form_get_type())
G_DECLARE_FINAL_TYPE(AldOrderForm, ald_order_form, ALD, ORDER_FORM, GtkBox)

GtkWidget *ald_order_form_new(void);

/* Returns what is missing, in words; NULL if the form is complete. */
const char *ald_order_form_problem(AldOrderForm *form);

/* Require a complete form. The model, and the strings of the options, belong to the form until it changes. */
AldPlanOrder ald_order_form_order(AldOrderForm *form);
AldPlanOptions ald_order_form_options(AldOrderForm *form);

/* Returns the path of the model; NULL if it is given in numbers. */
const char *ald_order_form_path(AldOrderForm *form);

void ald_order_form_grab_focus(AldOrderForm *form);
