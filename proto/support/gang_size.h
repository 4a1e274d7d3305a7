// Computes the gang size of an attempt for every program.
#ifndef TRAINYARD_PROTO_SUPPORT_GANG_SIZE_H_
#define TRAINYARD_PROTO_SUPPORT_GANG_SIZE_H_

#include <algorithm>

#include "trainyard/v1/job.pb.h"

namespace trainyard {

// Returns the number of ranks of the gang, without standbys; 0 for an old attempt whose ranks are
// no longer stored.
inline int GangSize(const v1::Attempt& attempt) {
  const auto& members = attempt.ranks();
  const auto first_standby = std::partition_point(
      members.begin(), members.end(), [](const auto& member) { return !member.standby(); });
  return static_cast<int>(first_standby - members.begin());
}

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_SUPPORT_GANG_SIZE_H_
