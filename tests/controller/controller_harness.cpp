#include "tests/controller/controller_harness.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "proto/contract/protocol_version.h"

namespace trainyard::controller {

GatedEventLog::GatedEventLog() : inner_(OpenMemoryStores().events) {}

absl::Status GatedEventLog::Append(const std::vector<LogRecord>& events,
                                   const std::vector<v1::ArchivedJob>& archived) {
  {
    std::unique_lock lock(mutex_);
    waiting_ = closed_;
    changed_.notify_all();
    changed_.wait(lock, [this] { return !closed_; });
    waiting_ = false;
  }
  if (broken_) return absl::DataLossError("the device failed");
  if (full_) return absl::ResourceExhaustedError("events.db: the disk is full");
  if (++appends_ == fill_at_) full_ = true;
  return inner_->Append(events, archived);
}

absl::Status GatedEventLog::TryWrite() {
  return full_ ? absl::ResourceExhaustedError("events.db: the disk is full") : absl::OkStatus();
}

absl::StatusOr<EventLog::Recovery> GatedEventLog::ReadUpTo(uint64_t last_sequence) {
  return inner_->ReadUpTo(last_sequence);
}

absl::Status GatedEventLog::WriteSnapshot(const v1::Snapshot& snapshot) {
  ++snapshots_;
  {
    std::unique_lock lock(mutex_);
    snapshot_waiting_ = closed_for_snapshots_;
    changed_.notify_all();
    changed_.wait(lock, [this] { return !closed_for_snapshots_; });
  }
  return inner_->WriteSnapshot(snapshot);
}

void GatedEventLog::Close() {
  const std::lock_guard lock(mutex_);
  closed_ = true;
}

void GatedEventLog::CloseForSnapshots() {
  const std::lock_guard lock(mutex_);
  closed_for_snapshots_ = true;
}

void GatedEventLog::Open() {
  const std::lock_guard lock(mutex_);
  closed_ = closed_for_snapshots_ = false;
  changed_.notify_all();
}

bool GatedEventLog::WaitForAppend() {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, kTestTimeout, [this] { return waiting_; });
}

bool GatedEventLog::WaitForSnapshot() {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, kTestTimeout, [this] { return snapshot_waiting_; });
}

FakeWorker::FakeWorker(const std::shared_ptr<grpc::Channel>& channel, const v1::Hello& hello)
    : stub_(v1::WorkerControl::NewStub(channel)), stream_(stub_->Attach(&context_)) {
  reader_ = std::thread([this] { ReadAll(); });
  v1::WorkerMessage message;
  *message.mutable_hello() = hello;
  Send(message);
}

FakeWorker::~FakeWorker() {
  context_.TryCancel();
  reader_.join();
}

void FakeWorker::ReadAll() {
  v1::ControllerMessage message;
  while (stream_->Read(&message)) {
    const std::lock_guard lock(mutex_);
    received_.push_back(message);
    changed_.notify_all();
  }
  const grpc::Status status = stream_->Finish();
  const std::lock_guard lock(mutex_);
  ended_ = true;
  end_ = status;
  changed_.notify_all();
}

void FakeWorker::Send(const v1::WorkerMessage& message) { stream_->Write(message); }

void FakeWorker::SendFact(uint64_t sequence, v1::Fact fact) {
  fact.set_sequence(sequence);
  v1::WorkerMessage message;
  *message.mutable_fact() = std::move(fact);
  Send(message);
}

void FakeWorker::SendReport(const v1::AttemptReport& report) {
  v1::WorkerMessage message;
  *message.mutable_heartbeat()->add_attempts() = report;
  Send(message);
}

void FakeWorker::SendMetrics(const v1::StreamId& stream, int64_t begin, int64_t end, int64_t step,
                             double loss) {
  v1::TelemetryRecord record;
  record.set_time_ms(1000 * step);
  record.mutable_metrics()->set_step(step);
  (*record.mutable_metrics()->mutable_values())["loss"] = loss;
  SendRecord(stream, begin, end, record);
}

void FakeWorker::SendRecord(const v1::StreamId& stream, int64_t begin, int64_t end,
                            const v1::TelemetryRecord& record) {
  v1::WorkerMessage message;
  v1::TelemetryBatch& batch = *message.mutable_telemetry();
  *batch.mutable_stream() = stream;
  batch.set_begin_offset(begin);
  batch.set_end_offset(end);
  *batch.add_records() = record;
  Send(message);
}

void FakeWorker::SendOutput(v1::StreamId stream, int64_t begin, const std::string& text) {
  stream.set_kind(v1::STREAM_KIND_LOG);
  v1::WorkerMessage message;
  *message.mutable_log()->mutable_stream() = stream;
  message.mutable_log()->set_begin_offset(begin);
  message.mutable_log()->set_data(text);
  message.mutable_log()->set_time_ms(begin);
  Send(message);
}

v1::ControllerMessage FakeWorker::Take(v1::ControllerMessage::KindCase kind) {
  std::unique_lock lock(mutex_);
  v1::ControllerMessage taken;
  const bool found = changed_.wait_for(lock, kTestTimeout, [&] {
    // A FactsAcknowledged without acknowledged facts only carries a position mark of the event log.
    const auto it = std::find_if(received_.begin(), received_.end(), [&](const auto& message) {
      return message.kind_case() == kind && (!message.has_facts_acknowledged() ||
                                             message.facts_acknowledged().fact_sequence() > 0);
    });
    if (it == received_.end()) return false;
    taken = *it;
    received_.erase(it);
    return true;
  });
  EXPECT_TRUE(found) << "no message of kind " << kind << (ended_ ? "; stream ended: " : "")
                     << end_.error_message();
  return taken;
}

void FakeWorker::TakeAcknowledged(const v1::StreamId& stream, int64_t offset) {
  while (!testing::Test::HasFailure()) {
    const v1::StreamAcknowledged acknowledged =
        Take(v1::ControllerMessage::kStreamAcknowledged).stream_acknowledged();
    if (acknowledged.stream().kind() == stream.kind() &&
        acknowledged.stream().rank() == stream.rank() && acknowledged.offset() >= offset) {
      return;
    }
  }
}

int FakeWorker::Count(v1::ControllerMessage::KindCase kind) {
  const std::lock_guard lock(mutex_);
  return static_cast<int>(
      std::count_if(received_.begin(), received_.end(),
                    [&](const auto& message) { return message.kind_case() == kind; }));
}

grpc::Status FakeWorker::WaitForEnd() {
  std::unique_lock lock(mutex_);
  EXPECT_TRUE(changed_.wait_for(lock, kTestTimeout, [this] { return ended_; }));
  return end_;
}

RunningController::RunningController(Stores stores, LoopOptions loop, std::string http_listen) {
  ControllerOptions options;
  options.listen = "127.0.0.1:0";
  options.data_dir = "/nowhere";
  options.loop = std::move(loop);
  options.http.listen = std::move(http_listen);
  auto started = Controller::StartOn(std::move(stores), options, clock);
  EXPECT_TRUE(started.ok()) << started.status();
  if (started.ok()) controller = *std::move(started);
  Connect();
}

RunningController::RunningController(const std::string& data_dir, std::string http_listen) {
  ControllerOptions options;
  options.listen = "127.0.0.1:0";
  options.data_dir = data_dir;
  options.http.listen = std::move(http_listen);
  auto started = Controller::Start(options, clock);
  EXPECT_TRUE(started.ok()) << started.status();
  if (started.ok()) controller = *std::move(started);
  Connect();
}

void RunningController::Connect() {
  if (controller == nullptr) return;
  grpc::ChannelArguments arguments;
  // Makes each test connect to its own controller. A global pool could reuse an earlier test's
  // connection to the same port.
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  arguments.SetMaxReceiveMessageSize(16 << 20);
  channel = grpc::CreateCustomChannel(controller->address(), grpc::InsecureChannelCredentials(),
                                      arguments);
  jobs = v1::JobService::NewStub(channel);
  logs = v1::LogService::NewStub(channel);
  metrics = v1::MetricService::NewStub(channel);
  nodes = v1::NodeService::NewStub(channel);
  server = v1::ServerService::NewStub(channel);
}

int64_t RunningController::Submit(const std::string& name, int slots) {
  v1::SubmitJobRequest request;
  *request.mutable_spec() = CommandSpec(name, slots);
  request.set_user("ada");
  v1::SubmitJobResponse response;
  grpc::ClientContext context;
  const grpc::Status status = jobs->SubmitJob(&context, request, &response);
  EXPECT_TRUE(status.ok()) << status.error_message();
  return response.job().id();
}

v1::Job RunningController::Get(const std::string& job) {
  v1::GetJobRequest request;
  request.set_job(job);
  v1::GetJobResponse response;
  grpc::ClientContext context;
  const grpc::Status status = jobs->GetJob(&context, request, &response);
  EXPECT_TRUE(status.ok()) << status.error_message();
  return response.job();
}

void RunningController::Tick() {
  v1::StopJobRequest request;
  request.set_job("no-such-job");
  v1::StopJobResponse response;
  grpc::ClientContext context;
  EXPECT_EQ(jobs->StopJob(&context, request, &response).error_code(), grpc::StatusCode::NOT_FOUND);
}

v1::Job RunningController::WaitForJob(int64_t job_id,
                                      const std::function<bool(const v1::Job&)>& condition) {
  v1::WatchJobRequest request;
  request.set_job(absl::StrCat(job_id));
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + kTestTimeout);
  const auto stream = jobs->WatchJob(&context, request);
  v1::WatchJobResponse response;
  while (stream->Read(&response)) {
    if (!condition(response.job())) continue;
    context.TryCancel();
    return response.job();
  }
  ADD_FAILURE() << "the job never came there; last: " << response.job().ShortDebugString();
  return {};
}

v1::JobSpec CommandSpec(const std::string& name, int slots) {
  v1::JobSpec spec;
  spec.set_name(name);
  spec.mutable_resources()->set_nodes(1);
  spec.mutable_resources()->set_slots_per_node(slots);
  spec.mutable_resources()->set_device(v1::DEVICE_KIND_CPU);
  spec.add_command("train");
  spec.mutable_restart()->set_max_restarts(3);
  return spec;
}

v1::Hello TestHello(const std::string& node_id, int slots) {
  v1::Hello hello;
  hello.set_protocol_version(kProtocolVersion);
  hello.set_node_id(node_id);
  hello.set_node_name("name-of-" + node_id);
  hello.set_incarnation("1");
  hello.set_address("127.0.0.1");
  hello.set_worker_version("test");
  for (int i = 0; i < slots; ++i) {
    v1::Slot& slot = *hello.mutable_inventory()->add_slots();
    slot.set_index(i);
    slot.set_kind(v1::DEVICE_KIND_CPU);
  }
  return hello;
}

v1::StreamId Stream(int64_t job_id, v1::StreamKind kind, int rank, int64_t attempt_number) {
  v1::StreamId stream;
  stream.set_job_id(job_id);
  stream.set_attempt(attempt_number);
  stream.set_rank(rank);
  stream.set_kind(kind);
  return stream;
}

v1::Fact StartedFact(int64_t job_id, int rank, int64_t attempt_number) {
  v1::Fact fact;
  fact.mutable_rank_started()->set_job_id(job_id);
  fact.mutable_rank_started()->set_attempt(attempt_number);
  fact.mutable_rank_started()->set_rank(rank);
  return fact;
}

v1::Fact ExitedFact(int64_t job_id, int exit_code, int rank, int64_t attempt_number) {
  v1::Fact fact;
  fact.mutable_rank_exited()->set_job_id(job_id);
  fact.mutable_rank_exited()->set_attempt(attempt_number);
  fact.mutable_rank_exited()->set_rank(rank);
  fact.mutable_rank_exited()->set_exit_code(exit_code);
  return fact;
}

v1::Fact ClearedFact(int64_t job_id, int64_t attempt_number) {
  v1::Fact fact;
  fact.mutable_attempt_cleared()->set_job_id(job_id);
  fact.mutable_attempt_cleared()->set_attempt(attempt_number);
  return fact;
}

v1::AttemptReport RunningReport(int64_t job_id, int64_t attempt_number) {
  v1::AttemptReport report;
  report.set_job_id(job_id);
  report.set_attempt(attempt_number);
  report.add_ranks()->set_running(true);
  return report;
}

}  // namespace trainyard::controller
