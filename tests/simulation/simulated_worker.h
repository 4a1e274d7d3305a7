// A worker: the real core of the worker daemon (worker/core/attempts.h) on a simulated disk, with
// simulated processes and a simulated stream.
#ifndef TRAINYARD_TESTS_SIMULATION_SIMULATED_WORKER_H_
#define TRAINYARD_TESTS_SIMULATION_SIMULATED_WORKER_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tests/simulation/network.h"
#include "tests/simulation/random.h"
#include "tests/simulation/training_world.h"
#include "worker/core/attempts.h"

namespace trainyard::simulation {

class SimulatedWorker {
 public:
  SimulatedWorker(std::string node_id, int slots, TrainingWorld& world, Network& network,
                  Random& random);

  // kill -9 of the daemon; its ranks go on.
  void Crash() { attempts_.reset(); }
  // The daemon crashes during its next action.
  void CrashBetweenActions() { crash_between_actions_ = true; }
  void Start(Timestamp now);
  bool IsUp() const { return attempts_.has_value(); }
  // The machine is gone for good.
  void Destroy();
  bool IsDestroyed() const { return destroyed_; }
  // The controller's process died and the kernel closed the connection.
  void ResetConnection() { attached_ = false; }

  void Receive(const Envelope& envelope, Timestamp now);
  void Step(int64_t controller_generation, Timestamp now);

  const std::string& node_id() const { return node_id_; }

 private:
  // State that survives a crash of the daemon.
  struct Disk {
    worker::SeenAttempts seen_attempts;
    std::map<worker::AttemptKey, v1::StartAttempt> commands;
    std::vector<v1::Fact> facts;
  };

  void Execute(const worker::Actions& actions, Timestamp now);
  void Execute(const worker::Action& action, Timestamp now);
  void SpawnRank(const worker::RankKey& rank, Timestamp now);
  void ObserveRanks(Timestamp now);
  void ObserveRank(const worker::RankKey& rank, Timestamp now);
  void Send(v1::WorkerMessage message, Timestamp now);
  void SendHello(Timestamp now);
  void SendHeartbeat(Timestamp now);
  void SendFacts(Timestamp now);
  void SendTelemetry(Timestamp now);
  std::vector<v1::AttemptReport> Reports() const;

  const std::string node_id_;
  const int slots_;
  TrainingWorld& world_;
  Network& network_;
  Random& random_;

  bool destroyed_ = false;
  Disk disk_;
  std::optional<worker::Attempts> attempts_;
  bool crash_between_actions_ = false;
  int64_t incarnation_ = 0;
  int64_t connection_ = 0;
  int64_t controller_generation_ = 0;
  bool attached_ = false;
  Timestamp received_ms_ = 0;
  Timestamp hello_sent_ms_ = 0;
  Timestamp heartbeat_sent_ms_ = 0;
  Timestamp facts_sent_ms_ = 0;
  uint64_t facts_acknowledged_ = 0;
  uint64_t facts_in_flight_ = 0;
  std::map<std::pair<AttemptKey, int>, int64_t> telemetry_acknowledged_;
};

}  // namespace trainyard::simulation

#endif  // TRAINYARD_TESTS_SIMULATION_SIMULATED_WORKER_H_
