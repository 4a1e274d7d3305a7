// Runs the worker daemon's rules (worker/core) with a simulated disk, simulated processes and a
// simulated stream.
#ifndef TRAINYARD_TESTS_SIMULATION_WORLD_SIMULATED_WORKER_H_
#define TRAINYARD_TESTS_SIMULATION_WORLD_SIMULATED_WORKER_H_

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "proto/contract/leader_term.h"
#include "tests/simulation/world/network.h"
#include "tests/simulation/world/random.h"
#include "tests/simulation/world/training_world.h"
#include "trainyard/v1/node.pb.h"
#include "worker/core/attempt_kernel.h"

namespace trainyard::simulation {

// The CPU cores and memory of each node.
inline constexpr int kSimulatedCores = 16;
inline constexpr int64_t kSimulatedMemory = int64_t{64} << 30;

class SimulatedWorker final : public worker::AttemptIo {
 public:
  SimulatedWorker(std::string node_id, int slots, TrainingWorld& world, Network& network,
                  Random& random);
  ~SimulatedWorker() override;

  // Sets the kind and model of all slots, and the labels of the node. Without this call, the slots
  // are CPU slots.
  void SetHardware(const v1::Slot& slot, const std::map<std::string, std::string>& labels);

  // Kills the daemon with kill -9. The ranks continue.
  void Crash(Timestamp now);
  // Makes the daemon crash during its next actions.
  void CrashBetweenActions() { crash_between_actions_ = true; }
  void Start(Timestamp now);
  // Removes one of the daemon's records while the daemon is down: an attempt's command, or a rank's
  // records.
  void LoseARecord();
  // Removes facts and attempt numbers while the daemon is down: some, the last ones or all.
  void DamageFiles();
  bool IsUp() const { return daemon_ != nullptr; }
  // Loses the machine permanently.
  void Destroy(Timestamp now);
  bool IsDestroyed() const { return destroyed_; }
  // Until `until`, the daemon cannot write facts and attempt numbers.
  void FillDiskUntil(Timestamp until) { disk_full_until_ms_ = until; }
  // Until `until`, every start of a rank fails, at any of its writes.
  void FailStartsUntil(Timestamp until) { starts_fail_until_ms_ = until; }
  void StepClock(int64_t ms) { clock_ahead_ms_ += ms; }
  // Until `until`, the worker reports that the node cannot accept ranks.
  void ReportTroubleUntil(Timestamp until) { trouble_until_ms_ = until; }
  // Writes a device error with this number into the kernel log (proto/contract/xid.h).
  void LogDeviceError(int xid, Timestamp now);
  // Repairs the devices and clears the kernel log.
  void MendDevices() { device_errors_.clear(); }
  // Ends a running rank because it exceeds a limit of the node.
  void EndForLimit(Timestamp now);
  // The worker leaves on request: it sends a farewell message and then stops.
  void Leave(Timestamp now);
  // Makes this worker send telemetry and output of a rank on another node.
  void SendForeign(Timestamp now);

  void Receive(Arrival arrival, Timestamp now);
  void Step(Timestamp now);

  const std::string& node_id() const { return node_id_; }
  // True if the worker has executed a message of a lower term than an earlier one.
  bool HasObeyedLowerTerm() const { return obeyed_lower_term_; }
  // Number of facts on disk that the controller has not acknowledged.
  int64_t UnacknowledgedFacts() const;
  // Attempts on disk.
  std::size_t AttemptsOnDisk() const { return disk_.commands.size() + disk_.lost.size(); }

 private:
  // State that survives a crash of the daemon.
  struct Disk {
    worker::SeenAttempts seen_attempts;
    std::map<AttemptKey, v1::StartAttempt> commands;
    // Attempts whose command was lost although some of their ranks have records. Each entry
    // contains the job, the attempt and these ranks.
    std::map<AttemptKey, v1::StartAttempt> lost;
    // Ranks whose records have been lost.
    std::set<worker::RankKey> unrecorded;
    std::vector<v1::Fact> facts;
    v1::LogMark log_mark;
    int64_t leader_term = kFirstTerm;
  };
  class Facts;
  // The data that is lost when the daemon dies.
  struct Daemon;

  absl::Status CreateAttempt(const v1::StartAttempt& command) override;
  absl::Status RememberAttempt(const AttemptKey& attempt) override;
  absl::Status RecordFact(const v1::Fact& fact) override;
  absl::Status RemoveAttempt(const AttemptKey& attempt) override;
  void AddStreams(const v1::StartAttempt& command) override;
  void RemoveStreams(const AttemptKey& attempt) override;
  void Describe(v1::AttemptReport& report) override;
  void Launch(const v1::StartAttempt& command, const worker::RankKey& rank) override;
  // Does nothing: the simulated file server always answers.
  void CancelLaunch(const worker::RankKey&) override {}
  void Signal(const worker::RankKey& rank, bool kill) override;
  // Programs of the simulation handle the signal and continue.
  void SendUserSignal(const worker::RankKey&, bool) override {}
  absl::Status WriteOrder(const worker::RankKey& rank, const std::string& order) override;
  void Observe(const worker::RankKey& rank) override;
  std::string Stacks(int64_t pid) override;
  void Warn(const std::string&) override {}

  // Returns the error of a write: it fails if the
  // daemon dies at this point or if the disk is full.
  absl::Status BeforeWrite(bool needs_space);
  // Removes the daemon if it died during the preceding call.
  void BuryDead();
  // Returns the error of one step in a rank's start; OK if the node can start ranks.
  absl::Status BeforeStart(const AttemptKey& attempt);
  void RunHelper();
  void ObserveNow(const worker::RankKey& rank);
  worker::RankStatus StatusOfEnded(const worker::RankKey& rank, const Process& process) const;
  void Dial();
  void SendWaiting();
  void NoteObeyed(int64_t term) {
    obeyed_lower_term_ = obeyed_lower_term_ || term < obeyed_term_;
    obeyed_term_ = term;
  }
  void StreamLost(Timestamp now);
  void KeepLogMark();
  worker::WorkerTime Time() const { return {now_, now_ + clock_ahead_ms_}; }
  v1::Hello Greeting() const;

  const std::string node_id_;
  const int slots_;
  v1::Slot slot_;  // Without an index.
  std::map<std::string, std::string> labels_;
  // The node's wall clock minus the world's clock.
  int64_t clock_ahead_ms_;
  TrainingWorld& world_;
  Network& network_;
  Random& random_;

  bool destroyed_ = false;
  Disk disk_;
  Timestamp disk_full_until_ms_ = 0;
  Timestamp starts_fail_until_ms_ = 0;
  Timestamp trouble_until_ms_ = 0;
  std::vector<v1::DeviceError> device_errors_;
  bool leaving_ = false;
  bool crash_between_actions_ = false;
  int64_t incarnation_ = 0;
  int64_t obeyed_term_ = kFirstTerm;
  bool obeyed_lower_term_ = false;
  Timestamp now_ = 0;
  std::unique_ptr<Daemon> daemon_;
};

}  // namespace trainyard::simulation

#endif  // TRAINYARD_TESTS_SIMULATION_WORLD_SIMULATED_WORKER_H_
