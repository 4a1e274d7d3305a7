#include <grpcpp/grpcpp.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <memory>
#include <numeric>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "proto/contract/attempt_key.h"
#include "tests/bench/load.h"
#include "tests/bench/simulated_worker.h"
#include "tests/fakes/process_channel.h"
#include "trainyard/v1/metric_service.grpc.pb.h"

namespace trainyard::bench {
namespace {

constexpr std::chrono::seconds kTestTimeout{120};
constexpr std::chrono::milliseconds kLook{1};
// Maximum number of queued messages per stream. With two, a message is ready as soon as the
// previous one has been sent.
constexpr std::size_t kReady = 2;
// Maximum number of steps sent but not yet stored. Equals the worker's window
// (worker/core/uplink.h).
constexpr int64_t kWindowSteps = (1 << 20) / kRecordBytes;

// The telemetry stream of one worker, which runs one job.
class Stream {
 public:
  Stream(const IngestLoad& load, int index)
      : load_(load), worker_({.controllers = {load.controller}, .index = index, .slots = 1}) {
    worker_.StopTraining();
  }

  SimulatedWorker& worker() { return worker_; }

  // True once the worker is running a job.
  bool HasJob() {
    const auto led = worker_.Led();
    if (!led.empty()) attempt_ = led.front();
    return !led.empty();
  }

  // Sends as much as the window allows. Returns true when everything is stored.
  bool Pump() {
    const int64_t stored = worker_.StoredSteps(attempt_.job_id, attempt_.number);
    while (sent_ < load_.steps_per_job && sent_ - stored < kWindowSteps &&
           worker_.Backlog() < kReady) {
      const int64_t steps = std::min(load_.steps_per_batch, load_.steps_per_job - sent_);
      worker_.SendSteps(attempt_.job_id, attempt_.number, steps);
      sent_ += steps;
    }
    return stored == load_.steps_per_job;
  }

  int64_t job_id() const { return attempt_.job_id; }

 private:
  const IngestLoad& load_;
  SimulatedWorker worker_;
  AttemptKey attempt_;
  int64_t sent_ = 0;
};

// Polls until `holds` returns true. Meanwhile, each worker sends a heartbeat every second.
bool WaitFor(std::vector<std::unique_ptr<Stream>>& streams, const std::function<bool()>& holds) {
  const auto begin = std::chrono::steady_clock::now();
  int64_t next_beat_ms = 0;
  while (!holds()) {
    if (std::chrono::steady_clock::now() - begin > kTestTimeout) return false;
    if (NowMs() >= next_beat_ms) {
      for (const auto& stream : streams) stream->worker().Beat();
      next_beat_ms = NowMs() + 1000;
    }
    std::this_thread::sleep_for(kLook);
  }
  return true;
}

// Returns the number of points in all series of the job; -1 on an error.
int64_t CountPoints(v1::MetricService::Stub& stub, int64_t job_id) {
  v1::GetSeriesRequest request;
  request.set_job(absl::StrCat(job_id));
  request.set_buckets(1);
  for (int key = 0; key < kKeysPerRecord; ++key) request.add_keys(KeyName(key));
  v1::GetSeriesResponse response;
  grpc::ClientContext context;
  if (!stub.GetSeries(&context, request, &response).ok()) return -1;
  int64_t points = 0;
  for (const v1::Series& series : response.series()) {
    points = std::accumulate(series.counts().begin(), series.counts().end(), points);
  }
  return points;
}

nlohmann::json CountAll(const IngestLoad& load, const std::vector<std::unique_ptr<Stream>>& streams,
                        double seconds) {
  const auto stub = v1::MetricService::NewStub(OpenProcessChannel(load.controller));
  int64_t stored = 0;
  for (const auto& stream : streams) stored += CountPoints(*stub, stream->job_id());
  return {{"seconds", seconds},
          {"points", load.jobs * load.steps_per_job * kKeysPerRecord},
          {"stored_points", stored}};
}

}  // namespace

nlohmann::json RunIngestLoad(const IngestLoad& load) {
  std::vector<std::unique_ptr<Stream>> streams;
  for (int i = 0; i < load.jobs; ++i) streams.push_back(std::make_unique<Stream>(load, i));
  const auto all = [&](const std::function<bool(Stream&)>& holds) {
    return [&streams, holds] {
      bool every = true;
      for (const auto& stream : streams) every = holds(*stream) && every;
      return every;
    };
  };
  if (!WaitFor(streams, all([](Stream& stream) { return stream.worker().welcomed(); }))) {
    return {{"error", "the workers could not attach"}};
  }
  const nlohmann::json submitted = RunSubmitLoad(
      {.controller = load.controller, .prefix = load.prefix, .jobs = load.jobs, .callers = 1});
  if (submitted.contains("error")) return submitted;
  if (!WaitFor(streams, all([](Stream& stream) { return stream.HasJob(); }))) {
    return {{"error", "the jobs did not start"}};
  }
  const auto begin = std::chrono::steady_clock::now();
  if (!WaitFor(streams, all([](Stream& stream) { return stream.Pump(); }))) {
    return {{"error", "the telemetry was not stored in time"}};
  }
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  return CountAll(load, streams, seconds.count());
}

}  // namespace trainyard::bench
