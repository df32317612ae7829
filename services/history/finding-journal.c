/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "common/fd.h"
#include "services/history/finding-journal.h"

/* The socket of systemd-journald, which accepts entries in systemd's "Native Journal Protocol". */
#define SOCKET_PATH "/run/systemd/journal/socket"

/* The message ids of alidade.catalog. */
#define BEGAN_ID "32ffbc4600154493b697fe2f79dd0889"
#define ENDED_ID "f032c19fad214e7685d23bcbe3be724f"

#define PRIORITY_ENDED 5 /* LOG_NOTICE */

/* Returns the priority of syslog(3). */
static int priority_of(const AldFindingNotice *notice)
{
        static const int priorities[ALD_FINDING_ROW_SEVERITY_N] = {
                [ALD_FINDING_ROW_SEVERITY_ERROR] = 3,
                [ALD_FINDING_ROW_SEVERITY_WARNING] = 4,
                [ALD_FINDING_ROW_SEVERITY_NOTICE] = 5,
        };
        int severity = ald_finding_row_severity_from_string(notice->row->severity);

        return !notice->begins || severity < 0 ? PRIORITY_ENDED : priorities[severity];
}

static char *join_words(const char *separator, const char *const *words)
{
        return words ? g_strjoinv(separator, (char **) words) : g_strdup("");
}

/* Formats a number; an absent one becomes empty text. */
static char *format_number(uint64_t value)
{
        return value == ALD_ABSENT_UINT64 ? g_strdup("") : g_strdup_printf("%" PRIu64, value);
}

struct AldFindingJournal {
        int fd; /* -1 until the first entry */
        uint64_t lost;
};

AldFindingJournal *ald_finding_journal_new(void)
{
        AldFindingJournal *journal = g_new0(AldFindingJournal, 1);

        journal->fd = -1;
        return journal;
}

void ald_finding_journal_free(AldFindingJournal *journal)
{
        if (!journal)
                return;
        ald_fd_close(&journal->fd);
        g_free(journal);
}

/* Appends a field. The protocol requires the length before a value with line breaks. */
static void append_field(GString *entry, const char *name, const char *value)
{
        uint64_t n = GUINT64_TO_LE(strlen(value));

        g_string_append(entry, name);
        if (strchr(value, '\n')) {
                g_string_append_c(entry, '\n');
                g_string_append_len(entry, (const char *) &n, sizeof n);
        } else {
                g_string_append_c(entry, '=');
        }
        g_string_append(entry, value);
        g_string_append_c(entry, '\n');
}

static GString *format_entry(const AldFindingNotice *notice)
{
        const AldFindingRow *row = notice->row;
        const char *text = row->text ? row->text : row->id;
        g_autofree char *message = g_strconcat(notice->begins ? "" : "Over: ", text, NULL);
        g_autofree char *nodes = join_words(" ", row->nodes), *names = join_words(", ", row->names);
        g_autofree char *event = format_number(notice->event), *began = format_number(notice->began_usec);
        g_autofree char *ended = format_number(notice->ended_usec),
                        *symptoms = format_number(notice->symptoms);
        g_autofree char *left_out = format_number(row->left_out);
        const char priority[] = { (char) ('0' + priority_of(notice)), '\0' };
        GString *entry = g_string_new(NULL);

        append_field(entry, "SYSLOG_IDENTIFIER", g_get_prgname());
        append_field(entry, "MESSAGE_ID", notice->begins ? BEGAN_ID : ENDED_ID);
        append_field(entry, "PRIORITY", priority);
        append_field(entry, "MESSAGE", message);
        append_field(entry, "ALIDADE_FINDING", row->id);
        append_field(entry, "ALIDADE_TEXT", text);
        append_field(entry, "ALIDADE_REMEDY", row->remedy ? row->remedy : "There is no general remedy.");
        append_field(entry, "ALIDADE_NODES", nodes);
        append_field(entry, "ALIDADE_NAMES", names);
        append_field(entry, "ALIDADE_REPORTER", row->reporter ? row->reporter : "");
        append_field(entry, "ALIDADE_LEFT_OUT", left_out);
        append_field(entry, "ALIDADE_EVENT", event);
        append_field(entry, "ALIDADE_SYMPTOMS", symptoms);
        append_field(entry, "ALIDADE_BEGAN_USEC", began);
        append_field(entry, "ALIDADE_ENDED_USEC", ended);
        return entry;
}

/* Returns a sealed file in memory, in which journald accepts entries that are too long for a datagram. */
static int open_sealed(const GString *entry)
{
        ald_fd int fd = memfd_create("journal-entry", MFD_CLOEXEC | MFD_ALLOW_SEALING);

        if (fd < 0)
                return -errno;
        if (write(fd, entry->str, entry->len) != (ssize_t) entry->len)
                return -ENOSPC;
        if (fcntl(fd, F_ADD_SEALS, F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE) < 0)
                return -errno;
        return ald_fd_steal(&fd);
}

static int send_message(AldFindingJournal *journal, const GString *entry, int file)
{
        struct sockaddr_un address = { .sun_family = AF_UNIX, .sun_path = SOCKET_PATH };
        struct iovec text = { .iov_base = entry->str, .iov_len = entry->len };
        union {
                struct cmsghdr header;
                char space[CMSG_SPACE(sizeof(int))];
        } control = { 0 };
        struct msghdr message = { .msg_name = &address, .msg_namelen = sizeof address };

        if (file < 0) {
                message.msg_iov = &text;
                message.msg_iovlen = 1;
        } else {
                message.msg_control = &control;
                message.msg_controllen = sizeof control;
                control.header.cmsg_level = SOL_SOCKET;
                control.header.cmsg_type = SCM_RIGHTS;
                control.header.cmsg_len = CMSG_LEN(sizeof file);
                memcpy(CMSG_DATA(&control.header), &file, sizeof file);
        }
        return sendmsg(journal->fd, &message, MSG_DONTWAIT | MSG_NOSIGNAL) < 0 ? -errno : 0;
}

static int send_entry(AldFindingJournal *journal, const GString *entry)
{
        ald_fd int file = -1;
        int r;

        if (journal->fd < 0)
                journal->fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        if (journal->fd < 0)
                return -errno;
        r = send_message(journal, entry, -1);
        if (r != -EMSGSIZE)
                return r;
        file = open_sealed(entry);
        return file < 0 ? file : send_message(journal, entry, file);
}

void ald_finding_journal_write(AldFindingJournal *journal, const AldFindingNotice *notice)
{
        GString *entry = format_entry(notice);
        int r;

        r = send_entry(journal, entry);
        g_string_free(entry, TRUE);
        /* There may be no journal, as in a container. */
        if (r >= 0 || r == -ENOENT || r == -ECONNREFUSED)
                return;
        journal->lost++;
        g_debug("Cannot write to the journal: %s", g_strerror(-r));
}

uint64_t ald_finding_journal_lost(const AldFindingJournal *journal)
{
        return journal->lost;
}
