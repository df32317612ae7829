/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include <glib.h>
#include <jansson.h>

#include "probes/common/estimate.h"
#include "probes/common/failure.h"
#include "probes/common/interface.h"
#include "probes/socket/message.h"
#include "probes/socket/options.h"

#define NUMBER_MAX (UINT64_C(1) << 53)
#define OPENED_MAX 16u
#define HEX "0123456789abcdef"

/* What may be missing comes last. */
typedef enum Form { NUMBER, WORD, TEXT, TOKENS, OPTIONAL, CHOICE, REMARK, INTERFACE } Form;

typedef struct Field {
        const char *key;
        Form form;
        size_t offset;
        uint64_t max; /* of a number; of text its size */
        const char *(*word)(uint64_t value);
        unsigned types; /* a bit for each that has it */
} Field;

static const char *const type_names[_ALD_MESSAGE_MAX] = {
        "welcome",
        "refusal",
        "open",
        "tokens",
        "begin",
        "effort",
        "more",
        "verdict",
        "stop",
        "sent",
        "bye",
        "abort",
        "spot",
};

static const char *purpose_word(uint64_t value)
{
        static const char *const words[_ALD_PURPOSE_MAX] = { "rtt", "upload", "download", "spot-upload",
                "spot-download" };

        return value < _ALD_PURPOSE_MAX ? words[value] : NULL;
}

static const char *scope_word(uint64_t value)
{
        return value <= ALD_PROBE_ROUND_TRIPS ? ald_probe_scope_to_string((AldProbeScope) value) : NULL;
}

static const char *limiter_word(uint64_t value)
{
        return value < _ALD_LIMITER_MAX ? ald_limiter_to_string((AldLimiter) value) : NULL;
}

static const char *reason_word(uint64_t value)
{
        return value < _ALD_FAILURE_MAX ? ald_failure_to_string((AldFailureKind) value) : NULL;
}

#define IN(type) (1u << ALD_MESSAGE_##type)
#define AT(member) offsetof(AldMessage, member)
#define EFFORT (IN(EFFORT) | IN(VERDICT))

static const Field fields[] = {
        { "version", NUMBER, AT(version), NUMBER_MAX, NULL, IN(WELCOME) },
        { "revision", OPTIONAL, AT(revision), NUMBER_MAX, NULL, IN(WELCOME) | IN(BEGIN) },
        { "streams-max", OPTIONAL, AT(streams_max), 64, NULL, IN(BEGIN) },
        { "interface", INTERFACE, AT(interface), IF_NAMESIZE, NULL, IN(WELCOME) },
        { "port", NUMBER, AT(port), 65535, NULL, IN(WELCOME) },
        { "streams", NUMBER, AT(streams), 64, NULL, IN(WELCOME) | IN(VERDICT) },
        { "msec", NUMBER, AT(msec), 3600 * 1000, NULL, IN(WELCOME) | IN(BEGIN) },
        { "bytes", NUMBER, AT(bytes), NUMBER_MAX, NULL,
                IN(WELCOME) | IN(BEGIN) | IN(VERDICT) | IN(SENT) | IN(SPOT) },
        { "purpose", WORD, AT(purpose), 0, purpose_word, IN(OPEN) | IN(BEGIN) },
        { "count", NUMBER, AT(count), ALD_MESSAGE_TOKENS_MAX, NULL, IN(OPEN) },
        { "scope", CHOICE, AT(scope), 0, scope_word, IN(OPEN) },
        { "automatic", OPTIONAL, AT(automatic), 1, NULL, IN(OPEN) },
        { "overdue", OPTIONAL, AT(overdue), 1, NULL, IN(OPEN) },
        { "min-rtt", NUMBER, AT(min_rtt), NUMBER_MAX, NULL, IN(BEGIN) },
        { "bits-per-second", NUMBER, AT(bits_per_second), NUMBER_MAX, NULL, IN(VERDICT) | IN(SPOT) },
        { "mean", NUMBER, AT(mean), NUMBER_MAX, NULL, IN(VERDICT) },
        { "interval", NUMBER, AT(interval), NUMBER_MAX, NULL, IN(VERDICT) },
        { "nsec", NUMBER, AT(nsec), NUMBER_MAX, NULL, IN(VERDICT) | IN(SPOT) },
        { "spread", OPTIONAL, AT(spread), NUMBER_MAX, NULL, IN(VERDICT) },
        { "other", OPTIONAL, AT(other), NUMBER_MAX, NULL, IN(VERDICT) | IN(SENT) },
        { "why", REMARK, AT(text), ALD_MESSAGE_TEXT_SIZE, NULL, IN(VERDICT) | IN(SPOT) },
        { "bins", NUMBER, AT(bins), NUMBER_MAX, NULL, IN(VERDICT) },
        { "limiter", WORD, AT(limiter), 0, limiter_word, IN(VERDICT) },
        { "retransmits", NUMBER, AT(retransmits), NUMBER_MAX, NULL, IN(SENT) },
        { "busy", NUMBER, AT(effort.busy), 1000, NULL, EFFORT },
        { "rwnd", NUMBER, AT(effort.rwnd), 1000, NULL, EFFORT },
        { "sndbuf", NUMBER, AT(effort.sndbuf), 1000, NULL, EFFORT },
        { "idle", NUMBER, AT(effort.idle), 1000, NULL, EFFORT },
        { "spare", NUMBER, AT(effort.spare), NUMBER_MAX, NULL, EFFORT },
        { "lost", NUMBER, AT(effort.lost), 1000 * 1000, NULL, EFFORT },
        { "standing", NUMBER, AT(effort.standing), NUMBER_MAX, NULL, EFFORT },
        { "reason", WORD, AT(reason), 0, reason_word, IN(REFUSAL) | IN(ABORT) },
        { "text", TEXT, AT(text), ALD_MESSAGE_TEXT_SIZE, NULL, IN(REFUSAL) | IN(ABORT) },
        { "congestion", TEXT, AT(congestion), ALD_MESSAGE_WORD_SIZE, NULL, IN(SENT) },
        { "tokens", TOKENS, 0, 0, NULL, IN(TOKENS) | IN(MORE) },
};

const char *ald_message_type_to_string(AldMessageType type)
{
        return type_names[type];
}

/* Copies what a terminal may be shown of it. */
static void make_printable(const char *text, char *ret, size_t size)
{
        size_t n = 0;

        for (const char *c = text; *c; c = g_utf8_next_char(c)) {
                gunichar value = g_utf8_get_char_validated(c, -1);
                size_t length = (size_t) (g_utf8_next_char(c) - c);

                if (value == (gunichar) -1 || value == (gunichar) -2 || n + length >= size)
                        break;
                if (g_unichar_isprint(value))
                        memcpy(ret + n, c, length);
                else
                        memset(ret + n, '?', length);
                n += length;
        }
        ret[n] = '\0';
}

static uint64_t *number_of(const AldMessage *message, const Field *field)
{
        return (uint64_t *) ((char *) message + field->offset);
}

static char *text_of(const AldMessage *message, const Field *field)
{
        return (char *) message + field->offset;
}

static AldOptional *optional_of(const AldMessage *message, const Field *field)
{
        return (AldOptional *) ((char *) message + field->offset);
}

/* Whether there is something to write. */
static bool has_field(const AldMessage *message, const Field *field)
{
        if (field->form == OPTIONAL || field->form == CHOICE)
                return optional_of(message, field)->known;
        if (field->form == INTERFACE)
                return ald_interface_name_is_valid(text_of(message, field));
        return field->form != REMARK || *text_of(message, field);
}

static json_t *write_tokens(const AldMessage *message)
{
        json_t *array = json_array();

        for (size_t i = 0; i < MIN(message->n_tokens, ALD_MESSAGE_TOKENS_MAX); i++)
                json_array_append_new(array, json_string(message->tokens[i]));
        return array;
}

static json_t *write_field(const AldMessage *message, const Field *field)
{
        g_autofree char *text = NULL;

        switch (field->form) {
        case NUMBER:
                return json_integer((json_int_t) MIN(*number_of(message, field), field->max));
        case WORD:
                return json_string(field->word(*number_of(message, field)));
        case OPTIONAL:
                return json_integer((json_int_t) MIN(optional_of(message, field)->value, field->max));
        case CHOICE:
                return json_string(field->word(optional_of(message, field)->value));
        case INTERFACE:
                return json_string(text_of(message, field));
        case TEXT:
        case REMARK:
                text = g_malloc(field->max);
                make_printable(text_of(message, field), text, field->max);
                return json_string(text);
        case TOKENS:
                break;
        }
        return write_tokens(message);
}

char *ald_message_write(const AldMessage *message)
{
        json_t *object = json_object();
        char *dumped, *text;

        json_object_set_new(object, "type", json_string(type_names[message->type]));
        for (size_t i = 0; i < G_N_ELEMENTS(fields); i++)
                if (fields[i].types & 1u << message->type && has_field(message, &fields[i]))
                        json_object_set_new(object, fields[i].key, write_field(message, &fields[i]));
        dumped = json_dumps(object, JSON_COMPACT);
        text = g_strdup(dumped);
        free(dumped);
        json_decref(object);
        return text;
}

static int read_word(json_t *value, const Field *field, uint64_t *ret)
{
        if (!json_is_string(value))
                return -EBADMSG;
        for (uint64_t i = 0; field->word(i); i++)
                if (strcmp(json_string_value(value), field->word(i)) == 0) {
                        *ret = i;
                        return 0;
                }
        return -ERANGE;
}

/* A word that is not known is one of a newer peer. */
static int read_choice(json_t *value, const Field *field, AldOptional *ret)
{
        int r = read_word(value, field, &ret->value);

        ret->known = r >= 0;
        return r == -ERANGE ? 0 : r;
}

static int read_tokens(json_t *value, AldMessage *ret)
{
        size_t i;
        json_t *entry;

        if (!json_is_array(value))
                return -EBADMSG;
        if (json_array_size(value) == 0 || json_array_size(value) > ALD_MESSAGE_TOKENS_MAX)
                return -ERANGE;
        json_array_foreach(value, i, entry) {
                const char *text = json_string_value(entry);

                if (!text)
                        return -EBADMSG;
                if (strlen(text) != ALD_TOKEN_SIZE || strspn(text, HEX) != ALD_TOKEN_SIZE)
                        return -ERANGE;
                memcpy(ret->tokens[i], text, ALD_TOKEN_SIZE + 1);
        }
        ret->n_tokens = json_array_size(value);
        return 0;
}

static int read_number(json_t *value, uint64_t max, uint64_t *ret)
{
        json_int_t number = json_integer_value(value);

        if (!json_is_integer(value))
                return -EBADMSG;
        if (number < 0 || (uint64_t) number > max)
                return -ERANGE;
        *ret = (uint64_t) number;
        return 0;
}

static int read_interface(json_t *value, AldMessage *ret)
{
        const char *name = json_string_value(value);

        if (!name)
                return -EBADMSG;
        if (!ald_interface_name_is_valid(name))
                return -ERANGE;
        g_strlcpy(ret->interface, name, sizeof ret->interface);
        return 0;
}

static int read_field(json_t *value, const Field *field, AldMessage *ret)
{
        if (!value && field->form >= OPTIONAL)
                return 0;
        switch (field->form) {
        case NUMBER:
                return read_number(value, field->max, number_of(ret, field));
        case OPTIONAL:
                optional_of(ret, field)->known = true;
                return read_number(value, field->max, &optional_of(ret, field)->value);
        case CHOICE:
                return read_choice(value, field, optional_of(ret, field));
        case INTERFACE:
                return read_interface(value, ret);
        case WORD:
                return read_word(value, field, number_of(ret, field));
        case TEXT:
        case REMARK:
                if (!json_is_string(value))
                        return -EBADMSG;
                make_printable(json_string_value(value), text_of(ret, field), field->max);
                return 0;
        case TOKENS:
                break;
        }
        return read_tokens(value, ret);
}

static int read_object(json_t *object, AldMessage *message, const char **ret_key)
{
        const char *name = json_string_value(json_object_get(object, "type"));
        unsigned type = 0;

        *ret_key = "type";
        if (!name)
                return -EBADMSG;
        while (type < _ALD_MESSAGE_MAX && strcmp(type_names[type], name) != 0)
                type++;
        if (type == _ALD_MESSAGE_MAX)
                return -EBADMSG;
        message->type = type;
        for (size_t i = 0; i < G_N_ELEMENTS(fields); i++) {
                int r;

                if (!(fields[i].types & 1u << type))
                        continue;
                *ret_key = fields[i].key;
                r = read_field(json_object_get(object, fields[i].key), &fields[i], message);
                if (r < 0)
                        return r;
        }
        if (message->spread.value > ALD_SPREAD_MAX)
                message->spread = (AldOptional){};
        return 0;
}

/* The parser calls itself for each level, and the sender is not to say how often. Brackets within a text
 * count as well, of which ours have few. */
static bool is_deep(const char *bytes, size_t n)
{
        unsigned opened = 0;

        for (size_t i = 0; i < n; i++)
                opened += bytes[i] == '[' || bytes[i] == '{';
        return opened > OPENED_MAX;
}

int ald_message_read(const char *bytes, size_t n, AldMessage *ret, const char **ret_key)
{
        const char *key = NULL;
        AldMessage message = {};
        json_t *object = NULL;
        int r = -EBADMSG;

        if (!is_deep(bytes, n))
                object = json_loadb(bytes, n, JSON_REJECT_DUPLICATES, NULL);
        if (object)
                r = read_object(object, &message, &key);
        json_decref(object);
        if (r >= 0)
                *ret = message;
        else if (ret_key)
                *ret_key = key;
        return r;
}
