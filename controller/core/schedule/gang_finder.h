// Finds the gangs of waiting jobs in one pass, with the layouts that the controller chooses.
#ifndef TRAINYARD_CONTROLLER_CORE_SCHEDULE_GANG_FINDER_H_
#define TRAINYARD_CONTROLLER_CORE_SCHEDULE_GANG_FINDER_H_

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "controller/core/schedule/elastic_gang.h"
#include "controller/core/schedule/layout_choice.h"
#include "controller/core/schedule/placement.h"
#include "controller/core/schedule/quota_pass.h"
#include "controller/core/state/attempts/gang_request.h"
#include "controller/core/state/cluster_state.h"
#include "proto/support/clock.h"
#include "trainyard/v1/job.pb.h"

namespace trainyard::controller {

class GangFinder {
 public:
  // All references must outlive the finder.
  GangFinder(const ClusterState& state, const QuotaPass& quotas, PlacementPass& pass, Timestamp now)
      : state_(state), quotas_(quotas), pass_(pass), now_(now) {}

  // Finds a gang on the slots that the job keeps and on free slots.
  std::optional<FoundGang> Find(const JobEntry& entry);
  // Finds the gang of a recovering job that needs only its own slots.
  std::optional<FoundGang> FindAgain(const JobEntry& entry);
  // Finds a gang of fewer nodes than the job requests on the slots that a recovering job keeps.
  std::optional<FoundGang> FindFewerKept(const JobEntry& entry);

  // Returns true if the job waits for a layout choice. Asks for the choices that are missing.
  // `shape`: the smallest shape with which the job may start.
  bool AwaitsChoice(const JobEntry& entry, const GangShape& shape);

  // The layout choices that were missing.
  std::vector<LayoutQuestion> TakeQuestions() { return std::move(questions_); }

 private:
  // Returns the job's choice for this shape. If there is none yet, adds a question and returns
  // nullptr.
  const v1::GrantedLayout* ChoiceFor(const JobEntry& entry, const GangShape& shape);
  const std::vector<std::string>& DevicesFor(const JobEntry& entry, const GangRequest& request);
  // Calls `find` once, or, if the controller chooses the layout, for each kind of device until it
  // finds a gang: a layout is chosen for one kind.
  std::optional<FoundGang> ForEachDevice(
      const JobEntry& entry,
      const std::function<std::optional<FoundGang>(const GangRequest&)>& find);
  std::optional<FoundGang> FindElastic(const JobEntry& entry, const GangRequest& request,
                                       ElasticNodes nodes);
  std::optional<FoundGang> FindAgainOn(const JobEntry& entry, const GangRequest& request);
  std::optional<FoundGang> FindOn(const JobEntry& entry, const GangRequest& request);
  // Returns true if the job has run before, and since then the cluster has become too small for it.
  bool LacksNodesSincePause(const JobEntry& entry, const GangRequest& request) const;
  // Returns the gang of a recovering job with as many spare nodes as possible, but fewer than
  // requested. Training with fewer spares is better than waiting.
  std::optional<FoundGang> FindFewerSpares(const JobEntry& entry, const GangRequest& request,
                                           bool with_free);
  // Returns the gang of a recovering job with auto_layout on its remaining nodes.
  std::optional<FoundGang> FindFewer(const JobEntry& entry, const GangRequest& request,
                                     bool with_free);

  const ClusterState& state_;
  const QuotaPass& quotas_;
  PlacementPass& pass_;
  const Timestamp now_;
  // By kind of slot, nodes, slots per node, and placement of a job (PlacementKey).
  std::map<std::tuple<v1::DeviceKind, int, int, std::string>, std::vector<std::string>> devices_;
  // Jobs, numbers of nodes and devices for which there is a question.
  std::set<std::tuple<int64_t, int, std::string>> asked_;
  std::vector<LayoutQuestion> questions_;
};

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_SCHEDULE_GANG_FINDER_H_
