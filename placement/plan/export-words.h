/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>

#include <glib.h>

/* Single words of exported texts. Names come from other machines and may contain anything. */

/* Letters, digits, '-', '_' and '.', the first a letter or digit; at most 63 bytes between dots. */
bool ald_export_is_host_name(const char *text);
/* An address without a scope, which only one machine would understand. */
bool ald_export_is_ipv4(const char *text);
bool ald_export_is_address(const char *text);
/* A network interface that lists separated by commas can name. */
bool ald_export_is_interface(const char *text);

/* In front of ":PORT": IPv6 in brackets. To be freed. */
char *ald_export_authority(const char *address);

/* A word of a shell command, quoted where it must be. */
void ald_export_append_word(GString *out, const char *word);
/* NAME=VALUE and a blank. */
void ald_export_append_variable(GString *out, const char *name, const char *value);
/* In a comment: without characters that would end the line or change how it looks. */
void ald_export_append_safe(GString *out, const char *text);
/* "2026-11-26T08:15:30Z", or "unknown" if absent. */
void ald_export_append_time(GString *out, guint64 usec);
/* A quoted string of the language dot. */
void ald_export_append_dot(GString *out, const char *text);
