// A simulated worker that starts no processes and reports every rank as running. The worker uses
// the real protocol on its own connection. One process can contain thousands of workers.
#ifndef TRAINYARD_TESTS_BENCH_SIMULATED_WORKER_H_
#define TRAINYARD_TESTS_BENCH_SIMULATED_WORKER_H_

#include <grpcpp/grpcpp.h>

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "proto/access/controller_list.h"
#include "proto/contract/attempt_key.h"
#include "trainyard/v1/worker_control.grpc.pb.h"

namespace trainyard::bench {

// Assumed size in bytes of a record in a telemetry
// file. Step numbers follow from offsets.
inline constexpr int64_t kRecordBytes = 256;
// Number of series per record.
inline constexpr int kKeysPerRecord = 10;
std::string KeyName(int key);

int64_t NowMs();

// One stream to the controller, from dialling to its end.
class WorkerStream;

class SimulatedWorker {
 public:
  struct Options {
    // HOST:PORT of each controller of the cluster.
    std::vector<std::string> controllers;
    int index = 0;
    int slots = 1;
    // Reads nothing after Welcome.
    bool slow = false;
  };

  explicit SimulatedWorker(Options options);
  // Ends the stream and waits until gRPC has released it.
  ~SimulatedWorker();

  // Call it once per heartbeat interval. Without a stream, dials if the backoff has ended. If a
  // stream has received Welcome, sends a heartbeat. A telemetry record follows for each gang with
  // rank 0 on this worker.
  void Beat();

  // Dials if the backoff has ended; otherwise returns at once.
  void DialIfDue();

  bool welcomed();
  // Returns the attempts whose rank 0 is on this worker.
  std::vector<AttemptKey> Led();

  // From now on, Beat sends no telemetry about steps.
  void StopTraining();
  // Sends the next `records` steps of the attempt in one batch of telemetry.
  void SendSteps(int64_t job_id, int64_t attempt_number, int64_t records);
  // Returns how many steps of the attempt the controller has stored.
  int64_t StoredSteps(int64_t job_id, int64_t attempt_number);
  // Returns the number of messages queued for the stream.
  std::size_t Backlog();

 private:
  friend class WorkerStream;

  struct Attempt {
    v1::AttemptReport report;
    // True if rank 0 is on this worker.
    bool leads = false;
    int64_t sent_bytes = 0;
    int64_t stored_bytes = 0;
  };

  // Called by the stream on gRPC's threads. Returns false to stop reading.
  bool OnMessage(const v1::ControllerMessage& message);
  void OnClosed();

  // mutex_ must be held during calls of the functions below.
  void Dial();
  void Take(const v1::ControllerMessage& message);
  void Welcome(const v1::Welcome& welcome);
  void Start(const v1::StartAttempt& start);
  void Stop(const v1::StopAttempt& stop);
  void AddFact(v1::Fact fact);
  void Acknowledge(const v1::StreamAcknowledged& acknowledged);
  void SendFacts();
  void SendTelemetry(const AttemptKey& key, Attempt& attempt, int64_t records);
  v1::Hello MakeHello() const;

  const Options options_;
  std::mutex mutex_;
  ControllerList controllers_;
  int64_t welcome_wait_ms_;
  std::minstd_rand random_;
  std::unique_ptr<WorkerStream> stream_;
  bool welcomed_ = false;
  bool closed_ = true;
  bool trains_ = true;
  // Time of the next dial or, until Welcome is received, of the last dial.
  int64_t dial_at_ms_ = 0;
  int64_t backoff_ms_ = 0;
  std::string cluster_id_;
  std::map<AttemptKey, Attempt> attempts_;
  // Not acknowledged.
  std::deque<v1::Fact> facts_;
  uint64_t last_fact_ = 0;
};

}  // namespace trainyard::bench

#endif  // TRAINYARD_TESTS_BENCH_SIMULATED_WORKER_H_
