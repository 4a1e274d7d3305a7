// The telemetry or output of a simulated rank, as read by its worker.
#ifndef TRAINYARD_TESTS_SIMULATION_WORLD_SIMULATED_STREAM_H_
#define TRAINYARD_TESTS_SIMULATION_WORLD_SIMULATED_STREAM_H_

#include <cstdint>
#include <optional>
#include <string>

#include "tests/simulation/world/training_world.h"
#include "worker/core/attempts.h"
#include "worker/core/uplink.h"

namespace trainyard::simulation {

v1::StreamId StreamOf(const worker::RankKey& rank, v1::StreamKind kind);

// Telemetry offsets count records instead of bytes.
class SimulatedStream final : public worker::StreamSource {
 public:
  SimulatedStream(const TrainingWorld& world, const std::string& node_id,
                  const worker::RankKey& rank, v1::StreamKind kind,
                  const worker::Attempts& attempts)
      : world_(world),
        node_id_(node_id),
        rank_(rank),
        id_(StreamOf(rank, kind)),
        attempts_(attempts) {}

  const v1::StreamId& id() const override { return id_; }
  bool Ended() const override { return attempts_.IsGone(rank_); }
  std::optional<Piece> Read(int64_t offset) override;

 private:
  std::optional<Piece> ReadTelemetry(const Process& process, int64_t offset) const;
  std::optional<Piece> ReadOutput(const Process& process, int64_t offset) const;

  const TrainingWorld& world_;
  const std::string node_id_;
  const worker::RankKey rank_;
  const v1::StreamId id_;
  const worker::Attempts& attempts_;
};

}  // namespace trainyard::simulation

#endif  // TRAINYARD_TESTS_SIMULATION_WORLD_SIMULATED_STREAM_H_
