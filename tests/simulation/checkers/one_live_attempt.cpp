// A live job has at most one live attempt: the newest. An ended job has no live attempt. While a
// node's heartbeats arrive, no rank of an older attempt runs there beside the newest attempt.
#include <map>

#include "absl/strings/str_cat.h"
#include "controller/core/state/jobs/job_state_machine.h"
#include "proto/support/job_state.h"
#include "tests/simulation/checkers/checker.h"

namespace trainyard::simulation {
namespace {

class OneLiveAttemptChecker : public Checker {
 public:
  const char* Name() const override { return "one live attempt"; }

  std::string Check(const Step& step) override {
    if (step.first_new < step.log.size()) {
      for (const auto& [id, entry] : step.state.jobs) {
        if (std::string wrong = CheckJob(entry); !wrong.empty()) return wrong;
      }
    }
    std::map<std::pair<std::string, int64_t>, int64_t> attempt_numbers;
    for (const auto& [key, process] : step.world.processes()) {
      if (!HoldsSlot(process)) continue;
      const auto [attempt_number, is_first] = attempt_numbers.emplace(
          std::make_pair(process.node_id, process.attempt.job_id), process.attempt.number);
      if (!is_first && attempt_number->second != process.attempt.number) {
        return absl::StrCat("attempts ", attempt_number->second, " and ", process.attempt.number,
                            " of job ", process.attempt.job_id, " both run on ", process.node_id);
      }
    }
    return "";
  }

 private:
  static std::string CheckJob(const controller::JobEntry& entry) {
    const v1::Job& job = entry.job;
    for (int i = 0; i + 1 < job.attempts_size(); ++i) {
      if (job.attempts(i).state() == v1::ATTEMPT_STATE_ENDED) continue;
      return absl::StrCat("attempt ", job.attempts(i).number(), " of job ", job.id(),
                          " lives beside a newer one");
    }
    const bool lives = LiveAttempt(entry) != nullptr;
    if (lives && HasEnded(job.state())) {
      return absl::StrCat("job ", job.id(), " has ended with a live attempt");
    }
    return "";
  }
};

}  // namespace

std::unique_ptr<Checker> OneLiveAttempt() { return std::make_unique<OneLiveAttemptChecker>(); }

}  // namespace trainyard::simulation
