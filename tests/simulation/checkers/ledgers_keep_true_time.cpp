// However the controller's wall clock is changed, durations in ledgers and attempts equal the true
// durations, and the phases add up to these durations. A report shows the times of the job's page.
// Stalls, pauses, heals, lost training and the slot time of standbys never shrink, except by the
// time between a failure and the moment at which the controller learns of it.
#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "controller/core/event_log/event_job.h"
#include "controller/core/ledger/ledger.h"
#include "controller/core/ledger/ledger_part.h"
#include "proto/contract/attempt_key.h"
#include "proto/json/enum_text.h"
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
    if (std::string wrong = CheckReport(job, step); !wrong.empty()) return wrong;
    if (std::string wrong = CheckKept(job.id(), ledger, step); !wrong.empty()) return wrong;
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

  // Reports are computed from a part of the job.
  static std::string CheckReport(const v1::Job& job, const Step& step) {
    const v1::JobTime whole = controller::JobTimeOf(job, step.controller_now);
    const v1::JobTime part =
        controller::JobTimeOf(controller::LedgerPart(job), step.controller_now);
    if (whole.SerializeAsString() == part.SerializeAsString()) return "";
    return absl::StrCat("job ", job.id(), " has other times in a report: ", part.ShortDebugString(),
                        " and not ", whole.ShortDebugString());
  }

  // A step may reveal a failure that happened earlier. Returns the seconds between the failure and
  // this step. These seconds belong to the restart or the heal, even if the ledger showed another
  // phase before.
  static double UnknownSeconds(int64_t job_id, const Step& step) {
    double seconds = 0;
    for (std::size_t i = step.first_new; i < step.log.size(); ++i) {
      const v1::Event& event = step.log[i];
      if (controller::JobIdOf(event) != job_id) continue;
      const v1::Verdict& verdict = event.has_attempt_healing() ? event.attempt_healing().verdict()
                                                               : event.attempt_failed().verdict();
      if (verdict.time_ms() == 0) continue;
      seconds = std::max(seconds, static_cast<double>(event.time_ms() - verdict.time_ms()) / 1e3);
    }
    return seconds;
  }

  // Checks the phases whose time never becomes the time of another phase.
  std::string CheckKept(int64_t job_id, const v1::Ledger& ledger, const Step& step) {
    const double unknown = UnknownSeconds(job_id, step);
    for (const v1::PhaseTime& phase : ledger.phases()) {
      const bool is_kept =
          phase.phase() == v1::LEDGER_PHASE_STALLED || phase.phase() == v1::LEDGER_PHASE_PAUSED ||
          phase.phase() == v1::LEDGER_PHASE_HEAL || phase.phase() == v1::LEDGER_PHASE_STANDBY ||
          phase.phase() == v1::LEDGER_PHASE_DIVERGING || phase.phase() == v1::LEDGER_PHASE_SLOW;
      if (!is_kept) continue;
      auto& before = kept_[{job_id, phase.phase()}];
      const std::pair<double, double> now{phase.seconds(), phase.slot_seconds()};
      const double allowed = unknown + 0.001;
      // A gang of the simulation has at most 16 slots.
      if (now.first < before.first - allowed || now.second < before.second - 16 * allowed) {
        return absl::StrCat("the phase ", EnumText(phase.phase()), " of job ", job_id,
                            " shrank from ", before.first, " s to ", now.first, " s");
      }
      before = now;
    }
    return "";
  }

  // Seconds and slot seconds, by job and phase.
  std::map<std::pair<int64_t, v1::LedgerPhase>, std::pair<double, double>> kept_;
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
