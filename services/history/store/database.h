/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdint.h>

#include <glib.h>
#include <sqlite3.h>

/*
 * The file of the history: SQLite in WAL mode, which survives a killed process undamaged, and loses no
 * committed data unless the machine stops. Functions return -EBADMSG if the file is damaged or belongs to
 * another program, -EPROTONOSUPPORT if a newer version of Alidade wrote it, -EBUSY if another program has
 * locked it, -EROFS if it or its directory is not writable, -ENOSPC if the disk is full or the limit of the
 * file is reached, and -EIO for any other error.
 */
typedef struct AldDatabase AldDatabase;

#define ALD_DATABASE_PAGE 2048

/* Creates the file if it does not exist, and migrates the schema of an older version. */
int ald_database_open(const char *path, AldDatabase **ret, char **ret_reason);
void ald_database_close(AldDatabase *database);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AldDatabase, ald_database_close)

/* Returns the reason of the last error. */
const char *ald_database_reason(AldDatabase *database);

/* Renames the closed file and its log to PATH.WORD, or to PATH.WORD.2 up to 9 if that exists; -EEXIST if all
 * of them exist. */
int ald_database_set_aside(const char *path, const char *word, char **ret_aside);

/*
 * Prepares a statement and binds its parameters, with one character of `types` for each: i for an int64_t, s
 * for a string, b for a GByteArray. The SQL must be a constant, since it is prepared once. The bound values
 * must live until the statement is reset.
 */
int ald_database_query(AldDatabase *database, sqlite3_stmt **ret, const char *sql, const char *types, ...);

/* Returns 1 if there is a row; 0 if there are no more, or an error: the statement is then reset. */
int ald_database_step(AldDatabase *database, sqlite3_stmt *statement);

/* Ends a statement that may have more rows. */
void ald_database_reset(sqlite3_stmt *statement);

/* Runs a statement and ignores its rows. */
int ald_database_run(AldDatabase *database, const char *sql, const char *types, ...);

/* Returns the first column of the first row in *ret, or `otherwise` if it is NULL or there is no row. */
int ald_database_integer(AldDatabase *database, const char *sql, int64_t otherwise, int64_t *ret);

/* Transactions. A failed commit is rolled back completely. */
int ald_database_begin(AldDatabase *database);
int ald_database_commit(AldDatabase *database);
void ald_database_rollback(AldDatabase *database);

/* Limits the size of the file. If it is larger already, it just does not grow. */
int ald_database_limit(AldDatabase *database, uint64_t bytes);

/* Sizes in bytes: of the file once the log is written to it, of its unused pages, and of the write-ahead
 * log. */
typedef struct AldDatabaseSize {
        uint64_t file, unused, log;
} AldDatabaseSize;

int ald_database_size(AldDatabase *database, AldDatabaseSize *ret);

/* Writes the log to the file and empties it; -EBUSY while another program is reading. */
int ald_database_checkpoint(AldDatabase *database);
