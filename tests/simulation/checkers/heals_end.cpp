// Every heal ends within a time limit: its generation completes a step, the next heal begins, or
// the attempt ends. A gang heals only because of a fault.
#include <map>

#include "absl/strings/str_cat.h"
#include "tests/simulation/checkers/checker.h"

namespace trainyard::simulation {
namespace {

// The time limit of a heal, plus the longest time for which a controller can be down or frozen.
constexpr int64_t kLongestHealMs = 30'000 + 60'000;

class HealsEndChecker : public Checker {
 public:
  const char* Name() const override { return "heals end"; }

  std::string Check(const Step& step) override {
    for (std::size_t i = step.first_new; i < step.log.size(); ++i) {
      if (std::string wrong = Learn(step.log[i], step); !wrong.empty()) return wrong;
    }
    for (const auto& [job_id, since_ms] : healing_) {
      if (step.now - since_ms > kLongestHealMs) {
        return absl::StrCat("job ", job_id, " heals without an end");
      }
    }
    return "";
  }

 private:
  std::string Learn(const v1::Event& event, const Step& step) {
    if (event.has_attempt_healing()) {
      const v1::AttemptHealing& healing = event.attempt_healing();
      healing_[healing.job_id()] = step.now;
      const bool is_hurt = step.world.hurt().contains({healing.job_id(), healing.attempt()});
      if (!is_hurt) return absl::StrCat("job ", healing.job_id(), " healed without a fault");
    }
    if (event.has_attempt_healed()) {
      const v1::AttemptHealed& healed = event.attempt_healed();
      if (healing_.erase(healed.job_id()) == 0) return "healed what did not heal";
      if (healed.lost_steps() > kMostLostSteps) {
        return absl::StrCat("job ", healed.job_id(), " lost ", healed.lost_steps(), " steps");
      }
    }
    if (event.has_attempt_failed()) healing_.erase(event.attempt_failed().job_id());
    if (event.has_attempt_rolled_back()) healing_.erase(event.attempt_rolled_back().job_id());
    if (event.has_job_stop_requested()) healing_.erase(event.job_stop_requested().job_id());
    if (event.has_job_paused()) healing_.erase(event.job_paused().job_id());
    // The attempt may end before reports of the
    // healed gang's last steps reach the controller.
    if (event.has_attempt_ended()) healing_.erase(event.attempt_ended().job_id());
    return "";
  }

  // A heal loses one step for each generation in a row that completed no step.
  static constexpr int64_t kMostLostSteps = 3;

  // Time at which each job's current heal began.
  std::map<int64_t, Timestamp> healing_;
};

}  // namespace

std::unique_ptr<Checker> HealsEnd() { return std::make_unique<HealsEndChecker>(); }

}  // namespace trainyard::simulation
