// The verdict blames the rank that failed first among the known failed ranks, however different the
// nodes' clocks are. Ranks that failed because they lost a peer are blamed last.
#include <tuple>

#include "absl/strings/str_cat.h"
#include "controller/core/state/attempts/gang.h"
#include "tests/simulation/checkers/checker.h"

namespace trainyard::simulation {
namespace {

constexpr int kExitOfLostPeer = 69;
// Tolerance for messages delayed by a partition or a frozen controller. The differences between
// node clocks exceed this tolerance.
constexpr int64_t kToleranceMs = 60'000;

class FirstFailureIsBlamedChecker : public Checker {
 public:
  const char* Name() const override { return "the first failure is blamed"; }

  std::string Check(const Step& step) override {
    for (std::size_t i = step.first_new; i < step.log.size(); ++i) {
      if (!step.log[i].has_attempt_failed()) continue;
      std::string violation = CheckFailed(step, i);
      if (!violation.empty()) return violation;
    }
    return "";
  }

 private:
  using Order = std::tuple<bool, Timestamp>;

  // The order uses the simulated world's clock, which is the true time.
  static Order OrderOf(const Step& step, const v1::RankExited& exited) {
    const v1::Job& job = step.state.jobs.at(exited.job_id()).job;
    const v1::Attempt& attempt = job.attempts(job.attempts_size() - 1);
    const Process* process = step.world.Find(attempt.ranks(exited.rank()).node_id(),
                                             {job.id(), attempt.number()}, exited.rank());
    const bool has_ended = process != nullptr && process->exited.has_value();
    return {exited.exit_code() == kExitOfLostPeer, has_ended ? process->exited->time_ms() : 0};
  }

  // Returns the rank's place in its gang; kNoPlace for a standby, and for a rank that a heal has
  // replaced.
  static int PlaceOf(const Step& step, const v1::RankExited& exited) {
    return controller::PlaceIn(step.state, {exited.job_id(), exited.attempt()}, exited.rank());
  }

  static bool IsHealOf(const v1::AttemptFailed& failed, const v1::Event& event) {
    return event.attempt_healing().job_id() == failed.job_id() &&
           event.attempt_healing().attempt() == failed.attempt();
  }

  static std::string CheckFailed(const Step& step, std::size_t failed_at) {
    const v1::AttemptFailed& failed = step.log[failed_at].attempt_failed();
    const v1::Verdict& verdict = failed.verdict();
    if (verdict.cause() != v1::VERDICT_CAUSE_RANK_EXITED || verdict.rank() < 0) return "";
    const v1::RankExited* blamed = nullptr;
    std::vector<const v1::RankExited*> others;
    for (std::size_t i = 0; i < failed_at; ++i) {
      // This heal replaced all ranks that had failed earlier, so their failures no longer concern
      // the gang.
      if (IsHealOf(failed, step.log[i])) {
        blamed = nullptr;
        others.clear();
      }
      const v1::RankExited& exited = step.log[i].rank_exited();
      const bool is_of_it = step.log[i].has_rank_exited() && exited.job_id() == failed.job_id() &&
                            exited.attempt() == failed.attempt();
      if (!is_of_it || (exited.exit_code() == 0 && exited.signal() == 0)) continue;
      const int place = PlaceOf(step, exited);
      if (place == controller::kNoPlace) continue;
      if (place == verdict.rank()) {
        blamed = &exited;
      } else {
        others.push_back(&exited);
      }
    }
    if (blamed == nullptr) return "";
    const auto [lost_peer, time_ms] = OrderOf(step, *blamed);
    for (const v1::RankExited* other : others) {
      const auto [other_lost_peer, other_ms] = OrderOf(step, *other);
      const bool is_known = time_ms > 0 && other_ms > 0;
      if (!is_known || Order{other_lost_peer, other_ms + kToleranceMs} >= Order{lost_peer, time_ms})
        continue;
      return absl::StrCat("job ", failed.job_id(), " blames rank ", verdict.rank(),
                          " for what rank ", other->rank(), " did ", time_ms - other_ms,
                          " ms before it");
    }
    return "";
  }
};

}  // namespace

std::unique_ptr<Checker> FirstFailureIsBlamed() {
  return std::make_unique<FirstFailureIsBlamedChecker>();
}

}  // namespace trainyard::simulation
