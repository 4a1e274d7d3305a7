// Durations in ledgers and attempts equal the true durations, and the phases add up to them,
// however the controller's wall clock is changed.
#include <cmath>
#include <map>
#include <set>

#include "absl/strings/str_cat.h"
#include "controller/core/event_log/event_job.h"
#include "controller/core/ledger/ledger.h"
#include "proto/contract/attempt_key.h"
#include "tests/simulation/checkers/checker.h"

namespace trainyard::simulation {
namespace {

class LedgersKeepTrueTimeChecker : public Checker {
 public:
  const char* Name() const override { return "ledgers keep true time"; }

  std::string Check(const Step& step) override {
    std::set<int64_t> changed;
    for (std::size_t i = step.first_new; i < step.log.size(); ++i) {
      Learn(step.log[i], step.now);
      changed.insert(controller::JobIdOf(step.log[i]));
    }
    for (const int64_t job_id : changed) {
      const controller::JobEntry* entry = controller::FindEntry(step.state, job_id);
      if (entry == nullptr || !submitted_.contains(job_id)) continue;
      if (std::string wrong = CheckJob(entry->job, step); !wrong.empty()) return wrong;
    }
    return "";
  }

 private:
  // `now` is the true time.
  void Learn(const v1::Event& event, Timestamp now) {
    if (event.has_job_submitted()) submitted_[event.job_submitted().job_id()] = now;
    if (event.has_job_ended()) ended_[event.job_ended().job_id()] = now;
    if (event.has_job_placed()) {
      placed_[{event.job_placed().job_id(), event.job_placed().attempt()}] = now;
    }
    if (!event.has_attempt_ended()) return;
    const AttemptKey attempt{event.attempt_ended().job_id(), event.attempt_ended().attempt()};
    length_ms_[attempt] = now - placed_[attempt];
  }

  std::string CheckJob(const v1::Job& job, const Step& step) {
    const v1::Ledger ledger = controller::LedgerOf(job, step.controller_now);
    // If the event log went back in time, it may no longer contain the end of the job.
    const bool has_ended = job.ended_time_ms() != 0;
    const int64_t true_ms = (has_ended ? ended_.at(job.id()) : step.now) - submitted_.at(job.id());
    if (std::llround(ledger.wall_seconds() * 1e3) != true_ms) {
      return absl::StrCat("job ", job.id(), " took ", true_ms, " ms; its ledger has ",
                          ledger.wall_seconds(), " s");
    }
    double seconds = 0;
    for (const v1::PhaseTime& phase : ledger.phases()) seconds += phase.seconds();
    if (std::llround(seconds * 1e3) != true_ms) {
      return absl::StrCat("the phases of job ", job.id(), " add up to ", seconds, " s");
    }
    for (const v1::Attempt& attempt : job.attempts()) {
      const auto length = length_ms_.find({job.id(), attempt.number()});
      if (length == length_ms_.end() || attempt.ended_time_ms() == 0) continue;
      const int64_t kept_ms = attempt.ended_time_ms() - attempt.placed_time_ms();
      if (kept_ms == length->second) continue;
      return absl::StrCat("attempt ", attempt.number(), " of job ", job.id(), " took ",
                          length->second, " ms, and not ", kept_ms);
    }
    return "";
  }

  std::map<int64_t, Timestamp> submitted_;
  std::map<int64_t, Timestamp> ended_;
  std::map<AttemptKey, Timestamp> placed_;
  std::map<AttemptKey, int64_t> length_ms_;
};

}  // namespace

std::unique_ptr<Checker> LedgersKeepTrueTime() {
  return std::make_unique<LedgersKeepTrueTimeChecker>();
}

}  // namespace trainyard::simulation
