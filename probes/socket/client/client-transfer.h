/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "probes/socket/client/client-session.h"

/* These measure a direction at full rate. A missing rate is not an error; the result has the reason. */
int ald_socket_client_upload(AldSocketClient *client);
int ald_socket_client_download(AldSocketClient *client);
