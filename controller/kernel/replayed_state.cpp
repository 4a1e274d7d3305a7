#include "controller/kernel/replayed_state.h"

#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "controller/core/apply/apply.h"
#include "controller/core/event_log/snapshot.h"
#include "controller/core/observations/cluster_clock.h"
#include "proto/support/status_macros.h"

namespace trainyard::controller {
namespace {

// The number of events in memory at a time.
constexpr int kTailEvents = 512;

}  // namespace

absl::Status ApplyBatch(LogTail::Batch batch, int64_t now_ms, ReplayedState& replayed) {
  if (batch.restarts) {
    replayed = {};
    if (batch.snapshot.has_value()) {
      replayed.snapshot_sequence = batch.snapshot->last_sequence();
      replayed.state = FromSnapshot(*std::move(batch.snapshot));
    }
  }
  if (!batch.events.empty()) {
    // The events are newer than the last complete look.
    const bool is_recent = replayed.complete_look_ms.has_value() &&
                           now_ms - *replayed.complete_look_ms <= kMeasuredGapToleranceMs;
    replayed.newest_ms = is_recent ? std::optional(now_ms) : std::nullopt;
  }
  for (v1::Event& event : batch.events) {
    if (event.kind_case() == v1::Event::KIND_NOT_SET) {
      return absl::UnimplementedError(
          absl::StrCat("the leader is of a newer release, which writes events that this release "
                       "does not know; upgrade this controller"));
    }
    ApplyTakingSpec(event, replayed.state);
  }
  replayed.last_sequence = batch.last_sequence;
  if (!batch.has_more) replayed.complete_look_ms = now_ms;
  return absl::OkStatus();
}

absl::Status CatchUp(EventLog& log, ReplayedState& replayed) {
  const uint64_t last = log.NewestMark().sequence();
  // The previous leader has written the remaining events soon after the last complete look, because
  // a standby looks until it leads.
  if (replayed.last_sequence < last) replayed.newest_ms = replayed.complete_look_ms;
  while (replayed.last_sequence < last) {
    TRAINYARD_ASSIGN_OR_RETURN(std::vector<v1::EventEntry> entries,
                               log.ReadEventsAfter(replayed.last_sequence, kTailEvents));
    if (entries.empty()) break;
    for (v1::EventEntry& entry : entries) {
      if (entry.sequence() != replayed.last_sequence + 1) {
        return absl::NotFoundError(
            absl::StrCat("event ", replayed.last_sequence + 1, " is only in the snapshot"));
      }
      ApplyTakingSpec(*entry.mutable_event(), replayed.state);
      ++replayed.last_sequence;
    }
  }
  if (replayed.last_sequence == last) return absl::OkStatus();
  return absl::OutOfRangeError(absl::StrCat("the log ends with event ", last,
                                            ", and the state with event ", replayed.last_sequence));
}

}  // namespace trainyard::controller
