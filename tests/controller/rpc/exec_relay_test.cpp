// Tests the limits of exec sessions with short times. exec_service_test.cpp tests the rest.
#include "controller/rpc/exec_relay.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <thread>

#include "trainyard/v1/exec_service.grpc.pb.h"

namespace trainyard::controller {
namespace {

using std::chrono::milliseconds;
using testing::HasSubstr;

// Passes the events of one stream to the relay.
template <typename Stream>
class RelayEnd final : public Stream {
 public:
  using Event = std::function<void(ExecRelay&, bool)>;

  RelayEnd(Event read, Event written) : read_(std::move(read)), written_(std::move(written)) {}
  void Use(std::shared_ptr<ExecRelay> relay) { relay_ = std::move(relay); }
  void OnReadDone(bool ok) override { read_(*relay_, ok); }
  void OnWriteDone(bool ok) override { written_(*relay_, ok); }
  void OnDone() override { delete this; }

 private:
  const Event read_;
  const Event written_;
  std::shared_ptr<ExecRelay> relay_;
};

// A service with one session, which begins without messages.
class OneSession final : public v1::ExecService::CallbackService {
 public:
  explicit OneSession(const ExecLimits& limits) : limits_(limits) {}

  ExecRelay::ClientStream* Exec(grpc::CallbackServerContext*) override {
    auto* client = new RelayEnd<ExecRelay::ClientStream>(
        [](ExecRelay& relay, bool ok) { relay.ClientRead(ok); },
        [](ExecRelay& relay, bool ok) { relay.ClientWritten(ok); });
    relay = std::make_shared<ExecRelay>(client, limits_);
    client->Use(relay);
    v1::ExecStarted started;
    started.set_node("gpu07");
    relay->AwaitWorker(started);
    has_client = true;
    return client;
  }

  ExecRelay::WorkerStream* ServeExec(grpc::CallbackServerContext*) override {
    auto* worker = new RelayEnd<ExecRelay::WorkerStream>(
        [](ExecRelay& relay, bool ok) { relay.WorkerRead(ok); },
        [](ExecRelay& relay, bool ok) { relay.WorkerWritten(ok); });
    worker->Use(relay);
    EXPECT_TRUE(relay->Join(worker));
    return worker;
  }

  std::shared_ptr<ExecRelay> relay;
  std::atomic<bool> has_client{false};

 private:
  const ExecLimits limits_;
};

class ExecRelayTest : public testing::Test {
 protected:
  void Serve(const ExecLimits& limits) {
    service_ = std::make_unique<OneSession>(limits);
    grpc::ServerBuilder builder;
    int port = 0;
    builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port);
    builder.RegisterService(service_.get());
    server_ = builder.BuildAndStart();
    stub_ = v1::ExecService::NewStub(grpc::CreateChannel("127.0.0.1:" + std::to_string(port),
                                                         grpc::InsecureChannelCredentials()));
    client_ = stub_->Exec(&client_context_);
    while (!service_->has_client) std::this_thread::yield();
  }
  void Join() {
    worker_ = stub_->ServeExec(&worker_context_);
    v1::ExecOutput output;
    ASSERT_TRUE(client_->Read(&output));
    EXPECT_EQ(output.started().node(), "gpu07");
  }

  ExecRelay& relay() { return *service_->relay; }
  // Checks the limits, as the loop does after each tick, until the session ends.
  std::string EndOfClient() {
    while (relay().CheckLimits()) std::this_thread::yield();
    v1::ExecOutput output;
    while (client_->Read(&output)) {
    }
    const grpc::Status status = client_->Finish();
    EXPECT_EQ(status.error_code(), grpc::StatusCode::DEADLINE_EXCEEDED);
    return status.error_message();
  }
  void TearDown() override {
    client_context_.TryCancel();
    worker_context_.TryCancel();
    server_->Shutdown();
  }

  std::unique_ptr<OneSession> service_;
  std::unique_ptr<grpc::Server> server_;
  std::unique_ptr<v1::ExecService::Stub> stub_;
  grpc::ClientContext client_context_;
  grpc::ClientContext worker_context_;
  std::unique_ptr<grpc::ClientReaderWriter<v1::ExecInput, v1::ExecOutput>> client_;
  std::unique_ptr<grpc::ClientReaderWriter<v1::ExecOutput, v1::ExecInput>> worker_;
};

TEST_F(ExecRelayTest, AWorkerThatDoesNotAnswerEndsTheSession) {
  Serve({.open = milliseconds(50)});
  EXPECT_THAT(EndOfClient(),
              HasSubstr("the worker of node gpu07 did not open the session within 50 ms"));
}

TEST_F(ExecRelayTest, AnIdleSessionEnds) {
  Serve({.idle = milliseconds(100)});
  Join();
  EXPECT_THAT(EndOfClient(), HasSubstr("the session had no input and no output for 100 ms"));
  v1::ExecInput input;
  while (worker_->Read(&input)) {
  }
  EXPECT_EQ(worker_->Finish().error_code(), grpc::StatusCode::DEADLINE_EXCEEDED);
}

TEST_F(ExecRelayTest, InputAndOutputKeepTheSessionOpen) {
  Serve({.open = milliseconds(1), .idle = milliseconds(300)});
  Join();
  const auto end = std::chrono::steady_clock::now() + milliseconds(900);
  while (std::chrono::steady_clock::now() < end) {
    v1::ExecInput input;
    input.set_data("x");
    ASSERT_TRUE(client_->Write(input));
    ASSERT_TRUE(worker_->Read(&input));
    v1::ExecOutput output;
    output.set_standard_output("y");
    ASSERT_TRUE(worker_->Write(output));
    ASSERT_TRUE(client_->Read(&output));
    ASSERT_TRUE(relay().CheckLimits());
  }
}

TEST_F(ExecRelayTest, TheEndIsReportedOnce) {
  Serve({});
  int ends = 0;
  relay().OnEnd([&] { ++ends; });
  relay().End(absl::AbortedError("first"));
  relay().End(absl::AbortedError("second"));
  EXPECT_EQ(ends, 1);
  EXPECT_FALSE(relay().CheckLimits());
  EXPECT_FALSE(relay().Join(nullptr));
  relay().OnEnd([&] { ++ends; });
  EXPECT_EQ(ends, 2) << "a session that has ended before";
  v1::ExecOutput output;
  EXPECT_FALSE(client_->Read(&output));
  EXPECT_EQ(client_->Finish().error_message(), "first");
}

}  // namespace
}  // namespace trainyard::controller
