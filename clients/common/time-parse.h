/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/*
 * Reads times and durations in the forms of systemd.time(7), except that a duration always needs units:
 * people who write "2" mean hours as often as seconds. Times are CLOCK_REALTIME in µs, up to 2^53.
 */

/* Examples for messages about a rejected text. */
#define ALD_TIME_EXAMPLES "\"2026-11-26 12:00\", \"-1h\", \"2 days ago\", \"yesterday\" or \"now\""
#define ALD_DURATION_EXAMPLES "\"90s\", \"2h\" or \"1h 30min\""

/* Chooses one of two moments when a change of the clock repeats a local time. */
typedef enum AldRepeatedTime {
        ALD_REPEATED_TIME_EARLIER,
        ALD_REPEATED_TIME_LATER,
} AldRepeatedTime;

/*
 * Reads a point in time: "now", "today", "yesterday", "tomorrow"; "-1h" or "1h ago", "+1h" or "1h left"; a
 * date, a time of today, or both ("2026-11-26 12:00:30"), in local time unless "Z", "UTC" or an offset such
 * as "+01:00" follows; or "@" and the seconds since 1970. A date alone is its midnight. -EINVAL if it is none
 * of these, -ENOTUNIQ if a number has no unit, -ERANGE if it is before 1970 or too late; then *ret_usec is
 * not set.
 */
int ald_time_parse(const char *text, uint64_t now_usec, AldRepeatedTime which, uint64_t *ret_usec);

/* Returns true if the local time at this moment occurs twice. */
bool ald_time_is_repeated(uint64_t usec);

/* Reads a duration: "90s", "1h 30min", "1.5 days", or "0". Errors as above. */
int ald_duration_parse(const char *text, uint64_t *ret_usec);

/* Return why ald_time_parse() or ald_duration_parse() rejected a text with `r`, as the continuation of "TEXT
 * ". */
char *ald_time_problem(int r);
char *ald_duration_problem(const char *text, int r);
