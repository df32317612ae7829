/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A helper that does as its requests say: "echo" and the rest comes back, "mute" hangs, "crash", "exit",
 * "long", "twice" answers twice, "close" hangs after closing its end, "facts" reports its limits, "family"
 * starts a process of its own that hangs. FAKE_HELPER_FIFO names a FIFO that it and its children hold open
 * for writing: its end tells that none of them is left.
 */
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <jansson.h>

#include "services/telemetry/helper/helper-side.h"
#include "services/telemetry/helper/helper.h"

static void hang(void)
{
        for (;;)
                pause();
}

static json_t *open_files(void)
{
        DIR *dir = opendir("/proc/self/fd");
        json_t *list = json_array();
        struct dirent *entry;

        while ((entry = readdir(dir)))
                if (*entry->d_name != '.' && atoi(entry->d_name) != dirfd(dir))
                        json_array_append_new(list, json_integer(atoi(entry->d_name)));
        closedir(dir);
        return list;
}

static void answer_facts(int answers)
{
        int death = 0;
        struct rlimit core;
        json_t *facts;
        char *text;

        prctl(PR_GET_PDEATHSIG, &death);
        getrlimit(RLIMIT_CORE, &core);
        facts = json_pack("{s:i,s:i,s:b,s:b,s:o}", "death", death, "core", (int) core.rlim_max, "leads",
                getpgrp() == getpid(), "nnp", prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1, "files",
                open_files());
        text = json_dumps(facts, JSON_COMPACT);
        (void) !write(answers, text, strlen(text));
        free(text);
        json_decref(facts);
}

static void answer_long(int answers)
{
        static char text[ALD_CHILD_MESSAGE_MAX + 10];

        memset(text, 'x', sizeof text);
        (void) !write(answers, text, sizeof text);
}

static void obey(int answers, const char *request)
{
        if (strncmp(request, "echo", 4) == 0)
                (void) !write(answers, request, strlen(request));
        else if (strcmp(request, "crash") == 0)
                abort();
        else if (strcmp(request, "exit") == 0)
                exit(3);
        else if (strcmp(request, "long") == 0)
                answer_long(answers);
        else if (strcmp(request, "facts") == 0)
                answer_facts(answers);
        else if (strcmp(request, "last") == 0) {
                (void) !write(answers, "last", 4);
                exit(0);
        } else if (strcmp(request, "twice") == 0) {
                (void) !write(answers, "1", 1);
                (void) !write(answers, "2", 1);
        } else if (strcmp(request, "close") == 0) {
                close(answers);
                close(STDIN_FILENO);
                hang();
        } else if (strcmp(request, "family") == 0) {
                if (fork() == 0)
                        hang();
                (void) !write(answers, "family", 6);
        } else {
                hang();
        }
}

int main(void)
{
        int answers = ald_child_side_begin(64u * 1024 * 1024);
        const char *fifo = getenv("FAKE_HELPER_FIFO");
        char request[1024];

        if (answers < 0)
                return EXIT_FAILURE;
        if (fifo && open(fifo, O_WRONLY) < 0)
                return EXIT_FAILURE;
        while (ald_child_side_request(request, sizeof request) > 0)
                obey(answers, request);
        return EXIT_SUCCESS;
}
