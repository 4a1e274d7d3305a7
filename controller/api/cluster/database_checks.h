// Checks of the database server for `doctor`, for warnings and for Prometheus. Pure functions.
#ifndef TRAINYARD_CONTROLLER_API_CLUSTER_DATABASE_CHECKS_H_
#define TRAINYARD_CONTROLLER_API_CLUSTER_DATABASE_CHECKS_H_

#include <string>
#include <vector>

#include "proto/support/clock.h"
#include "trainyard/v1/node_service.pb.h"

namespace trainyard::controller {

// Returns the checks of the database, the leader and the standbys. Empty if the stores are SQLite
// files. Each failed check has its cause in `found` and the next step in `advice`.
std::vector<v1::NodeCheck> DatabaseChecks(const v1::GetServerInfoResponse& info);

// Returns one sentence for each failed check.
std::vector<std::string> DatabaseWarnings(const v1::GetServerInfoResponse& info);

// Returns true if the standby's newest report was recent when the reports were read.
bool IsReady(const v1::StandbyController& standby, Timestamp read_ms);

// Returns false if a crash of the server can lose acknowledged changes, by its settings.
bool SurvivesCrash(const v1::DatabaseStatus& database);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_API_CLUSTER_DATABASE_CHECKS_H_
