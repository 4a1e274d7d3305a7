// Simulates all workers of a seeded cluster in one program, without rank processes. The workers
// continue the attempts in the fleet file: they start, report, stop and forget attempts as the
// controller commands. Simulated trainers report a step whenever a real trainer would complete it.
//   web_fleet --controller HOST:PORT --fleet-file FILE
#include <grpcpp/grpcpp.h>
#include <signal.h>

#include <CLI/CLI.hpp>
#include <atomic>
#include <chrono>
#include <fstream>
#include <iterator>
#include <mutex>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include "proto/contract/attempt_key.h"
#include "proto/contract/protocol_version.h"
#include "proto/support/clock.h"
#include "tests/fakes/process_channel.h"
#include "tests/web/seed/training_curves.h"
#include "trainyard/v1/snapshot.pb.h"
#include "trainyard/v1/worker_control.grpc.pb.h"

namespace trainyard::seed {
namespace {

constexpr std::chrono::milliseconds kTurn{100};
constexpr int64_t kHeartbeatMs = 1000;
// Interval at which ranks other than rank 0 report their step time, and at which the first few
// ranks write output.
constexpr int64_t kRankReportMs = 10'000;
constexpr int kTalkingRanks = 16;
constexpr int64_t kStepsPerBatch = 200;
constexpr int kTerminated = 15;

using Stream = std::tuple<int64_t, int64_t, int, v1::StreamKind>;

// State shared by all ranks of an attempt, from which the ranks' current step follows.
struct Gang {
  TrainingRun run;
  v1::JobSpec spec;
  int64_t resume_step = 0;
  // Start time of training; 0 if the gang is not training yet.
  Timestamp since_ms = 0;
  int64_t first_step = 0;

  int64_t StepAt(Timestamp now) const {
    if (since_ms == 0) return first_step;
    const double done = static_cast<double>(now - since_ms) / 1e3 / run.step_seconds;
    return std::min(run.steps, first_step + static_cast<int64_t>(done));
  }
};

using Gangs = std::map<AttemptKey, Gang>;

struct LocalAttempt {
  std::vector<int> ranks;
  bool cleared = false;
  int64_t reported_step = 0;
  Timestamp ranks_reported_ms = 0;
};

class Worker {
 public:
  Worker(const v1::NodeSnapshot& known, Gangs& gangs) : gangs_(gangs) {
    const v1::Node& node = known.node();
    fact_sequence_ = known.fact_sequence();
    hello_.set_protocol_version(kProtocolVersion);
    hello_.set_node_id(node.id());
    hello_.set_node_name(node.name());
    hello_.set_incarnation(node.incarnation());
    hello_.set_address(node.address());
    hello_.set_worker_version(node.worker_version());
    *hello_.mutable_inventory() = node.inventory();
  }

  ~Worker() { Detach(); }

  const std::string& id() const { return hello_.node_id(); }
  void Hold(const AttemptKey& key, int rank) { attempts_[key].ranks.push_back(rank); }

  void Attach(const std::shared_ptr<grpc::Channel>& channel) {
    Detach();
    welcomed_ = false;
    ended_ = false;
    context_ = std::make_unique<grpc::ClientContext>();
    stub_ = v1::WorkerControl::NewStub(channel);
    stream_ = stub_->Attach(context_.get());
    reader_ = std::thread([this, stream = stream_.get()] { ReadAll(*stream); });
    v1::WorkerMessage message;
    *message.mutable_hello() = hello_;
    for (const auto& [key, attempt] : attempts_) {
      *message.mutable_hello()->add_attempts() = ReportOf(key, attempt, 0);
    }
    stream_->Write(message);
  }

  bool ended() const { return ended_; }

  void Turn(Timestamp now) {
    for (const v1::ControllerMessage& message : TakeReceived()) Handle(message, now);
    if (!welcomed_) return;
    for (auto& [key, attempt] : attempts_) {
      if (!attempt.cleared) Train(key, attempt, now);
    }
    if (now - heartbeat_ms_ < kHeartbeatMs) return;
    heartbeat_ms_ = now;
    v1::WorkerMessage message;
    message.mutable_heartbeat();
    for (const auto& [key, attempt] : attempts_) {
      *message.mutable_heartbeat()->add_attempts() = ReportOf(key, attempt, now);
    }
    stream_->Write(message);
  }

 private:
  void Detach() {
    if (context_ == nullptr) return;
    context_->TryCancel();
    reader_.join();
    stream_->Finish();
    stream_.reset();
    context_.reset();
  }

  void ReadAll(grpc::ClientReaderWriter<v1::WorkerMessage, v1::ControllerMessage>& stream) {
    v1::ControllerMessage message;
    while (stream.Read(&message)) {
      const std::lock_guard lock(mutex_);
      received_.push_back(message);
    }
    ended_ = true;
  }

  std::vector<v1::ControllerMessage> TakeReceived() {
    const std::lock_guard lock(mutex_);
    return std::exchange(received_, {});
  }

  void Handle(const v1::ControllerMessage& message, Timestamp now) {
    if (message.has_welcome()) return OnWelcome(message.welcome(), now);
    if (message.has_start_attempt()) return OnStart(message.start_attempt(), now);
    if (message.has_stop_attempt()) return OnStop(message.stop_attempt());
    if (message.has_forget_attempt()) {
      attempts_.erase({message.forget_attempt().job_id(), message.forget_attempt().attempt()});
    }
  }

  void OnWelcome(const v1::Welcome& welcome, Timestamp now) {
    welcomed_ = true;
    hello_.set_cluster_id(welcome.cluster_id());
    fact_sequence_ = welcome.fact_sequence();
    for (const v1::StreamAcknowledged& stored : welcome.streams()) {
      const v1::StreamId& id = stored.stream();
      offsets_[{id.job_id(), id.attempt(), id.rank(), id.kind()}] = stored.offset();
    }
    for (auto& [key, attempt] : attempts_) {
      Gang& gang = gangs_.at(key);
      if (!Leads(attempt)) continue;
      const int64_t stored = offsets_[{key.job_id, key.number, 0, v1::STREAM_KIND_TELEMETRY}];
      attempt.reported_step = gang.resume_step + stored / kBytesPerStep;
      if (gang.since_ms == 0) gang.first_step = attempt.reported_step;
      if (gang.since_ms == 0) gang.since_ms = now;
    }
  }

  void OnStart(const v1::StartAttempt& start, Timestamp now) {
    const AttemptKey key{start.job_id(), start.attempt()};
    if (attempts_.contains(key)) return;
    LocalAttempt& attempt = attempts_[key];
    for (const v1::Process& process : start.processes()) {
      const v1::ProcessRank& rank = process.ranks(0);
      attempt.ranks.push_back(rank.rank());
      v1::Fact fact;
      fact.mutable_rank_started()->set_job_id(key.job_id);
      fact.mutable_rank_started()->set_attempt(key.number);
      fact.mutable_rank_started()->set_rank(rank.rank());
      fact.mutable_rank_started()->set_pid(1000 + rank.rank());
      fact.mutable_rank_started()->set_time_ms(now);
      SendFact(std::move(fact));
    }
    if (!Leads(attempt)) return;
    Gang& gang = gangs_[key];
    v1::Job job;
    job.set_id(key.job_id);
    *job.mutable_spec() = start.spec();
    gang.run = RunOf(job);
    gang.spec = start.spec();
    gang.since_ms = now;
  }

  void OnStop(const v1::StopAttempt& stop) {
    const AttemptKey key{stop.job_id(), stop.attempt()};
    LocalAttempt& attempt = attempts_[key];
    if (!attempt.cleared) Leave(key, attempt, kTerminated);
  }

  // Ends all ranks of the attempt, then reports the attempt cleared.
  void Leave(const AttemptKey& key, LocalAttempt& attempt, int signal) {
    for (const int rank : attempt.ranks) {
      v1::Fact fact;
      fact.mutable_rank_exited()->set_job_id(key.job_id);
      fact.mutable_rank_exited()->set_attempt(key.number);
      fact.mutable_rank_exited()->set_rank(rank);
      fact.mutable_rank_exited()->set_signal(signal);
      SendFact(std::move(fact));
    }
    v1::Fact cleared;
    cleared.mutable_attempt_cleared()->set_job_id(key.job_id);
    cleared.mutable_attempt_cleared()->set_attempt(key.number);
    SendFact(std::move(cleared));
    attempt.cleared = true;
  }

  void SendFact(v1::Fact fact) {
    fact.set_sequence(++fact_sequence_);
    v1::WorkerMessage message;
    *message.mutable_fact() = std::move(fact);
    stream_->Write(message);
  }

  static bool Leads(const LocalAttempt& attempt) {
    return !attempt.ranks.empty() && attempt.ranks.front() == 0;
  }

  void Train(const AttemptKey& key, LocalAttempt& attempt, Timestamp now) {
    const auto gang = gangs_.find(key);
    if (gang == gangs_.end() || gang->second.since_ms == 0) return;
    const int64_t step = gang->second.StepAt(now);
    if (attempt.reported_step == 0 && !Leads(attempt)) attempt.reported_step = step;
    if (Leads(attempt) && step > attempt.reported_step) {
      ReportSteps(key, gang->second, attempt.reported_step + 1,
                  std::min(step, attempt.reported_step + kStepsPerBatch), now);
    }
    if (step > attempt.reported_step) {
      WriteOutput(key, attempt, gang->second.run, step, now);
      attempt.reported_step = std::min(step, attempt.reported_step + kStepsPerBatch);
    }
    if (now - attempt.ranks_reported_ms >= kRankReportMs) {
      attempt.ranks_reported_ms = now;
      for (const int rank : attempt.ranks) {
        if (rank > 0) ReportRank(key, gang->second.run, rank, step, now);
      }
    }
    if (attempt.reported_step >= gang->second.run.steps) Leave(key, attempt, 0);
  }

  void ReportSteps(const AttemptKey& key, const Gang& gang, int64_t first, int64_t last,
                   Timestamp now) {
    v1::WorkerMessage message;
    v1::TelemetryBatch& batch = *message.mutable_telemetry();
    for (int64_t step = first; step <= last; ++step) {
      v1::TelemetryRecord& record = *batch.add_records();
      record.set_time_ms(now);
      record.mutable_metrics()->set_step(step);
      record.mutable_metrics()->set_total_steps(gang.run.steps);
      for (const auto& [name, value] : ValuesAt(gang.run, step)) {
        (*record.mutable_metrics()->mutable_values())[name] = value;
      }
      AddMilestones(gang, step, now, batch);
    }
    SendBatch({key.job_id, key.number, 0, v1::STREAM_KIND_TELEMETRY}, last - first + 1, message);
  }

  static void AddMilestones(const Gang& gang, int64_t step, Timestamp now,
                            v1::TelemetryBatch& batch) {
    const int64_t evaluate = gang.spec.evaluation().every_steps();
    if (evaluate > 0 && step % evaluate == 0) {
      v1::TelemetryRecord& record = *batch.add_records();
      record.set_time_ms(now);
      record.mutable_evaluation()->set_step(step);
      record.mutable_evaluation()->set_data_set("val");
      record.mutable_evaluation()->set_loss(ValidationLossAt(gang.run, step));
    }
    const int64_t save = gang.spec.checkpoint().every_steps();
    if (save > 0 && step % save == 0) {
      v1::TelemetryRecord& record = *batch.add_records();
      record.set_time_ms(now);
      record.mutable_checkpoint()->set_step(step);
      record.mutable_checkpoint()->set_path("/checkpoints/step-" + std::to_string(step));
      record.mutable_checkpoint()->set_bytes(96'400'000'000);
    }
  }

  void ReportRank(const AttemptKey& key, const TrainingRun& run, int rank, int64_t step,
                  Timestamp now) {
    v1::WorkerMessage message;
    v1::TelemetryRecord& record = *message.mutable_telemetry()->add_records();
    record.set_time_ms(now);
    record.mutable_metrics()->set_step(step);
    (*record.mutable_metrics()->mutable_values())["step_seconds"] =
        RankStepSeconds(run, rank, step);
    SendBatch({key.job_id, key.number, rank, v1::STREAM_KIND_TELEMETRY}, 1, message);
  }

  void SendBatch(const Stream& stream, int64_t lines, v1::WorkerMessage& message) {
    v1::TelemetryBatch& batch = *message.mutable_telemetry();
    SetStream(stream, *batch.mutable_stream());
    int64_t& offset = offsets_[stream];
    batch.set_begin_offset(offset);
    batch.set_end_offset(offset += lines * kBytesPerStep);
    stream_->Write(message);
  }

  void WriteOutput(const AttemptKey& key, const LocalAttempt& attempt, const TrainingRun& run,
                   int64_t step, Timestamp now) {
    for (const int rank : attempt.ranks) {
      if (rank >= kTalkingRanks) return;
      const Stream stream{key.job_id, key.number, rank, v1::STREAM_KIND_LOG};
      v1::WorkerMessage message;
      SetStream(stream, *message.mutable_log()->mutable_stream());
      message.mutable_log()->set_begin_offset(offsets_[stream]);
      message.mutable_log()->set_data(OutputLine(run, rank, step));
      message.mutable_log()->set_time_ms(now);
      offsets_[stream] += static_cast<int64_t>(message.log().data().size());
      stream_->Write(message);
    }
  }

  static void SetStream(const Stream& stream, v1::StreamId& id) {
    id.set_job_id(std::get<0>(stream));
    id.set_attempt(std::get<1>(stream));
    id.set_rank(std::get<2>(stream));
    id.set_kind(std::get<3>(stream));
  }

  v1::AttemptReport ReportOf(const AttemptKey& key, const LocalAttempt& attempt,
                             Timestamp now) const {
    v1::AttemptReport report;
    report.set_job_id(key.job_id);
    report.set_attempt(key.number);
    report.set_cleared(attempt.cleared);
    for (const int rank : attempt.ranks) {
      v1::RankReport& one = *report.add_ranks();
      one.set_rank(rank);
      one.set_running(!attempt.cleared);
      one.set_step(attempt.reported_step);
      one.set_last_activity_ms(now);
      one.set_phase("train");
    }
    if (!attempt.cleared) return report;
    for (const auto& [stream, offset] : offsets_) {
      if (std::get<0>(stream) != key.job_id || std::get<1>(stream) != key.number) continue;
      v1::StreamEnd& end = *report.add_stream_ends();
      SetStream(stream, *end.mutable_stream());
      end.set_end_offset(offset);
    }
    return report;
  }

  Gangs& gangs_;
  v1::Hello hello_;
  uint64_t fact_sequence_ = 0;
  bool welcomed_ = false;
  Timestamp heartbeat_ms_ = 0;
  std::map<AttemptKey, LocalAttempt> attempts_;
  std::map<Stream, int64_t> offsets_;
  std::unique_ptr<grpc::ClientContext> context_;
  std::unique_ptr<v1::WorkerControl::Stub> stub_;
  std::unique_ptr<grpc::ClientReaderWriter<v1::WorkerMessage, v1::ControllerMessage>> stream_;
  std::thread reader_;
  std::atomic<bool> ended_{false};
  std::mutex mutex_;
  std::vector<v1::ControllerMessage> received_;  // Guarded by mutex_.
};

using Workers = std::map<std::string, std::unique_ptr<Worker>>;

// Returns a worker for every node in the snapshot that is not lost.
Workers WorkersOf(const v1::Snapshot& snapshot, Gangs& gangs) {
  Workers workers;
  for (const v1::NodeSnapshot& node : snapshot.nodes()) {
    if (node.node().state() == v1::NODE_STATE_LOST) continue;
    workers.emplace(node.node().id(), std::make_unique<Worker>(node, gangs));
  }
  for (const v1::Job& job : snapshot.jobs()) {
    if (job.attempts().empty()) continue;
    const v1::Attempt& attempt = *job.attempts().rbegin();
    if (attempt.state() == v1::ATTEMPT_STATE_ENDED) continue;
    const AttemptKey key{job.id(), attempt.number()};
    gangs[key] = Gang{.run = RunOf(job), .spec = job.spec(), .resume_step = attempt.resume_step()};
    for (const v1::RankPlacement& rank : attempt.ranks()) {
      workers.at(rank.node_id())->Hold(key, rank.rank());
    }
  }
  return workers;
}

std::atomic<bool> stopping{false};

void Run(Workers& workers, const std::string& address) {
  const auto channel = OpenProcessChannel(address);
  const SystemClock clock;
  for (auto& [id, worker] : workers) worker->Attach(channel);
  while (!stopping) {
    std::this_thread::sleep_for(kTurn);
    for (auto& [id, worker] : workers) {
      if (worker->ended()) worker->Attach(channel);
      worker->Turn(clock.Now());
    }
  }
}

}  // namespace
}  // namespace trainyard::seed

int main(int argc, char** argv) {
  std::string address, fleet_file;
  CLI::App app("Simulated workers for the tests of the dashboard.");
  app.add_option("--controller", address)->required();
  app.add_option("--fleet-file", fleet_file)->required();
  CLI11_PARSE(app, argc, argv);
  std::ifstream file(fleet_file, std::ios::binary);
  trainyard::v1::Snapshot snapshot;
  if (!snapshot.ParseFromIstream(&file)) {
    std::fprintf(stderr, "web_fleet: cannot read %s\n", fleet_file.c_str());
    return 1;
  }
  const auto stop = [](int) { trainyard::seed::stopping = true; };
  signal(SIGTERM, stop);
  signal(SIGINT, stop);
  trainyard::seed::Gangs gangs;
  auto workers = trainyard::seed::WorkersOf(snapshot, gangs);
  trainyard::seed::Run(workers, address);
  return 0;
}
