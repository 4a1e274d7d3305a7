// An elastic job always has a usable number of nodes from its range. Each attempt states whether
// and why its size differs from that of the preceding attempt. A job grows only at the interval of
// the options, and only onto nodes that no waiting job could have used.
#include <map>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "controller/core/state/attempts/gang_request.h"
#include "proto/jobspec/fields/node_range.h"
#include "proto/jobspec/rules/elastic_size.h"
#include "tests/simulation/checkers/checker.h"

namespace trainyard::simulation {
namespace {

class ElasticSizesAllowedChecker : public Checker {
 public:
  explicit ElasticSizesAllowedChecker(int64_t growth_interval_ms)
      : growth_interval_ms_(growth_interval_ms) {}

  const char* Name() const override { return "elastic sizes allowed"; }

  std::string Check(const Step& step) override {
    for (std::size_t i = step.first_new; i < step.log.size(); ++i) {
      const v1::Event& event = step.log[i];
      if (event.has_clock_set()) Shift(event.clock_set());
      const int64_t job_id = event.has_job_placed()        ? event.job_placed().job_id()
                             : event.has_attempt_yielded() ? event.attempt_yielded().job_id()
                                                           : 0;
      const auto found = step.state.jobs.find(job_id);
      if (found == step.state.jobs.end() || !IsElastic(found->second.job.spec())) continue;
      const v1::JobSpec& spec = found->second.job.spec();
      const std::string wrong =
          event.has_job_placed() ? CheckPlaced(spec, event) : CheckYielded(event);
      if (!wrong.empty()) return absl::StrCat("job ", job_id, ": ", wrong);
    }
    return "";
  }

 private:
  struct Placed {
    int nodes = 0;
    int64_t time_ms = 0;
  };

  void Shift(const v1::ClockSet& clock) {
    for (auto& [id, placed] : placed_) placed.time_ms += clock.step_ms();
  }

  std::string CheckPlaced(const v1::JobSpec& spec, const v1::Event& event) {
    const v1::JobPlaced& placed = event.job_placed();
    const int nodes = placed.layout().nodes();
    if (nodes < spec.min_nodes() || LargestUsableNodes(spec, nodes) != nodes) {
      return absl::StrCat(nodes, " of ", NodesText(spec), " nodes are not usable");
    }
    const auto before = placed_.find(placed.job_id());
    const int old_nodes = before == placed_.end() ? nodes : before->second.nodes;
    const bool says_so =
        nodes == old_nodes
            ? placed.size_change().empty()
            : absl::StrContains(placed.size_change(),
                                absl::StrCat(" from ", old_nodes, " to ", nodes, " node"));
    placed_[placed.job_id()] = {nodes, event.time_ms()};
    if (says_so) return "";
    return absl::StrCat("from ", old_nodes, " to ", nodes, " nodes: \"", placed.size_change(),
                        "\"");
  }

  std::string CheckYielded(const v1::Event& event) const {
    const v1::AttemptYielded& yielded = event.attempt_yielded();
    if (yielded.yield().cause() != v1::YIELD_CAUSE_GROW) return "";
    const int64_t since_ms = event.time_ms() - placed_.at(yielded.job_id()).time_ms;
    if (since_ms >= growth_interval_ms_) return "";
    return absl::StrCat("grows ", since_ms, " ms after its last placement");
  }

  const int64_t growth_interval_ms_;
  // The newest placement of each job.
  std::map<int64_t, Placed> placed_;
};

}  // namespace

std::unique_ptr<Checker> ElasticSizesAllowed(int64_t growth_interval_ms) {
  return std::make_unique<ElasticSizesAllowedChecker>(growth_interval_ms);
}

}  // namespace trainyard::simulation
