/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <glib.h>
#include <math.h>
#include <string.h>

#include "clients/common/columns/column-order.h"
#include "record/figure-text.h"

/* Compares two values of which at least one is absent. */
static int order_absent(bool a_absent, bool b_absent, bool descending)
{
        if (a_absent == b_absent)
                return 0;
        return a_absent == descending ? -1 : 1;
}

int ald_order_numbers(double a, double b, bool descending)
{
        if (isnan(a) || isnan(b))
                return order_absent(isnan(a), isnan(b), descending);
        return (a > b) - (a < b);
}

int ald_order_keys(const char *a, const char *b, bool descending)
{
        if (!a || !b)
                return order_absent(!a, !b, descending);
        return strcmp(a, b);
}

char *ald_order_key(const char *text)
{
        if (!text || !text[0] || strcmp(text, ALD_ABSENT_TEXT) == 0)
                return NULL;
        return g_utf8_collate_key_for_filename(text, -1);
}
