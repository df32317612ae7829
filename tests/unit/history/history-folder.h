/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdint.h>

/* A folder with the file of a history in it, and what is beside it. */
typedef struct HistoryFolder {
        char *folder;
        char *path;
} HistoryFolder;

void history_folder_make(HistoryFolder *folder);

/* Of all that is in it. */
void history_folder_empty(HistoryFolder *folder);

/* With all that is in it. */
void history_folder_remove(HistoryFolder *folder);

/* Of the file and its log. */
uint64_t history_folder_bytes(const HistoryFolder *folder);
