// The real core behind a shell as thin as the real one's order demands: decide, apply, plan,
// commit, and only then answer and send. It can die between any two of these.
#ifndef TRAINYARD_TESTS_SIMULATION_SIMULATED_CONTROLLER_H_
#define TRAINYARD_TESTS_SIMULATION_SIMULATED_CONTROLLER_H_

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "controller/core/cluster_state.h"
#include "controller/core/decide.h"
#include "controller/core/observations.h"
#include "controller/core/requests.h"
#include "tests/simulation/network.h"

namespace trainyard::simulation {

enum class CrashPoint { kNone, kBeforeCommit, kAfterCommit, kBetweenTicks };

class SimulatedController {
 public:
  SimulatedController(Network& network, const controller::CoreOptions& options, Timestamp now);

  void Receive(Envelope envelope) { inbox_.push_back(std::move(envelope)); }
  void Submit(controller::Request request) { requests_.push_back(std::move(request)); }

  // Runs one tick. With a crash point the process dies there and starts again at once.
  void Tick(CrashPoint crash, Timestamp now);

  const controller::ClusterState& state() const { return state_; }
  // The durable log.
  const std::vector<v1::Event>& log() const { return log_; }
  int64_t generation() const { return generation_; }

 private:
  struct Session {
    int64_t connection = 0;
    Timestamp heartbeat_ms = 0;
    bool attached = false;
  };
  // Durable offsets of telemetry, by stream; they are stored beside the log.
  using TelemetryOffsets = std::map<std::tuple<int64_t, int64_t, int>, int64_t>;

  void Restart(Timestamp now);
  void Handle(const Envelope& envelope, Timestamp now);
  void HandleHello(const Envelope& envelope, const v1::Hello& hello, Timestamp now);
  void HandleTelemetry(const Envelope& envelope, const v1::TelemetryBatch& batch, Timestamp now);
  // True unless the request was refused.
  bool Decide(const controller::Request& request, Timestamp now);
  void DetachUnresponsive(Timestamp now);
  void ReconcileAll(Timestamp now);
  void SendReplies(Timestamp now);
  void SendCommands(Timestamp now);
  void Reply(const Envelope& to, v1::ControllerMessage message);

  Network& network_;
  const controller::CoreOptions options_;

  // Survives a crash of the process.
  std::vector<v1::Event> log_;
  TelemetryOffsets telemetry_;
  v1::Snapshot snapshot_;

  // Lost when the process dies.
  int64_t generation_ = 0;
  controller::ClusterState state_;
  controller::Observations observations_;
  Timestamp last_tick_ms_ = 0;
  std::map<std::string, Session> sessions_;
  std::map<std::tuple<std::string, int64_t, int64_t, int>, Timestamp> commands_sent_ms_;
  std::vector<Envelope> inbox_;
  std::vector<controller::Request> requests_;
  std::vector<v1::Event> uncommitted_;
  TelemetryOffsets telemetry_uncommitted_;
  std::vector<Envelope> replies_;
};

}  // namespace trainyard::simulation

#endif  // TRAINYARD_TESTS_SIMULATION_SIMULATED_CONTROLLER_H_
