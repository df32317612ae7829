/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "services/common/service.h"
#include "services/state/state-manager.h"

/*
 * The service of this node that measures source, as the owner of org.alidade.LinkProbe1: each result is an
 * object of it below /org/alidade/LinkProbe1/link with the interface org.alidade.Link1.Socket. An object that
 * goes takes nothing with it: results stay, with their age, until the planner finds that they lead nowhere.
 */
typedef struct AldLinkSource AldLinkSource;

int ald_link_source_new(AldService *service, AldStateManager *manager, AldLinkSource **ret);
void ald_link_source_free(AldLinkSource *source);
