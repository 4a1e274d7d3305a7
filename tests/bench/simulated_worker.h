// A worker without processes: it speaks the real protocol on a connection of its own, and says of
// every rank that it runs. Thousands of them fit into one process.
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

// Bytes of a telemetry file that one record stands for, so that offsets tell steps.
inline constexpr int64_t kRecordBytes = 256;
// Series in each record.
inline constexpr int kKeysPerRecord = 10;
std::string KeyName(int key);

int64_t NowMs();

// One stream to the controller, from dialling to its end.
class WorkerStream;

class SimulatedWorker {
 public:
  struct Options {
    // HOST:PORT.
    std::string controller;
    int index = 0;
    int slots = 1;
    // Reads nothing once it is welcome.
    bool slow = false;
  };

  explicit SimulatedWorker(Options options);
  // Ends the stream and waits until gRPC has let go.
  ~SimulatedWorker();

  // Dials if there is no stream and the backoff is over; else, once welcomed, sends a heartbeat,
  // and a record of telemetry for each gang that it has rank 0 of. Call it once a heartbeat.
  void Beat();

  // Dials when the backoff is over. Cheap when there is nothing to do.
  void DialIfDue();

  bool welcomed();
  // (job, attempt) of the attempts that have rank 0 here.
  std::vector<AttemptKey> Led();

  // From now on the worker says nothing of steps by itself.
  void StopTraining();
  // Sends `records` more steps of the attempt as one batch of telemetry.
  void SendSteps(int64_t job_id, int64_t attempt_number, int64_t records);
  // Steps of the attempt that the controller has stored.
  int64_t StoredSteps(int64_t job_id, int64_t attempt_number);
  // Messages that wait for the stream to take them.
  std::size_t Backlog();

 private:
  friend class WorkerStream;

  struct Attempt {
    v1::AttemptReport report;
    // Rank 0 is here.
    bool leads = false;
    int64_t sent_bytes = 0;
    int64_t stored_bytes = 0;
  };

  // Called by the stream on gRPC's threads. False: reads no more.
  bool OnMessage(const v1::ControllerMessage& message);
  void OnClosed();

  // The rest: with mutex_ held.
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
  // Time of the next dial, or of the one that is not welcome yet.
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
