/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <poll.h>
#include <string.h>

#include <openssl/err.h>

#include "pki/certificate.h"
#include "probes/common/channel.h"
#include "probes/common/probe-clock.h"
#include "probes/common/probe-fd.h"
#include "probes/common/wait.h"

#define MESSAGES_MAX 4096u /* in one session: twice what the longest transfers take */

/* Waits until a call on the connection can continue, according to its result. */
static int wait_to_retry(AldChannel *channel, int result, uint64_t deadline, const char *what)
{
        short events = SSL_get_error(channel->ssl, result) == SSL_ERROR_WANT_WRITE ? POLLOUT : POLLIN;

        return ald_wait_for(channel->fd, events, channel->stop, deadline, what, channel->failure);
}

static bool wants_retry(AldChannel *channel, int result)
{
        int error = SSL_get_error(channel->ssl, result);

        return error == SSL_ERROR_WANT_READ || error == SSL_ERROR_WANT_WRITE;
}

/* A server that has too many connections, or too many in a short time, closes them; one that refuses us in
 * TLS sends an alert. */
static bool is_closed_early(const AldChannel *channel, int result)
{
        int error = SSL_get_error(channel->ssl, result);

        return !channel->ready && !SSL_is_server(channel->ssl) &&
               BIO_number_read(SSL_get_rbio(channel->ssl)) == 0 &&
               (error == SSL_ERROR_SYSCALL || error == SSL_ERROR_ZERO_RETURN ||
                       ERR_GET_REASON(ERR_peek_error()) == SSL_R_UNEXPECTED_EOF_WHILE_READING);
}

static int fail_tls(AldChannel *channel, int result)
{
        bool closed_early = is_closed_early(channel, result);
        bool wrong = SSL_get_verify_result(channel->ssl) == X509_V_ERR_HOSTNAME_MISMATCH;
        char *known = ald_tls_take_reason(channel->tls);
        g_autofree char *reason = known ? known : ald_tls_explain(channel->tls, channel->ssl, result);

        /* With TLS 1.3, a server refuses our certificate only after our own handshake is complete. */
        if (closed_early && !known)
                return ald_fail(channel->failure, ALD_FAILURE_BUSY,
                        "the other side closed the connection before TLS, possibly because it has too many");
        if (wrong)
                return ald_fail(channel->failure, ALD_FAILURE_WRONG_PEER, "%s", reason);
        if (!channel->ready || known)
                return ald_fail(channel->failure, ALD_FAILURE_TLS_FAILED, "TLS: %s", reason);
        return ald_fail(channel->failure, ALD_FAILURE_ABORTED, "the connection was lost: %s", reason);
}

static int do_handshake(AldChannel *channel)
{
        uint64_t deadline = ald_now() + ALD_CHANNEL_TIMEOUT;
        int r;

        for (;;) {
                ERR_clear_error();
                r = SSL_do_handshake(channel->ssl);
                if (r == 1) {
                        channel->ready = true;
                        return 0;
                }
                if (!wants_retry(channel, r))
                        return fail_tls(channel, r);
                r = wait_to_retry(channel, r, deadline, "waited for TLS");
                if (r < 0)
                        return r;
        }
}

static void read_peer(AldChannel *channel)
{
        X509 *certificate = SSL_get0_peer_certificate(channel->ssl);
        AldPkiFacts facts;

        if (!certificate)
                return;
        ald_pki_certificate_facts(certificate, &facts);
        if (facts.is_node)
                g_strlcpy(channel->peer, facts.common_name, sizeof channel->peer);
}

int ald_channel_open(AldChannel *channel, const AldProtocol *protocol, int fd, AldTls *tls, bool server,
        int stop, AldFailure *failure)
{
        int r;

        *channel = (AldChannel){
                .fd = fd, .stop = stop, .tls = tls, .protocol = protocol, .failure = failure
        };
        channel->ssl = SSL_new(ald_tls_context(tls));
        if (!channel->ssl || SSL_set_fd(channel->ssl, fd) != 1)
                return ald_fail(failure, ALD_FAILURE_INTERNAL, "TLS cannot be set up");
        if (server)
                SSL_set_accept_state(channel->ssl);
        else
                SSL_set_connect_state(channel->ssl);
        /* A call that continues during TLS control messages may never return. */
        SSL_clear_mode(channel->ssl, SSL_MODE_AUTO_RETRY);
        r = do_handshake(channel);
        if (r >= 0)
                read_peer(channel);
        return r;
}

void ald_channel_close(AldChannel *channel)
{
        if (channel->ssl && SSL_is_init_finished(channel->ssl))
                SSL_shutdown(channel->ssl);
        ERR_clear_error();
        g_clear_pointer(&channel->ssl, SSL_free);
        g_clear_pointer(&channel->tls, ald_tls_free);
        ald_fd_close(&channel->fd);
}

int ald_channel_send_text(AldChannel *channel, const char *text)
{
        uint64_t deadline = ald_now() + ALD_CHANNEL_TIMEOUT;
        size_t size = ALD_FRAME_HEADER + strlen(text);
        g_autofree uint8_t *frame = g_malloc(size);

        ald_frame_header(size - ALD_FRAME_HEADER, frame);
        memcpy(frame + ALD_FRAME_HEADER, text, size - ALD_FRAME_HEADER);
        for (size_t sent = 0; sent < size;) {
                ERR_clear_error();
                int r = SSL_write(channel->ssl, frame + sent, (int) (size - sent));

                if (r > 0) {
                        sent += (size_t) r;
                        continue;
                }
                if (!wants_retry(channel, r))
                        return fail_tls(channel, r);
                r = wait_to_retry(channel, r, deadline, "waited for the other side to read");
                if (r < 0)
                        return r;
        }
        return 0;
}

/* Returns 1 with the next frame, 0 if there is none yet. */
static int try_frame(AldChannel *channel, const char **ret, size_t *ret_n)
{
        size_t room;
        uint8_t *end;
        int r;

        for (;;) {
                r = ald_frame_peek(&channel->reader, ret, ret_n);
                if (r < 0)
                        return ald_fail(channel->failure, ALD_FAILURE_PROTOCOL,
                                "the other side sent an invalid message");
                if (r > 0)
                        return 1;
                end = ald_frame_room(&channel->reader, &room);
                ERR_clear_error();
                r = SSL_read(channel->ssl, end, (int) room);
                if (r <= 0)
                        return wants_retry(channel, r) ? 0 : fail_tls(channel, r);
                ald_frame_added(&channel->reader, (size_t) r);
        }
}

int ald_protocol_parse(
        const AldProtocol *protocol, const char *text, size_t n, AldRecord **ret, char **ret_reason)
{
        return ald_message_parse_named(
                protocol->kinds, protocol->n_kinds, text, n, ALD_FRAME_MAX, ret, ret_reason);
}

int ald_channel_send(AldChannel *channel, AldKind kind, const void *fields)
{
        g_autofree char *text = ald_message_format_named(kind, fields);

        return ald_channel_send_text(channel, text);
}

void ald_channel_send_abort(AldChannel *channel, AldFailureKind reason, const char *text)
{
        g_autofree char *shown = ald_message_text(text);
        const AldProbeAbort message = { .reason = ald_failure_to_string(reason), .text = shown };

        (void) ald_channel_send(channel, ALD_KIND_PROBE_ABORT, &message);
}

static int fail_as_aborted(AldChannel *channel, const AldProbeAbort *message)
{
        int reason = ald_failure_from_string(message->reason);

        return ald_fail(channel->failure, reason >= 0 ? (AldFailureKind) reason : ALD_FAILURE_ABORTED,
                "the other side: %s", message->text ?: message->reason);
}

static int parse_message(AldChannel *channel, const char *text, AldRecord **ret)
{
        g_autoptr(AldRecord) message = NULL;
        g_autofree char *reason = NULL;
        int r = ald_protocol_parse(channel->protocol, text, strlen(text), &message, &reason);

        if (r == -ENOENT)
                return ald_fail(channel->failure, ALD_FAILURE_PROTOCOL,
                        "the other side sent something that version %u of the protocol does not have",
                        channel->protocol->version);
        if (r < 0)
                return ald_fail(channel->failure, ALD_FAILURE_PROTOCOL,
                        "the other side sent an invalid message: %s", reason);
        if (message->kind == ALD_KIND_PROBE_ABORT)
                return fail_as_aborted(channel, ald_record_as(message, PROBE_ABORT, AldProbeAbort));
        *ret = g_steal_pointer(&message);
        return 1;
}

int ald_channel_try(AldChannel *channel, AldRecord **ret)
{
        g_autofree char *text = NULL;
        const char *bytes;
        size_t n;
        int r = try_frame(channel, &bytes, &n);

        if (r <= 0)
                return r;
        if (memchr(bytes, '\0', n))
                return ald_fail(channel->failure, ALD_FAILURE_PROTOCOL,
                        "the other side sent a message that is not text");
        if (++channel->n_received > MESSAGES_MAX)
                return ald_fail(channel->failure, ALD_FAILURE_LIMIT, "the other side sent too many messages");
        text = g_strndup(bytes, n);
        ald_frame_drop(&channel->reader);
        return parse_message(channel, text, ret);
}

int ald_channel_receive(AldChannel *channel, uint64_t deadline, AldRecord **ret)
{
        for (;;) {
                int r = ald_channel_try(channel, ret);

                if (r != 0)
                        return r;
                r = ald_wait_for(channel->fd, POLLIN, channel->stop, deadline,
                        "waited for a message from the other side", channel->failure);
                if (r < 0)
                        return r;
        }
}

int ald_channel_unexpected(AldChannel *channel, const AldRecord *message)
{
        return ald_fail(channel->failure, ALD_FAILURE_PROTOCOL, "the other side sent %s out of turn",
                ald_kinds[message->kind].name);
}

int ald_channel_check_version(AldChannel *channel, uint64_t version)
{
        if (version == channel->protocol->version)
                return 0;
        return ald_fail(channel->failure, ALD_FAILURE_PROTOCOL,
                "the other side uses version %" G_GUINT64_FORMAT " of the protocol, and this side version %u",
                version, channel->protocol->version);
}

int ald_channel_expect(AldChannel *channel, uint64_t deadline, AldKind kind, AldRecord **ret)
{
        g_autoptr(AldRecord) message = NULL;
        int r = ald_channel_receive(channel, deadline, &message);

        if (r < 0)
                return r;
        if (message->kind != kind)
                return ald_channel_unexpected(channel, message);
        if (ret)
                *ret = g_steal_pointer(&message);
        return 0;
}
