// Each attempt of a job has a greater number than the attempt before it. A node that has started an
// attempt never starts a rank of an attempt with a lower number.
#include <map>

#include "absl/strings/str_cat.h"
#include "tests/simulation/checkers/checker.h"

namespace trainyard::simulation {
namespace {

class AttemptsOnlyGrowChecker : public Checker {
 public:
  const char* Name() const override { return "attempts only grow"; }

  std::string Check(const Step& step) override {
    for (std::size_t i = step.first_new; i < step.log.size(); ++i) {
      if (!step.log[i].has_job_placed()) continue;
      const v1::JobPlaced& placed = step.log[i].job_placed();
      int64_t& newest = placed_[placed.job_id()];
      if (placed.attempt() != newest + 1) {
        return absl::StrCat("job ", placed.job_id(), " went from attempt ", newest, " to ",
                            placed.attempt());
      }
      newest = placed.attempt();
    }
    for (const auto& [key, process] : step.world.processes()) {
      if (!seen_.insert(key).second) continue;
      int64_t& newest = started_[{process.node_id, process.attempt.job_id}];
      if (process.attempt.number < newest) {
        return absl::StrCat(process.node_id, " started attempt ", process.attempt.number,
                            " of job ", process.attempt.job_id, " after attempt ", newest);
      }
      newest = process.attempt.number;
    }
    return "";
  }

 private:
  std::map<int64_t, int64_t> placed_;
  std::map<std::pair<std::string, int64_t>, int64_t> started_;
  std::set<TrainingWorld::ProcessKey> seen_;
};

}  // namespace

std::unique_ptr<Checker> AttemptsOnlyGrow() { return std::make_unique<AttemptsOnlyGrowChecker>(); }

}  // namespace trainyard::simulation
