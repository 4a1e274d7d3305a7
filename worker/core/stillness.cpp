#include "worker/core/stillness.h"

#include <algorithm>
#include <utility>

#include "proto/contract/phase.h"

namespace trainyard::worker {
namespace {

// With fewer step times, the worker cannot tell how long a step takes.
constexpr std::size_t kFewestSteps = 3;

// Data jobs make steps in the phase kBlocks.
bool IsTraining(const std::string& phase) {
  return phase.empty() || phase == PhaseName(Phase::kTrain) || phase == PhaseName(Phase::kBlocks);
}

// Returns the second longest time; 0 if there are too few times. The longest time is ignored, so
// that one slow step has no effect.
int64_t SecondLongest(const std::deque<int64_t>& times) {
  if (times.size() < kFewestSteps) return 0;
  int64_t longest = 0, second = 0;
  for (const int64_t time : times) {
    if (time > longest) {
      second = std::exchange(longest, time);
    } else {
      second = std::max(second, time);
    }
  }
  return second;
}

}  // namespace

void Stillness::Note(Timestamp steady_ms, int64_t longest_pause_ms,
                     std::vector<v1::AttemptReport>& reports) {
  const int64_t gap_ms = steady_ms - std::exchange(noted_ms_, steady_ms);
  const bool paused = gap_ms > longest_pause_ms;
  std::map<RankKey, Seen> before = std::exchange(seen_, {});
  for (v1::AttemptReport& report : reports) {
    for (v1::RankReport& rank : *report.mutable_ranks()) {
      if (!rank.running()) continue;
      const RankKey key{{report.job_id(), report.attempt()}, rank.rank()};
      const auto known = before.find(key);
      Seen& seen = seen_[key];
      if (known == before.end()) {
        seen = {.step = rank.step(),
                .phase = rank.phase(),
                .since_ms = steady_ms,
                .activity_ms = rank.last_activity_ms(),
                .active_ms = steady_ms};
        continue;
      }
      seen = std::move(known->second);
      if (paused) {
        seen.since_ms = std::min(seen.since_ms + gap_ms, steady_ms);
        seen.active_ms = std::min(seen.active_ms + gap_ms, steady_ms);
        seen.began_with_step = false;
      }
      NoteRank(steady_ms, rank, seen);
    }
  }
}

void Stillness::NoteRank(Timestamp steady_ms, v1::RankReport& rank, Seen& seen) {
  const bool new_phase = rank.phase() != seen.phase;
  const bool new_step = rank.step() != seen.step;
  if (new_step && !new_phase && seen.began_with_step && IsTraining(seen.phase)) {
    seen.step_ms.push_back(steady_ms - seen.since_ms);
    if (seen.step_ms.size() > kStepsKept) seen.step_ms.pop_front();
  }
  if (new_step || new_phase) {
    seen.since_ms = steady_ms;
    seen.began_with_step = new_step && !new_phase;
    seen.step = rank.step();
    seen.phase = rank.phase();
  }
  if (new_step || new_phase || rank.last_activity_ms() != seen.activity_ms) {
    seen.activity_ms = rank.last_activity_ms();
    seen.active_ms = steady_ms;
  }
  rank.set_still_ms(steady_ms - seen.since_ms);
  rank.set_quiet_ms(steady_ms - seen.active_ms);
  rank.set_slow_step_ms(SecondLongest(seen.step_ms));
}

}  // namespace trainyard::worker
