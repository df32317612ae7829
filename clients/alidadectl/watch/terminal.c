/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <glib.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include "clients/alidadectl/watch/terminal.h"

#define SEQUENCE_MAX 16

struct AldTerminal {
        struct termios saved;
        bool has_keys;
};

AldTerminal *ald_terminal_new(void)
{
        AldTerminal *terminal = g_new0(AldTerminal, 1);
        struct termios raw;

        if (!isatty(STDIN_FILENO) || tcgetattr(STDIN_FILENO, &terminal->saved) < 0)
                return terminal;
        raw = terminal->saved;
        raw.c_lflag &= ~(tcflag_t) (ICANON | ECHO);
        raw.c_cc[VMIN] = 1;
        raw.c_cc[VTIME] = 0;
        terminal->has_keys = tcsetattr(STDIN_FILENO, TCSANOW, &raw) >= 0;
        return terminal;
}

void ald_terminal_free(AldTerminal *terminal)
{
        if (terminal && terminal->has_keys)
                (void) tcsetattr(STDIN_FILENO, TCSANOW, &terminal->saved);
        g_free(terminal);
}

void ald_terminal_size(unsigned *ret_columns, unsigned *ret_rows)
{
        struct winsize size = { 0 };

        if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) < 0)
                size = (struct winsize){ 0 };
        *ret_columns = size.ws_col > 0 ? size.ws_col : 80;
        *ret_rows = size.ws_row > 0 ? size.ws_row : 24;
}

bool ald_terminal_is_capable(void)
{
        const char *term = getenv("TERM");

        return isatty(STDOUT_FILENO) && term && term[0] && strcmp(term, "dumb") != 0;
}

static AldKey sequence_key(const char *sequence)
{
        static const struct {
                const char *sequence;
                AldKey key;
        } keys[] = {
                { "[A", ALD_KEY_UP },
                { "OA", ALD_KEY_UP },
                { "[B", ALD_KEY_DOWN },
                { "OB", ALD_KEY_DOWN },
                { "[5~", ALD_KEY_PAGE_UP },
                { "[6~", ALD_KEY_PAGE_DOWN },
                { "[H", ALD_KEY_HOME },
                { "OH", ALD_KEY_HOME },
                { "[1~", ALD_KEY_HOME },
                { "[F", ALD_KEY_END },
                { "OF", ALD_KEY_END },
                { "[4~", ALD_KEY_END },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(keys); i++)
                if (strcmp(keys[i].sequence, sequence) == 0)
                        return keys[i].key;
        return ALD_KEY_OTHER;
}

/* Parses ESC [ parameters final, or ESC O final. */
static size_t parse_sequence(const char *bytes, size_t n, AldKey *ret)
{
        char sequence[SEQUENCE_MAX] = "";
        size_t used = 2;

        if (n < 2)
                return 0;
        if (bytes[1] != '[' && bytes[1] != 'O')
                return 1; /* the Escape key, and another one */
        while (used < n && bytes[1] == '[' && bytes[used] >= 0x20 && bytes[used] < 0x40)
                used++;
        if (used >= SEQUENCE_MAX)
                return used;
        if (used >= n)
                return 0;
        used++;
        memcpy(sequence, bytes + 1, used - 1);
        *ret = sequence_key(sequence);
        return used;
}

size_t ald_terminal_parse_key(const char *bytes, size_t n, AldKey *ret)
{
        static const struct {
                char byte;
                AldKey key;
        } keys[] = {
                { 'q', ALD_KEY_QUIT },
                { 'Q', ALD_KEY_QUIT },
                { '\f', ALD_KEY_REDRAW },
                { 'd', ALD_KEY_DEVICES },
                { 'k', ALD_KEY_UP },
                { 'j', ALD_KEY_DOWN },
                { 'b', ALD_KEY_PAGE_UP },
                { ' ', ALD_KEY_PAGE_DOWN },
                { 'g', ALD_KEY_HOME },
                { 'G', ALD_KEY_END },
        };

        AldKey key = ALD_KEY_OTHER;
        size_t used = 1;

        if (bytes[0] == '\033')
                used = parse_sequence(bytes, n, &key);
        for (size_t i = 0; i < G_N_ELEMENTS(keys); i++)
                if (keys[i].byte == bytes[0])
                        key = keys[i].key;
        if (used > 0)
                *ret = key;
        return used;
}
