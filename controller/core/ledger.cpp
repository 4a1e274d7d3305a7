#include "controller/core/ledger.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "proto/jobspec/run_config_of.h"

namespace trainyard::controller {
namespace {

constexpr std::size_t kSpansKept = 1000;
// Pieces of training of unlisted attempts that are told apart. Older ones are joined, so that the
// state of a job that restarts for months stays small.
constexpr int kTrainedKept = 256;

// Phases one after the other, each beginning where the one before ended.
class Timeline {
 public:
  explicit Timeline(Timestamp begin) : at_(begin) {}

  void AddUntil(v1::LedgerPhase phase, int64_t attempt_number, Timestamp end) {
    if (end <= at_) return;
    v1::LedgerSpan span;
    span.set_phase(phase);
    span.set_attempt(attempt_number);
    span.set_begin_ms(at_);
    span.set_end_ms(end);
    spans_.push_back(span);
    at_ = end;
  }

  Timestamp at() const { return at_; }
  std::vector<v1::LedgerSpan>& spans() { return spans_; }

 private:
  Timestamp at_;
  std::vector<v1::LedgerSpan> spans_;
};

Timestamp OrElse(Timestamp time, Timestamp fallback) { return time == 0 ? fallback : time; }

// Share, from 0 to 1, of the steps that a later attempt trained again, when it kept the first
// `kept`.
double RepeatedPart(int64_t trained, int64_t kept) {
  if (trained <= 0 || kept >= trained) return 0;
  return static_cast<double>(trained - std::max<int64_t>(kept, 0)) / static_cast<double>(trained);
}

// The same of a listed attempt.
double RepeatedPart(const v1::Job& job, int index) {
  const v1::Attempt& attempt = job.attempts(index);
  const int64_t trained = attempt.last_step() - attempt.resume_step();
  int64_t kept = trained;
  for (int later = index + 1; later < job.attempts_size(); ++later) {
    kept = std::min(kept, job.attempts(later).resume_step() - attempt.resume_step());
  }
  return RepeatedPart(trained, kept);
}

int64_t RepeatedMs(double part, int64_t steps_ms) {
  return static_cast<int64_t>(part * static_cast<double>(steps_ms));
}

// Time until which the attempt was of use: its first failure, else the moment when it was asked to
// stop, else its end.
Timestamp UsefulUntil(const v1::Attempt& attempt, Timestamp ended) {
  const Timestamp told = std::min(OrElse(attempt.stopping_time_ms(), ended), ended);
  const Timestamp failed = attempt.verdict().time_ms();
  return attempt.placed_time_ms() < failed && failed < told ? failed : told;
}

// Shares out the time that the attempt was of use among the phases that its ranks reported, as far
// as it goes. Clocks of nodes and of programs decide only the shares, never the sum.
void AddUse(const v1::Attempt& attempt, double repeated_part, Timestamp until, Timeline& timeline) {
  const v1::TimeUse& use = attempt.time_use();
  const auto add = [&](v1::LedgerPhase phase, int64_t ms, Timestamp end) {
    timeline.AddUntil(phase, attempt.number(), std::min(timeline.at() + ms, end));
  };
  add(v1::LEDGER_PHASE_INIT, use.init_ms(), until);
  add(v1::LEDGER_PHASE_LOAD, use.load_ms(), until);
  const Timestamp trained_until =
      std::clamp(OrElse(use.stalled_since_ms(), until), std::min(timeline.at(), until), until);
  add(v1::LEDGER_PHASE_EVALUATION, use.evaluation_ms(), trained_until);
  add(v1::LEDGER_PHASE_CHECKPOINT, use.checkpoint_ms(), trained_until);
  add(v1::LEDGER_PHASE_DATA_STALL, use.data_stall_ms(), trained_until);
  const int64_t steps_ms = std::max<int64_t>(0, trained_until - timeline.at());
  const int64_t repeated_ms = RepeatedMs(repeated_part, steps_ms);
  timeline.AddUntil(v1::LEDGER_PHASE_TRAIN, attempt.number(), trained_until - repeated_ms);
  timeline.AddUntil(v1::LEDGER_PHASE_RECOMPUTE, attempt.number(), trained_until);
  timeline.AddUntil(v1::LEDGER_PHASE_HANG, attempt.number(), until);
}

// Number of the attempt before; 0 when there was none, or an older release forgot it.
int64_t NumberBefore(const v1::Job& job, int index) {
  return index > 0 ? job.attempts(index - 1).number() : job.earlier().newest_attempt();
}

// `repeated_part`: share of the steps that count as recompute.
void AddAttempt(const v1::Job& job, int index, double repeated_part, Timestamp end_of_all,
                Timeline& timeline) {
  const v1::Attempt& attempt = job.attempts(index);
  const Timestamp ended = std::min(OrElse(attempt.ended_time_ms(), end_of_all), end_of_all);
  const Timestamp placed = std::min(attempt.placed_time_ms(), end_of_all);
  if (const int64_t before = NumberBefore(job, index); before != 0) {
    timeline.AddUntil(v1::LEDGER_PHASE_RESTART, before, placed);
  } else {
    const bool first = attempt.number() == 1;
    timeline.AddUntil(first ? v1::LEDGER_PHASE_QUEUED : v1::LEDGER_PHASE_UNSPECIFIED, 0, placed);
  }
  const Timestamp until = UsefulUntil(attempt, ended);
  timeline.AddUntil(v1::LEDGER_PHASE_INIT, attempt.number(),
                    std::min(OrElse(attempt.started_time_ms(), until), until));
  AddUse(attempt, repeated_part, until, timeline);
  // The verdict of a stopped attempt comes with the end of its job.
  const bool stopped = attempt.verdict().cause() == v1::VERDICT_CAUSE_STOPPED ||
                       (!attempt.has_verdict() && attempt.stop_reason() == v1::STOP_REASON_USER);
  timeline.AddUntil(stopped ? v1::LEDGER_PHASE_STOP : v1::LEDGER_PHASE_RESTART, attempt.number(),
                    ended);
}

// True unless the phase is queueing: a queued job holds no slots.
bool HoldsSlots(v1::LedgerPhase phase) { return phase != v1::LEDGER_PHASE_QUEUED; }

// Whole milliseconds until the end, so that the sums are exact.
using PhaseSums = std::map<v1::LedgerPhase, int64_t>;

PhaseSums SumsOf(const std::vector<v1::LedgerSpan>& spans) {
  PhaseSums sums;
  for (const v1::LedgerSpan& span : spans) sums[span.phase()] += span.end_ms() - span.begin_ms();
  return sums;
}

// Milliseconds of these steps that count as recompute.
int64_t RepeatedMs(const v1::TrainedSteps& trained) {
  return RepeatedMs(RepeatedPart(trained.steps(), trained.kept_steps()), trained.length_ms());
}

// A later attempt resumed from `step`.
void CutAt(int64_t step, v1::TrainedSteps& trained) {
  trained.set_kept_steps(std::min(trained.kept_steps(), step - trained.resume_step()));
}

// Adds the time of the attempts that are no longer listed.
void AddEarlier(const v1::Job& job, PhaseSums& sums) {
  for (const v1::PhaseSum& sum : job.earlier().phases()) sums[sum.phase()] += sum.length_ms();
  for (v1::TrainedSteps trained : job.earlier().trained()) {
    for (const v1::Attempt& later : job.attempts()) CutAt(later.resume_step(), trained);
    const int64_t repeated_ms = RepeatedMs(trained);
    sums[v1::LEDGER_PHASE_RECOMPUTE] += repeated_ms;
    sums[v1::LEDGER_PHASE_TRAIN] += trained.length_ms() - repeated_ms;
  }
  std::erase_if(sums, [](const auto& sum) { return sum.second == 0; });
}

// Cuts the steps at an attempt that resumed from `step`. Steps of which nothing is left are
// settled.
void CutEarlier(int64_t step, v1::EarlierTime& earlier, PhaseSums& sums) {
  auto& all = *earlier.mutable_trained();
  for (v1::TrainedSteps& trained : all) {
    CutAt(step, trained);
    if (trained.kept_steps() <= 0) sums[v1::LEDGER_PHASE_RECOMPUTE] += trained.length_ms();
  }
  all.erase(std::remove_if(all.begin(), all.end(),
                           [](const v1::TrainedSteps& one) { return one.kept_steps() <= 0; }),
            all.end());
}

// Joins the two oldest pieces of training into one.
void JoinOldest(v1::EarlierTime& earlier, PhaseSums& sums) {
  const v1::TrainedSteps first = earlier.trained(0);
  v1::TrainedSteps& joined = *earlier.mutable_trained(1);
  const int64_t repeated_ms = RepeatedMs(first) + RepeatedMs(joined);
  sums[v1::LEDGER_PHASE_RECOMPUTE] += repeated_ms;
  joined.set_length_ms(first.length_ms() + joined.length_ms() - repeated_ms);
  joined.set_kept_steps(first.kept_steps() + joined.kept_steps());
  joined.set_steps(joined.kept_steps());
  joined.set_resume_step(first.resume_step());
  earlier.mutable_trained()->DeleteSubrange(0, 1);
}

// The job's training that may still be repeated, with that of its oldest attempt: `steps_ms`.
void AddTrained(const v1::Attempt& attempt, int64_t steps_ms, v1::EarlierTime& earlier,
                PhaseSums& sums) {
  CutEarlier(attempt.resume_step(), earlier, sums);
  const int64_t steps = attempt.last_step() - attempt.resume_step();
  if (steps <= 0 || steps_ms == 0) {
    sums[v1::LEDGER_PHASE_TRAIN] += steps_ms;
    return;
  }
  v1::TrainedSteps& trained = *earlier.add_trained();
  trained.set_resume_step(attempt.resume_step());
  trained.set_steps(steps);
  trained.set_kept_steps(steps);
  trained.set_length_ms(steps_ms);
  if (earlier.trained_size() > kTrainedKept) JoinOldest(earlier, sums);
}

void AddPhases(const PhaseSums& phases_ms, int slots, v1::Ledger& ledger) {
  int64_t with_slots_ms = 0;
  for (const auto& [phase, length_ms] : phases_ms) {
    if (HoldsSlots(phase)) with_slots_ms += length_ms;
  }
  for (const auto& [phase, length_ms] : phases_ms) {
    v1::PhaseTime& time = *ledger.add_phases();
    time.set_phase(phase);
    time.set_seconds(static_cast<double>(length_ms) / 1e3);
    time.set_slot_seconds(HoldsSlots(phase) ? static_cast<double>(length_ms * slots) / 1e3 : 0);
  }
  std::sort(ledger.mutable_phases()->begin(), ledger.mutable_phases()->end(),
            [](const auto& a, const auto& b) { return a.seconds() > b.seconds(); });
  if (with_slots_ms == 0) return;
  const auto trained = phases_ms.find(v1::LEDGER_PHASE_TRAIN);
  const int64_t trained_ms = trained == phases_ms.end() ? 0 : trained->second;
  ledger.set_goodput_ratio(static_cast<double>(trained_ms) / static_cast<double>(with_slots_ms));
}

// Time from which on the attempts in the list tell the phases.
Timestamp BeginOf(const v1::Job& job) {
  return job.has_earlier() ? job.earlier().until_ms() : job.submitted_time_ms();
}

}  // namespace

v1::Ledger LedgerOf(const v1::Job& job, Timestamp now) {
  const Timestamp end = std::max(OrElse(job.ended_time_ms(), now), BeginOf(job));
  Timeline timeline(BeginOf(job));
  for (int i = 0; i < job.attempts_size(); ++i) {
    AddAttempt(job, i, RepeatedPart(job, i), end, timeline);
  }
  timeline.AddUntil(job.attempts_size() == 0 ? v1::LEDGER_PHASE_QUEUED : v1::LEDGER_PHASE_RESTART,
                    job.attempts_size() == 0 ? 0 : job.attempts().rbegin()->number(), end);
  v1::Ledger ledger;
  ledger.set_wall_seconds(static_cast<double>(end - job.submitted_time_ms()) / 1e3);
  std::vector<v1::LedgerSpan>& spans = timeline.spans();
  PhaseSums sums = SumsOf(spans);
  AddEarlier(job, sums);
  AddPhases(sums, WorldSize(job.spec()), ledger);
  if (job.ended_time_ms() == 0 && !spans.empty()) spans.back().clear_end_ms();
  const std::size_t skipped = spans.size() > kSpansKept ? spans.size() - kSpansKept : 0;
  for (std::size_t i = skipped; i < spans.size(); ++i) *ledger.add_spans() = std::move(spans[i]);
  return ledger;
}

void FoldOldestAttempt(v1::Job& job) {
  const v1::Attempt& oldest = job.attempts(0);
  Timeline timeline(BeginOf(job));
  AddAttempt(job, 0, 0, std::max(oldest.placed_time_ms(), oldest.ended_time_ms()), timeline);
  PhaseSums sums = SumsOf(timeline.spans());
  const int64_t steps_ms = std::exchange(sums[v1::LEDGER_PHASE_TRAIN], 0);
  v1::EarlierTime& earlier = *job.mutable_earlier();
  for (const v1::PhaseSum& sum : earlier.phases()) sums[sum.phase()] += sum.length_ms();
  AddTrained(oldest, steps_ms, earlier, sums);
  earlier.clear_phases();
  for (const auto& [phase, length_ms] : sums) {
    if (length_ms == 0) continue;
    v1::PhaseSum& sum = *earlier.add_phases();
    sum.set_phase(phase);
    sum.set_length_ms(length_ms);
  }
  earlier.set_until_ms(timeline.at());
  earlier.set_newest_attempt(oldest.number());
  job.mutable_attempts()->DeleteSubrange(0, 1);
}

}  // namespace trainyard::controller
