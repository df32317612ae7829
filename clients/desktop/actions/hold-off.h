/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <gio/gio.h>
#include <stdbool.h>

/*
 * Holds off the measurements of a machine with a lock of its link-probe service, until it is switched off or
 * this program ends. If the lock is lost because the service has restarted, it is requested again.
 *
 * Property "held" (boolean, read-only): whether measurements are held off.
 * Signal "said" (string): why measurements could not be held off, or no longer are, in words.
 */
#define ALD_TYPE_HOLD_OFF (ald_hold_off_get_type())
G_DECLARE_FINAL_TYPE(AldHoldOff, ald_hold_off, ALD, HOLD_OFF, GObject)

/* Returns the object for this host, or for this machine if it is NULL. All windows of the application share
 * it. */
AldHoldOff *ald_hold_off_get(GApplication *application, const char *host);

bool ald_hold_off_held(AldHoldOff *hold_off);

/* Returns an action of this name whose state is "held"; changing the state holds off measurements, or resumes
 * them. */
GAction *ald_hold_off_action_new(AldHoldOff *hold_off, const char *name);
