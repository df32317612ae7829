/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <gio/gio.h>
#include <stdbool.h>

/*
 * Holds off the measurements of a machine by a lock of its link-probe service, until it is switched off or
 * this program ends. A lock that is lost because the service has restarted is taken again.
 *
 * Property "held" (boolean, read-only): whether measurements are held off.
 * Signal "said" (string): why it is not as the user wants, in words.
 */
#define ALD_TYPE_HOLD_OFF (ald_hold_off_get_type())
G_DECLARE_FINAL_TYPE(AldHoldOff, ald_hold_off, ALD, HOLD_OFF, GObject)

/* The one of this host, or of this machine for NULL, which all windows of the application share. */
AldHoldOff *ald_hold_off_of(GApplication *application, const char *host);

bool ald_hold_off_held(AldHoldOff *hold_off);
void ald_hold_off_set(AldHoldOff *hold_off, bool wanted);

/* An action of this name whose state is "held", and which changes it. */
GAction *ald_hold_off_action_new(AldHoldOff *hold_off, const char *name);
