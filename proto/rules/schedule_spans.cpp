#include "proto/rules/schedule_spans.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "proto/rules/batch_plan.h"

namespace trainyard {
namespace {

using Problems = std::vector<SettingProblem>;

// A length in one of four units. The members of the other units are 0.
struct Length {
  std::string prefix;  // "schedule.warmup" or "schedule.decay"
  int64_t steps, samples, tokens;
  double fraction;  // As a fraction of the run.

  // The keys that are set.
  std::vector<std::string> Keys() const {
    std::vector<std::string> keys;
    if (steps != 0) keys.push_back(prefix + "_steps");
    if (samples != 0) keys.push_back(prefix + "_samples");
    if (tokens != 0) keys.push_back(prefix + "_tokens");
    if (fraction != 0) keys.push_back(prefix + "_fraction");
    return keys;
  }
};

Length WarmupOf(const ScheduleConfig& schedule) {
  return {"schedule.warmup", schedule.warmup_steps, schedule.warmup_samples, schedule.warmup_tokens,
          schedule.warmup_fraction};
}

Length DecayOf(const ScheduleConfig& schedule) {
  return {"schedule.decay", schedule.decay_steps, schedule.decay_samples, schedule.decay_tokens,
          schedule.decay_fraction};
}

// Converts lengths to samples.
class Ruler {
 public:
  explicit Ruler(const TrainConfig& train) : train_(train), plan_(train) {}

  int64_t run() const { return plan_.SamplesThrough(train_.steps); }
  int64_t first_step() const { return plan_.SamplesThrough(1); }

  int64_t FromTheStart(const Length& length) const {
    return length.steps > 0 ? plan_.SamplesThrough(length.steps) : WithoutSteps(length);
  }

  // Returns the number of samples in the last part of the run, which has the given length. If
  // `length` is longer than the run, the result exceeds the run's number of samples.
  int64_t BeforeTheEnd(const Length& length) const {
    if (length.steps == 0) return WithoutSteps(length);
    if (length.steps > train_.steps) return plan_.SamplesThrough(length.steps);
    return run() - plan_.SamplesThrough(train_.steps - length.steps);
  }

 private:
  int64_t WithoutSteps(const Length& length) const {
    if (length.samples > 0) return length.samples;
    if (length.tokens > 0) return (length.tokens - 1) / train_.seq_length + 1;
    constexpr double kLargest = 9e18;  // Avoids an overflow for very long runs.
    const double samples = std::round(length.fraction * static_cast<double>(run()));
    return static_cast<int64_t>(std::min(samples, kLargest));
  }

  const TrainConfig& train_;
  const BatchPlan plan_;
};

std::string KeyText(const std::string& key) { return "`" + key + "`"; }

void CheckOneLength(const Length& length, Problems& problems) {
  const std::vector<std::string> keys = length.Keys();
  if (keys.size() < 2) return;
  problems.push_back(
      {keys[1], KeyText(keys[0]) + " and " + KeyText(keys[1]) + " are both set; keep one"});
}

void CheckShape(const ScheduleConfig& schedule, Problems& problems) {
  const std::vector<std::string> decay = DecayOf(schedule).Keys();
  const bool is_wsd = schedule.kind == ScheduleKind::kWsd;
  if (is_wsd && decay.empty()) {
    problems.push_back({"schedule.decay_steps",
                        "`schedule.decay_steps` (or _samples, _tokens, _fraction) is missing; "
                        "`schedule.kind` wsd needs one of them"});
  }
  if (schedule.kind == ScheduleKind::kConstant && !decay.empty()) {
    problems.push_back(
        {decay[0],
         KeyText(decay[0]) + " has no effect with `schedule.kind` constant; remove this setting"});
  }
  if (!is_wsd && schedule.wsd_decay_style != WsdDecayStyle::kLinear) {
    problems.push_back(
        {"schedule.wsd_decay_style",
         "`schedule.wsd_decay_style` needs `schedule.kind` wsd; remove this setting"});
  }
}

// Returns text such as "11 steps, but the run has 10", for lengths that are all set in steps.
std::string StepsTaken(int64_t steps, const TrainConfig& train) {
  return std::to_string(steps) + " steps, but the run has " + std::to_string(train.steps);
}

std::string SamplesTaken(int64_t samples, int64_t run, const TrainConfig& train) {
  return std::to_string(samples) + " samples, but the run has " + std::to_string(run) + " in " +
         std::to_string(train.steps) + " steps";
}

// Checks that the warm-up and the decay together fit into the run. `decay` is null unless the
// schedule is wsd: only the decay of wsd counts back from the end of the run.
void CheckFit(const TrainConfig& train, const Length& warmup, const Length* decay,
              Problems& problems) {
  const Ruler ruler(train);
  const int64_t warmup_samples = ruler.FromTheStart(warmup);
  const int64_t decay_samples = decay == nullptr ? 0 : ruler.BeforeTheEnd(*decay);
  if (warmup_samples <= ruler.run() - decay_samples) return;
  const std::vector<std::string> warmup_keys = warmup.Keys();
  const bool in_steps =
      (warmup_keys.empty() || warmup.steps > 0) && (decay == nullptr || decay->steps > 0);
  const int64_t steps = warmup.steps + (decay == nullptr ? 0 : decay->steps);
  constexpr int64_t kLargest = std::numeric_limits<int64_t>::max();
  const int64_t samples =
      warmup_samples > kLargest - decay_samples ? kLargest : warmup_samples + decay_samples;
  problems.push_back(
      {warmup_keys.empty() ? decay->Keys()[0] : warmup_keys[0],
       "schedule: warm-up" + std::string(decay == nullptr ? " takes " : " and decay take ") +
           (in_steps ? StepsTaken(steps, train) : SamplesTaken(samples, ruler.run(), train))});
}

// For schedules whose decay length counts from the start of the run: checks that the decay ends
// after the warm-up.
void CheckDecayEnd(const TrainConfig& train, const Length& warmup, const Length& decay,
                   Problems& problems) {
  const std::vector<std::string> keys = decay.Keys();
  if (keys.empty()) return;
  const Ruler ruler(train);
  const int64_t end = ruler.FromTheStart(decay), warmup_end = ruler.FromTheStart(warmup);
  if (end > warmup_end) return;
  problems.push_back({keys[0], KeyText(keys[0]) + " ends the schedule after " +
                                   std::to_string(end) + " samples, before the warm-up ends (" +
                                   std::to_string(warmup_end) + " samples); `" + keys[0] +
                                   "` counts from the start of the run, so raise it"});
}

}  // namespace

ScheduleSpans SpansOf(const TrainConfig& train, const ScheduleConfig& schedule) {
  const Ruler ruler(train);
  const Length decay = DecayOf(schedule);
  ScheduleSpans spans;
  spans.warmup_end = ruler.FromTheStart(WarmupOf(schedule));
  spans.peak = spans.warmup_end > 0 ? spans.warmup_end : ruler.first_step();
  spans.decay_begin = spans.warmup_end;
  spans.decay_end = decay.Keys().empty() ? ruler.run() : ruler.FromTheStart(decay);
  if (schedule.kind == ScheduleKind::kWsd) {
    spans.decay_end = ruler.run();
    spans.decay_begin = std::max(ruler.run() - ruler.BeforeTheEnd(decay), spans.warmup_end);
  }
  return spans;
}

Problems FindScheduleProblems(const TrainConfig& train, const ScheduleConfig& schedule) {
  Problems problems;
  CheckOneLength(WarmupOf(schedule), problems);
  CheckOneLength(DecayOf(schedule), problems);
  CheckShape(schedule, problems);
  if (!problems.empty()) return problems;
  const Length warmup = WarmupOf(schedule), decay = DecayOf(schedule);
  const bool is_wsd = schedule.kind == ScheduleKind::kWsd;
  CheckFit(train, warmup, is_wsd ? &decay : nullptr, problems);
  if (!is_wsd) CheckDecayEnd(train, warmup, decay, problems);
  return problems;
}

}  // namespace trainyard
