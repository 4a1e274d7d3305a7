#include "worker/rpc/attach_stream.h"
#include "proto/contract/protocol_version.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <functional>
#include <thread>
#include <utility>

#include "tests/worker/core/memory_source.h"
#include "tests/worker/rpc/fake_controller.h"
#include "tests/worker/rpc/stalling_proxy.h"
#include "tests/worker/spool/temporary_dir.h"
#include "worker/core/term_fence.h"
#include "worker/spool/fact_log.h"

namespace trainyard::worker {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;
using testing::HasSubstr;
using testing::IsEmpty;

// A worker that consists only of its stream. The worker's facts are on disk, its files in memory.
class LittleWorker : public AttachHandler {
 public:
  explicit LittleWorker(AttachOptions options)
      : facts_(*FactLog::Open(dir_.File("facts"))), uplink_(*facts_) {
    options.token_file = WriteFakeToken(dir_.path());
    options.backoff_ms_min = 5;
    options.backoff_ms_max = 50;
    stream_ = std::make_unique<AttachStream>(loop_, *this, std::move(options));
    stream_->Start();
  }

  v1::Hello MakeHello(const std::string& challenge, const std::string& nonce) override {
    v1::Hello hello;
    hello.set_challenge(challenge);
    hello.set_nonce(nonce);
    hello.set_protocol_version(kProtocolVersion);
    hello.set_node_id("node");
    return hello;
  }
  absl::Status Admit(const v1::ControllerMessage& message) override {
    return fence_.Admit(message);
  }
  void OnWelcome(const v1::Welcome& welcome) override {
    ++welcomes;
    ASSERT_TRUE(uplink_.OnWelcome(welcome).ok());
  }
  void OnMessage(const v1::ControllerMessage& message) override {
    if (message.has_facts_acknowledged()) {
      uplink_.OnFactsAcknowledged(message.facts_acknowledged().fact_sequence());
    } else if (message.has_stream_acknowledged()) {
      uplink_.OnStreamAcknowledged(message.stream_acknowledged());
    } else {
      commands.push_back(message);
    }
  }
  std::optional<v1::WorkerMessage> NextMessage() override { return uplink_.Next(); }
  void OnClosed(const std::string& controller, const absl::Status& status) override {
    uplink_.OnClosed();
    failed.push_back(controller);
    closed.push_back(status);
  }

  std::shared_ptr<MemoryFile> AddFile(int rank) {
    auto file = std::make_shared<MemoryFile>();
    uplink_.AddStream(std::make_unique<MemorySource>(LogOf(1, 1, rank), file, 1000));
    return file;
  }

  void AddFact(int64_t job) {
    v1::Fact fact;
    fact.mutable_attempt_cleared()->set_job_id(job);
    ASSERT_TRUE(facts_->Append(fact).ok());
    stream_->Wake();
  }

  // Runs the loop until `done` returns true. Returns false after a time-out.
  bool RunUntil(const std::function<bool()>& done) {
    const auto deadline = steady_clock::now() + std::chrono::seconds(20);
    while (!done()) {
      if (steady_clock::now() > deadline) return false;
      loop_.restart();
      loop_.run_one_for(milliseconds(10));
      if (stream_ != nullptr) stream_->Wake();
    }
    return true;
  }

  // Lets the loop handle up to `steps` events.
  void RunSteps(int steps) {
    RunUntil([&] { return steps-- <= 0; });
  }

  void Leave() { stream_ = nullptr; }
  AttachStream& stream() { return *stream_; }

  int welcomes = 0;
  std::vector<absl::Status> closed;
  // The controller of each entry of `closed`.
  std::vector<std::string> failed;
  std::vector<v1::ControllerMessage> commands;

 private:
  TemporaryDir dir_;
  boost::asio::io_context loop_;
  std::unique_ptr<FactLog> facts_;
  Uplink uplink_;
  TermFence fence_;
  std::unique_ptr<AttachStream> stream_;
};

TEST(AttachStreamTest, GreetsAndPassesCommandsOn) {
  FakeController controller;
  v1::ControllerMessage stop;
  stop.mutable_stop_attempt()->set_job_id(4);
  controller.SendAfterWelcome(stop);
  controller.Serve();
  LittleWorker worker({.controllers = {controller.address()}});
  ASSERT_TRUE(worker.RunUntil([&] { return !worker.commands.empty(); }));
  EXPECT_EQ(worker.welcomes, 1);
  EXPECT_EQ(worker.commands[0].stop_attempt().job_id(), 4);
  EXPECT_EQ(controller.last_hello().node_id(), "node");
  EXPECT_EQ(controller.hellos(), 1);
}

// Polls the condition without running the loop. Returns false after a time-out.
bool Eventually(const std::function<bool()>& condition) {
  const auto deadline = steady_clock::now() + std::chrono::seconds(20);
  while (!condition()) {
    if (steady_clock::now() > deadline) return false;
    std::this_thread::sleep_for(milliseconds(1));
  }
  return true;
}

v1::WorkerMessage BlockedHeartbeat() {
  v1::WorkerMessage message;
  message.mutable_heartbeat()->set_blocked(true);
  return message;
}

TEST(AttachStreamTest, WritesHeartbeatsWhileTheLoopIsBlocked) {
  FakeController controller;
  controller.Serve();
  LittleWorker worker({.controllers = {controller.address()}});
  EXPECT_FALSE(worker.stream().WriteNow(BlockedHeartbeat())) << "before Welcome";
  ASSERT_TRUE(worker.RunUntil([&] { return worker.welcomes == 1; }));
  for (int sent = 1; sent <= 3; ++sent) {
    ASSERT_TRUE(Eventually([&] { return worker.stream().WriteNow(BlockedHeartbeat()); }));
    ASSERT_TRUE(Eventually([&] { return controller.heartbeats() == sent; }));
  }
  worker.AddFact(1);
  EXPECT_TRUE(worker.RunUntil([&] { return controller.facts().size() == 1; }));
  EXPECT_THAT(controller.complaints(), IsEmpty());
}

TEST(AttachStreamTest, WritesOfTwoThreadsLoseNothing) {
  FakeController controller;
  controller.BreakAfter({20, 40});
  controller.Serve();
  LittleWorker worker({.controllers = {controller.address()}});
  std::atomic<bool> done = false;
  std::thread other([&] {
    while (!done) worker.stream().WriteNow(BlockedHeartbeat());
  });
  for (int job = 1; job <= 200; ++job) worker.AddFact(job);
  const bool stored = worker.RunUntil([&] { return controller.facts().size() == 200; });
  done = true;
  other.join();
  EXPECT_TRUE(stored);
  EXPECT_THAT(controller.complaints(), IsEmpty());
  EXPECT_GE(worker.closed.size(), 2U);
}

TEST(AttachStreamTest, AnImpostorAtTheControllersAddressGetsNoHello) {
  FakeController impostor;
  impostor.UseToken(std::string(64, '0'));
  impostor.Serve();
  LittleWorker worker({.controllers = {impostor.address()}});
  ASSERT_TRUE(worker.RunUntil([&] { return worker.closed.size() >= 2; }));
  EXPECT_TRUE(absl::IsPermissionDenied(worker.closed[0])) << worker.closed[0];
  EXPECT_EQ(impostor.hellos(), 0);
  EXPECT_EQ(worker.welcomes, 0);
}

TEST(AttachStreamTest, NoCommandIsTakenWithoutAProofInWelcome) {
  FakeController controller;
  v1::ControllerMessage stop;
  stop.mutable_stop_attempt()->set_job_id(4);
  controller.ProveNothingInWelcome();
  controller.SendAfterWelcome(stop);
  controller.Serve();
  LittleWorker worker({.controllers = {controller.address()}});
  ASSERT_TRUE(worker.RunUntil([&] { return worker.closed.size() >= 2; }));
  EXPECT_TRUE(absl::IsPermissionDenied(worker.closed[0])) << worker.closed[0];
  EXPECT_EQ(worker.welcomes, 0);
  EXPECT_THAT(worker.commands, IsEmpty());
}

TEST(AttachStreamTest, RefusedHelloIsTriedAgainUntilItIsAccepted) {
  FakeController controller;
  int refusals = 3;
  controller.RefuseWith([&] {
    return refusals-- > 0 ? grpc::Status(grpc::StatusCode::FAILED_PRECONDITION, "wrong version")
                          : grpc::Status::OK;
  });
  controller.Serve();
  LittleWorker worker({.controllers = {controller.address()}});
  ASSERT_TRUE(worker.RunUntil([&] { return worker.welcomes == 1; }));
  ASSERT_EQ(worker.closed.size(), 3u);
  EXPECT_EQ(worker.closed[0], absl::FailedPreconditionError("wrong version"));
  EXPECT_EQ(controller.hellos(), 4);
}

TEST(AttachStreamTest, AbsentControllerIsDialledUntilItIsThere) {
  int port = 0;
  {
    FakeController finder;
    finder.Serve();
    port = finder.port();
  }
  LittleWorker worker({.controllers = {"127.0.0.1:" + std::to_string(port)}});
  ASSERT_TRUE(worker.RunUntil([&] { return worker.closed.size() >= 3; }));
  EXPECT_TRUE(absl::IsUnavailable(worker.closed[0])) << worker.closed[0];
  FakeController controller;
  controller.Serve(port);
  EXPECT_TRUE(worker.RunUntil([&] { return worker.welcomes == 1; }));
}

TEST(AttachStreamTest, AnswerOtherThanWelcomeEndsTheStream) {
  FakeController controller;
  v1::ControllerMessage stop;
  stop.mutable_stop_attempt()->set_job_id(4);
  controller.AnswerHelloWith(stop);
  controller.Serve();
  LittleWorker worker({.controllers = {controller.address()}});
  ASSERT_TRUE(worker.RunUntil([&] { return !worker.closed.empty(); }));
  EXPECT_TRUE(absl::IsFailedPrecondition(worker.closed[0])) << worker.closed[0];
  EXPECT_THAT(worker.commands, IsEmpty());
}

TEST(AttachStreamTest, ListenerThatNeverAnswersIsDropped) {
  boost::asio::io_context loop;
  boost::asio::ip::tcp::acceptor unresponsive(loop, {boost::asio::ip::address_v4::loopback(), 0});
  LittleWorker worker(
      {.controllers = {"127.0.0.1:" + std::to_string(unresponsive.local_endpoint().port())},
       .welcome_timeout_ms = 200});
  ASSERT_TRUE(worker.RunUntil([&] { return worker.closed.size() >= 2; }));
  EXPECT_TRUE(absl::IsDeadlineExceeded(worker.closed[0])) << worker.closed[0];
  EXPECT_THAT(std::string(worker.closed[0].message()), HasSubstr("within 200 ms"));
  EXPECT_THAT(std::string(worker.closed[1].message()), HasSubstr("within 400 ms"))
      << "a controller that is overrun needs more time, not more dials";
}

TEST(AttachStreamTest, HangingControllerIsNoticedByKeepalive) {
  FakeController controller;
  controller.Serve();
  StallingProxy proxy(controller.port());
  LittleWorker worker(
      {.controllers = {proxy.address()}, .keepalive_ms = 200, .keepalive_timeout_ms = 300});
  ASSERT_TRUE(worker.RunUntil([&] { return worker.welcomes == 1; }));
  proxy.Stall(true);
  const auto before = steady_clock::now();
  ASSERT_TRUE(worker.RunUntil([&] { return !worker.closed.empty(); }));
  EXPECT_LT(steady_clock::now() - before, std::chrono::seconds(5));
  proxy.Stall(false);
  EXPECT_TRUE(worker.RunUntil([&] { return worker.welcomes >= 2; }));
}

TEST(AttachStreamTest, BrokenStreamsLeaveNoGapAndNoDuplicate) {
  FakeController controller;
  controller.BreakAfter({1, 4, 3, 17, 9, 30, 5, 60, 44, 8, 7, 90, 25});
  controller.Serve();
  LittleWorker worker({.controllers = {controller.address()}});
  std::vector<std::shared_ptr<MemoryFile>> files = {worker.AddFile(0), worker.AddFile(1)};
  for (int i = 0; i < 120; ++i) {
    for (std::size_t rank = 0; rank < files.size(); ++rank) {
      for (int line = 0; line < 50; ++line) {
        files[rank]->bytes += std::to_string(i * 50 + line) + (rank == 0 ? " a\n" : " b\n");
      }
    }
    worker.AddFact(i + 1);
    worker.RunSteps(2);
  }
  ASSERT_TRUE(worker.RunUntil([&] {
    return controller.facts().size() == 120 &&
           controller.stored(LogOf(1, 1, 0)) == files[0]->bytes &&
           controller.stored(LogOf(1, 1, 1)) == files[1]->bytes;
  })) << "facts "
      << controller.facts().size();
  EXPECT_THAT(controller.complaints(), IsEmpty());
  EXPECT_GE(controller.hellos(), 5) << "the script broke too few streams to mean anything";
  for (int i = 0; i < 120; ++i) {
    EXPECT_EQ(controller.facts()[i].attempt_cleared().job_id(), i + 1);
  }
}

TEST(AttachStreamTest, LeavesAtOnceInEveryState) {
  {
    LittleWorker dialling({.controllers = {"127.0.0.1:1"}});
    dialling.Leave();
  }
  {
    LittleWorker waiting({.controllers = {"127.0.0.1:1"}});
    ASSERT_TRUE(waiting.RunUntil([&] { return waiting.closed.size() == 1; }));
    waiting.Leave();
    waiting.RunSteps(20);
    EXPECT_EQ(waiting.closed.size(), 1u);
  }
  FakeController controller;
  controller.Serve();
  LittleWorker attached({.controllers = {controller.address()}});
  auto file = attached.AddFile(0);
  file->bytes.assign(5 << 20, 'x');
  ASSERT_TRUE(attached.RunUntil([&] { return attached.welcomes == 1; }));
  attached.Leave();
  EXPECT_THAT(attached.closed, IsEmpty());
}

TEST(AttachStreamTest, TheLeaderIsFoundBehindStandbys) {
  FakeController standby;
  standby.StandBy("127.0.0.1:7070");
  standby.Serve();
  FakeController leader;
  leader.Lead(2);
  leader.Serve();
  LittleWorker worker({.controllers = {"127.0.0.1:1", standby.address(), leader.address()}});
  ASSERT_TRUE(worker.RunUntil([&] { return worker.welcomes == 1; }));
  EXPECT_EQ(worker.stream().controller(), leader.address());
  EXPECT_THAT(worker.failed, testing::ElementsAre("127.0.0.1:1", standby.address()));
  EXPECT_THAT(std::string(worker.closed[1].message()),
              HasSubstr("is a standby; the controller at 127.0.0.1:7070 leads"));
  EXPECT_EQ(standby.hellos(), 0) << "a standby never sees the node's identity";
}

TEST(AttachStreamTest, AWorkerMovesToTheNextLeaderAndBack) {
  FakeController first;
  first.Lead(2);
  first.Serve();
  const int port = first.port();
  FakeController second;
  second.StandBy(first.address());
  second.Serve();
  LittleWorker worker({.controllers = {first.address(), second.address()}});
  ASSERT_TRUE(worker.RunUntil([&] { return worker.welcomes == 1; }));
  second.Lead(3);
  first.Shutdown();
  ASSERT_TRUE(worker.RunUntil([&] { return worker.welcomes == 2; }));
  EXPECT_EQ(worker.stream().controller(), second.address());
  second.Shutdown();
  first.Lead(4);
  first.Serve(port);
  ASSERT_TRUE(worker.RunUntil([&] { return worker.welcomes == 3; }));
  EXPECT_EQ(worker.stream().controller(), first.address());
}

// The old leader was partitioned from its database and does not know the new term.
TEST(AttachStreamTest, ACommandOfALowerTermIsNotExecuted) {
  v1::ControllerMessage stop;
  stop.mutable_stop_attempt()->set_job_id(4);
  FakeController second;
  second.Lead(3);
  second.Serve();
  FakeController first;
  first.Lead(2);
  first.SendAfterWelcome(stop);
  first.Serve();
  LittleWorker worker({.controllers = {second.address(), first.address()}});
  ASSERT_TRUE(worker.RunUntil([&] { return worker.welcomes == 1; }));
  const int port = second.port();
  second.Shutdown();
  ASSERT_TRUE(worker.RunUntil([&] { return first.hellos() >= 2; }));
  EXPECT_EQ(worker.welcomes, 1) << "the Welcome of a lower term counts as none";
  EXPECT_THAT(worker.commands, IsEmpty());
  FakeController again;
  again.Lead(3);
  again.SendAfterWelcome(stop);
  again.Serve(port);
  ASSERT_TRUE(worker.RunUntil([&] { return !worker.commands.empty(); }));
}

// A message in an open stream may also have a lower term, if a proxy mixes two controllers.
TEST(AttachStreamTest, ALowerTermInAnOpenStreamEndsTheStream) {
  v1::ControllerMessage stop;
  stop.mutable_stop_attempt()->set_job_id(4);
  stop.set_leader_term(2);
  FakeController controller;
  controller.Lead(3);
  controller.SendAfterWelcome(stop);
  controller.Serve();
  LittleWorker worker({.controllers = {controller.address()}});
  ASSERT_TRUE(worker.RunUntil([&] { return !worker.closed.empty(); }));
  EXPECT_TRUE(absl::IsAborted(worker.closed[0])) << worker.closed[0];
  EXPECT_THAT(worker.commands, IsEmpty());
}

}  // namespace
}  // namespace trainyard::worker
