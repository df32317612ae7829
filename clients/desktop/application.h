/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <adwaita.h>

#define ALD_APPLICATION_ID "org.alidade.Alidade"

/* The program: a window for each machine that it shows, notifications, and everything that outlives a window.
 */
#define ALD_TYPE_DESKTOP_APPLICATION (ald_desktop_application_get_type())
G_DECLARE_FINAL_TYPE(AldDesktopApplication, ald_desktop_application, ALD, DESKTOP_APPLICATION, AdwApplication)

AldDesktopApplication *ald_desktop_application_new(void);
