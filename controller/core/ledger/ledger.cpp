#include "controller/core/ledger/ledger.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "controller/core/ledger/cost.h"
#include "controller/core/ledger/paused_time.h"
#include "controller/core/ledger/timeline.h"
#include "controller/core/state/attempts/attempt_outcome.h"
#include "controller/core/state/attempts/heal_time.h"
#include "proto/jobspec/fields/run_config_of.h"
#include "proto/support/job_kind.h"

namespace trainyard::controller {
namespace {

constexpr std::size_t kSpansKept = 1000;
// The maximum number of TrainedSteps records of unlisted attempts. If there are more, the two
// oldest records are joined, so that the state stays small even if a job restarts for months.
constexpr int kTrainedKept = 256;

Timestamp OrElse(Timestamp time, Timestamp fallback) { return time == 0 ? fallback : time; }

// Returns the number of slots of an attempt. If the layout was chosen for fewer nodes, this number
// is lower than the requested number.
int SlotsOf(const v1::Job& job, const v1::Attempt& attempt) {
  const v1::GrantedLayout& granted = attempt.layout();
  if (granted.nodes() > 0) return granted.nodes() * granted.slots_per_node();
  return WorldSize(job.spec());
}

// Returns the share, from 0 to 1, of the `trained` steps that a later attempt trained again. Only
// the first `kept` steps were not trained again.
double RepeatedPart(int64_t trained, int64_t kept) {
  if (trained <= 0 || kept >= trained) return 0;
  return static_cast<double>(trained - std::max<int64_t>(kept, 0)) / static_cast<double>(trained);
}

// Returns the number of steps that the attempt trained again after heals.
int64_t StepsLostInPlace(const v1::Attempt& attempt) {
  int64_t lost = 0;
  for (const v1::Heal& heal : attempt.heals()) lost += heal.lost_steps();
  return lost;
}

// The shares, from 0 to 1, of an attempt's training that do not count.
struct WastedPart {
  double repeated = 0;  // Later attempts, or the attempt itself after heals, trained it again.
  double unsaved = 0;   // No checkpoint contains it.
};

// Returns false for an attempt whose first step is unknown because it reported no step. A program
// without checkpoint records can resume at any step. Without this check, such an attempt would
// count as a repetition of all earlier steps.
bool ShowsFirstStep(const v1::Job& job, const v1::Attempt& attempt) {
  return RunsOurTrainer(job.spec()) || attempt.resume_step() > 0 || attempt.first_step() > 0 ||
         attempt.last_step() > 0;
}

// Returns the shares of a listed attempt. Only the newest attempt can have unsaved steps. For an
// older attempt, the next attempt's starting point shows which steps were saved; all other steps
// count as repeated.
WastedPart WastedPartOf(const v1::Job& job, int index) {
  // Without checkpoints, each attempt counts its steps from 1, and the results of all attempts
  // stay.
  if (!ProgramRulesOf(job.spec()).saves) return {};
  const v1::Attempt& attempt = job.attempts(index);
  const int64_t trained = attempt.last_step() - StepBefore(attempt);
  const int64_t all = trained + StepsLostInPlace(attempt);
  int64_t kept = trained;
  for (int later = index + 1; later < job.attempts_size(); ++later) {
    if (!ShowsFirstStep(job, job.attempts(later))) continue;
    kept = std::min(kept, StepBefore(job.attempts(later)) - StepBefore(attempt));
  }
  WastedPart part{.repeated = RepeatedPart(all, kept)};
  const bool is_newest = index + 1 == job.attempts_size();
  if (!is_newest || trained <= 0) return part;
  const int64_t unsaved = std::min(attempt.time_use().unsaved_steps(), trained);
  part.unsaved = static_cast<double>(unsaved) / static_cast<double>(all);
  return part;
}

int64_t PartOf(double part, int64_t steps_ms) {
  return static_cast<int64_t>(part * static_cast<double>(steps_ms));
}

// Returns the end of the attempt's useful time: the time of its first failure, else of the stop
// request, else of its end.
Timestamp UsefulUntil(const v1::Attempt& attempt, Timestamp ended) {
  const Timestamp stopped = std::min(OrElse(attempt.stopping_time_ms(), ended), ended);
  const Timestamp failed = attempt.verdict().time_ms();
  return attempt.placed_time_ms() < failed && failed < stopped ? failed : stopped;
}

// Divides the attempt's useful time among the phases that its ranks reported. The reported times
// are scaled to at most the total useful time, so clocks of nodes and programs affect only the
// shares, never the sum.
void AddUse(const v1::Attempt& attempt, const WastedPart& wasted, int slots, Timestamp until,
            Timeline& timeline) {
  const v1::TimeUse& use = attempt.time_use();
  const auto add_until = [&](v1::LedgerPhase phase, Timestamp end) {
    timeline.AddUntil(phase, attempt.number(), slots, end);
  };
  const auto add = [&](v1::LedgerPhase phase, int64_t ms, Timestamp end) {
    add_until(phase, std::min(timeline.at() + ms, end));
  };
  const Timestamp trained_until =
      std::clamp(OrElse(use.stalled_since_ms(), until), std::min(timeline.at(), until), until);
  // Healed, stalled, diverged and slow time is measured by the controller, so the phases that ranks
  // report cannot include this time.
  const int64_t healed_ms = HealedMs(attempt, until);
  const Timestamp started_by =
      trained_until - healed_ms - use.stalled_ms() - use.diverged_ms() - use.slow_ms();
  add(v1::LEDGER_PHASE_INIT, use.init_ms(), started_by);
  add(v1::LEDGER_PHASE_LOAD, use.load_ms(), started_by);
  const Timestamp mixed_since = timeline.at();
  add(v1::LEDGER_PHASE_HEAL, healed_ms, trained_until);
  add(v1::LEDGER_PHASE_STALLED, use.stalled_ms(), trained_until);
  add(v1::LEDGER_PHASE_DIVERGING, use.diverged_ms(), trained_until);
  add(v1::LEDGER_PHASE_SLOW, use.slow_ms(), trained_until);
  add(v1::LEDGER_PHASE_EVALUATION, use.evaluation_ms(), trained_until);
  add(v1::LEDGER_PHASE_CHECKPOINT, use.checkpoint_ms(), trained_until);
  add(v1::LEDGER_PHASE_DATA_STALL, use.data_stall_ms(), trained_until);
  const int64_t steps_ms = std::max<int64_t>(0, trained_until - timeline.at());
  const int64_t repeated_ms = PartOf(wasted.repeated, steps_ms);
  const int64_t unsaved_ms = PartOf(wasted.unsaved, steps_ms);
  add_until(v1::LEDGER_PHASE_TRAIN, trained_until - repeated_ms - unsaved_ms);
  timeline.MixSince(mixed_since);
  add_until(v1::LEDGER_PHASE_UNSAVED, trained_until - repeated_ms);
  add_until(v1::LEDGER_PHASE_REDONE, trained_until);
  add_until(v1::LEDGER_PHASE_STALLED, until);
}

// Adds the time of standbys, which wait from the placement until a heal assigns them a place.
void AddStandbys(const v1::Attempt& attempt, Timestamp placed, Timestamp ended,
                 Timeline& timeline) {
  int64_t waiting = attempt.standbys();
  Timestamp at = placed;
  for (const v1::Heal& heal : attempt.heals()) {
    const Timestamp until = std::clamp(heal.began_ms(), at, std::max(at, ended));
    timeline.AddStandbys(waiting, at, until);
    waiting -= heal.seats_size();
    at = until;
  }
  timeline.AddStandbys(waiting, at, ended);
}

// Returns the number of the previous attempt. Returns 0 if there was none, or if an older release
// removed it from the list.
int64_t NumberBefore(const v1::Job& job, int index) {
  return index > 0 ? job.attempts(index - 1).number() : job.earlier().newest_attempt();
}

// The pauses within a gap: the start of the first pause (0 if there is none), and their total
// length.
struct Pauses {
  Timestamp from = 0;
  int64_t sum_ms = 0;
};

// Adds the gap before the first attempt or between two attempts, up to `end`. At the first pause in
// the gap, the job releases its slots. After the pauses, it is queued again. A yield is a pause
// without length.
void AddGap(int64_t before, int slots_before, const Pauses& pauses, Timestamp end,
            Timeline& timeline) {
  const v1::LedgerPhase phase = before == 0 ? v1::LEDGER_PHASE_QUEUED : v1::LEDGER_PHASE_RESTART;
  if (pauses.from == 0) return timeline.AddUntil(phase, before, slots_before, end);
  timeline.AddUntil(phase, before, slots_before, std::min(pauses.from, end));
  timeline.AddUntil(v1::LEDGER_PHASE_PAUSED, before, 0,
                    std::min(timeline.at() + pauses.sum_ms, end));
  timeline.AddUntil(v1::LEDGER_PHASE_QUEUED, before, 0, end);
}

// Adds the attempt's phases and the gap before the attempt.
void AddAttempt(const v1::Job& job, int index, const WastedPart& wasted, Timestamp end_of_all,
                Timeline& timeline) {
  const v1::Attempt& attempt = job.attempts(index);
  const Timestamp ended = std::min(OrElse(attempt.ended_time_ms(), end_of_all), end_of_all);
  const Timestamp placed = std::min(attempt.placed_time_ms(), end_of_all);
  const int slots = SlotsOf(job, attempt);
  const int64_t before = NumberBefore(job, index);
  if (before == 0 && attempt.number() > 1) {
    timeline.AddUntil(v1::LEDGER_PHASE_UNSPECIFIED, 0, slots, placed);
  } else {
    // If the previous attempt is no longer listed, its number of slots is unknown. Assume this
    // attempt's number instead.
    const int kept = index > 0 ? SlotsOf(job, job.attempts(index - 1)) : slots;
    AddGap(before, kept, {attempt.paused_from_ms(), attempt.paused_before_ms()}, placed, timeline);
  }
  const Timestamp until = UsefulUntil(attempt, ended);
  timeline.AddUntil(v1::LEDGER_PHASE_INIT, attempt.number(), slots,
                    std::min(OrElse(attempt.started_time_ms(), until), until));
  AddUse(attempt, wasted, slots, until, timeline);
  // If a user stopped the attempt, the verdict is recorded only when the job ends.
  const v1::VerdictCause cause = attempt.verdict().cause();
  const bool stopped = cause == v1::VERDICT_CAUSE_STOPPED ||
                       cause == v1::VERDICT_CAUSE_TIME_LIMIT ||
                       (!attempt.has_verdict() && WasAskedToSave(attempt));
  timeline.AddUntil(stopped ? v1::LEDGER_PHASE_STOP : v1::LEDGER_PHASE_RESTART, attempt.number(),
                    slots, ended);
  AddStandbys(attempt, placed, ended, timeline);
}

// Sums in whole milliseconds. Converting to seconds only at the end keeps the sums exact.
struct Sum {
  int64_t length_ms = 0;
  int64_t slot_ms = 0;

  Sum& operator+=(const Sum& other) {
    length_ms += other.length_ms;
    slot_ms += other.slot_ms;
    return *this;
  }
  Sum operator-(const Sum& other) const {
    return {length_ms - other.length_ms, slot_ms - other.slot_ms};
  }
};

using PhaseSums = std::map<v1::LedgerPhase, Sum>;

PhaseSums SumsOf(Timeline& timeline) {
  PhaseSums sums;
  for (const v1::LedgerSpan& span : timeline.spans()) {
    const int64_t length_ms = span.end_ms() - span.begin_ms();
    sums[span.phase()] += {length_ms, length_ms * span.slots()};
  }
  for (const Timeline::Standbys& standbys : timeline.standbys()) {
    sums[v1::LEDGER_PHASE_STANDBY] += {0, (standbys.end - standbys.begin) * standbys.slots};
  }
  return sums;
}

// Returns the times of a record in job.earlier. Records of older releases have no slot time, so the
// slots of the spec are assumed.
template <typename Record>
Sum SumOf(const Record& record, int slots_asked) {
  const bool has_slots = record.slot_ms() > 0 || slots_asked == 0;
  return {record.length_ms(), has_slots ? record.slot_ms() : record.length_ms() * slots_asked};
}

// Returns the part of the steps' time that counts as redone.
Sum RepeatedSum(const v1::TrainedSteps& trained, int slots_asked) {
  const double part = RepeatedPart(trained.steps(), trained.kept_steps());
  const Sum all = SumOf(trained, slots_asked);
  return {PartOf(part, all.length_ms), PartOf(part, all.slot_ms)};
}

// Reduces the number of kept steps, because a later attempt resumed from `step`.
void CutAt(int64_t step, v1::TrainedSteps& trained) {
  trained.set_kept_steps(std::min(trained.kept_steps(), step - trained.resume_step()));
}

// Adds the time of the attempts that are no longer listed.
void AddEarlier(const v1::Job& job, PhaseSums& sums) {
  const int slots_asked = WorldSize(job.spec());
  for (const v1::PhaseSum& sum : job.earlier().phases()) {
    sums[sum.phase()] += SumOf(sum, HoldsSlots(sum.phase()) ? slots_asked : 0);
  }
  for (v1::TrainedSteps trained : job.earlier().trained()) {
    for (const v1::Attempt& later : job.attempts()) {
      if (ShowsFirstStep(job, later)) CutAt(StepBefore(later), trained);
    }
    const Sum repeated = RepeatedSum(trained, slots_asked);
    sums[v1::LEDGER_PHASE_REDONE] += repeated;
    sums[v1::LEDGER_PHASE_TRAIN] += SumOf(trained, slots_asked) - repeated;
  }
  std::erase_if(
      sums, [](const auto& sum) { return sum.second.length_ms == 0 && sum.second.slot_ms == 0; });
}

// Reduces the number of kept steps in all records, because an attempt resumed from `step`. Records
// without kept steps are removed, and their time counts as redone.
void CutEarlier(int64_t step, int slots_asked, v1::EarlierTime& earlier, PhaseSums& sums) {
  auto& all = *earlier.mutable_trained();
  for (v1::TrainedSteps& trained : all) {
    CutAt(step, trained);
    if (trained.kept_steps() > 0) continue;
    sums[v1::LEDGER_PHASE_REDONE] += SumOf(trained, slots_asked);
  }
  all.erase(std::remove_if(all.begin(), all.end(),
                           [](const v1::TrainedSteps& one) { return one.kept_steps() <= 0; }),
            all.end());
}

// Joins the two oldest records. Steps that were repeated so far are counted as redone permanently.
void JoinOldest(int slots_asked, v1::EarlierTime& earlier, PhaseSums& sums) {
  const v1::TrainedSteps first = earlier.trained(0);
  v1::TrainedSteps& joined = *earlier.mutable_trained(1);
  Sum all = SumOf(first, slots_asked);
  all += SumOf(joined, slots_asked);
  Sum repeated = RepeatedSum(first, slots_asked);
  repeated += RepeatedSum(joined, slots_asked);
  sums[v1::LEDGER_PHASE_REDONE] += repeated;
  joined.set_length_ms((all - repeated).length_ms);
  joined.set_slot_ms((all - repeated).slot_ms);
  joined.set_kept_steps(first.kept_steps() + joined.kept_steps());
  joined.set_steps(joined.kept_steps());
  joined.set_resume_step(first.resume_step());
  earlier.mutable_trained()->DeleteSubrange(0, 1);
}

// Moves the oldest attempt's training time, `all_steps`, to job.earlier. Later attempts may still
// repeat these steps.
void AddTrained(const v1::Attempt& attempt, const Sum& all_steps, int slots_asked,
                v1::EarlierTime& earlier, PhaseSums& sums) {
  const int64_t steps = attempt.last_step() - StepBefore(attempt);
  if (steps <= 0 || all_steps.length_ms == 0) {
    sums[v1::LEDGER_PHASE_TRAIN] += all_steps;
    return;
  }
  v1::TrainedSteps& trained = *earlier.add_trained();
  trained.set_resume_step(StepBefore(attempt));
  trained.set_steps(steps + StepsLostInPlace(attempt));
  trained.set_kept_steps(steps);
  trained.set_length_ms(all_steps.length_ms);
  trained.set_slot_ms(all_steps.slot_ms);
  if (earlier.trained_size() > kTrainedKept) JoinOldest(slots_asked, earlier, sums);
}

void AddPhases(const PhaseSums& sums, v1::Ledger& ledger) {
  int64_t with_slots_ms = 0;
  for (const auto& [phase, sum] : sums) {
    if (HoldsSlots(phase)) with_slots_ms += sum.length_ms;
  }
  for (const auto& [phase, sum] : sums) {
    v1::PhaseTime& time = *ledger.add_phases();
    time.set_phase(phase);
    time.set_seconds(static_cast<double>(sum.length_ms) / 1e3);
    time.set_slot_seconds(static_cast<double>(sum.slot_ms) / 1e3);
  }
  std::sort(ledger.mutable_phases()->begin(), ledger.mutable_phases()->end(),
            [](const auto& a, const auto& b) { return a.seconds() > b.seconds(); });
  if (with_slots_ms == 0) return;
  const auto trained = sums.find(v1::LEDGER_PHASE_TRAIN);
  const int64_t trained_ms = trained == sums.end() ? 0 : trained->second.length_ms;
  ledger.set_goodput_ratio(static_cast<double>(trained_ms) / static_cast<double>(with_slots_ms));
}

// Returns the time at which the listed attempts begin: the end of the last unlisted attempt, or the
// submission.
Timestamp BeginOf(const v1::Job& job) {
  return job.has_earlier() ? job.earlier().until_ms() : job.submitted_time_ms();
}

// Returns the timeline of the listed attempts up to `end`.
Timeline ListedTime(const v1::Job& job, Timestamp end) {
  Timeline timeline(BeginOf(job));
  for (int i = 0; i < job.attempts_size(); ++i) {
    AddAttempt(job, i, WastedPartOf(job, i), end, timeline);
  }
  const v1::Attempt* newest = job.attempts().empty() ? nullptr : &*job.attempts().rbegin();
  AddGap(newest == nullptr ? 0 : newest->number(), newest == nullptr ? 0 : SlotsOf(job, *newest),
         {job.paused_from_ms(), PausedMs(job, timeline.at(), end)}, end, timeline);
  return timeline;
}

Timestamp EndOf(const v1::Job& job, Timestamp now) {
  return std::max(OrElse(job.ended_time_ms(), now), BeginOf(job));
}

void AddSpan(v1::LedgerPhase phase, Timestamp begin, int64_t range_ms, const Sum& sum,
             v1::JobTime& time) {
  v1::JobTimeSpan& span = *time.add_spans();
  span.set_phase(phase);
  span.set_begin_ms(begin);
  span.set_range_ms(range_ms);
  span.set_length_ms(sum.length_ms);
  span.set_slot_ms(sum.slot_ms);
}

}  // namespace

int64_t StepBefore(const v1::Attempt& attempt) {
  return attempt.first_step() > 0 ? attempt.first_step() - 1 : attempt.resume_step();
}

v1::JobTime JobTimeOf(const v1::Job& job, Timestamp now) {
  v1::JobTime time;
  time.set_job_id(job.id());
  time.set_name(job.name());
  time.set_user(job.user());
  time.set_submitted_time_ms(job.submitted_time_ms());
  time.set_ended_time_ms(job.ended_time_ms());
  time.set_device(job.spec().resources().device());
  const bool has_run = job.attempts_size() > 0;
  time.set_restarts(has_run ? job.attempts().rbegin()->number() - 1 - job.resumed_starts() : 0);
  PhaseSums earlier;
  AddEarlier(job, earlier);
  const int64_t range_ms = BeginOf(job) - job.submitted_time_ms();
  for (const auto& [phase, sum] : earlier) {
    AddSpan(phase, job.submitted_time_ms(), range_ms, sum, time);
  }
  Timeline listed = ListedTime(job, EndOf(job, now));
  for (const v1::LedgerSpan& span : listed.spans()) {
    const int64_t length_ms = span.end_ms() - span.begin_ms();
    const Timeline::Range range = listed.RangeOf(span);
    AddSpan(span.phase(), range.begin, range.end - range.begin,
            {length_ms, length_ms * span.slots()}, time);
  }
  for (const Timeline::Standbys& standbys : listed.standbys()) {
    const int64_t range_ms = standbys.end - standbys.begin;
    AddSpan(v1::LEDGER_PHASE_STANDBY, standbys.begin, range_ms, {0, range_ms * standbys.slots},
            time);
  }
  return time;
}

v1::Ledger LedgerOf(const v1::Job& job, Timestamp now) {
  const Timestamp end = EndOf(job, now);
  Timeline timeline = ListedTime(job, end);
  v1::Ledger ledger;
  ledger.set_wall_seconds(static_cast<double>(end - job.submitted_time_ms()) / 1e3);
  std::vector<v1::LedgerSpan>& spans = timeline.spans();
  PhaseSums sums = SumsOf(timeline);
  AddEarlier(job, sums);
  AddPhases(sums, ledger);
  if (CountsAsGpu(job.spec().resources().device())) {
    int64_t gpu_ms = 0;
    for (const auto& [phase, sum] : sums) gpu_ms += sum.slot_ms;
    ledger.set_gpu_seconds(static_cast<double>(gpu_ms) / 1e3);
  }
  if (job.ended_time_ms() == 0 && !spans.empty()) spans.back().clear_end_ms();
  const std::size_t skipped = spans.size() > kSpansKept ? spans.size() - kSpansKept : 0;
  for (std::size_t i = skipped; i < spans.size(); ++i) *ledger.add_spans() = std::move(spans[i]);
  return ledger;
}

void FoldOldestAttempt(v1::Job& job) {
  const v1::Attempt& oldest = job.attempts(0);
  Timeline timeline(BeginOf(job));
  AddAttempt(job, 0, {}, std::max(oldest.placed_time_ms(), oldest.ended_time_ms()), timeline);
  PhaseSums sums = SumsOf(timeline);
  const Sum steps = std::exchange(sums[v1::LEDGER_PHASE_TRAIN], {});
  const int slots_asked = WorldSize(job.spec());
  v1::EarlierTime& earlier = *job.mutable_earlier();
  for (const v1::PhaseSum& sum : earlier.phases()) {
    sums[sum.phase()] += SumOf(sum, HoldsSlots(sum.phase()) ? slots_asked : 0);
  }
  if (ProgramRulesOf(job.spec()).saves) {
    if (ShowsFirstStep(job, oldest)) CutEarlier(StepBefore(oldest), slots_asked, earlier, sums);
    AddTrained(oldest, steps, slots_asked, earlier, sums);
  } else {
    sums[v1::LEDGER_PHASE_TRAIN] += steps;
  }
  earlier.clear_phases();
  for (const auto& [phase, sum] : sums) {
    if (sum.length_ms == 0 && sum.slot_ms == 0) continue;
    v1::PhaseSum& kept = *earlier.add_phases();
    kept.set_phase(phase);
    kept.set_length_ms(sum.length_ms);
    kept.set_slot_ms(sum.slot_ms);
  }
  earlier.set_until_ms(timeline.at());
  earlier.set_newest_attempt(oldest.number());
  job.mutable_attempts()->DeleteSubrange(0, 1);
}

}  // namespace trainyard::controller
