#include "tests/worker/rpc/fake_controller.h"

#include <gtest/gtest.h>

#include <chrono>
#include <climits>
#include <utility>

#include "absl/strings/str_cat.h"

namespace trainyard::worker {
namespace {

FakeController::StreamKey KeyOf(const v1::StreamId& id) {
  return {id.job_id(), id.attempt(), id.rank(), id.kind()};
}

v1::StreamId IdOf(const FakeController::StreamKey& key) {
  v1::StreamId id;
  id.set_job_id(std::get<0>(key));
  id.set_attempt(std::get<1>(key));
  id.set_rank(std::get<2>(key));
  id.set_kind(static_cast<v1::StreamKind>(std::get<3>(key)));
  return id;
}

}  // namespace

void FakeController::Serve(int port) {
  grpc::ServerBuilder builder;
  builder.AddListeningPort(absl::StrCat("127.0.0.1:", port), grpc::InsecureServerCredentials(),
                           &port_);
  builder.AddChannelArgument(GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS, 50);
  builder.RegisterService(this);
  builder.RegisterService(&access_);
  server_ = builder.BuildAndStart();
  ASSERT_NE(server_, nullptr);
}

void FakeController::Shutdown() {
  if (server_ == nullptr) return;
  server_->Shutdown(std::chrono::system_clock::now());
  server_->Wait();
  server_ = nullptr;
}

void FakeController::RefuseWith(std::function<grpc::Status()> answer) {
  const std::lock_guard lock(mutex_);
  refuse_ = std::move(answer);
}

void FakeController::AnswerHelloWith(v1::ControllerMessage message) {
  const std::lock_guard lock(mutex_);
  hello_answer_ = {std::move(message)};
}

void FakeController::BreakAfter(std::vector<int> script) {
  const std::lock_guard lock(mutex_);
  script_ = std::move(script);
}

void FakeController::SendAfterWelcome(v1::ControllerMessage message) {
  const std::lock_guard lock(mutex_);
  after_welcome_.push_back(std::move(message));
}

grpc::Status FakeController::Attach(grpc::ServerContext*, Stream* stream) {
  v1::WorkerMessage first;
  if (!stream->Read(&first)) return grpc::Status::OK;
  int messages = INT_MAX;
  {
    const std::lock_guard lock(mutex_);
    if (!first.has_hello()) complaints_.push_back("the first message is not Hello");
    ++hellos_;
    last_hello_ = first.hello();
    if (refuse_) {
      if (grpc::Status status = refuse_(); !status.ok()) return status;
    }
    if (!script_.empty()) {
      messages = script_.front();
      script_.erase(script_.begin());
    }
  }
  if (Greet(*stream, first.hello())) Serve(*stream, messages);
  return grpc::Status(grpc::StatusCode::UNAVAILABLE, "the fake broke the stream");
}

bool FakeController::Greet(Stream& stream, const v1::Hello& hello) {
  const std::lock_guard lock(mutex_);
  if (!hello_answer_.empty()) return stream.Write(hello_answer_.front());
  v1::ControllerMessage message;
  SetLeaderTerm(term_, message);
  v1::Welcome& welcome = *message.mutable_welcome();
  if (proves_welcome_) {
    welcome.set_token_proof(WelcomeProof(access_.token, hello.nonce(), hello.node_id()));
  }
  welcome.set_fact_sequence(facts_.empty() ? 0 : facts_.back().sequence());
  for (const auto& [key, bytes] : streams_) {
    v1::StreamAcknowledged& stored = *welcome.add_streams();
    *stored.mutable_stream() = IdOf(key);
    stored.set_offset(static_cast<int64_t>(bytes.size()));
  }
  stream.Write(message);
  for (v1::ControllerMessage next : after_welcome_) {
    if (next.leader_term() == 0) SetLeaderTerm(term_, next);
    stream.Write(next);
  }
  return true;
}

void FakeController::Serve(Stream& stream, int messages) {
  v1::WorkerMessage message;
  for (int i = 0; i < messages && stream.Read(&message); ++i) {
    const std::lock_guard lock(mutex_);
    // The message was received, but is not stored.
    if (messages != INT_MAX && i >= messages - 3) continue;
    Store(message, stream);
  }
}

void FakeController::Store(const v1::WorkerMessage& message, Stream& stream) {
  switch (message.kind_case()) {
    case v1::WorkerMessage::kHeartbeat:
      ++heartbeats_;
      return;
    case v1::WorkerMessage::kFact:
      return StoreFact(message.fact(), stream);
    case v1::WorkerMessage::kLog:
      return StoreBytes(message.log().stream(), message.log().begin_offset(), message.log().data(),
                        stream);
    default:
      complaints_.push_back("a message out of place: " + message.ShortDebugString());
  }
}

void FakeController::StoreFact(const v1::Fact& fact, Stream& stream) {
  const uint64_t last = facts_.empty() ? 0 : facts_.back().sequence();
  if (fact.sequence() != last + 1) {
    complaints_.push_back(absl::StrCat("fact ", fact.sequence(), " after ", last));
    return;
  }
  facts_.push_back(fact);
  v1::ControllerMessage answer;
  SetLeaderTerm(term_, answer);
  answer.mutable_facts_acknowledged()->set_fact_sequence(fact.sequence());
  stream.Write(answer);
}

void FakeController::StoreBytes(const v1::StreamId& id, int64_t begin, const std::string& bytes,
                                Stream& stream) {
  std::string& stored = streams_[KeyOf(id)];
  if (begin != static_cast<int64_t>(stored.size())) {
    complaints_.push_back(absl::StrCat("bytes at ", begin, " after ", stored.size()));
    return;
  }
  stored += bytes;
  v1::ControllerMessage answer;
  *answer.mutable_stream_acknowledged()->mutable_stream() = id;
  answer.mutable_stream_acknowledged()->set_offset(static_cast<int64_t>(stored.size()));
  stream.Write(answer);
}

int FakeController::hellos() const {
  const std::lock_guard lock(mutex_);
  return hellos_;
}

v1::Hello FakeController::last_hello() const {
  const std::lock_guard lock(mutex_);
  return last_hello_;
}

int FakeController::heartbeats() const {
  const std::lock_guard lock(mutex_);
  return heartbeats_;
}

std::vector<v1::Fact> FakeController::facts() const {
  const std::lock_guard lock(mutex_);
  return facts_;
}

std::string FakeController::stored(const v1::StreamId& stream) const {
  const std::lock_guard lock(mutex_);
  const auto found = streams_.find(KeyOf(stream));
  return found == streams_.end() ? "" : found->second;
}

std::vector<std::string> FakeController::complaints() const {
  const std::lock_guard lock(mutex_);
  return complaints_;
}

}  // namespace trainyard::worker
