/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "services/history/store/database.h"

#define APPLICATION_ID 0x414c4448 /* "ALDH" */
#define BUSY_MSEC 50              /* short, since the service has one thread */
#define ASIDE_MAX 9u

struct AldDatabase {
        sqlite3 *sqlite;
        GHashTable *statements; /* by the address of their SQL */
        char *log_path;
};

/* The statements that migrate a file from version i to version i + 1. */
static const char *const migrations[] = {
        "CREATE TABLE series (node TEXT, kind TEXT, key TEXT, field TEXT, id INTEGER NOT NULL,"
        " last INTEGER NOT NULL, PRIMARY KEY (node, kind, key, field)) WITHOUT ROWID;"
        "CREATE TABLE recent (id INTEGER PRIMARY KEY, data BLOB NOT NULL);"
        "CREATE TABLE raw (id INTEGER PRIMARY KEY, data BLOB NOT NULL);"
        "CREATE TABLE minutes (id INTEGER PRIMARY KEY, data BLOB NOT NULL);"
        "CREATE TABLE hours (id INTEGER PRIMARY KEY, data BLOB NOT NULL);"
        "CREATE TABLE events (id INTEGER PRIMARY KEY, began INTEGER NOT NULL, ended INTEGER,"
        " finding TEXT NOT NULL, nodes TEXT NOT NULL, text TEXT NOT NULL);"
        "CREATE INDEX event_began ON events (began);",
        "ALTER TABLE events ADD COLUMN reporter TEXT NOT NULL DEFAULT '';"
        "CREATE INDEX event_reporter ON events (reporter, began, ended);",
};

/* The cache is small because the kernel caches the pages of the file as well. */
static const char settings[] = "PRAGMA page_size = " G_STRINGIFY(
        ALD_DATABASE_PAGE) ";"
                           "PRAGMA auto_vacuum = INCREMENTAL;"
                           "PRAGMA journal_mode = WAL;"
                           "PRAGMA wal_autocheckpoint = 0;"
                           "PRAGMA synchronous = NORMAL;"
                           "PRAGMA secure_delete = OFF;"
                           "PRAGMA temp_store = MEMORY;"
                           "PRAGMA cell_size_check = ON;"
                           "PRAGMA trusted_schema = OFF;"
                           "PRAGMA cache_size = -256;";

static int error_of(sqlite3 *sqlite)
{
        const int extended = sqlite3_extended_errcode(sqlite);

        switch (extended & 0xff) {
        case SQLITE_CORRUPT:
        case SQLITE_NOTADB:
        case SQLITE_FORMAT:
        case SQLITE_CONSTRAINT:
        case SQLITE_MISMATCH:
                return -EBADMSG;
        case SQLITE_BUSY:
        case SQLITE_LOCKED:
        case SQLITE_PROTOCOL:
                return -EBUSY;
        case SQLITE_READONLY:
        case SQLITE_CANTOPEN:
        case SQLITE_PERM:
        case SQLITE_AUTH:
                return -EROFS;
        case SQLITE_FULL:
                return -ENOSPC;
        case SQLITE_NOMEM:
                g_error("Out of memory");
        default:
                /* The memory shared with other programs is a file as well. */
                return extended == SQLITE_IOERR_SHMSIZE ? -ENOSPC : -EIO;
        }
}

void ald_database_close(AldDatabase *database)
{
        if (!database)
                return;
        if (database->statements)
                g_hash_table_unref(database->statements);
        sqlite3_close(database->sqlite);
        g_free(database->log_path);
        g_free(database);
}

/* Returns the last error. Contents that SQLite can read may still be invalid here. */
const char *ald_database_reason(AldDatabase *database)
{
        const int code = sqlite3_errcode(database->sqlite);

        return code == SQLITE_OK || code == SQLITE_ROW || code == SQLITE_DONE
                       ? "it has contents that no history can have"
                       : sqlite3_errmsg(database->sqlite);
}

static void finalize_statement(gpointer statement)
{
        sqlite3_finalize(statement);
}

static int run_script(AldDatabase *database, const char *sql)
{
        return sqlite3_exec(database->sqlite, sql, NULL, NULL, NULL) == SQLITE_OK
                       ? 0
                       : error_of(database->sqlite);
}

static int prepare_statement(AldDatabase *database, sqlite3_stmt **ret, const char *sql)
{
        sqlite3_stmt *statement = g_hash_table_lookup(database->statements, sql);

        if (!statement) {
                if (sqlite3_prepare_v3(database->sqlite, sql, -1, SQLITE_PREPARE_PERSISTENT, &statement,
                            NULL) != SQLITE_OK)
                        return error_of(database->sqlite);
                g_hash_table_insert(database->statements, (gpointer) (uintptr_t) sql, statement);
        }
        *ret = statement;
        return 0;
}

static void bind_parameters(sqlite3_stmt *statement, const char *types, va_list arguments)
{
        for (int i = 0; types[i] != '\0'; i++)
                if (types[i] == 'i')
                        sqlite3_bind_int64(statement, i + 1, va_arg(arguments, int64_t));
                else if (types[i] == 's')
                        sqlite3_bind_text(
                                statement, i + 1, va_arg(arguments, const char *), -1, SQLITE_STATIC);
                else {
                        const GByteArray *bytes = va_arg(arguments, const GByteArray *);

                        sqlite3_bind_blob(statement, i + 1, bytes->data, (int) bytes->len, SQLITE_STATIC);
                }
}

int ald_database_query(AldDatabase *database, sqlite3_stmt **ret, const char *sql, const char *types, ...)
{
        va_list arguments;
        int r;

        r = prepare_statement(database, ret, sql);
        if (r < 0)
                return r;
        va_start(arguments, types);
        bind_parameters(*ret, types, arguments);
        va_end(arguments);
        return 0;
}

int ald_database_step(AldDatabase *database, sqlite3_stmt *statement)
{
        int r = sqlite3_step(statement);

        if (r == SQLITE_ROW)
                return 1;
        r = r == SQLITE_DONE ? 0 : error_of(database->sqlite);
        ald_database_reset(statement);
        return r;
}

void ald_database_reset(sqlite3_stmt *statement)
{
        sqlite3_reset(statement);
        sqlite3_clear_bindings(statement);
}

int ald_database_run(AldDatabase *database, const char *sql, const char *types, ...)
{
        sqlite3_stmt *statement;
        va_list arguments;
        int r;

        r = prepare_statement(database, &statement, sql);
        if (r < 0)
                return r;
        va_start(arguments, types);
        bind_parameters(statement, types, arguments);
        va_end(arguments);
        while ((r = ald_database_step(database, statement)) > 0)
                ;
        return r;
}

int ald_database_integer(AldDatabase *database, const char *sql, int64_t otherwise, int64_t *ret)
{
        sqlite3_stmt *statement;
        int64_t value = otherwise;
        int r;

        r = prepare_statement(database, &statement, sql);
        if (r >= 0)
                r = ald_database_step(database, statement);
        if (r < 0)
                return r;
        if (r > 0 && sqlite3_column_type(statement, 0) != SQLITE_NULL)
                value = sqlite3_column_int64(statement, 0);
        if (r > 0)
                ald_database_reset(statement);
        *ret = value;
        return 0;
}

int ald_database_begin(AldDatabase *database)
{
        return ald_database_run(database, "BEGIN IMMEDIATE", "");
}

int ald_database_commit(AldDatabase *database)
{
        int r = ald_database_run(database, "COMMIT", "");

        if (r < 0)
                ald_database_rollback(database);
        return r;
}

/* Rolls back, unless SQLite already did so after an error. */
void ald_database_rollback(AldDatabase *database)
{
        if (!sqlite3_get_autocommit(database->sqlite))
                (void) ald_database_run(database, "ROLLBACK", "");
}

int ald_database_limit(AldDatabase *database, uint64_t bytes)
{
        char sql[64];

        snprintf(sql, sizeof sql, "PRAGMA max_page_count = %" G_GUINT64_FORMAT, bytes / ALD_DATABASE_PAGE);
        return run_script(database, sql);
}

int ald_database_size(AldDatabase *database, AldDatabaseSize *ret)
{
        struct stat status;
        int64_t pages = 0, unused = 0, page_bytes = 0;
        int r;

        r = ald_database_integer(database, "PRAGMA page_count", 0, &pages);
        if (r >= 0)
                r = ald_database_integer(database, "PRAGMA freelist_count", 0, &unused);
        if (r >= 0)
                r = ald_database_integer(database, "PRAGMA page_size", 0, &page_bytes);
        if (r < 0)
                return r;
        ret->file = (uint64_t) (pages * page_bytes);
        ret->unused = (uint64_t) (unused * page_bytes);
        ret->log = stat(database->log_path, &status) == 0 ? (uint64_t) status.st_size : 0;
        return 0;
}

int ald_database_checkpoint(AldDatabase *database)
{
        return sqlite3_wal_checkpoint_v2(database->sqlite, NULL, SQLITE_CHECKPOINT_TRUNCATE, NULL, NULL) ==
                               SQLITE_OK
                       ? 0
                       : error_of(database->sqlite);
}

static int migrate(AldDatabase *database, int64_t version)
{
        char sql[64];
        int r;

        r = ald_database_begin(database);
        for (; r >= 0 && version < (int64_t) G_N_ELEMENTS(migrations); version++)
                r = run_script(database, migrations[version]);
        snprintf(sql, sizeof sql, "PRAGMA user_version = %" G_GINT64_FORMAT, version);
        if (r >= 0)
                r = run_script(database, sql);
        snprintf(sql, sizeof sql, "PRAGMA application_id = %d", APPLICATION_ID);
        if (r >= 0)
                r = run_script(database, sql);
        if (r >= 0)
                return ald_database_commit(database);
        ald_database_rollback(database);
        return r;
}

/* Checks that the file is ours, and of a known version, without changing it. */
static int check_version(AldDatabase *database, int64_t *ret_version, char **ret_reason)
{
        int64_t version = 0, application = 0, objects = 0;
        int r;

        r = ald_database_integer(database, "SELECT count(*) FROM sqlite_schema", 0, &objects);
        if (r >= 0)
                r = ald_database_integer(database, "PRAGMA user_version", 0, &version);
        if (r >= 0)
                r = ald_database_integer(database, "PRAGMA application_id", 0, &application);
        if (r < 0)
                return r;
        if (version < 0 || (objects == 0) != (version == 0) ||
                (objects > 0 && application != APPLICATION_ID)) {
                *ret_reason = g_strdup("it is a database of another program");
                return -EBADMSG;
        }
        if (version > (int64_t) G_N_ELEMENTS(migrations)) {
                *ret_reason = g_strdup_printf("its schema is version %" G_GINT64_FORMAT ", newer than %zu",
                        version, G_N_ELEMENTS(migrations));
                return -EPROTONOSUPPORT;
        }
        *ret_version = version;
        return 0;
}

/* Checks that the file is writable. In a read-only directory, SQLite may open the file and fail only at the
 * first change. */
static int check_writable(AldDatabase *database, const char *path)
{
        g_autofree char *folder = g_path_get_dirname(path);

        if (faccessat(AT_FDCWD, folder, W_OK, AT_EACCESS) < 0 ||
                sqlite3_db_readonly(database->sqlite, "main") == 1)
                return -EROFS;
        return 0;
}

int ald_database_open(const char *path, AldDatabase **ret, char **ret_reason)
{
        g_autoptr(AldDatabase) database = g_new0(AldDatabase, 1);
        g_autofree char *reason = NULL;
        int64_t version = 0;
        int r;

        database->statements = g_hash_table_new_full(g_direct_hash, g_direct_equal, NULL, finalize_statement);
        database->log_path = g_strconcat(path, "-wal", NULL);
        if (sqlite3_open_v2(path, &database->sqlite,
                    SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_NOFOLLOW,
                    NULL) != SQLITE_OK)
                r = database->sqlite ? error_of(database->sqlite) : -EIO;
        else
                r = check_writable(database, path);
        if (r >= 0) {
                sqlite3_busy_timeout(database->sqlite, BUSY_MSEC);
                r = check_version(database, &version, &reason);
        }
        if (r >= 0)
                r = run_script(database, settings);
        if (r >= 0 && version < (int64_t) G_N_ELEMENTS(migrations))
                r = migrate(database, version);
        if (r < 0) {
                *ret_reason = reason        ? g_steal_pointer(&reason)
                              : r == -EROFS ? g_strdup("the file or its directory is read-only")
                                            : g_strdup(ald_database_reason(database));
                return r;
        }
        *ret = g_steal_pointer(&database);
        return 0;
}

/* Renames the file with its log, which would otherwise be applied to a new file of the same name. */
static int rename_all(const char *path, const char *aside)
{
        static const char *const ends[] = { "-wal", "-shm", "" };

        for (size_t i = 0; i < G_N_ELEMENTS(ends); i++) {
                g_autofree char *from = g_strconcat(path, ends[i], NULL);
                g_autofree char *to = g_strconcat(aside, ends[i], NULL);

                if (rename(from, to) < 0 && errno != ENOENT)
                        return -errno;
        }
        return 0;
}

int ald_database_set_aside(const char *path, const char *word, char **ret_aside)
{
        for (unsigned i = 1; i <= ASIDE_MAX; i++) {
                g_autofree char *aside = i == 1 ? g_strdup_printf("%s.%s", path, word)
                                                : g_strdup_printf("%s.%s.%u", path, word, i);
                struct stat status;
                int r;

                if (lstat(aside, &status) == 0)
                        continue;
                r = rename_all(path, aside);
                if (r >= 0)
                        *ret_aside = g_steal_pointer(&aside);
                return r;
        }
        return -EEXIST;
}
