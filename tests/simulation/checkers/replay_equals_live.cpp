// Applying the whole log to an empty state gives the live state. Applying the later events to a
// snapshot also gives the live state. The duration of a replay grows with the log, so the check
// runs only at every 64th new event.
#include "controller/core/apply/apply.h"
#include "controller/core/event_log/snapshot.h"
#include "tests/controller/core/test_cluster.h"
#include "tests/simulation/checkers/checker.h"

namespace trainyard::simulation {
namespace {

class ReplayEqualsLiveChecker : public Checker {
 public:
  const char* Name() const override { return "replay equals live"; }

  std::string Check(const Step& step) override {
    if (step.log.size() < next_look_) return "";
    next_look_ = step.log.size() + 64;
    controller::ClusterState replayed;
    for (const v1::Event& event : step.log) controller::Apply(event, replayed);
    const std::string live = controller::Bytes(step.state);
    if (controller::Bytes(replayed) != live) return "the replayed log gives another state";
    const controller::ClusterState restored =
        controller::FromSnapshot(controller::ToSnapshot(step.state, 0));
    if (controller::Bytes(restored) != live) return "the snapshot gives another state";
    std::string wrong = controller::DifferentIndexes(replayed, step.state);
    if (wrong.empty()) wrong = controller::DifferentIndexes(restored, step.state);
    return wrong.empty() ? "" : "another index: " + wrong;
  }

 private:
  std::size_t next_look_ = 0;
};

}  // namespace

std::unique_ptr<Checker> ReplayEqualsLive() { return std::make_unique<ReplayEqualsLiveChecker>(); }

}  // namespace trainyard::simulation
