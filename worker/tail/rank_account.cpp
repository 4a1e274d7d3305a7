#include "worker/tail/rank_account.h"

#include <algorithm>
#include <optional>

#include "proto/contract/phase.h"
#include "proto/contract/telemetry_keys.h"

namespace trainyard::worker {
namespace {

// The number of groups whose records are kept. A rank is in at most two groups per axis, so this is
// more than enough.
constexpr int kMaxFlights = 32;

// Returns nullopt if the value is missing, NaN, or not above 0.
std::optional<double> PositiveValue(const v1::MetricsRecord& metrics, const char* name) {
  const auto found = metrics.values().find(name);
  if (found == metrics.values().end() || !(found->second > 0)) return std::nullopt;
  return found->second;
}

// Converts a positive number to int64. The number comes from a program, so the number is untrusted
// and may be Infinity.
int64_t Bounded(double value) {
  // 2^53. A double cannot represent all larger integers.
  constexpr double kMax = 9007199254740992.0;
  return static_cast<int64_t>(std::min(value, kMax));
}

}  // namespace

void RankAccount::Note(const v1::TelemetryRecord& record, const ClockReading& read) {
  if (record.has_rank()) {
    is_self_reported_ = true;
    newest_ = record.rank();
    step_ = record.rank().step();
  } else if (record.has_metrics()) {
    step_ = record.metrics().step();
    if (!is_self_reported_) NoteMetrics(record.metrics());
  } else if (record.has_flight()) {
    NoteFlight(record.flight());
  } else if (record.has_phase()) {
    NotePhase(record, read);
  } else if (record.has_checkpoint() && !is_self_reported_) {
    blocking_seconds_ += std::max(0.0, record.checkpoint().blocking_seconds());
    SetPhaseSeconds();
  }
}

void RankAccount::NoteMetrics(const v1::MetricsRecord& metrics) {
  newest_.set_step(metrics.step());
  if (const auto seconds = PositiveValue(metrics, telemetry::kStepSeconds)) {
    newest_.set_step_seconds(*seconds);
  }
  if (const auto bytes = PositiveValue(metrics, telemetry::kMemoryBytes)) {
    newest_.set_memory_bytes(Bounded(*bytes));
  }
  if (const auto stall = PositiveValue(metrics, telemetry::kDataStallSeconds)) {
    newest_.set_data_stall_seconds(newest_.data_stall_seconds() + *stall);
  }
}

// Keeps the newest record of each group, for a limited number of groups. A program may name any
// number of groups.
void RankAccount::NoteFlight(const v1::FlightRecord& flight) {
  auto& flights = *newest_.mutable_flights();
  const auto same = std::find_if(flights.begin(), flights.end(), [&](const auto& known) {
    return known.group() == flight.group();
  });
  if (same != flights.end()) {
    *same = flight;
  } else if (flights.size() < kMaxFlights) {
    *newest_.add_flights() = flight;
  }
}

// Adds the time of the phase that this record ends, and begins the new phase.
void RankAccount::NotePhase(const v1::TelemetryRecord& record, const ClockReading& read) {
  phase_ = record.phase().phase();
  if (record.phase().step() > 0) step_ = record.phase().step();  // 0: no step.
  const std::optional<Phase> phase = PhaseOf(phase_);
  if (!phase.has_value()) return;
  phase_times_.Enter(*phase, static_cast<double>(clock_.SteadyTimeOf(record.time_ms(), read)));
  if (!is_self_reported_) SetPhaseSeconds();
}

void RankAccount::SetPhaseSeconds() {
  newest_.set_init_seconds(phase_times_.Seconds(Phase::kInit));
  newest_.set_load_seconds(phase_times_.Seconds(Phase::kLoad));
  newest_.set_evaluation_seconds(phase_times_.Seconds(Phase::kEval));
  // Use the larger of the two sums, because a program may write blocking_seconds but no phase
  // records for its saves.
  newest_.set_checkpoint_seconds(
      std::max(phase_times_.Seconds(Phase::kCheckpoint), blocking_seconds_));
}

}  // namespace trainyard::worker
