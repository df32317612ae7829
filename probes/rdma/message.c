/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <arpa/inet.h>
#include <errno.h>
#include <stddef.h>
#include <string.h>

#include <glib.h>
#include <jansson.h>

#include "probes/common/estimate.h"
#include "probes/common/failure.h"
#include "probes/rdma/message.h"

#define NUMBER_MAX INT64_MAX
#define OPENED_MAX 40u

typedef struct Field {
        const char *key;
        bool text;
        size_t offset;
        uint64_t max;
        unsigned types; /* a bit for each that has it */
        bool optional;  /* 0 where it is missing */
} Field;

#define IN(type) (1u << ALD_RDMA_##type)
#define AT(member) offsetof(AldRdmaMessage, member)
#define ENDS (IN(USE) | IN(READY))
#define GREETINGS (IN(HELLO) | IN(OFFER))

static const char *const type_names[_ALD_RDMA_MESSAGE_MAX] = { "hello", "offer", "use", "ready", "phase",
        "go", "stop", "drained", "abort" };

const char *ald_rdma_method_to_string(AldRdmaMethod method)
{
        static const char *const names[_ALD_RDMA_METHOD_MAX] = { "write", "send" };

        return names[method];
}

static const Field fields[] = {
        { "version", false, AT(version), NUMBER_MAX, GREETINGS },
        { "port", true, AT(port), ALD_RDMA_TEXT_SIZE, GREETINGS },
        { "manager", false, AT(manager), 1, GREETINGS },
        { "automatic", false, AT(automatic), 1, IN(HELLO), true },
        { "immediate", false, AT(immediate), 1, IN(OFFER) },
        { "service-address", true, AT(address), ALD_RDMA_TEXT_SIZE, IN(OFFER) },
        { "service-port", false, AT(service), 65535, IN(OFFER) },
        { "service-nonce", false, AT(nonce), NUMBER_MAX, IN(OFFER) },
        { "size", false, AT(size), 1u << 23, IN(USE) },
        { "method", false, AT(method), _ALD_RDMA_METHOD_MAX - 1, IN(USE) },
        { "msec", false, AT(msec), 60000, IN(OFFER) | IN(USE) },
        { "limit", false, AT(limit), NUMBER_MAX, IN(OFFER) | IN(USE) },
        { "lid", false, AT(end.lid), 65535, ENDS },
        { "mtu", false, AT(end.mtu), 5, ENDS },
        { "address", false, AT(end.address), NUMBER_MAX, ENDS },
        { "buffer", false, AT(end.bytes), 1u << 30, ENDS },
        { "key", false, AT(end.key), UINT32_MAX, ENDS },
        { "depth", false, AT(end.depth), 65535, ENDS },
        { "nonce", false, AT(end.nonce), NUMBER_MAX, ENDS },
        { "phase", false, AT(phase), _ALD_RDMA_PHASE_MAX - 1, IN(PHASE) },
        { "bits-per-second", false, AT(bits_per_second), NUMBER_MAX, IN(STOP) },
        { "mean", false, AT(mean), NUMBER_MAX, IN(STOP) },
        { "interval", false, AT(interval), NUMBER_MAX, IN(STOP) },
        { "bytes", false, AT(bytes), NUMBER_MAX, IN(STOP) | IN(DRAINED) },
        { "nsec", false, AT(nsec), NUMBER_MAX, IN(STOP) },
        { "bins", false, AT(bins), NUMBER_MAX, IN(STOP) },
        { "reason", false, AT(reason), _ALD_FAILURE_MAX - 1, IN(ABORT) },
        { "text", true, AT(text), ALD_RDMA_TEXT_SIZE, IN(ABORT) },
};

#define HAS_GIDS (IN(OFFER) | IN(USE))

static json_t *write_gids(const AldGids *gids)
{
        json_t *array = json_array();

        for (size_t i = 0; i < gids->n; i++) {
                char text[INET6_ADDRSTRLEN];

                inet_ntop(AF_INET6, &gids->gids[i].bytes, text, sizeof text);
                json_array_append_new(
                        array, json_pack("{s:i,s:s,s:s}", "index", (int) gids->gids[i].index, "type",
                                       ald_gid_type_to_string(gids->gids[i].type), "gid", text));
        }
        return array;
}

static json_t *write_queues(const AldRdmaEnd *end)
{
        json_t *array = json_array();

        for (size_t i = 0; i < end->n_queues; i++)
                json_array_append_new(array, json_pack("{s:I,s:I}", "qpn", (json_int_t) end->queues[i].qpn,
                                                     "psn", (json_int_t) end->queues[i].psn));
        return array;
}

char *ald_rdma_message_write(const AldRdmaMessage *message)
{
        json_t *object = json_object();
        char *dumped, *text;

        json_object_set_new(object, "type", json_string(type_names[message->type]));
        if (HAS_GIDS & 1u << message->type)
                json_object_set_new(object, "gids", write_gids(&message->gids));
        if (ENDS & 1u << message->type)
                json_object_set_new(object, "queues", write_queues(&message->end));
        if (message->type == ALD_RDMA_STOP && message->spread.known)
                json_object_set_new(object, "spread", json_integer((json_int_t) message->spread.value));
        for (size_t i = 0; i < G_N_ELEMENTS(fields); i++) {
                const void *at = (const char *) message + fields[i].offset;

                if (!(fields[i].types & 1u << message->type))
                        continue;
                json_object_set_new(object, fields[i].key,
                        fields[i].text ? json_string(at)
                                       : json_integer((json_int_t) * (const uint64_t *) at));
        }
        dumped = json_dumps(object, JSON_COMPACT);
        text = g_strdup(dumped);
        free(dumped);
        json_decref(object);
        return text;
}

static int read_gid(json_t *entry, AldGid *ret)
{
        const char *type = json_string_value(json_object_get(entry, "type"));
        const char *gid = json_string_value(json_object_get(entry, "gid"));
        json_int_t index = json_integer_value(json_object_get(entry, "index"));

        if (!type || !gid || index < 0 || index > 65535)
                return -EBADMSG;
        *ret = (AldGid){ .index = (unsigned) index };
        while (ret->type < _ALD_GID_TYPE_MAX && strcmp(ald_gid_type_to_string(ret->type), type) != 0)
                ret->type++;
        return ret->type < _ALD_GID_TYPE_MAX && inet_pton(AF_INET6, gid, &ret->bytes) == 1 ? 0 : -ERANGE;
}

static int read_gids(json_t *array, AldGids *ret)
{
        json_t *entry;
        size_t i;

        if (!json_is_array(array) || json_array_size(array) > ALD_GIDS_MAX)
                return -EBADMSG;
        json_array_foreach(array, i, entry) {
                int r = read_gid(entry, &ret->gids[i]);

                if (r < 0)
                        return r;
                ret->n++;
        }
        return 0;
}

static int read_queues(json_t *array, AldRdmaEnd *ret)
{
        json_t *entry;
        size_t i;

        if (!json_is_array(array) || json_array_size(array) == 0 ||
                json_array_size(array) > ALD_RDMA_QUEUES_MAX)
                return -EBADMSG;
        json_array_foreach(array, i, entry) {
                const json_t *qpn = json_object_get(entry, "qpn"), *psn = json_object_get(entry, "psn");

                if (!json_is_integer(qpn) || !json_is_integer(psn))
                        return -EBADMSG;
                if (json_integer_value(qpn) >> 24 != 0 || json_integer_value(psn) >> 24 != 0)
                        return -ERANGE;
                ret->queues[ret->n_queues++] = (AldRdmaQueue){ (uint64_t) json_integer_value(qpn),
                        (uint64_t) json_integer_value(psn) };
        }
        return 0;
}

static int read_field(json_t *value, const Field *field, AldRdmaMessage *ret)
{
        char *at = (char *) ret + field->offset;
        json_int_t number = json_integer_value(value);

        if (!value && field->optional)
                return 0;
        if (field->text) {
                if (!json_is_string(value))
                        return -EBADMSG;
                for (const char *c = json_string_value(value);
                        *c && at < (char *) ret + field->offset + field->max - 1; c++)
                        *at++ = g_ascii_isprint(*c) ? *c : '?';
                return 0;
        }
        if (!json_is_integer(value))
                return -EBADMSG;
        if (number < 0 || (uint64_t) number > field->max)
                return -ERANGE;
        memcpy(at, &number, sizeof number);
        return 0;
}

/* An older peer does not say it; what no rate can have is unknown. */
static int read_spread(json_t *value, AldOptional *ret)
{
        json_int_t number = json_integer_value(value);

        if (!value)
                return 0;
        if (!json_is_integer(value))
                return -EBADMSG;
        if (number < 0)
                return -ERANGE;
        if ((uint64_t) number <= ALD_SPREAD_MAX)
                *ret = (AldOptional){ true, (uint64_t) number };
        return 0;
}

static int read_object(json_t *object, AldRdmaMessage *message)
{
        const char *name = json_string_value(json_object_get(object, "type"));
        unsigned type = 0;
        int r = 0;

        while (name && type < _ALD_RDMA_MESSAGE_MAX && strcmp(type_names[type], name) != 0)
                type++;
        if (!name || type == _ALD_RDMA_MESSAGE_MAX)
                return -EBADMSG;
        message->type = type;
        if (HAS_GIDS & 1u << type)
                r = read_gids(json_object_get(object, "gids"), &message->gids);
        if (r >= 0 && ENDS & 1u << type)
                r = read_queues(json_object_get(object, "queues"), &message->end);
        if (r >= 0 && type == ALD_RDMA_STOP)
                r = read_spread(json_object_get(object, "spread"), &message->spread);
        for (size_t i = 0; i < G_N_ELEMENTS(fields) && r >= 0; i++)
                if (fields[i].types & 1u << type)
                        r = read_field(json_object_get(object, fields[i].key), &fields[i], message);
        return r;
}

/* The parser calls itself for each level, and the sender is not to say how often. */
static bool is_deep(const char *text)
{
        unsigned opened = 0;

        for (; *text; text++)
                opened += *text == '[' || *text == '{';
        return opened > OPENED_MAX;
}

int ald_rdma_message_read(const char *text, AldRdmaMessage *ret)
{
        AldRdmaMessage message = {};
        json_t *object = is_deep(text) ? NULL : json_loads(text, JSON_REJECT_DUPLICATES, NULL);
        int r = object ? read_object(object, &message) : -EBADMSG;

        json_decref(object);
        if (r >= 0)
                *ret = message;
        return r;
}
