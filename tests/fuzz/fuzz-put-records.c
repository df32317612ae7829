/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/bus-cleanup.h"
#include "record/update-bus.h"
#include "services/state/put-bus.h"
#include "services/state/records-bus.h"

/*
 * An input is the body of a PutRecords() call as it comes over the wire, little-endian, and then that of a
 * PutPresences() call; no bus has looked at it. Whatever it says: it is refused as a whole or one by one, and
 * what was taken in can be told again.
 */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define BODY_MAX (1024u * 1024)

typedef struct Target {
        sd_bus *bus;
        int peer; /* the other end of its connection, where bytes are written */
        AldStateManager *manager;
        bool handled;
} Target;

static GLogWriterOutput silent(GLogLevelFlags flags, const GLogField *fields, gsize n, gpointer userdata)
{
        return G_LOG_WRITER_HANDLED;
}

/* Writes all records in both forms, as GetRecords() and DescribeRecords() do. */
static void check_store(Target *target)
{
        AldStore *store = ald_state_manager_store(target->manager);
        AldPageRequest request = { .kind = -1, .cursor = "", .max = 10000 };

        for (int i = 0; i < 2; i++) {
                g_autoptr(AldMessage) message = NULL;
                size_t bytes;

                request.as_lines = i > 0;
                g_assert_cmpint(sd_bus_message_new_signal(target->bus, &message, "/x", "x.x", "x"), >=, 0);
                g_assert_cmpint(ald_records_bus_append_page(message, store, &request, &bytes), >=, 0);
                g_assert_cmpint(sd_bus_message_seal(message, 1, 0), >=, 0);
        }
}

static int on_message(sd_bus_message *message, void *userdata, sd_bus_error *error)
{
        Target *target = userdata;
        uint64_t accepted = 0, refused = 0, before = ald_state_manager_refused(target->manager);
        int r;

        target->handled = true;
        if (sd_bus_message_has_signature(message, ALD_UPDATES_SIGNATURE))
                r = ald_put_bus_read(message, target->manager, &accepted, &refused);
        else if (sd_bus_message_has_signature(message, ALD_PRESENCES_SIGNATURE))
                r = ald_put_bus_read_presences(message, target->manager, &accepted, &refused);
        else
                return 1;
        if (r >= 0)
                g_assert_cmpuint(ald_state_manager_refused(target->manager), ==, before + refused);
        check_store(target);
        return 1;
}

static void open_connection(Target *target)
{
        sd_id128_t id = SD_ID128_MAKE(1, 2, 3, 4, 5, 6, 7, 8, 9, a, b, c, d, e, f, 10);
        static const char handshake[] = "\0AUTH ANONYMOUS\r\nDATA\r\nBEGIN\r\n";
        int fds[2];

        g_assert_cmpint(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, fds), ==, 0);
        target->peer = fds[1];
        g_assert_cmpint(sd_bus_new(&target->bus), >=, 0);
        g_assert_cmpint(sd_bus_set_fd(target->bus, fds[0], fds[0]), >=, 0);
        g_assert_cmpint(sd_bus_set_server(target->bus, true, id), >=, 0);
        g_assert_cmpint(sd_bus_set_anonymous(target->bus, true), >=, 0);
        g_assert_cmpint(sd_bus_start(target->bus), >=, 0);
        g_assert_cmpint(sd_bus_add_filter(target->bus, NULL, on_message, target), >=, 0);
        g_assert_cmpint(write(target->peer, handshake, sizeof handshake - 1), ==, sizeof handshake - 1);
        while (sd_bus_is_ready(target->bus) <= 0)
                g_assert_cmpint(sd_bus_process(target->bus, NULL), >=, 0);
}

static void close_connection(Target *target)
{
        sd_bus_close(target->bus);
        sd_bus_unref(target->bus);
        close(target->peer);
}

/* One whose state directory is nowhere, so that nothing is written. */
static AldStateManager *manager_new(void)
{
        const AldId local = { .bytes = { 1 } };
        AldConfig *config = ald_config_load(ald_state_config_keys, "/nonexistent");
        AldStateManager *manager;

        g_setenv("STATE_DIRECTORY", "/nonexistent", TRUE);
        manager = ald_state_manager_new(&local, config);
        ald_config_free(config);
        return manager;
}

static void append_field(GByteArray *header, uint8_t code, char type, const char *value)
{
        const uint8_t start[] = { code, 1, (uint8_t) type, 0 };
        uint32_t n = (uint32_t) strlen(value);
        static const uint8_t zeros[8];

        g_byte_array_append(header, zeros, -header->len & 7);
        g_byte_array_append(header, start, sizeof start);
        if (type == 'g')
                g_byte_array_append(header, (const uint8_t[]){ (uint8_t) n }, 1);
        else
                g_byte_array_append(header, (const uint8_t *) &n, sizeof n);
        g_byte_array_append(header, (const uint8_t *) value, n + 1);
}

/* A signal needs no reply and reaches the same reader. */
static GByteArray *message_around(const char *signature, const uint8_t *data, size_t size)
{
        static const uint8_t zeros[8];
        GByteArray *bytes = g_byte_array_new();
        const uint8_t start[] = { 'l', 4, 0, 1 };
        uint32_t words[] = { (uint32_t) size, 1, 0 };

        g_byte_array_append(bytes, start, sizeof start);
        g_byte_array_append(bytes, (const uint8_t *) words, sizeof words);
        append_field(bytes, 1, 'o', "/x");
        append_field(bytes, 2, 's', "x.x");
        append_field(bytes, 3, 's', "x");
        append_field(bytes, 8, 'g', signature);
        words[2] = bytes->len - 16;
        memcpy(bytes->data + 12, &words[2], sizeof words[2]);
        g_byte_array_append(bytes, zeros, -bytes->len & 7);
        g_byte_array_append(bytes, data, (guint) size);
        return bytes;
}

static void deliver(Target *target, const GByteArray *bytes)
{
        size_t sent = 0;
        int r = 0;

        while (r >= 0 && !target->handled) {
                ssize_t n = write(target->peer, bytes->data + sent, bytes->len - sent);

                sent += n > 0 ? (size_t) n : 0;
                do
                        r = sd_bus_process(target->bus, NULL);
                while (r > 0 && !target->handled);
                if (r == 0 && sent == bytes->len && n <= 0)
                        return;
        }
}

static void be_silent(void)
{
        static bool done;

        if (!done)
                g_log_set_writer_func(silent, NULL, NULL);
        done = true;
}

static void try_as(AldStateManager *manager, const char *signature, const uint8_t *data, size_t size)
{
        g_autoptr(GByteArray) bytes = message_around(signature, data, size);
        Target target = { .manager = manager };

        open_connection(&target);
        deliver(&target, bytes);
        close_connection(&target);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        AldStateManager *manager;

        if (size > BODY_MAX)
                return 0;
        be_silent();
        manager = manager_new();
        try_as(manager, ALD_UPDATES_SIGNATURE, data, size);
        try_as(manager, ALD_PRESENCES_SIGNATURE, data, size);
        ald_state_manager_free(manager);
        return 0;
}
