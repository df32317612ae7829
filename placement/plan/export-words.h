/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>

#include <glib.h>

/* Single words of exported texts. Names come from other machines and may contain anything. */

/* Returns whether the text, which may be NULL, is a host name: letters, digits, '-', '_' and '.', beginning
 * with a letter or digit, with at most 63 bytes between dots. */
bool ald_export_is_host_name(const char *text);
/* Return whether the text, which may be NULL, is an address without a scope, which only one machine would
 * understand. */
bool ald_export_is_ipv4(const char *text);
bool ald_export_is_address(const char *text);
/* Returns whether lists separated by commas can contain this name of a network interface. NULL is not one. */
bool ald_export_is_interface(const char *text);

/* Returns the address as it is written before ":PORT", with IPv6 in brackets; free with g_free(). */
char *ald_export_authority(const char *address);

/* Appends a word of a shell command, quoted if necessary. */
void ald_export_append_word(GString *out, const char *word);
/* Appends NAME=VALUE and a space. */
void ald_export_append_variable(GString *out, const char *name, const char *value);
/* Appends text for a comment, replacing characters that would end the line or change how it looks. */
void ald_export_append_safe(GString *out, const char *text);
/* Appends a time as "2026-11-26T08:15:30Z", or "unknown" if absent. */
void ald_export_append_time(GString *out, guint64 usec);
/* Appends a quoted string of the dot language. */
void ald_export_append_dot(GString *out, const char *text);
