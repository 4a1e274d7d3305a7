// A worker that starts no processes. It uses the real protocol on a connection of its own and
// reports every rank as running. One process can contain thousands of them.
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

#include "proto/contract/attempt_key.h"
#include "trainyard/v1/worker_control.grpc.pb.h"

namespace trainyard::bench {

// Number of bytes that a record is assumed to occupy in a telemetry file. Step numbers are derived
// from offsets.
inline constexpr int64_t kRecordBytes = 256;
// Number of series in each record.
inline constexpr int kKeysPerRecord = 10;
std::string KeyName(int key);

int64_t NowMs();

// A stream to the controller, from the dial to its end.
class WorkerStream;

class SimulatedWorker {
 public:
  struct Options {
    // HOST:PORT.
    std::string controller;
    int index = 0;
    int slots = 1;
    // True to read nothing after Welcome.
    bool slow = false;
  };

  explicit SimulatedWorker(Options options);
  // Ends the stream and waits until gRPC has released it.
  ~SimulatedWorker();

  // Call it once per heartbeat interval. If there is no stream and the backoff has ended, dials. If
  // there is a stream and Welcome has been received, sends a heartbeat, and a telemetry record for
  // each gang whose rank 0 is on this worker.
  void Beat();

  // Dials if the backoff has ended. Fast if it has not.
  void DialIfDue();

  bool welcomed();
  // Returns (job, attempt) of the attempts whose rank 0 is on this worker.
  std::vector<AttemptKey> Led();

  // After this call, Beat sends no telemetry about steps.
  void StopTraining();
  // Sends `records` further steps of the attempt as one batch of telemetry.
  void SendSteps(int64_t job_id, int64_t attempt_number, int64_t records);
  // Returns the number of steps of the attempt that the controller has stored.
  int64_t StoredSteps(int64_t job_id, int64_t attempt_number);
  // Returns the number of messages that wait to be written to the stream.
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

  // The stream calls this on gRPC's threads. Returns false to stop reading.
  bool OnMessage(const v1::ControllerMessage& message);
  void OnClosed();

  // The functions below require mutex_.
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
  int64_t welcome_wait_ms_;
  std::minstd_rand random_;
  std::unique_ptr<WorkerStream> stream_;
  bool welcomed_ = false;
  bool closed_ = true;
  bool trains_ = true;
  // Time of the next dial. While Welcome is outstanding, the time of the last dial.
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
