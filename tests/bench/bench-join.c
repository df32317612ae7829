/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the broker and TLS alone take of a late join: a client with a certificate of its own subscribes to
 * what a node with mirror=all does, and reads every retained message.
 *
 *   bench-join ADDRESS PORT CLUSTER CA CA-KEY NODES
 *
 * Tells how long that took, and how much processor time, in ms, from before it connects.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <glib-unix.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

#include "pki/certificate.h"
#include "pki/private-key.h"
#include "pki/sign.h"
#include "tests/bench/fixture.h"
#include "tests/bench/mqtt-client.h"

#define ID "b17eb17eb17eb17eb17eb17eb17eb17e"
#define KEEPALIVE_SECONDS 600
#define GIVE_UP_MS 60000
#define RETAINED (FIXTURE_RECORDS + 1) /* messages of a simulated node: its records and its status */

static void die(const char *what, const char *why)
{
        fprintf(stderr, "bench-join: %s: %s\n", what, why);
        exit(EXIT_FAILURE);
}

#define TRY(expression)                                       \
        do {                                                  \
                if ((expression) < 0)                         \
                        die(#expression, error ? error : ""); \
        } while (false)

typedef struct Identity {
        SSL_CTX *context;
        X509 *certificate;
        EVP_PKEY *key;
} Identity;

static Identity make_identity(const char *ca_path, const char *ca_key_path)
{
        g_autoptr(EVP_PKEY) ca_key = NULL;
        g_autoptr(X509) ca = NULL;
        AldPkiSubject subject = { .role = ALD_PKI_ROLE_NODE, .name = ID };
        Identity identity = { 0 };
        char *error = NULL;

        TRY(ald_pki_certificate_load(ca_path, &ca, &error));
        TRY(ald_pki_key_load(ca_key_path, &ca_key, &error));
        TRY(ald_pki_key_generate(&identity.key, &error));
        subject.key = identity.key;
        TRY(ald_pki_sign(ca, ca_key, &subject, (uint64_t) g_get_real_time(), &identity.certificate, &error));
        identity.context = SSL_CTX_new(TLS_client_method());
        X509_STORE_add_cert(SSL_CTX_get_cert_store(identity.context), ca);
        SSL_CTX_set_verify(identity.context, SSL_VERIFY_PEER, NULL);
        return identity;
}

static int open_socket(const char *address, uint16_t port)
{
        struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons(port) };
        int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), one = 1;

        inet_pton(AF_INET, address, &to.sin_addr);
        if (fd < 0 || connect(fd, (struct sockaddr *) &to, sizeof to) < 0)
                die(address, strerror(errno));
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
        g_unix_set_fd_nonblocking(fd, TRUE, NULL);
        return fd;
}

/* Reads until the broker has accepted the subscription, or this many messages came. */
static void await(MqttClient *client, unsigned messages)
{
        struct pollfd fd = { .fd = mqtt_client_fd(client) };

        for (;;) {
                fd.events = mqtt_client_turn(client) ? POLLIN | POLLOUT : POLLIN;
                if (mqtt_client_ready(client) && mqtt_client_retained(client) >= messages)
                        return;
                if (poll(&fd, 1, GIVE_UP_MS) == 0)
                        die("messages did not come", strerror(ETIMEDOUT));
        }
}

static double clock_ms(clockid_t which)
{
        struct timespec t;

        clock_gettime(which, &t);
        return (double) t.tv_sec * 1e3 + (double) t.tv_nsec / 1e6;
}

int main(int argc, char *argv[])
{
        g_autofree char *filter = NULL;
        MqttClient *client;
        Identity identity;
        double start, cpu;

        if (argc != 7)
                return EXIT_FAILURE;
        filter = g_strdup_printf("alidade/1/%s/#", argv[3]);
        identity = make_identity(argv[4], argv[5]);

        start = clock_ms(CLOCK_MONOTONIC);
        cpu = clock_ms(CLOCK_PROCESS_CPUTIME_ID);
        client = mqtt_client_new(identity.context, open_socket(argv[1], (uint16_t) atoi(argv[2])),
                identity.certificate, identity.key);
        mqtt_client_connect(client, ID, NULL, KEEPALIVE_SECONDS);
        await(client, 0);
        mqtt_client_subscribe(client, filter, 0);
        await(client, (unsigned) atoi(argv[6]) * RETAINED);
        printf("%.1f %.1f\n", clock_ms(CLOCK_MONOTONIC) - start, clock_ms(CLOCK_PROCESS_CPUTIME_ID) - cpu);

        mqtt_client_free(client);
        X509_free(identity.certificate);
        EVP_PKEY_free(identity.key);
        SSL_CTX_free(identity.context);
        return EXIT_SUCCESS;
}
