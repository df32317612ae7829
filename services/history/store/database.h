/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdint.h>

#include <glib.h>
#include <sqlite3.h>

/*
 * The file of the history: SQLite in WAL mode, which a killed process never damages, and which loses nothing
 * that was committed unless the machine stops. Functions return -EBADMSG if the file is damaged or another
 * program's, -EPROTONOSUPPORT if a newer version of Alidade wrote it, -EBUSY if another program has locked
 * it, -EROFS if it or its directory cannot be written, -ENOSPC if the disk is full or the limit of the file
 * reached, and -EIO for anything else.
 */
typedef struct AldDatabase AldDatabase;

#define ALD_DATABASE_PAGE 2048

/* Creates the file if there is none, and brings the schema of an older version up to date. */
int ald_database_open(const char *path, AldDatabase **ret, char **ret_reason);
void ald_database_close(AldDatabase *database);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AldDatabase, ald_database_close)

/* The reason of the last error. */
const char *ald_database_reason(AldDatabase *database);

/* Renames the closed file and what belongs to it to PATH.WORD, or PATH.WORD.2 to 9 if there is one; -EEXIST
 * if all these exist. */
int ald_database_set_aside(const char *path, const char *word, char **ret_aside);

/*
 * A statement with its parameters bound: one character of types for each: i an int64_t, s a string, b a
 * GByteArray. SQL is a constant: it is prepared once. What was bound must live until the statement is reset.
 */
int ald_database_query(AldDatabase *database, sqlite3_stmt **ret, const char *sql, const char *types, ...);

/* 1 if there is a row; 0 if there is no more, or an error: then the statement is reset. */
int ald_database_step(AldDatabase *database, sqlite3_stmt *statement);

/* Ends a statement that may have more rows. */
void ald_database_reset(sqlite3_stmt *statement);

/* A statement whose rows are of no interest. */
int ald_database_run(AldDatabase *database, const char *sql, const char *types, ...);

/* The first column of the first row, or the default if that is NULL or there is none. */
int ald_database_integer(AldDatabase *database, const char *sql, int64_t otherwise, int64_t *ret);

/* Transactions. Nothing of a failed one remains. */
int ald_database_begin(AldDatabase *database);
int ald_database_commit(AldDatabase *database);
void ald_database_rollback(AldDatabase *database);

/* How many pages the file may have; fewer than it has now are no error, it just does not grow. */
int ald_database_limit(AldDatabase *database, uint64_t bytes);

/* Bytes of the file once all is written to it, of these the unused ones, and bytes of the write-ahead log. */
typedef struct AldDatabaseSize {
        uint64_t file, unused, log;
} AldDatabaseSize;

int ald_database_size(AldDatabase *database, AldDatabaseSize *ret);

/* Writes the log to the file and empties it; -EBUSY while another program reads. */
int ald_database_checkpoint(AldDatabase *database);
