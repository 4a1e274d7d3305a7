// Finds the rank of a gang that failed first.
#ifndef TRAINYARD_CONTROLLER_CORE_VERDICT_FIRST_FAILURE_H_
#define TRAINYARD_CONTROLLER_CORE_VERDICT_FIRST_FAILURE_H_

#include <cstdint>

#include "controller/core/state/cluster_state.h"
#include "proto/support/clock.h"
#include "trainyard/v1/event.pb.h"
#include "trainyard/v1/job.pb.h"

namespace trainyard::controller {

// The maximum wait for the exit of the rank that failed first. A rank that lost a peer failed only
// because of another rank. If every known failure is a lost peer, the verdict waits.
inline constexpr int64_t kLostPeerWaitMs = 2000;
// The maximum wait if programs report the lost peer in their output. The rank that failed first may
// spend some seconds on its cleanup after it has printed its error.
inline constexpr int64_t kReportedLossWaitMs = 10'000;

// Returns true if the rank exited with 69 (lost a peer).
bool ExitedForLostPeer(const v1::RankExited& exited);

// Returns true if the rank failed because of another rank, according to its exit code or its
// output.
bool LostPeer(const v1::Attempt& attempt, const v1::RankExited& exited);

// Returns the exit time by the controller's clock if the offset of the node's clock was known,
// otherwise by the node's clock.
Timestamp ExitTime(const v1::RankExited& exited);

// Returns the exit of the gang's first failed rank. Ranks that lost a peer are considered last.
// Returns nullptr if no rank has failed, or if the gang continues without the failed ranks or has
// succeeded.
const v1::RankExited* FirstFailure(const JobEntry& entry, const v1::Attempt& attempt);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_VERDICT_FIRST_FAILURE_H_
