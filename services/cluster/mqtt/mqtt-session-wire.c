/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include "pki/certificate.h"
#include "services/cluster/mqtt/mqtt-session-private.h"

static char *describe_errno(int error)
{
        switch (error) {
        case ECONNREFUSED:
                return g_strdup("nothing listens at that address and port (connection refused)");
        case EHOSTUNREACH:
        case EHOSTDOWN:
                return g_strdup("the host cannot be reached");
        case ENETUNREACH:
        case ENETDOWN:
                return g_strdup("its network is unreachable");
        case ETIMEDOUT:
                return g_strdup("it does not answer (timed out)");
        case ECONNRESET:
        case EPIPE:
                return g_strdup("the broker closed the connection");
        case EINVAL:
                return g_strdup("a route of this machine discards packets to it (blackhole)");
        case EACCES:
        case EPERM:
                return g_strdup("the firewall of this machine forbids the connection");
        default:
                return g_strdup(g_strerror(error));
        }
}

static char *describe_connack(int code)
{
        switch (code) {
        case 1:
                return g_strdup("the broker does not speak MQTT 3.1.1");
        case 2:
                return g_strdup("the broker refuses the client id");
        case 3:
                return g_strdup("the broker is not available");
        case 4:
        case 5:
                return g_strdup("the broker does not authorize this node");
        default:
                return g_strdup_printf("the broker refused the connection with code %d", code);
        }
}

/* `error` is errno after the call; `openssl` is the error of OpenSSL during it, or NULL. */
static char *describe_mosquitto_error(int rc, int error, const char *openssl)
{
        if (openssl && strstr(openssl, "unexpected eof"))
                return g_strdup("the broker closed the connection");
        if (openssl)
                return g_strdup_printf("TLS failed: %s", openssl);
        switch (rc) {
        case MOSQ_ERR_KEEPALIVE:
                return g_strdup("the broker no longer answers (timed out)");
        case MOSQ_ERR_PROTOCOL:
        case MOSQ_ERR_MALFORMED_PACKET:
        case MOSQ_ERR_MALFORMED_UTF8:
                return g_strdup("the broker does not speak MQTT");
        case MOSQ_ERR_NOMEM:
                return g_strdup("out of memory");
        case MOSQ_ERR_ERRNO:
                /* libmosquitto reports any failure below TLS as EPROTO. */
                return error == EPROTO ? g_strdup("the broker closed the connection") : describe_errno(error);
        case MOSQ_ERR_SUCCESS:
        case MOSQ_ERR_CONN_LOST:
        case MOSQ_ERR_NO_CONN:
                return g_strdup("the broker closed the connection");
        default:
                return g_strdup(mosquitto_strerror(rc));
        }
}

#define BYE_USEC G_USEC_PER_SEC           /* for sending the rest of the queue */
#define CLOSING_USEC (G_USEC_PER_SEC / 2) /* for sending DISCONNECT */
#define QUIET_POLL_MS 1000                /* how often libmosquitto checks its timers while nothing arrives */

/* Waking up costs more than reading a message, so after a message the thread waits this long for more. */
#define GATHER_USEC (5 * 1000)
#define FLOOD 32u     /* messages in one turn, as after a subscription; then more are read without waiting */
#define READ_MAX 256u /* messages in one turn, so that sending need not wait for the end of a flood */

static void set_outcome(AldWire *wire, AldSessionEvent event, char *words)
{
        if (wire->done) {
                g_free(words);
                return;
        }
        wire->done = true;
        wire->outcome.event = event;
        wire->outcome.words = words;
}

/* Ends an established connection as lost, and an attempt as refused. TLS knows the reason best. */
static void fail_connection(AldWire *wire, int rc, int error)
{
        char *words = ald_tls_take_reason(wire->session->tls);
        AldSessionEvent event = ALD_SESSION_REFUSED;

        if (wire->phase == ALD_WIRE_UP)
                event = ALD_SESSION_LOST;
        if (wire->phase > ALD_WIRE_UP)
                event = ALD_SESSION_ENDED;
        if (!words && wire->connack != 0)
                words = describe_connack(wire->connack);
        if (!words)
                words = describe_mosquitto_error(rc, error, wire->openssl);
        set_outcome(wire, event, words);
}

/* Returns the error of a connection attempt. On the loopback a connection is refused at once, and by now
 * libmosquitto has consumed that error in its first attempt to use TLS; a socket without a peer shows it. */
static int get_socket_error(int fd)
{
        struct sockaddr_storage peer;
        socklen_t size = sizeof(int), peer_size = sizeof(peer);
        int error = 0;

        if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size) < 0)
                return errno;
        if (error == 0 && getpeername(fd, (struct sockaddr *) &peer, &peer_size) < 0)
                return ECONNREFUSED;
        return error;
}

static void enter_phase(AldWire *wire, AldWirePhase phase, gint64 usec)
{
        wire->phase = phase;
        if (usec > 0)
                wire->deadline = g_get_monotonic_time() + usec;
}

static void step_tcp(AldWire *wire, int fd, short revents)
{
        int error;

        if (!(revents & (POLLOUT | POLLERR | POLLHUP)))
                return;
        error = get_socket_error(fd);
        if (error != 0)
                set_outcome(wire, ALD_SESSION_UNREACHABLE, describe_errno(error));
        else
                enter_phase(wire, ALD_WIRE_TLS, 0);
}

/* Claims the broker by its certificate, since two connections of this node to one broker would disconnect
 * each other. */
static void claim_broker(AldWire *wire, SSL *ssl)
{
        AldMqttSession *session = wire->session;
        g_autoptr(X509) certificate = SSL_get1_peer_certificate(ssl);
        AldPkiFacts facts;
        uint64_t holder;

        if (!certificate) {
                set_outcome(wire, ALD_SESSION_REFUSED, g_strdup("the broker showed no certificate"));
                return;
        }
        ald_pki_certificate_facts(certificate, &facts);
        wire->expiry = facts.not_after;
        wire->name = g_strdup(facts.common_name);
        wire->claim = g_strdup_printf("%s:%u", facts.fingerprint, session->address.port);
        holder = ald_claims_take(session->claims, wire->claim, session->number);
        if (holder != session->number) {
                wire->outcome.number = holder;
                set_outcome(wire, ALD_SESSION_DUPLICATE, NULL);
        }
}

/* Checks for a hangup itself, since libmosquitto treats a connection that breaks during the handshake as one
 * that makes progress. */
static void step_tls(AldWire *wire, short revents)
{
        int rc = mosquitto_loop_read(wire->mosq, 1);
        SSL *ssl = mosquitto_ssl_get(wire->mosq);

        if (rc != MOSQ_ERR_SUCCESS || mosquitto_socket(wire->mosq) < 0) {
                fail_connection(wire, rc, errno);
        } else if (SSL_is_init_finished(ssl)) {
                enter_phase(wire, ALD_WIRE_HELLO, 0);
                claim_broker(wire, ssl);
        } else if (revents & (POLLERR | POLLHUP)) {
                fail_connection(wire, MOSQ_ERR_CONN_LOST, 0);
        }
}

/* OpenSSL reads ahead, so the socket may be empty while messages wait. */
static bool has_buffered_data(const AldWire *wire)
{
        char unused;

        return mosquitto_socket(wire->mosq) >= 0 && SSL_peek(mosquitto_ssl_get(wire->mosq), &unused, 1) > 0;
}

static int read_all(AldWire *wire)
{
        unsigned n = 0;
        int rc;

        wire->heard = g_get_monotonic_time();
        do {
                rc = mosquitto_loop_read(wire->mosq, 1);
                wire->more = rc == MOSQ_ERR_SUCCESS && has_buffered_data(wire);
        } while (wire->more && ++n < READ_MAX);
        wire->read_after = wire->more || n >= FLOOD ? 0 : g_get_monotonic_time() + GATHER_USEC;
        return rc;
}

static gint64 remaining_pause(const AldWire *wire)
{
        return wire->phase == ALD_WIRE_UP ? MAX(wire->read_after - g_get_monotonic_time(), 0) : 0;
}

/* Pauses reading while the main loop is behind, so that messages wait at the broker. */
static bool may_read(AldWire *wire, short revents)
{
        if (revents & (POLLERR | POLLHUP))
                return true;
        if (remaining_pause(wire) > 0 || (!wire->more && !(revents & POLLIN)))
                return false;
        if (wire->phase != ALD_WIRE_UP || ald_mqtt_session_may_put(wire->session))
                return true;
        wire->read_after = g_get_monotonic_time() + GATHER_USEC;
        return false;
}

/* Repeats until nothing is left to send: a sent message with QoS 0 reopens the window, but nothing arrives
 * that would wake the thread to use it. */
static int write_all(AldWire *wire)
{
        const bool filling = wire->phase == ALD_WIRE_UP || wire->phase == ALD_WIRE_BYE;
        int rc = MOSQ_ERR_SUCCESS;

        do {
                if (filling)
                        ald_wire_fill(wire);
                if (mosquitto_want_write(wire->mosq))
                        rc = mosquitto_loop_write(wire->mosq, 1);
        } while (rc == MOSQ_ERR_SUCCESS && filling && ald_wire_may_fill(wire));
        return rc;
}

/* Reads before it writes: after a refusal there may be a reason to read, although the peer is gone. */
static void step_mqtt(AldWire *wire, short revents)
{
        int rc = MOSQ_ERR_SUCCESS;

        if (may_read(wire, revents))
                rc = read_all(wire);
        if (rc == MOSQ_ERR_SUCCESS)
                rc = write_all(wire);
        if (rc == MOSQ_ERR_SUCCESS)
                rc = mosquitto_loop_misc(wire->mosq);
        if (rc != MOSQ_ERR_SUCCESS || mosquitto_socket(wire->mosq) < 0)
                fail_connection(wire, rc, errno);
}

/* Carries out what the main loop has requested. */
static void check_requests(AldWire *wire)
{
        g_auto(GStrv) asked = NULL;
        char **filters;
        bool again;

        if (ald_mqtt_session_is_stopping(wire->session)) {
                if (wire->phase < ALD_WIRE_UP)
                        set_outcome(wire, ALD_SESSION_ENDED, NULL);
                else if (wire->phase == ALD_WIRE_UP)
                        enter_phase(wire, ALD_WIRE_BYE, BYE_USEC);
        }
        if (wire->phase != ALD_WIRE_UP)
                return;
        filters = ald_mqtt_session_take_filters(wire->session, &again);
        if (filters)
                ald_wire_subscribe(wire, filters, again);
        asked = ald_mqtt_session_take_asked(wire->session);
        if (asked)
                ald_wire_ask_again(wire, asked);
}

static void check_deadline(AldWire *wire)
{
        bool late = wire->phase != ALD_WIRE_UP && g_get_monotonic_time() >= wire->deadline;

        if (wire->phase == ALD_WIRE_BYE && (late || ald_wire_is_drained(wire))) {
                enter_phase(wire, ALD_WIRE_CLOSING, CLOSING_USEC);
                (void) mosquitto_disconnect(wire->mosq);
        } else if (late && wire->phase == ALD_WIRE_CLOSING) {
                set_outcome(wire, ALD_SESSION_ENDED, NULL);
        } else if (late) {
                set_outcome(wire, ALD_SESSION_UNREACHABLE,
                        g_strdup(wire->phase == ALD_WIRE_TCP
                                         ? "it does not answer (timed out)"
                                         : "it accepts connections but does not answer (timed out)"));
        }
}

static short wanted_events(const AldWire *wire)
{
        const short reading = remaining_pause(wire) > 0 ? 0 : POLLIN;
        SSL *ssl;

        switch (wire->phase) {
        case ALD_WIRE_TCP:
                return POLLOUT;
        case ALD_WIRE_TLS:
                /* Until the handshake has ended, mosquitto_want_write() is not reliable. Newer versions leave
                 * the first step of the handshake to us. */
                ssl = mosquitto_ssl_get(wire->mosq);
                return SSL_in_before(ssl) || SSL_want_write(ssl) ? POLLIN | POLLOUT : POLLIN;
        default:
                return mosquitto_want_write(wire->mosq) ? reading | POLLOUT : reading;
        }
}

/* Returns the timeout in ms. While nothing arrives, the thread wakes only to check that the broker is still
 * there. */
static int wanted_timeout(const AldWire *wire)
{
        gint64 left = wire->phase == ALD_WIRE_UP
                              ? wire->heard + ALD_SESSION_KEEPALIVE * G_USEC_PER_SEC - g_get_monotonic_time()
                              : wire->deadline - g_get_monotonic_time();

        if (remaining_pause(wire) > 0)
                left = remaining_pause(wire);
        else if (wire->more)
                left = 0;
        else if (wire->phase == ALD_WIRE_UP)
                left = MAX(left, QUIET_POLL_MS * 1000);
        return left > 0 ? (int) (left / 1000) + 1 : 0;
}

static void run_once(AldWire *wire)
{
        int fd = mosquitto_socket(wire->mosq);
        struct pollfd fds[] = { { fd, wanted_events(wire), 0 }, { wire->session->wake, POLLIN, 0 } };
        eventfd_t unused;

        if (poll(fds, G_N_ELEMENTS(fds), wanted_timeout(wire)) < 0 && errno != EINTR) {
                set_outcome(wire, ALD_SESSION_LOST, describe_errno(errno));
                return;
        }
        if (fds[1].revents)
                (void) eventfd_read(wire->session->wake, &unused);
        g_clear_pointer(&wire->openssl, g_free);
        check_requests(wire);
        if (wire->done)
                return;
        if (wire->phase == ALD_WIRE_TCP)
                step_tcp(wire, fd, fds[0].revents);
        else if (wire->phase == ALD_WIRE_TLS)
                step_tls(wire, fds[0].revents);
        else
                step_mqtt(wire, fds[0].revents);
        if (!wire->done)
                check_deadline(wire);
}

void ald_mqtt_session_connect(AldMqttSession *session, const char *host, AldSessionOutcome *ret)
{
        AldWire wire = { .session = session, .expiry = UINT64_MAX };
        int rc;

        enter_phase(&wire, ALD_WIRE_TCP, ALD_SESSION_CONNECT_USEC);
        rc = ald_wire_open(&wire, host);
        if (rc == MOSQ_ERR_ERRNO)
                set_outcome(&wire, ALD_SESSION_UNREACHABLE, describe_errno(errno));
        else if (rc != MOSQ_ERR_SUCCESS)
                fail_connection(&wire, rc, errno);
        while (!wire.done)
                run_once(&wire);
        ald_wire_close(&wire);
        *ret = wire.outcome;
}
