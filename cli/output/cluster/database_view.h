// The lines of `server status` about the database server and the standbys.
#ifndef TRAINYARD_CLI_OUTPUT_CLUSTER_DATABASE_VIEW_H_
#define TRAINYARD_CLI_OUTPUT_CLUSTER_DATABASE_VIEW_H_

#include <ostream>
#include <string>
#include <vector>

#include "proto/support/clock.h"
#include "trainyard/v1/node_service.pb.h"

namespace trainyard::cli {

// Prints nothing if the stores are SQLite files. Standbys in `shown` are omitted.
void PrintDatabase(const v1::GetServerInfoResponse& info, const std::vector<std::string>& shown,
                   Timestamp now, std::ostream& out);

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_OUTPUT_CLUSTER_DATABASE_VIEW_H_
