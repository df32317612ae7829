/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "services/common/service.h"
#include "state-client/model.h"

/*
 * Reads the state of the cluster, with the connection graph, once for all who ask meanwhile. What is read may
 * be older than the question by as long as a reading takes.
 */
typedef struct AldStateReader AldStateReader;

AldStateReader *ald_state_reader_new(AldService *service);
/* Nobody is answered any more. */
void ald_state_reader_free(AldStateReader *reader);

/* `model` is valid during the call; NULL: it could not be read, for that reason. Never called before
 * ald_state_reader_ask() has returned. */
typedef void (*AldStateAnswer)(AldModel *model, const char *reason, void *userdata);
void ald_state_reader_ask(AldStateReader *reader, AldStateAnswer answer, void *userdata);
/* Withdraws the questions with this userdata. */
void ald_state_reader_forget(AldStateReader *reader, void *userdata);
