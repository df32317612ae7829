/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "clients/desktop/details/details-section.h"

/* What the page is about, the actions that apply to it, and a button that closes it. */
#define ALD_TYPE_DETAILS_HEADER (ald_details_header_get_type())
G_DECLARE_FINAL_TYPE(AldDetailsHeader, ald_details_header, ALD, DETAILS_HEADER, GtkBox)

GtkWidget *ald_details_header_new(void);

/* NULL: about nothing. */
void ald_details_header_show(AldDetailsHeader *header, const AldDetailsSubject *subject);
