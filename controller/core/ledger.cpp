#include "controller/core/ledger.h"

#include <algorithm>
#include <map>
#include <vector>

#include "proto/support/job_spec_loader.h"

namespace trainyard::controller {
namespace {

constexpr std::size_t kSpansKept = 1000;

// Phases one after the other, each beginning where the one before ended.
class Timeline {
 public:
  explicit Timeline(Timestamp begin) : at_(begin) {}

  void AddUntil(v1::LedgerPhase phase, int64_t epoch, Timestamp end) {
    if (end <= at_) return;
    v1::LedgerSpan span;
    span.set_phase(phase);
    span.set_epoch(epoch);
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

// Steps of this attempt that a later one trained again, from 0 to 1 of all that it trained.
double RepeatedPart(const v1::Job& job, int index) {
  const v1::Attempt& attempt = job.attempts(index);
  if (index + 1 == job.attempts_size()) return 0;
  const int64_t trained = attempt.last_step() - attempt.resume_step();
  const int64_t kept = job.attempts(index + 1).resume_step() - attempt.resume_step();
  if (trained <= 0 || kept >= trained) return 0;
  return static_cast<double>(trained - std::max<int64_t>(kept, 0)) / static_cast<double>(trained);
}

Timestamp OrElse(Timestamp time, Timestamp fallback) { return time == 0 ? fallback : time; }

void AddAttempt(const v1::Job& job, int index, Timestamp end_of_all, Timeline& timeline) {
  const v1::Attempt& attempt = job.attempts(index);
  const Timestamp ended = std::min(OrElse(attempt.ended_time_ms(), end_of_all), end_of_all);
  const bool first = index == 0;
  timeline.AddUntil(first ? v1::LEDGER_PHASE_QUEUED : v1::LEDGER_PHASE_RESTART,
                    first ? 0 : job.attempts(index - 1).epoch(), attempt.placed_time_ms());
  timeline.AddUntil(v1::LEDGER_PHASE_INIT, attempt.epoch(),
                    std::min(OrElse(attempt.started_time_ms(), ended), ended));
  // Between the verdict and the last confirmation nothing trains any more.
  const Timestamp failed = attempt.verdict().time_ms();
  const bool in_time = failed > timeline.at() && failed < ended;
  const Timestamp trained_until = in_time ? failed : ended;
  const auto repeated = static_cast<Timestamp>(RepeatedPart(job, index) *
                                               static_cast<double>(trained_until - timeline.at()));
  timeline.AddUntil(v1::LEDGER_PHASE_TRAIN, attempt.epoch(), trained_until - repeated);
  timeline.AddUntil(v1::LEDGER_PHASE_RECOMPUTE, attempt.epoch(), trained_until);
  const bool stopped = attempt.verdict().cause() == v1::VERDICT_CAUSE_STOPPED;
  timeline.AddUntil(stopped ? v1::LEDGER_PHASE_STOP : v1::LEDGER_PHASE_RESTART, attempt.epoch(),
                    ended);
}

void AddSums(const std::vector<v1::LedgerSpan>& spans, int slots, v1::Ledger& ledger) {
  std::map<v1::LedgerPhase, double> seconds;
  double with_slots = 0;
  for (const v1::LedgerSpan& span : spans) {
    const double length = static_cast<double>(span.end_ms() - span.begin_ms()) / 1e3;
    seconds[span.phase()] += length;
    if (span.phase() != v1::LEDGER_PHASE_QUEUED) with_slots += length;
  }
  for (const auto& [phase, length] : seconds) {
    v1::PhaseTime& time = *ledger.add_phases();
    time.set_phase(phase);
    time.set_seconds(length);
    time.set_slot_seconds(phase == v1::LEDGER_PHASE_QUEUED ? 0 : length * slots);
  }
  std::sort(ledger.mutable_phases()->begin(), ledger.mutable_phases()->end(),
            [](const auto& a, const auto& b) { return a.seconds() > b.seconds(); });
  if (with_slots > 0) ledger.set_goodput_ratio(seconds[v1::LEDGER_PHASE_TRAIN] / with_slots);
}

}  // namespace

v1::Ledger LedgerOf(const v1::Job& job, Timestamp now) {
  const Timestamp end = std::max(OrElse(job.ended_time_ms(), now), job.submitted_time_ms());
  Timeline timeline(job.submitted_time_ms());
  for (int i = 0; i < job.attempts_size(); ++i) AddAttempt(job, i, end, timeline);
  timeline.AddUntil(job.attempts_size() == 0 ? v1::LEDGER_PHASE_QUEUED : v1::LEDGER_PHASE_RESTART,
                    job.attempts_size() == 0 ? 0 : job.attempts().rbegin()->epoch(), end);
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
