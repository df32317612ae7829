/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "services/common/service.h"
#include "services/state/state-manager.h"

/*
 * The service of this node that measures links, which is the owner of org.alidade.LinkProbe1. It exports each
 * result as an object below /org/alidade/LinkProbe1/link with the interface org.alidade.Link1.Socket or
 * Link1.Rdma. If an object is removed, its result stays here, with its age, until the planner finds it
 * obsolete.
 */
typedef struct AldLinkSource AldLinkSource;

int ald_link_source_new(AldService *service, AldStateManager *manager, AldLinkSource **ret);
void ald_link_source_free(AldLinkSource *source);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AldLinkSource, ald_link_source_free)
