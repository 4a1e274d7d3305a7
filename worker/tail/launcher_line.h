// Recognizes lines in which a launcher reports the failure of one of its ranks.
#ifndef TRAINYARD_WORKER_TAIL_LAUNCHER_LINE_H_
#define TRAINYARD_WORKER_TAIL_LAUNCHER_LINE_H_

#include <optional>
#include <string_view>

#include "trainyard/v1/telemetry.pb.h"

namespace trainyard::worker {

// Returns an alert if torchrun, or a launcher that is built on its agent, reports that it starts
// its ranks again, or that one of its ranks has failed. Nothing else shows such a restart, because
// the launcher keeps running. `first_rank` is the first rank of the launcher.
std::optional<v1::AlertRecord> AlertOfLauncher(std::string_view line, int first_rank);

}  // namespace trainyard::worker

#endif  // TRAINYARD_WORKER_TAIL_LAUNCHER_LINE_H_
