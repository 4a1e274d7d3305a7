// A controller in the test's process, and workers connected to it over real gRPC. Tests wait on
// condition variables, so a wait reaches its deadline only if the test fails.
#ifndef TRAINYARD_TESTS_CONTROLLER_CONTROLLER_HARNESS_H_
#define TRAINYARD_TESTS_CONTROLLER_CONTROLLER_HARNESS_H_

#include <grpcpp/grpcpp.h>

#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "controller/controller.h"
#include "controller/store/stores.h"
#include "proto/support/clock.h"
#include "trainyard/v1/job_service.grpc.pb.h"
#include "trainyard/v1/log_service.grpc.pb.h"
#include "trainyard/v1/metric_service.grpc.pb.h"
#include "trainyard/v1/node_service.grpc.pb.h"
#include "trainyard/v1/snapshot.pb.h"
#include "trainyard/v1/worker_control.grpc.pb.h"

namespace trainyard::controller {

inline constexpr std::chrono::seconds kTestTimeout{20};

// A clock set by the test.
class HandClock final : public Clock {
 public:
  Timestamp Now() const override { return now_.load(); }
  void Advance(int64_t ms) { now_ += ms; }

 private:
  std::atomic<Timestamp> now_{1'000'000};
};

// An in-memory event log with a gate. While the gate is closed, Append waits.
class GatedEventLog final : public EventLog {
 public:
  GatedEventLog();

  absl::StatusOr<Recovery> Recover() override { return inner_->Recover(); }
  using EventLog::Append;
  absl::Status Append(const std::vector<LogRecord>& events,
                      const std::vector<v1::ArchivedJob>& archived) override;
  v1::LogMark NewestMark() const override { return inner_->NewestMark(); }
  bool Covers(const v1::LogMark& mark) const override { return inner_->Covers(mark); }
  void NoteStore(const std::string& store, const StoreMark& mark) override {
    inner_->NoteStore(store, mark);
  }
  absl::StatusOr<std::map<std::string, StoreMark>> StoreMarks() override {
    return inner_->StoreMarks();
  }
  JobArchive& archive() override { return inner_->archive(); }
  absl::Status TryWrite() override;
  absl::StatusOr<Recovery> ReadUpTo(uint64_t last_sequence) override;
  absl::Status WriteSnapshot(const v1::Snapshot& snapshot) override;
  absl::StatusOr<std::vector<v1::Event>> ReadJobEvents(int64_t job_id, int limit) override {
    return inner_->ReadJobEvents(job_id, limit);
  }
  absl::StatusOr<std::vector<v1::EventEntry>> ReadEventsBefore(int64_t job_id, uint64_t before,
                                                               int limit) override {
    return inner_->ReadEventsBefore(job_id, before, limit);
  }
  absl::StatusOr<std::vector<v1::EventEntry>> ReadEventsAfter(uint64_t after, int limit) override {
    return inner_->ReadEventsAfter(after, limit);
  }
  absl::StatusOr<StoreUsage> Usage() override { return inner_->Usage(); }
  absl::StatusOr<int64_t> NextJob(int64_t after) override { return inner_->NextJob(after); }
  absl::StatusOr<int64_t> JobBytes(int64_t job_id) override { return inner_->JobBytes(job_id); }
  absl::StatusOr<bool> Reclaim() override { return inner_->Reclaim(); }
  absl::StatusOr<bool> DropJobEvents(int64_t job_id) override {
    return inner_->DropJobEvents(job_id);
  }
  absl::StatusOr<bool> DropNodeEvents(int64_t before_ms) override {
    return inner_->DropNodeEvents(before_ms);
  }
  absl::StatusOr<std::optional<v1::Event>> FindDeletion(int64_t job_id) override {
    return inner_->FindDeletion(job_id);
  }
  absl::StatusOr<std::vector<v1::EventEntry>> OpenDeletions(uint64_t after) override {
    return inner_->OpenDeletions(after);
  }
  absl::StatusOr<bool> FinishDeletion(int64_t job_id) override {
    return inner_->FinishDeletion(job_id);
  }

  void Close();
  // Closes the gate for WriteSnapshot only, not for Append.
  void CloseForSnapshots();
  // Opens both gates.
  void Open();
  // Waits until an Append is waiting at the closed gate.
  bool WaitForAppend();
  // Waits until a WriteSnapshot is waiting at the closed gate.
  bool WaitForSnapshot();
  // Makes all later Appends fail.
  void Break() { broken_ = true; }
  // While true, every Append fails as on a full disk.
  void SetFull(bool full) { full_ = full; }
  // Makes the disk full after one more Append.
  void FillWithTheNext() { fill_at_ = appends_ + 1; }

  int appends() const { return appends_; }
  int snapshots() const { return snapshots_; }

 private:
  std::unique_ptr<EventLog> inner_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool closed_ = false;
  bool waiting_ = false;
  bool closed_for_snapshots_ = false;
  bool snapshot_waiting_ = false;
  std::atomic<bool> broken_{false};
  std::atomic<bool> full_{false};
  std::atomic<int> fill_at_{0};
  std::atomic<int> appends_{0};
  std::atomic<int> snapshots_{0};
};

// One worker stream. The destructor breaks it.
class FakeWorker {
 public:
  FakeWorker(const std::shared_ptr<grpc::Channel>& channel, const v1::Hello& hello);
  ~FakeWorker();

  void Send(const v1::WorkerMessage& message);
  void SendFact(uint64_t sequence, v1::Fact fact);
  void SendReport(const v1::AttemptReport& report);
  void SendMetrics(const v1::StreamId& stream, int64_t begin, int64_t end, int64_t step,
                   double loss);
  void SendRecord(const v1::StreamId& stream, int64_t begin, int64_t end,
                  const v1::TelemetryRecord& record);
  void SendOutput(v1::StreamId stream, int64_t begin, const std::string& text);

  // Waits for a message of this kind, removes it and returns it. Skips messages of other kinds.
  // Fails the test if none arrives.
  v1::ControllerMessage Take(v1::ControllerMessage::KindCase kind);
  // Waits until the controller has acknowledged the stream up to `offset`.
  void TakeAcknowledged(const v1::StreamId& stream, int64_t offset);
  // Returns how many messages of this kind were received but not taken.
  int Count(v1::ControllerMessage::KindCase kind);
  // Returns the status with which the controller ends the stream. Fails the test if the stream
  // stays open.
  grpc::Status WaitForEnd();

 private:
  void ReadAll();

  grpc::ClientContext context_;
  std::unique_ptr<v1::WorkerControl::Stub> stub_;
  std::unique_ptr<grpc::ClientReaderWriter<v1::WorkerMessage, v1::ControllerMessage>> stream_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<v1::ControllerMessage> received_;
  bool ended_ = false;
  grpc::Status end_;
  std::thread reader_;
};

// A controller on a free port (port 0), with one channel to it and a stub for each service.
struct RunningController {
  explicit RunningController(Stores stores, LoopOptions loop = {}, std::string http_listen = "");
  explicit RunningController(const std::string& data_dir, std::string http_listen = "");

  // Submits a one-node job with `slots` CPU slots. Returns the job's id.
  int64_t Submit(const std::string& name, int slots = 1);
  v1::Job Get(const std::string& job);
  // Runs a tick at the clock's current time, and waits until the tick has ended.
  void Tick();
  // Watches the job with WatchJob until `condition` is true for the job. Returns the job.
  v1::Job WaitForJob(int64_t job_id, const std::function<bool(const v1::Job&)>& condition);

  HandClock clock;
  std::unique_ptr<Controller> controller;
  std::shared_ptr<grpc::Channel> channel;
  std::unique_ptr<v1::JobService::Stub> jobs;
  std::unique_ptr<v1::LogService::Stub> logs;
  std::unique_ptr<v1::MetricService::Stub> metrics;
  std::unique_ptr<v1::NodeService::Stub> nodes;
  std::unique_ptr<v1::ServerService::Stub> server;

 private:
  void Connect();
};

// The spec of a job that runs its own program on CPU slots.
v1::JobSpec CommandSpec(const std::string& name, int slots);

v1::Hello TestHello(const std::string& node_id, int slots);

v1::StreamId Stream(int64_t job_id, v1::StreamKind kind, int rank = 0, int64_t attempt_number = 1);

v1::Fact StartedFact(int64_t job_id, int rank = 0, int64_t attempt_number = 1);
v1::Fact ExitedFact(int64_t job_id, int exit_code, int rank = 0, int64_t attempt_number = 1);
v1::Fact ClearedFact(int64_t job_id, int64_t attempt_number = 1);

// A worker's report about a running attempt with rank 0.
v1::AttemptReport RunningReport(int64_t job_id, int64_t attempt_number = 1);

}  // namespace trainyard::controller

#endif  // TRAINYARD_TESTS_CONTROLLER_CONTROLLER_HARNESS_H_
