/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "services/common/service.h"
#include "state-client/model.h"

/*
 * Reads the state of the cluster with the connection graph, once for all questions that arrive meanwhile. The
 * state may be older than a question by the duration of a reading.
 */
typedef struct AldStateReader AldStateReader;

AldStateReader *ald_state_reader_new(AldService *service);
/* Drops all questions without answering them. */
void ald_state_reader_free(AldStateReader *reader);

/* Called with the model, which is valid during the call; or with NULL and the reason why it could not be
 * read. Never called before ald_state_reader_request() has returned. */
typedef void (*AldStateAnswer)(AldModel *model, const char *reason, void *userdata);
void ald_state_reader_request(AldStateReader *reader, AldStateAnswer answer, void *userdata);
/* Withdraws the questions with this userdata. */
void ald_state_reader_forget(AldStateReader *reader, void *userdata);
