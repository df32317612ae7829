/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <string.h>

#include "services/cluster/mqtt/mqtt-session-private.h"

char *ald_mqtt_session_describe_errno(int error)
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

char *ald_mqtt_session_describe_connack(int code)
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

/* error is errno after the call; openssl (may be NULL) the error of OpenSSL during it. */
char *ald_mqtt_session_describe_mosquitto(int rc, int error, const char *openssl)
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
                /* EPROTO is what libmosquitto makes of any failure below TLS. */
                return error == EPROTO ? g_strdup("the broker closed the connection")
                                       : ald_mqtt_session_describe_errno(error);
        case MOSQ_ERR_SUCCESS:
        case MOSQ_ERR_CONN_LOST:
        case MOSQ_ERR_NO_CONN:
                return g_strdup("the broker closed the connection");
        default:
                return g_strdup(mosquitto_strerror(rc));
        }
}
