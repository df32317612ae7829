/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "clients/desktop/details/details-section.h"

/* Shows what the page is about, a menu of actions for that, and a button that closes the page. */
#define ALD_TYPE_DETAILS_HEADER (ald_details_header_get_type())
G_DECLARE_FINAL_TYPE(AldDetailsHeader, ald_details_header, ALD, DETAILS_HEADER, GtkBox)

GtkWidget *ald_details_header_new(void);

/* NULL if the page is about nothing. */
void ald_details_header_show(AldDetailsHeader *header, const AldDetailsSubject *subject);
