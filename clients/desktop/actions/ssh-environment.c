/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <glib.h>
#include <stdlib.h>
#include <unistd.h>

#include "clients/desktop/actions/ssh-environment.h"

#define PROGRAM_VARIABLE "SSH_ASKPASS"
#define REQUIRE_VARIABLE "SSH_ASKPASS_REQUIRE"

/* Finds a program that asks for passwords: the user's choice, or else one at the places where distributions
 * install them, of which the first is set by Debian's alternatives. */
static char *find_program(void)
{
        static const char *const known[] = {
                "/usr/bin/ssh-askpass",
                "/usr/libexec/openssh/gnome-ssh-askpass",
                "/usr/lib/openssh/gnome-ssh-askpass",
                "/usr/libexec/seahorse/ssh-askpass",
                "/usr/lib/seahorse/ssh-askpass",
                "/usr/libexec/openssh/ssh-askpass",
                "/usr/lib/ssh/ssh-askpass",
                "/usr/lib/ssh/x11-ssh-askpass",
        };
        const char *chosen = getenv(PROGRAM_VARIABLE);

        if (chosen && *chosen)
                return g_find_program_in_path(chosen);
        for (size_t i = 0; i < G_N_ELEMENTS(known); i++)
                if (access(known[i], X_OK) == 0)
                        return g_strdup(known[i]);
        return g_find_program_in_path("ksshaskpass");
}

void ald_ssh_prepare_environment(void)
{
        g_autofree char *program = find_program();

        /* Without a program, ssh fails, or asks in the terminal that started this program. */
        if (!program || getenv(REQUIRE_VARIABLE))
                return;
        (void) g_setenv(PROGRAM_VARIABLE, program, TRUE);
        /* "prefer" would not suffice: with it ssh needs DISPLAY, which some Wayland sessions do not set. */
        (void) g_setenv(REQUIRE_VARIABLE, "force", TRUE);
}

bool ald_ssh_can_ask(void)
{
        g_autofree char *program = find_program();

        return program || isatty(STDIN_FILENO);
}
