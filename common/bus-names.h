/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Names and paths of the services on the bus, and their units. */

#define ALD_STATE_NAME "org.alidade.State1"
#define ALD_STATE_PATH "/org/alidade/State1"
#define ALD_STATE_INTERFACE "org.alidade.State1"
#define ALD_STATE_UNIT "alidade-stated"
#define ALD_CLUSTER_NAME "org.alidade.Cluster1"
#define ALD_CLUSTER_PATH "/org/alidade/Cluster1"
#define ALD_CLUSTER_INTERFACE "org.alidade.Cluster1"
#define ALD_CLUSTER_UNIT "alidade-clusterd"
#define ALD_LINK_PROBE_NAME "org.alidade.LinkProbe1"
#define ALD_LINK_PROBE_PATH "/org/alidade/LinkProbe1"
#define ALD_LINK_PROBE_INTERFACE "org.alidade.LinkProbe1"
#define ALD_LINK_PROBE_UNIT "alidade-link-probed"
#define ALD_PLACEMENT_NAME "org.alidade.Placement1"
#define ALD_PLACEMENT_PATH "/org/alidade/Placement1"
#define ALD_PLACEMENT_INTERFACE "org.alidade.Placement1"
#define ALD_PLACEMENT_UNIT "alidade-placementd"
#define ALD_HISTORY_NAME "org.alidade.History1"
#define ALD_HISTORY_PATH "/org/alidade/History1"
#define ALD_HISTORY_INTERFACE "org.alidade.History1"
#define ALD_HISTORY_UNIT "alidade-historyd"
#define ALD_IDENTITY_NAME "org.alidade.Identity1"
#define ALD_IDENTITY_PATH "/org/alidade/Identity1"
#define ALD_IDENTITY_INTERFACE "org.alidade.Identity1"
#define ALD_IDENTITY_UNIT "alidade-identityd"

/* Every service exports this interface, which reports the refused lines of the configuration. */
#define ALD_SERVICE_PATH "/org/alidade/Service1"
#define ALD_SERVICE_INTERFACE "org.alidade.Service1"
#define ALD_SERVICE_PROBLEMS "ConfigurationProblems"
