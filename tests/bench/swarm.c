/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <arpa/inet.h>
#include <errno.h>
#include <glib-unix.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>

#include "pki/certificate.h"
#include "pki/private-key.h"
#include "pki/sign.h"
#include "services/cluster/peers/payload.h"
#include "tests/bench/mqtt-client.h"
#include "tests/bench/publish-schedule.h"
#include "tests/bench/swarm.h"

#define SECOND_USEC UINT64_C(1000000)
#define ALIVE_USEC (10 * SECOND_USEC)
#define HANDSHAKES 32u        /* at a time */
#define KEEPALIVE_SECONDS 600 /* more than all handshakes take, during which who is done says nothing */

typedef struct Node {
        MqttClient *client;
        AldId id;
        uint64_t sent;                  /* when it last said anything */
        uint64_t alive;                 /* and when `alive` */
        uint32_t turn[FIXTURE_RECORDS]; /* of each record last published */
        bool found[FIXTURE_RECORDS];
        bool writing;
} Node;

struct Swarm {
        SwarmSettings settings;
        Node *nodes;
        Schedule schedule;
        uint64_t published;
        int epoll;
        SSL_CTX *context;
        X509 *ca;
        EVP_PKEY *ca_key, *key;
        GHashTable *by_id;
};

static void die(const char *what, const char *why)
{
        fprintf(stderr, "bench-cluster: %s: %s\n", what, why);
        exit(EXIT_FAILURE);
}

#define TRY(expression)                                       \
        do {                                                  \
                if ((expression) < 0)                         \
                        die(#expression, error ? error : ""); \
        } while (false)

static uint64_t clock_usec(clockid_t which)
{
        struct timespec t;

        clock_gettime(which, &t);
        return (uint64_t) t.tv_sec * SECOND_USEC + (uint64_t) t.tv_nsec / 1000;
}

uint64_t swarm_now(void)
{
        return clock_usec(CLOCK_MONOTONIC);
}

/* What a node says */

static uint64_t epoch_of_all(void)
{
        char key[128];
        AldUpdate update = fixture_update(0, 0, 1, 0, key);

        ald_record_unref(update.record);
        return update.stamp.epoch;
}

static char *format_status(const Node *node, AldNodeStatusState state)
{
        char id[ALD_ID_STRING_SIZE];
        AldNodeStatus status = ALD_NODE_STATUS_INIT;

        status.state = ald_node_status_state_to_string(state);
        status.epoch = epoch_of_all();
        status.connection = 1;
        status.instance = status.boot = ald_id_format(&node->id, id);
        return ald_message_format(ALD_KIND_NODE_STATUS, &status);
}

static void publish(Swarm *swarm, Node *node, const AldTopic *topic, char *payload, int qos, bool retain)
{
        g_autofree char *name = ald_topic_format(topic, swarm->settings.cluster);

        mqtt_client_publish(node->client, name, payload, qos, retain);
        g_free(payload);
        node->sent = swarm_now();
}

static void publish_record(Swarm *swarm, Node *node, unsigned which)
{
        AldTopic topic = { .type = ALD_TOPIC_RECORD, .node = node->id };
        AldUpdate update = fixture_update((unsigned) (node - swarm->nodes), which, swarm->settings.nodes,
                ++node->turn[which], topic.key);
        bool fast = update.kind == ALD_KIND_MEMORY || update.kind == ALD_KIND_SYSTEM;

        topic.kind = update.kind;
        update.updated_usec = clock_usec(CLOCK_REALTIME);
        publish(swarm, node, &topic, ald_payload_write_record(&update), fast ? 0 : 1, true);
        ald_record_unref(update.record);
        swarm->published++;
}

static void say_alive(Swarm *swarm, Node *node, uint64_t now)
{
        const AldTopic topic = { .type = ALD_TOPIC_ALIVE, .node = node->id };
        const AldNodeAlive alive = {
                .sent_usec = clock_usec(CLOCK_REALTIME), .epoch = epoch_of_all(), .connection = 1
        };

        if (now - node->sent < SECOND_USEC && now - node->alive < ALIVE_USEC)
                return;
        publish(swarm, node, &topic, ald_message_format(ALD_KIND_NODE_ALIVE, &alive), 0, false);
        node->alive = now;
}

/* Coming up */

static int open_socket(const SwarmSettings *settings)
{
        struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = htons(settings->port) };
        int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), one = 1;

        inet_pton(AF_INET, settings->address, &address.sin_addr);
        if (fd < 0 || connect(fd, (struct sockaddr *) &address, sizeof address) < 0)
                die(settings->address, strerror(errno));
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
        g_unix_set_fd_nonblocking(fd, TRUE, NULL);
        return fd;
}

static void watch(Swarm *swarm, Node *node, int operation)
{
        struct epoll_event event = { .events = EPOLLIN | (node->writing ? EPOLLOUT : 0), .data.ptr = node };

        if (epoll_ctl(swarm->epoll, operation, mqtt_client_fd(node->client), &event) < 0)
                die("epoll_ctl", strerror(errno));
}

static void turn(Swarm *swarm, Node *node)
{
        bool writing = mqtt_client_turn(node->client);

        if (writing != node->writing) {
                node->writing = writing;
                watch(swarm, node, EPOLL_CTL_MOD);
        }
}

static void start_node(Swarm *swarm, Node *node)
{
        const AldTopic status_topic = { .type = ALD_TOPIC_STATUS, .node = node->id };
        g_autofree char *topic = ald_topic_format(&status_topic, swarm->settings.cluster), *error = NULL;
        g_autofree char *payload = format_status(node, ALD_NODE_STATUS_STATE_OFFLINE);
        g_autoptr(X509) certificate = NULL;
        char id[ALD_ID_STRING_SIZE];
        const AldPkiSubject subject = {
                .role = ALD_PKI_ROLE_NODE, .name = ald_id_format(&node->id, id), .key = swarm->key
        };

        TRY(ald_pki_sign(
                swarm->ca, swarm->ca_key, &subject, clock_usec(CLOCK_REALTIME), &certificate, &error));
        node->client = mqtt_client_new(
                swarm->context, open_socket(&swarm->settings), certificate, swarm->key);
        mqtt_client_connect(node->client, id, &(MqttWill){ topic, payload }, KEEPALIVE_SECONDS);
        watch(swarm, node, EPOLL_CTL_ADD);
        turn(swarm, node);
}

static void introduce(Swarm *swarm, Node *node)
{
        const AldTopic topic = { .type = ALD_TOPIC_STATUS, .node = node->id };
        char id[ALD_ID_STRING_SIZE];
        g_autofree char *own = g_strdup_printf(
                "alidade/1/%s/%s/#", swarm->settings.cluster, ald_id_format(&node->id, id));
        g_autofree char *lists = g_strdup_printf("alidade/1/%s/+/crl", swarm->settings.cluster);

        mqtt_client_subscribe(node->client, own, 1);
        mqtt_client_subscribe(node->client, lists, 1);
        publish(swarm, node, &topic, format_status(node, ALD_NODE_STATUS_STATE_ONLINE), 1, true);
        for (unsigned which = 0; which < FIXTURE_RECORDS; which++)
                publish_record(swarm, node, which);
}

static void serve(Swarm *swarm, int timeout_ms)
{
        struct epoll_event events[64];
        int n = epoll_wait(swarm->epoll, events, G_N_ELEMENTS(events), timeout_ms);

        for (int i = 0; i < n; i++)
                turn(swarm, events[i].data.ptr);
}

/* So many at a time, since thousands of handshakes at once would time out. */
static void connect_all(Swarm *swarm)
{
        unsigned begun = 0, done = 0;

        while (done < swarm->settings.nodes) {
                while (begun < swarm->settings.nodes && begun - done < HANDSHAKES)
                        start_node(swarm, &swarm->nodes[begun++]);
                serve(swarm, 100);
                while (done < begun && mqtt_client_ready(swarm->nodes[done].client))
                        introduce(swarm, &swarm->nodes[done++]);
        }
}

/* Going on */

static void do_event(Swarm *swarm)
{
        const ScheduleEvent event = schedule_take(&swarm->schedule);
        Node *node = &swarm->nodes[event.node];

        if (event.which == SCHEDULE_ALIVE)
                say_alive(swarm, node, swarm_now());
        else
                publish_record(swarm, node, event.which);
        turn(swarm, node);
}

static bool is_readable(int fd)
{
        struct pollfd poll_fd = { .fd = fd, .events = POLLIN };

        return fd >= 0 && poll(&poll_fd, 1, 0) > 0;
}

void swarm_run(Swarm *swarm, uint64_t until, int fd)
{
        while ((until == 0 || swarm_now() < until) && !is_readable(fd)) {
                uint64_t now = swarm_now(), next;

                for (unsigned i = 0; i < 16 && schedule_next(&swarm->schedule) <= now; i++)
                        do_event(swarm);
                next = schedule_next(&swarm->schedule);
                serve(swarm, next > now ? (int) MIN((next - now + 999) / 1000, 50) : 0);
        }
}

void swarm_rest(Swarm *swarm, uint64_t usec)
{
        for (uint64_t until = swarm_now() + usec, now; (now = swarm_now()) < until;)
                serve(swarm, (int) ((until - now) / 1000 + 1));
}

Swarm *swarm_start(const SwarmSettings *settings)
{
        Swarm *swarm = g_new0(Swarm, 1);
        char *error = NULL;

        swarm->settings = *settings;
        TRY(ald_pki_certificate_load(settings->ca, &swarm->ca, &error));
        TRY(ald_pki_key_load(settings->ca_key, &swarm->ca_key, &error));
        TRY(ald_pki_key_generate(&swarm->key, &error));
        swarm->context = SSL_CTX_new(TLS_client_method());
        SSL_CTX_set_mode(swarm->context, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
                                                 SSL_MODE_RELEASE_BUFFERS);
        X509_STORE_add_cert(SSL_CTX_get_cert_store(swarm->context), swarm->ca);
        SSL_CTX_set_verify(swarm->context, SSL_VERIFY_PEER, NULL);
        swarm->epoll = epoll_create1(EPOLL_CLOEXEC);
        swarm->nodes = g_new0(Node, settings->nodes);
        swarm->by_id = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
        for (unsigned i = 0; i < settings->nodes; i++) {
                char id[ALD_ID_STRING_SIZE];

                swarm->nodes[i].id = fixture_id(i);
                g_hash_table_insert(
                        swarm->by_id, g_strdup(ald_id_format(&swarm->nodes[i].id, id)), &swarm->nodes[i]);
        }
        schedule_plan(&swarm->schedule, settings->nodes, settings->divisor);
        connect_all(swarm);
        swarm->schedule.cycle = swarm_now();
        return swarm;
}

uint64_t swarm_take_published(Swarm *swarm)
{
        uint64_t published = swarm->published;

        swarm->published = 0;
        return published;
}

/* What the state service has in the end */

static unsigned which_of(Swarm *swarm, unsigned node, const char *kind, const char *key)
{
        int found = ald_kind_from_name(kind);

        if (found >= 0 && found < (int) FIXTURE_KINDS && *key == '\0')
                return (unsigned) found;
        for (unsigned which = FIXTURE_KINDS; which < FIXTURE_RECORDS; which++) {
                char wanted[128];
                AldUpdate update = fixture_update(node, which, swarm->settings.nodes, 0, wanted);

                ald_record_unref(update.record);
                if (found == (int) update.kind && g_str_equal(wanted, key))
                        return which;
        }
        return FIXTURE_RECORDS;
}

void swarm_check(Swarm *swarm, const char *id, const char *kind, const char *key, uint64_t seq, bool deleted)
{
        Node *node = g_hash_table_lookup(swarm->by_id, id);
        unsigned index = node ? (unsigned) (node - swarm->nodes) : 0, which;
        char unused[128];

        which = node ? which_of(swarm, index, kind, key) : FIXTURE_RECORDS;
        if (which < FIXTURE_RECORDS) {
                AldUpdate update = fixture_update(
                        index, which, swarm->settings.nodes, node->turn[which], unused);

                node->found[which] = !deleted && update.stamp.seq == seq;
                ald_record_unref(update.record);
        }
}

unsigned swarm_missing(Swarm *swarm)
{
        unsigned missing = 0;

        for (unsigned which = 0; which < FIXTURE_RECORDS; which++) {
                unsigned before = missing;

                for (unsigned i = 0; i < swarm->settings.nodes; i++)
                        missing += !swarm->nodes[i].found[which];
                if (missing > before)
                        fprintf(stderr, "%u of %s are missing\n", missing - before,
                                which < FIXTURE_KINDS ? ald_kinds[which].name : "a link");
        }
        return missing;
}
