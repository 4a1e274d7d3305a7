// A preemption costs at most the steps since the last checkpoint: none if the program saves when it
// is stopped. The job's ledger shows the lost steps as redone once the job has ended. Attempts that
// another fault has hit are left out. The report of a checkpoint may arrive after the next
// placement only if it arrives so late that the job no longer waits for it.
#include <map>

#include "absl/strings/str_cat.h"
#include "controller/core/ledger/ledger.h"
#include "controller/core/support/core_options.h"
#include "tests/simulation/checkers/checker.h"

namespace trainyard::simulation {
namespace {

// Longer than a partition, a freeze, a full disk and a restart of the worker together.
constexpr int64_t kLatestReportMs = 90'000;
// For this time after the end of an attempt, its job waits for reports.
const int64_t kAwaitedMs = controller::CoreOptions().return_within_ms;
const int64_t kCheckpointEvery = WorldOptions().checkpoint_every;

class PreemptedWorkIsSavedChecker : public Checker {
 public:
  const char* Name() const override { return "preempted work is saved"; }

  std::string Check(const Step& step) override {
    for (std::size_t i = step.first_new; i < step.log.size(); ++i) {
      const v1::Event& event = step.log[i];
      if (event.has_attempt_ended()) ended_[event.attempt_ended().job_id()] = step.now;
      if (event.has_checkpoint_published()) {
        std::string wrong = TakeLateReport(event.checkpoint_published(), step.now);
        if (!wrong.empty()) return wrong;
      }
      const v1::AttemptYielded& yielded = event.attempt_yielded();
      if (yielded.yield().cause() == v1::YIELD_CAUSE_PREEMPTED) {
        preempted_[yielded.job_id()] = yielded.attempt();
      }
      if (event.has_job_placed()) CheckResumed(step, event.job_placed());
      if (!event.has_job_ended()) continue;
      std::string wrong = CheckLedger(step, event.job_ended().job_id());
      if (!wrong.empty()) return wrong;
    }
    return CheckLate(step);
  }

 private:
  // A resume from an older checkpoint than expected, until the report of a newer one arrives.
  struct Late {
    int64_t attempt = 0;
    int64_t least_step = 0;
    Timestamp ended = 0;
    Timestamp since = 0;
  };

  std::string TakeLateReport(const v1::CheckpointPublished& published, Timestamp now) {
    const auto found = late_.find(published.job_id());
    if (found == late_.end()) return "";
    const v1::Checkpoint& checkpoint = published.checkpoint();
    const bool is_it = checkpoint.attempt() == found->second.attempt &&
                       checkpoint.step() >= found->second.least_step;
    if (!is_it) return "";
    const int64_t late_ms = now - found->second.ended;
    late_.erase(found);
    if (late_ms >= kAwaitedMs) return "";
    return absl::StrCat("job ", published.job_id(), " was placed before the report of checkpoint ",
                        checkpoint.step(), ", which arrived ", late_ms,
                        " ms after the end of its attempt");
  }

  std::string CheckLate(const Step& step) const {
    for (const auto& [job_id, late] : late_) {
      if (step.now - late.since < kLatestReportMs || !step.state.jobs.contains(job_id)) continue;
      return absl::StrCat("job ", job_id, " was preempted, but no checkpoint of attempt ",
                          late.attempt, " at step ", late.least_step, " or later was reported");
    }
    return "";
  }

  void CheckResumed(const Step& step, const v1::JobPlaced& placed) {
    const auto found = preempted_.find(placed.job_id());
    if (found == preempted_.end()) return;
    const AttemptKey attempt{placed.job_id(), found->second};
    preempted_.erase(found);
    const Process* rank0 = step.world.FindRank(attempt, 0);
    if (rank0 == nullptr || step.world.hurt().contains(attempt)) return;
    const int64_t lost = rank0->made_step - placed.resume_step();
    const bool saved = step.world.saved_at_stop().contains(attempt);
    const int64_t most = saved ? 0 : kCheckpointEvery;
    if (lost > most) {
      late_[attempt.job_id] = {attempt.number, rank0->made_step - most, ended_[attempt.job_id],
                               step.now};
      return;
    }
    // A program without reported checkpoints may have saved without a report. Steps whose reports
    // arrive after the end of the attempt are not in the ledger.
    const v1::Attempt* ended =
        controller::FindAttempt(step.state.jobs.at(attempt.job_id).job, attempt.number);
    if (ended == nullptr || !TrainedBeforeStop(*ended)) return;
    const int64_t known = ended->last_step() - placed.resume_step();
    if (known > 0 && placed.resume_step() > 0) lost_steps_[attempt.job_id] += known;
  }

  // Returns true if the attempt has trained before it was asked to stop or stalled. The time of
  // later steps counts as the time of the stop or the stall.
  static bool TrainedBeforeStop(const v1::Attempt& attempt) {
    const v1::TimeUse& use = attempt.time_use();
    const Timestamp until =
        use.stalled_since_ms() != 0 ? use.stalled_since_ms() : attempt.stopping_time_ms();
    return until - attempt.started_time_ms() > use.init_ms() + use.load_ms();
  }

  // The steps that a job which has succeeded lost by preemptions were redone.
  std::string CheckLedger(const Step& step, int64_t job_id) const {
    const auto lost = lost_steps_.find(job_id);
    const auto entry = step.state.jobs.find(job_id);
    if (lost == lost_steps_.end() || entry == step.state.jobs.end()) return "";
    const v1::Job& job = entry->second.job;
    if (job.state() != v1::JOB_STATE_SUCCEEDED) return "";
    const v1::Ledger ledger = controller::LedgerOf(job, job.ended_time_ms());
    for (const v1::PhaseTime& time : ledger.phases()) {
      if (time.phase() == v1::LEDGER_PHASE_REDONE && time.seconds() > 0) return "";
    }
    return absl::StrCat("the ledger of job ", job_id, " does not show ", lost->second,
                        " steps that preemptions lost");
  }

  // The newest preempted attempt of each job that was not placed since.
  std::map<int64_t, int64_t> preempted_;
  std::map<int64_t, Timestamp> ended_;  // The end of the newest attempt of each job.
  std::map<int64_t, int64_t> lost_steps_;
  std::map<int64_t, Late> late_;
};

}  // namespace

std::unique_ptr<Checker> PreemptedWorkIsSaved() {
  return std::make_unique<PreemptedWorkIsSavedChecker>();
}

}  // namespace trainyard::simulation
