#include "controller/core/ledger.h"

#include <algorithm>
#include <map>
#include <vector>

#include "proto/jobspec/run_config_of.h"

namespace trainyard::controller {
namespace {

constexpr std::size_t kSpansKept = 1000;

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

// Share, from 0 to 1, of the steps of this attempt that a later attempt trained again.
double RepeatedPart(const v1::Job& job, int index) {
  const v1::Attempt& attempt = job.attempts(index);
  const int64_t trained = attempt.last_step() - attempt.resume_step();
  int64_t kept = trained;
  for (int later = index + 1; later < job.attempts_size(); ++later) {
    kept = std::min(kept, job.attempts(later).resume_step() - attempt.resume_step());
  }
  if (trained <= 0 || kept >= trained) return 0;
  return static_cast<double>(trained - std::max<int64_t>(kept, 0)) / static_cast<double>(trained);
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
void AddUse(const v1::Job& job, int index, Timestamp until, Timeline& timeline) {
  const v1::Attempt& attempt = job.attempts(index);
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
  const auto repeated_ms =
      static_cast<int64_t>(RepeatedPart(job, index) * static_cast<double>(steps_ms));
  timeline.AddUntil(v1::LEDGER_PHASE_TRAIN, attempt.number(), trained_until - repeated_ms);
  timeline.AddUntil(v1::LEDGER_PHASE_RECOMPUTE, attempt.number(), trained_until);
  timeline.AddUntil(v1::LEDGER_PHASE_HANG, attempt.number(), until);
}

void AddAttempt(const v1::Job& job, int index, Timestamp end_of_all, Timeline& timeline) {
  const v1::Attempt& attempt = job.attempts(index);
  const Timestamp ended = std::min(OrElse(attempt.ended_time_ms(), end_of_all), end_of_all);
  const Timestamp placed = std::min(attempt.placed_time_ms(), end_of_all);
  if (index > 0) {
    timeline.AddUntil(v1::LEDGER_PHASE_RESTART, job.attempts(index - 1).number(), placed);
  } else {
    const bool first = attempt.number() == 1;
    timeline.AddUntil(first ? v1::LEDGER_PHASE_QUEUED : v1::LEDGER_PHASE_UNSPECIFIED, 0, placed);
  }
  const Timestamp until = UsefulUntil(attempt, ended);
  timeline.AddUntil(v1::LEDGER_PHASE_INIT, attempt.number(),
                    std::min(OrElse(attempt.started_time_ms(), until), until));
  AddUse(job, index, until, timeline);
  // The verdict of a stopped attempt comes with the end of its job.
  const bool stopped = attempt.verdict().cause() == v1::VERDICT_CAUSE_STOPPED ||
                       (!attempt.has_verdict() && job.state() == v1::JOB_STATE_STOPPING);
  timeline.AddUntil(stopped ? v1::LEDGER_PHASE_STOP : v1::LEDGER_PHASE_RESTART, attempt.number(),
                    ended);
}

// True unless the phase is queueing: a queued job holds no slots.
bool HoldsSlots(v1::LedgerPhase phase) { return phase != v1::LEDGER_PHASE_QUEUED; }

// Whole milliseconds until the end, so that the sums are exact.
void AddSums(const std::vector<v1::LedgerSpan>& spans, int slots, v1::Ledger& ledger) {
  std::map<v1::LedgerPhase, int64_t> phases_ms;
  int64_t with_slots_ms = 0;
  for (const v1::LedgerSpan& span : spans) {
    const int64_t length_ms = span.end_ms() - span.begin_ms();
    phases_ms[span.phase()] += length_ms;
    if (HoldsSlots(span.phase())) with_slots_ms += length_ms;
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
  ledger.set_goodput_ratio(static_cast<double>(phases_ms[v1::LEDGER_PHASE_TRAIN]) /
                           static_cast<double>(with_slots_ms));
}

}  // namespace

v1::Ledger LedgerOf(const v1::Job& job, Timestamp now) {
  const Timestamp end = std::max(OrElse(job.ended_time_ms(), now), job.submitted_time_ms());
  Timeline timeline(job.submitted_time_ms());
  for (int i = 0; i < job.attempts_size(); ++i) AddAttempt(job, i, end, timeline);
  timeline.AddUntil(job.attempts_size() == 0 ? v1::LEDGER_PHASE_QUEUED : v1::LEDGER_PHASE_RESTART,
                    job.attempts_size() == 0 ? 0 : job.attempts().rbegin()->number(), end);
  v1::Ledger ledger;
  ledger.set_wall_seconds(static_cast<double>(end - job.submitted_time_ms()) / 1e3);
  std::vector<v1::LedgerSpan>& spans = timeline.spans();
  AddSums(spans, WorldSize(job.spec()), ledger);
  if (job.ended_time_ms() == 0 && !spans.empty()) spans.back().clear_end_ms();
  const std::size_t skipped = spans.size() > kSpansKept ? spans.size() - kSpansKept : 0;
  for (std::size_t i = skipped; i < spans.size(); ++i) *ledger.add_spans() = std::move(spans[i]);
  return ledger;
}

}  // namespace trainyard::controller
