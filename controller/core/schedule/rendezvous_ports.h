// Assigns rendezvous ports to gangs.
#ifndef TRAINYARD_CONTROLLER_CORE_SCHEDULE_RENDEZVOUS_PORTS_H_
#define TRAINYARD_CONTROLLER_CORE_SCHEDULE_RENDEZVOUS_PORTS_H_

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "controller/core/state/cluster_state.h"
#include "controller/core/support/core_options.h"

namespace trainyard::controller {

// Assigns ports. An object never returns the same port twice for one address. `state` and `options`
// must outlive this object.
class RendezvousPorts {
 public:
  RendezvousPorts(const ClusterState& state, const CoreOptions& options)
      : state_(state), options_(options) {}

  // Returns a free port at `address` for one generation of an attempt; nullopt if no port is free.
  // Ports are spread over the range by cluster, job, attempt and generation, so that clusters on
  // the same hosts rarely collide. `just_used` is returned only if the range has a single port. A
  // port that is stuck or used by another program is therefore not tried twice in a row.
  std::optional<int> Find(const AttemptKey& attempt, int64_t generation, int just_used,
                          const std::string& address);

 private:
  const ClusterState& state_;
  const CoreOptions& options_;
  std::set<std::pair<std::string, int>> given_;
};

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_SCHEDULE_RENDEZVOUS_PORTS_H_
