/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What clusterd does with its brokers, by command: sample-brokers FOLDER ID, with the certificates of a node
 * in the folder. A line on stdin is a command, its words parted by tabs; a line on stdout an event. With
 * LATE_TLS in the environment, libmosquitto leaves the first step of TLS to its caller, as that of Debian 13
 * does.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <glib-unix.h>

#include "pki/tls.h"
#include "services/cluster/mqtt/brokers.h"

typedef struct Sample {
        const char *folder;
        GMainLoop *loop;
        GIOChannel *input;
        AldBrokers *brokers;
        GHashTable *topics; /* of messages */
        unsigned live, retained;
        bool quiet;
        bool sleeping; /* until the next line */
} Sample;

static void say(const char *format, ...) G_GNUC_PRINTF(1, 2);

static void say(const char *format, ...)
{
        va_list arguments;

        va_start(arguments, format);
        vprintf(format, arguments);
        va_end(arguments);
        putchar('\n');
        fflush(stdout);
}

static AldTls *make_tls(const char *name, char **ret_problem, void *userdata)
{
        Sample *sample = userdata;
        g_auto(AldPkiIdentity) identity = { 0 };
        AldTls *tls = NULL;

        if (ald_pki_identity_load(sample->folder, NULL, &identity, ret_problem) < 0)
                return NULL;
        (void) ald_tls_new_for_broker(&identity, name, &tls, ret_problem);
        return tls;
}

/* libmosquitto calls this one. What it tries first, before TCP is up, newer versions do not try. */
__attribute__((visibility("default"))) int SSL_connect(SSL *ssl)
{
        int (*real)(SSL *) = (int (*)(SSL *)) dlsym(RTLD_NEXT, "SSL_connect");

        if (!g_getenv("LATE_TLS") || SSL_get_app_data(ssl))
                return real(ssl);
        SSL_set_app_data(ssl, ssl);
        SSL_set_connect_state(ssl);
        return -1;
}

static char *make_will(uint64_t conn, void *userdata)
{
        return g_strdup_printf("gone %" PRIu64, conn);
}

static void on_connected(AldBroker *broker, void *userdata)
{
        say("connected\t%s\t%" PRIu64, ald_broker_address(broker), ald_broker_conn(broker));
}

static void on_disconnected(AldBroker *broker, const char *reason, void *userdata)
{
        say("disconnected\t%s\t%s", ald_broker_address(broker), reason);
}

static void on_first_changed(AldBroker *first, void *userdata)
{
        say("first\t%s", first ? ald_broker_address(first) : "");
}

static void on_message(AldBroker *broker, const AldReceived *received, void *userdata)
{
        Sample *sample = userdata;

        g_hash_table_add(sample->topics, g_strdup(received->topic));
        if (received->retained)
                sample->retained++;
        else
                sample->live++;
        if (!sample->quiet)
                say("message\t%s\t%s\t%s\t%s", ald_broker_address(broker),
                        received->retained ? "retained" : "live", received->topic, received->payload);
}

static void show_rows(Sample *sample)
{
        for (size_t i = 0; i < ald_brokers_count(sample->brokers); i++) {
                AldBroker *broker = ald_brokers_get(sample->brokers, i);
                const char *problem = ald_broker_problem(broker);

                say("row\t%s\t%s\t%s\t%s\t%" PRIu64 "\t%s", ald_broker_address(broker),
                        ald_broker_discovered(broker) ? "avahi" : "configured",
                        ald_broker_state_name(ald_broker_state(broker)),
                        broker == ald_brokers_first(sample->brokers) ? "publishing" : "",
                        ald_broker_certificate_expiry(broker), problem ? problem : "");
        }
}

static void answer_rows(Sample *sample)
{
        say("asked");
        show_rows(sample);
        say("rows");
}

static void on_changed(void *userdata)
{
        Sample *sample = userdata;

        if (!sample->quiet)
                show_rows(sample);
}

static void set_addresses(Sample *sample, char **words,
        void (*set)(AldBrokers *brokers, const AldBrokerAddress *addresses, size_t n))
{
        g_autoptr(GArray) addresses = g_array_new(FALSE, FALSE, sizeof(AldBrokerAddress));

        for (; *words; words++) {
                AldBrokerAddress address;

                if (ald_broker_address_parse(*words, &address, NULL) == 0)
                        g_array_append_val(addresses, address);
        }
        set(sample->brokers, (const AldBrokerAddress *) (void *) addresses->data, addresses->len);
}

static void publish(Sample *sample, char **words)
{
        int r = ald_brokers_publish(sample->brokers, words[0], words[3], strlen(words[3]), atoi(words[1]),
                g_str_equal(words[2], "retain"));

        if (r < 0)
                say("refused\t%s\t%s", words[0], g_strerror(-r));
}

/* Many topics below one, with a payload of so many bytes. */
static void flood(Sample *sample, char **words)
{
        g_autofree char *payload = g_strnfill((gsize) atoi(words[2]), 'x');
        int r = 0;

        for (int i = 0; i < atoi(words[1]) && r >= 0; i++) {
                g_autofree char *topic = g_strdup_printf("%s/%d", words[0], i);

                r = ald_brokers_publish(sample->brokers, topic, payload, strlen(payload), 1, true);
        }
        say("flooded\t%s", r < 0 ? g_strerror(-r) : "");
}

static void show_count(Sample *sample)
{
        say("count\t%u\t%u\t%u\t%" PRIu64, g_hash_table_size(sample->topics), sample->live, sample->retained,
                ald_brokers_dropped(sample->brokers));
}

static void obey(Sample *sample, char **words)
{
        const char *command = words[0];

        if (g_str_equal(command, "configure"))
                set_addresses(sample, words + 1, ald_brokers_configure);
        else if (g_str_equal(command, "discover"))
                set_addresses(sample, words + 1, ald_brokers_discover);
        else if (g_str_equal(command, "subscribe"))
                ald_brokers_subscribe(sample->brokers, (const char *const *) words + 1, true);
        else if (g_str_equal(command, "again"))
                say("again\t%d", ald_brokers_request_again(sample->brokers, words[1]));
        else if (g_str_equal(command, "publish"))
                publish(sample, words + 1);
        else if (g_str_equal(command, "flood"))
                flood(sample, words + 1);
        else if (g_str_equal(command, "reconnect"))
                ald_brokers_reconnect(sample->brokers);
        else if (g_str_equal(command, "rows"))
                answer_rows(sample);
        else if (g_str_equal(command, "quiet"))
                sample->quiet = true;
        else if (g_str_equal(command, "sleep"))
                sample->sleeping = true;
        else if (g_str_equal(command, "count"))
                show_count(sample);
        else
                say("unknown\t%s", command);
}

/* Asleep it waits for the next line here, and the loop does nothing else. */
static gboolean on_input(GIOChannel *input, GIOCondition condition, gpointer userdata)
{
        Sample *sample = userdata;

        do {
                g_autofree char *line = NULL;
                g_auto(GStrv) words = NULL;

                sample->sleeping = false;
                if (g_io_channel_read_line(input, &line, NULL, NULL, NULL) != G_IO_STATUS_NORMAL) {
                        g_main_loop_quit(sample->loop);
                        return G_SOURCE_REMOVE;
                }
                line[strcspn(line, "\n")] = '\0';
                words = g_strsplit(line, "\t", -1);
                obey(sample, words);
        } while (sample->sleeping);
        return G_SOURCE_CONTINUE;
}

static gboolean on_term(gpointer userdata)
{
        Sample *sample = userdata;

        g_main_loop_quit(sample->loop);
        return G_SOURCE_REMOVE;
}

int main(int argc, char *argv[])
{
        static const AldBrokersHandler handler = { make_tls, make_will, on_connected, on_disconnected,
                on_first_changed, on_message, on_changed };
        Sample sample = { .folder = argv[1] };
        g_autofree char *will = g_strdup_printf("alidade/1/bed/%s/status", argv[2]);

        if (ald_brokers_init() < 0)
                return EXIT_FAILURE;
        sample.loop = g_main_loop_new(NULL, FALSE);
        sample.topics = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
        sample.brokers = ald_brokers_new(&handler, &sample);
        ald_brokers_set_identity(sample.brokers, argv[2], will);
        sample.input = g_io_channel_unix_new(STDIN_FILENO);
        g_io_add_watch(sample.input, G_IO_IN | G_IO_HUP, on_input, &sample);
        g_unix_signal_add(SIGTERM, on_term, &sample);

        g_main_loop_run(sample.loop);
        ald_brokers_free(sample.brokers);
        g_io_channel_unref(sample.input);
        g_hash_table_unref(sample.topics);
        g_main_loop_unref(sample.loop);
        ald_brokers_quit();
        return EXIT_SUCCESS;
}
