// Finds gangs for elastic jobs, which run on any usable number of nodes in a range.
#ifndef TRAINYARD_CONTROLLER_CORE_SCHEDULE_ELASTIC_GANG_H_
#define TRAINYARD_CONTROLLER_CORE_SCHEDULE_ELASTIC_GANG_H_

#include <cstdint>
#include <functional>
#include <optional>

#include "controller/core/schedule/placement.h"
#include "controller/core/schedule/quota_pass.h"
#include "controller/core/state/attempts/gang_request.h"
#include "controller/core/state/cluster_state.h"
#include "trainyard/v1/job.pb.h"

namespace trainyard::controller {

// A gang and its layout, which is set if the controller chose the layout or the number of nodes.
struct FoundGang {
  Gang gang;
  std::optional<v1::GrantedLayout> layout;
};

// Returns the maximum number of nodes that the limits of an elastic job's queue allow, at most the
// job's own maximum. `own`: the number of nodes that the job holds.
int NodesInQuota(const QuotaPass& quotas, const JobEntry& entry, int own);

// The nodes on which an elastic job is to continue.
enum class ElasticNodes {
  // All nodes of the newest attempt, which the job must have kept. If the job gave up nodes for
  // another job, the nodes that are left.
  kAllOfNewest,
  // The nodes that the job has kept, as many as are usable.
  kKept,
  // The nodes that the job has kept, and free nodes.
  kKeptAndFree,
};

// Finds the largest gang that an elastic job may have now.
class ElasticSearch {
 public:
  // Returns the layout on the largest usable number of nodes that is at most `most`. nullopt if
  // there is none, or if it has not been chosen yet.
  using LayoutOn = std::function<std::optional<v1::GrantedLayout>(int most)>;

  // All arguments must outlive the search.
  ElasticSearch(const ClusterState& state, const QuotaPass& quotas, PlacementPass& pass)
      : state_(state), quotas_(quotas), pass_(pass) {}

  // `request`: that of the job, for one kind of device if the layout is chosen for it.
  std::optional<FoundGang> Find(const JobEntry& entry, const GangRequest& request,
                                ElasticNodes nodes, const LayoutOn& layout_on);

 private:
  std::optional<FoundGang> FindAgain(const JobEntry& entry, const GangRequest& request,
                                     const LayoutOn& layout_on);
  // Returns the maximum number of nodes that the job may get now. The limits of its queue apply. A
  // recovering job does not grow while other jobs wait, because it precedes them in order.
  int MostNodes(const JobEntry& entry) const;
  // Returns true if another job waits for slots of this kind.
  bool AnyOtherWaits(const JobEntry& entry, v1::DeviceKind kind) const;

  const ClusterState& state_;
  const QuotaPass& quotas_;
  PlacementPass& pass_;
};

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_SCHEDULE_ELASTIC_GANG_H_
