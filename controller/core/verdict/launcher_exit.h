// Finds the rank that failed among the ranks of a launcher.
#ifndef TRAINYARD_CONTROLLER_CORE_VERDICT_LAUNCHER_EXIT_H_
#define TRAINYARD_CONTROLLER_CORE_VERDICT_LAUNCHER_EXIT_H_

#include "controller/core/state/cluster_state.h"
#include "trainyard/v1/event.pb.h"

namespace trainyard::controller {

// All ranks of a launcher have the same exit. Returns the exit of the rank that the output of the
// launcher blames: by the label of its error line, such as "[rank3]:", or by the table that
// torchrun prints at its end. Returns `exited` if the output names no rank of this launcher, or if
// the process has only one rank.
const v1::RankExited& ExitOfBlamedRank(const JobEntry& entry, const v1::RankExited& exited);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_VERDICT_LAUNCHER_EXIT_H_
