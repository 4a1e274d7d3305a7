#include "tests/bench/simulated_worker.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <condition_variable>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "proto/contract/protocol_version.h"
#include "tests/fakes/process_channel.h"

namespace trainyard::bench {
namespace {

// Must equal the worker's value (worker/rpc/attach_stream.h).
constexpr int64_t kLeastBackoffMs = 200;
constexpr int64_t kMostBackoffMs = 5000;
// Maximum wait before the next controller of the list is dialled.
constexpr int64_t kSwitchMsMax = 100;
constexpr int64_t kLeastWelcomeMs = 10'000;
constexpr int64_t kMostWelcomeMs = 60'000;
constexpr int kSigterm = 15;

// Opens a new connection with the worker's keepalive settings.
std::shared_ptr<grpc::Channel> DialController(const std::string& controller) {
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIME_MS, 5000);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, 4000);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 1);
  arguments.SetInt(GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, 0);
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  return OpenProcessChannel(controller, arguments);
}

bool IsTelemetry(const v1::StreamId& stream) {
  return stream.kind() == v1::STREAM_KIND_TELEMETRY && stream.rank() == 0;
}

v1::StreamId TelemetryOf(int64_t job_id, int64_t attempt_number) {
  v1::StreamId stream;
  stream.set_job_id(job_id);
  stream.set_attempt(attempt_number);
  stream.set_kind(v1::STREAM_KIND_TELEMETRY);
  return stream;
}

}  // namespace

std::string KeyName(int key) { return absl::StrCat("metric_", key); }

int64_t NowMs() {
  using std::chrono::milliseconds, std::chrono::system_clock;
  return std::chrono::duration_cast<milliseconds>(system_clock::now().time_since_epoch()).count();
}

class WorkerStream final
    : public grpc::ClientBidiReactor<v1::WorkerMessage, v1::ControllerMessage> {
 public:
  WorkerStream(SimulatedWorker& worker, const std::string& controller)
      : worker_(worker),
        channel_(DialController(controller)),
        stub_(v1::WorkerControl::NewStub(channel_)) {}

  ~WorkerStream() override { Close(); }

  // Ends the stream. The worker's callback reports the end.
  void Cancel() { context_.TryCancel(); }

  // Ends the stream and waits until gRPC has released it.
  void Close() {
    context_.TryCancel();
    Release();
    std::unique_lock lock(mutex_);
    ended_.wait(lock, [this] { return done_; });
  }

  void Begin(v1::Hello hello) {
    stub_->async()->Attach(&context_, this);
    // Keeps the call alive while Send may still write to it.
    AddHold();
    StartRead(&incoming_);
    v1::WorkerMessage message;
    *message.mutable_hello() = std::move(hello);
    Send(std::move(message));
    StartCall();
  }

  void Send(v1::WorkerMessage message) {
    const std::lock_guard lock(mutex_);
    if (broken_) return;
    outgoing_.push_back(std::move(message));
    if (outgoing_.size() == 1) StartWrite(&outgoing_.front());
  }

  std::size_t Backlog() {
    const std::lock_guard lock(mutex_);
    return outgoing_.size();
  }

  void OnReadDone(bool ok) override {
    if (!ok) return Release();
    if (worker_.OnMessage(incoming_)) StartRead(&incoming_);
  }

  void OnWriteDone(bool ok) override {
    if (!ok) return Release();
    const std::lock_guard lock(mutex_);
    outgoing_.pop_front();
    if (!outgoing_.empty() && !broken_) StartWrite(&outgoing_.front());
  }

  void OnDone(const grpc::Status&) override {
    worker_.OnClosed();
    const std::lock_guard lock(mutex_);
    done_ = true;
    ended_.notify_all();
  }

 private:
  void Release() {
    {
      const std::lock_guard lock(mutex_);
      if (std::exchange(broken_, true)) return;
    }
    RemoveHold();
  }

  SimulatedWorker& worker_;
  const std::shared_ptr<grpc::Channel> channel_;
  const std::unique_ptr<v1::WorkerControl::Stub> stub_;
  grpc::ClientContext context_;
  v1::ControllerMessage incoming_;
  std::mutex mutex_;
  std::condition_variable ended_;
  std::deque<v1::WorkerMessage> outgoing_;
  bool broken_ = false;
  bool done_ = false;
};

SimulatedWorker::SimulatedWorker(Options options)
    : options_(std::move(options)),
      controllers_(options_.controllers),
      welcome_wait_ms_(kLeastWelcomeMs),
      random_(static_cast<std::minstd_rand::result_type>(options_.index + 1)) {}

SimulatedWorker::~SimulatedWorker() {
  // Until Close returns, messages can arrive. The handlers of messages use all members.
  if (stream_ != nullptr) stream_->Close();
}

void SimulatedWorker::DialIfDue() {
  std::unique_ptr<WorkerStream> old;
  const std::lock_guard lock(mutex_);
  const int64_t now_ms = NowMs();
  if (!closed_ && !welcomed_ && now_ms - dial_at_ms_ > welcome_wait_ms_) {
    dial_at_ms_ = now_ms;
    welcome_wait_ms_ = std::min(2 * welcome_wait_ms_, kMostWelcomeMs);
    stream_->Cancel();
  }
  if (!closed_ || now_ms < dial_at_ms_) return;
  // The stream has already reported its end, so its destructor does not wait for the lock held
  // here.
  old = std::move(stream_);
  Dial();
}

void SimulatedWorker::Dial() {
  closed_ = false;
  dial_at_ms_ = NowMs();
  stream_ = std::make_unique<WorkerStream>(*this, controllers_.current());
  stream_->Begin(MakeHello());
}

void SimulatedWorker::Beat() {
  DialIfDue();
  const std::lock_guard lock(mutex_);
  if (!welcomed_) return;
  v1::WorkerMessage message;
  v1::Heartbeat& heartbeat = *message.mutable_heartbeat();
  for (auto& [key, attempt] : attempts_) {
    if (trains_) {
      for (v1::RankReport& rank : *attempt.report.mutable_ranks()) {
        if (!rank.running()) continue;
        rank.set_step(rank.step() + 1);
        rank.set_last_activity_ms(NowMs());
      }
      if (attempt.leads && !attempt.report.cleared()) SendTelemetry(key, attempt, 1);
    }
    *heartbeat.add_attempts() = attempt.report;
  }
  stream_->Send(std::move(message));
}

bool SimulatedWorker::welcomed() {
  const std::lock_guard lock(mutex_);
  return welcomed_;
}

std::vector<AttemptKey> SimulatedWorker::Led() {
  const std::lock_guard lock(mutex_);
  std::vector<AttemptKey> led;
  for (const auto& [key, attempt] : attempts_) {
    if (attempt.leads && !attempt.report.cleared()) led.push_back(key);
  }
  return led;
}

void SimulatedWorker::StopTraining() {
  const std::lock_guard lock(mutex_);
  trains_ = false;
}

void SimulatedWorker::SendSteps(int64_t job_id, int64_t attempt_number, int64_t records) {
  const std::lock_guard lock(mutex_);
  const auto found = attempts_.find({job_id, attempt_number});
  if (welcomed_ && found != attempts_.end()) SendTelemetry(found->first, found->second, records);
}

int64_t SimulatedWorker::StoredSteps(int64_t job_id, int64_t attempt_number) {
  const std::lock_guard lock(mutex_);
  const auto found = attempts_.find({job_id, attempt_number});
  return found == attempts_.end() ? 0 : found->second.stored_bytes / kRecordBytes;
}

std::size_t SimulatedWorker::Backlog() {
  const std::lock_guard lock(mutex_);
  return stream_ == nullptr ? 0 : stream_->Backlog();
}

bool SimulatedWorker::OnMessage(const v1::ControllerMessage& message) {
  const std::lock_guard lock(mutex_);
  Take(message);
  return !options_.slow || !welcomed_;
}

void SimulatedWorker::Take(const v1::ControllerMessage& message) {
  switch (message.kind_case()) {
    case v1::ControllerMessage::kWelcome:
      return Welcome(message.welcome());
    case v1::ControllerMessage::kStartAttempt:
      return Start(message.start_attempt());
    case v1::ControllerMessage::kStopAttempt:
      return Stop(message.stop_attempt());
    case v1::ControllerMessage::kFactsAcknowledged:
      while (!facts_.empty() &&
             facts_.front().sequence() <= message.facts_acknowledged().fact_sequence()) {
        facts_.pop_front();
      }
      return;
    case v1::ControllerMessage::kStreamAcknowledged:
      return Acknowledge(message.stream_acknowledged());
    case v1::ControllerMessage::kForgetAttempt:
      attempts_.erase({message.forget_attempt().job_id(), message.forget_attempt().attempt()});
      return;
    // The simulated jobs have neither spares nor time limits, and nobody runs commands beside them.
    case v1::ControllerMessage::kHealAttempt:
    case v1::ControllerMessage::kWarnAttempt:
    case v1::ControllerMessage::kOpenExec:
    case v1::ControllerMessage::KIND_NOT_SET:
      return;
  }
}

void SimulatedWorker::OnClosed() {
  const std::lock_guard lock(mutex_);
  welcomed_ = false;
  closed_ = true;
  int64_t least = 0;
  int64_t most = kSwitchMsMax;
  if (controllers_.Advance()) {
    backoff_ms_ = std::clamp(2 * backoff_ms_, kLeastBackoffMs, kMostBackoffMs);
    least = backoff_ms_ / 2;
    most = backoff_ms_;
  }
  dial_at_ms_ = NowMs() + std::uniform_int_distribution<int64_t>(least, most)(random_);
}

void SimulatedWorker::Welcome(const v1::Welcome& welcome) {
  welcomed_ = true;
  backoff_ms_ = 0;
  controllers_.Succeeded();
  welcome_wait_ms_ = kLeastWelcomeMs;
  cluster_id_ = welcome.cluster_id();
  while (!facts_.empty() && facts_.front().sequence() <= welcome.fact_sequence()) {
    facts_.pop_front();
  }
  SendFacts();
  for (auto& [key, attempt] : attempts_) attempt.sent_bytes = attempt.stored_bytes = 0;
  for (const v1::StreamAcknowledged& stream : welcome.streams()) Acknowledge(stream);
  for (auto& [key, attempt] : attempts_) attempt.sent_bytes = attempt.stored_bytes;
}

void SimulatedWorker::Acknowledge(const v1::StreamAcknowledged& acknowledged) {
  if (!IsTelemetry(acknowledged.stream())) return;
  const auto found =
      attempts_.find({acknowledged.stream().job_id(), acknowledged.stream().attempt()});
  if (found != attempts_.end()) found->second.stored_bytes = acknowledged.offset();
}

void SimulatedWorker::SendFacts() {
  for (const v1::Fact& fact : facts_) {
    v1::WorkerMessage message;
    *message.mutable_fact() = fact;
    stream_->Send(std::move(message));
  }
}

void SimulatedWorker::AddFact(v1::Fact fact) {
  fact.set_sequence(++last_fact_);
  v1::WorkerMessage message;
  *message.mutable_fact() = fact;
  facts_.push_back(std::move(fact));
  if (welcomed_) stream_->Send(std::move(message));
}

void SimulatedWorker::Start(const v1::StartAttempt& start) {
  const auto [found, fresh] = attempts_.try_emplace({start.job_id(), start.attempt()});
  if (!fresh) return;
  v1::AttemptReport& report = found->second.report;
  report.set_job_id(start.job_id());
  report.set_attempt(start.attempt());
  for (const v1::Process& process : start.processes()) {
    const v1::ProcessRank& started = process.ranks(0);
    v1::RankReport& rank = *report.add_ranks();
    rank.set_rank(started.rank());
    rank.set_running(true);
    rank.set_phase("train");
    found->second.leads |= started.rank() == 0;
    v1::Fact fact;
    fact.mutable_rank_started()->set_job_id(start.job_id());
    fact.mutable_rank_started()->set_attempt(start.attempt());
    fact.mutable_rank_started()->set_rank(started.rank());
    fact.mutable_rank_started()->set_time_ms(NowMs());
    AddFact(std::move(fact));
  }
}

void SimulatedWorker::Stop(const v1::StopAttempt& stop) {
  const auto found = attempts_.find({stop.job_id(), stop.attempt()});
  if (found != attempts_.end()) {
    Attempt& attempt = found->second;
    if (attempt.report.cleared()) return;
    attempt.report.set_cleared(true);
    for (v1::RankReport& rank : *attempt.report.mutable_ranks()) {
      rank.set_running(false);
      v1::Fact fact;
      fact.mutable_rank_exited()->set_job_id(stop.job_id());
      fact.mutable_rank_exited()->set_attempt(stop.attempt());
      fact.mutable_rank_exited()->set_rank(rank.rank());
      fact.mutable_rank_exited()->set_signal(kSigterm);
      fact.mutable_rank_exited()->set_time_ms(NowMs());
      AddFact(std::move(fact));
    }
    if (attempt.leads) {
      v1::StreamEnd& end = *attempt.report.add_stream_ends();
      *end.mutable_stream() = TelemetryOf(stop.job_id(), stop.attempt());
      end.set_end_offset(attempt.sent_bytes);
    }
  }
  v1::Fact cleared;
  cleared.mutable_attempt_cleared()->set_job_id(stop.job_id());
  cleared.mutable_attempt_cleared()->set_attempt(stop.attempt());
  AddFact(std::move(cleared));
}

void SimulatedWorker::SendTelemetry(const AttemptKey& key, Attempt& attempt, int64_t records) {
  v1::WorkerMessage message;
  v1::TelemetryBatch& batch = *message.mutable_telemetry();
  *batch.mutable_stream() = TelemetryOf(key.job_id, key.number);
  batch.set_begin_offset(attempt.sent_bytes);
  for (int64_t i = 0; i < records; ++i) {
    v1::TelemetryRecord& record = *batch.add_records();
    record.set_time_ms(NowMs());
    const int64_t step = attempt.sent_bytes / kRecordBytes + 1;
    record.mutable_metrics()->set_step(step);
    for (int name = 0; name < kKeysPerRecord; ++name) {
      (*record.mutable_metrics()->mutable_values())[KeyName(name)] =
          3.0 + std::sin(static_cast<double>(step * (name + 1))) / 10;
    }
    attempt.sent_bytes += kRecordBytes;
  }
  batch.set_end_offset(attempt.sent_bytes);
  stream_->Send(std::move(message));
}

v1::Hello SimulatedWorker::MakeHello() const {
  v1::Hello hello;
  hello.set_protocol_version(kProtocolVersion);
  hello.set_node_id(absl::StrFormat("simulated-%05d", options_.index));
  hello.set_node_name(hello.node_id());
  hello.set_incarnation("1");
  hello.set_address("127.0.0.1");
  hello.set_worker_version("simulated");
  hello.set_cluster_id(cluster_id_);
  for (int i = 0; i < options_.slots; ++i) {
    v1::Slot& slot = *hello.mutable_inventory()->add_slots();
    slot.set_index(i);
    slot.set_kind(v1::DEVICE_KIND_CPU);
  }
  for (const auto& [key, attempt] : attempts_) *hello.add_attempts() = attempt.report;
  return hello;
}

}  // namespace trainyard::bench
