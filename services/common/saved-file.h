/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

/*
 * A text file in the state directory, which a service reads at its start and replaces atomically. A damaged
 * file is reported and set aside as NAME.damaged. A file that cannot be read, or is damaged and cannot be set
 * aside, is reported and never overwritten; if the directory cannot be written, one warning is logged. None
 * of this stops the service.
 */
typedef struct AldSavedFile AldSavedFile;

/* Describes a file; directory, name and `what` are copied. `what` names its contents in messages: "results".
 */
AldSavedFile *ald_saved_file_new(const char *directory, const char *name, const char *what);
void ald_saved_file_free(AldSavedFile *file);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AldSavedFile, ald_saved_file_free)

/* Returns the contents, to be freed with g_free(); NULL if there are none. Changes nothing in the directory,
 * which another process may use until this one owns the name of the service. */
char *ald_saved_file_read(AldSavedFile *file, gsize *ret_n);

/* Notes that the contents that were read are damaged. */
void ald_saved_file_refuse(AldSavedFile *file, const char *reason);

/* Takes over the directory from now on, and sets a damaged file aside. */
void ald_saved_file_begin(AldSavedFile *file);

/* Replaces the file. Returns false if the directory is not ours yet, or the file must not be overwritten or
 * could not be written. Logs the first of consecutive errors, and when it works again. */
bool ald_saved_file_write(AldSavedFile *file, const char *text);
