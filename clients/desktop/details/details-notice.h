/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "clients/desktop/details/details-section.h"

/* Says that the figures below are not current, and why. It is hidden if they are. */
#define ALD_TYPE_DETAILS_NOTICE (ald_details_notice_get_type())
G_DECLARE_FINAL_TYPE(AldDetailsNotice, ald_details_notice, ALD, DETAILS_NOTICE, GtkBox)

GtkWidget *ald_details_notice_new(void);
void ald_details_notice_show(AldDetailsNotice *notice, const AldDetailsSubject *subject);
