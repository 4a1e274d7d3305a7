#include "controller/rpc/worker_control_service.h"

#include <gtest/gtest.h>

#include "controller/rpc/server.h"
#include "tests/controller/controller_harness.h"

namespace trainyard::controller {
namespace {

// Until WorkFromNowOn is called, processes no message and keeps each message's read permit. Unless
// StallLoop was called, each message counts immediately as accepted by the loop.
class IdleListener final : public WorkerListener {
 public:
  void OnMessage(const std::shared_ptr<WorkerLink>& link, v1::WorkerMessage message,
                 ReadPermits permits) override {
    const std::lock_guard lock(mutex_);
    link_ = link;
    bytes_ += message.ByteSizeLong();
    hellos_ += static_cast<int>(message.has_hello());
    if (idle_) permits_.push_back(std::move(permits.handling));
    if (loop_stalled_) waiting_.push_back(std::move(permits.waiting));
    changed_.notify_all();
  }
  void OnClosed(const std::shared_ptr<WorkerLink>&) override {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    changed_.notify_all();
  }

  bool WaitForBytes(std::size_t bytes) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, kTestTimeout, [&] { return bytes_ >= bytes; });
  }
  bool WaitForHellos(int hellos) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, kTestTimeout, [&] { return hellos_ >= hellos; });
  }
  bool WaitForClosed() {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, kTestTimeout, [this] { return closed_; });
  }
  void WorkFromNowOn() {
    const std::lock_guard lock(mutex_);
    idle_ = false;
    released_.swap(permits_);
  }
  void StallLoop() {
    const std::lock_guard lock(mutex_);
    idle_ = false;
    loop_stalled_ = true;
  }
  void ResumeLoop() {
    std::vector<ReadPermit> released;
    const std::lock_guard lock(mutex_);
    loop_stalled_ = false;
    released.swap(waiting_);
  }
  // Must be called without the lock: releasing a permit lets the controller read again, so the next
  // message may arrive before this call returns.
  void GiveBackPermits() { released_.clear(); }

  std::size_t bytes() {
    const std::lock_guard lock(mutex_);
    return bytes_;
  }
  std::shared_ptr<WorkerLink> link() {
    const std::lock_guard lock(mutex_);
    return link_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::shared_ptr<WorkerLink> link_;
  std::vector<ReadPermit> permits_;
  std::vector<ReadPermit> released_;
  std::vector<ReadPermit> waiting_;
  std::size_t bytes_ = 0;
  int hellos_ = 0;
  bool idle_ = true;
  bool loop_stalled_ = false;
  bool closed_ = false;
};

class WorkerControlServiceTest : public testing::Test {
 protected:
  void SetUp() override {
    auto server = StartServer("127.0.0.1:0", {&service_});
    ASSERT_TRUE(server.ok()) << server.status();
    server_ = *std::move(server);
  }
  void TearDown() override {
    if (server_.server != nullptr) server_.server->Shutdown();
  }

  IdleListener listener_;
  const std::atomic<int> port_ = 0;
  const TokenProver prover_{"token", "127.0.0.1", port_};
  WorkerControlService service_{listener_, prover_, /*encrypted=*/false};
  ListeningServer server_;
};

// Waits until the controller stops reading from the newest link. Returns false after a time-out.
bool WaitForPause(IdleListener& listener) {
  const auto end = std::chrono::steady_clock::now() + kTestTimeout;
  while (!listener.link()->ReadingPaused()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::yield();
  }
  return true;
}

TEST_F(WorkerControlServiceTest, ReadsNoFasterThanMessagesAreDealtWith) {
  constexpr std::size_t kMiB = 1 << 20;
  constexpr std::size_t kChunks = 60;
  const auto channel = grpc::CreateChannel(server_.address, grpc::InsecureChannelCredentials());
  FakeWorker worker(channel, TestHello("a", 1));
  std::thread writer([&] {
    const std::string chunk(kMiB, 'x');
    for (std::size_t i = 0; i < kChunks; ++i) {
      worker.SendOutput(Stream(1, v1::STREAM_KIND_LOG), static_cast<int64_t>(i * kMiB), chunk);
    }
  });
  // Each worker may have 24 MiB of unprocessed messages (kOneStreamBytes in
  // worker_control_service.cpp). The message that reaches this limit is still read, so the total
  // exceeds it by at most one chunk.
  EXPECT_TRUE(listener_.WaitForBytes(24 * kMiB));
  EXPECT_TRUE(WaitForPause(listener_));
  EXPECT_LT(listener_.bytes(), 26 * kMiB);
  listener_.WorkFromNowOn();
  listener_.GiveBackPermits();
  EXPECT_TRUE(listener_.WaitForBytes(kChunks * kMiB));
  EXPECT_FALSE(listener_.link()->ReadingPaused());
  writer.join();
  listener_.link()->Close(absl::OkStatus());
  EXPECT_TRUE(worker.WaitForEnd().ok());
  EXPECT_TRUE(listener_.WaitForClosed());
}

// When the loop resumes after a flood of messages, the heartbeats behind the flood must not wait
// long.
TEST_F(WorkerControlServiceTest, ReadsLittleOfAWorkerWhoseMessagesWaitForTheLoop) {
  constexpr std::size_t kPiece = 256 << 10;
  constexpr std::size_t kPieces = 40;
  listener_.StallLoop();
  const auto channel = grpc::CreateChannel(server_.address, grpc::InsecureChannelCredentials());
  FakeWorker worker(channel, TestHello("a", 1));
  std::thread writer([&] {
    const std::string piece(kPiece, 'x');
    for (std::size_t i = 0; i < kPieces; ++i) {
      worker.SendOutput(Stream(1, v1::STREAM_KIND_LOG), static_cast<int64_t>(i * kPiece), piece);
    }
  });
  // kOneStreamWaitingBytes (worker_control_service.cpp). The message that reaches the limit is
  // read.
  EXPECT_TRUE(listener_.WaitForBytes(4 << 20));
  EXPECT_TRUE(WaitForPause(listener_));
  EXPECT_LT(listener_.bytes(), (4 << 20) + 2 * kPiece);
  listener_.ResumeLoop();
  EXPECT_TRUE(listener_.WaitForBytes(kPieces * kPiece));
  writer.join();
}

TEST_F(WorkerControlServiceTest, ReadsHelloEvenWhenNothingMoreCanBeHeld) {
  constexpr std::size_t kMiB = 1 << 20;
  // All workers together may have 128 MiB of unprocessed messages (kAllStreamsBytes in
  // worker_control_service.cpp). In this test each worker stays below its own limit of 24 MiB
  // (kOneStreamBytes), so only the common limit stops reading.
  constexpr std::size_t kAllStreamsMiB = 128;
  constexpr int kWorkers = 6;
  constexpr int kChunksEach = 23;
  static_assert(kWorkers * kChunksEach > kAllStreamsMiB);
  const auto channel = grpc::CreateChannel(server_.address, grpc::InsecureChannelCredentials());
  std::vector<std::unique_ptr<FakeWorker>> workers;
  const std::string chunk(kMiB, 'x');
  for (int i = 0; i < kWorkers; ++i) {
    workers.push_back(std::make_unique<FakeWorker>(channel, TestHello(std::to_string(i), 1)));
    const std::size_t read = listener_.bytes();
    const int chunks = i + 1 < kWorkers ? kChunksEach : kAllStreamsMiB - i * kChunksEach;
    for (int sent = 0; sent < chunks; ++sent) {
      workers.back()->SendOutput(Stream(1, v1::STREAM_KIND_LOG),
                                 static_cast<int64_t>(sent) * static_cast<int64_t>(kMiB), chunk);
    }
    ASSERT_TRUE(listener_.WaitForBytes(read + static_cast<std::size_t>(chunks) * kMiB));
  }
  ASSERT_TRUE(WaitForPause(listener_));
  workers.push_back(std::make_unique<FakeWorker>(channel, TestHello("late", 1)));
  EXPECT_TRUE(listener_.WaitForHellos(kWorkers + 1))
      << "no heartbeat is read before the Hello: the node would seem lost";
  listener_.WorkFromNowOn();
  listener_.GiveBackPermits();
  workers.clear();
}

// A worker that attaches and never reads, not even the final status of its call. Tests use the
// listener to detect the end of the worker's stream.
struct SlowWorker {
  explicit SlowWorker(const std::string& address)
      : stub(v1::WorkerControl::NewStub(
            grpc::CreateChannel(address, grpc::InsecureChannelCredentials()))) {
    // Makes gRPC retry the connection if the first attempt fails on a busy machine.
    context.set_wait_for_ready(true);
    stream = stub->Attach(&context);
    v1::WorkerMessage message;
    *message.mutable_hello() = TestHello("slow", 1);
    EXPECT_TRUE(stream->Write(message));
  }

  ~SlowWorker() {
    context.TryCancel();
    (void)stream->Finish();
  }

  grpc::ClientContext context;
  std::unique_ptr<v1::WorkerControl::Stub> stub;
  std::unique_ptr<grpc::ClientReaderWriter<v1::WorkerMessage, v1::ControllerMessage>> stream;
};

// Returns a message of about this size. Any text field would do.
v1::ControllerMessage MessageOf(std::size_t bytes) {
  v1::ControllerMessage message;
  message.mutable_start_attempt()->set_skip_samples(std::string(bytes, 's'));
  return message;
}

TEST_F(WorkerControlServiceTest, AStreamCanBeCutOffThoughItsWorkerNeverReads) {
  SlowWorker worker(server_.address);
  ASSERT_TRUE(listener_.WaitForBytes(1));
  // While the worker does not read, gRPC accepts at most one of these messages. The controller
  // queues the others.
  for (int i = 0; i < 3; ++i) listener_.link()->Send(MessageOf(4 << 20));
  EXPECT_GE(listener_.link()->outgoing().waiting, 2u);
  listener_.link()->CutOff(absl::ResourceExhaustedError("slow"));
  EXPECT_TRUE(listener_.WaitForClosed());
}

TEST_F(WorkerControlServiceTest, AWorkerThatLetsTooManyMessagesPileUpIsCutOff) {
  SlowWorker worker(server_.address);
  ASSERT_TRUE(listener_.WaitForBytes(1));
  // While the worker does not read, gRPC cannot accept all of this message, so the controller
  // queues all later messages. The queue is limited to 8192 messages (kOutgoingLimit in
  // worker_control_service.cpp). The last message exceeds this limit.
  listener_.link()->Send(MessageOf(8 << 20));
  for (int i = 0; i < 8192; ++i) listener_.link()->Send(MessageOf(1));
  EXPECT_TRUE(listener_.WaitForClosed());
}

TEST_F(WorkerControlServiceTest, WantsHelloFirst) {
  const auto channel = grpc::CreateChannel(server_.address, grpc::InsecureChannelCredentials());
  const auto stub = v1::WorkerControl::NewStub(channel);
  grpc::ClientContext context;
  const auto stream = stub->Attach(&context);
  v1::WorkerMessage message;
  message.mutable_heartbeat();
  ASSERT_TRUE(stream->Write(message));
  v1::ControllerMessage answer;
  EXPECT_FALSE(stream->Read(&answer));
  EXPECT_EQ(stream->Finish().error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  ASSERT_TRUE(listener_.WaitForClosed());
  EXPECT_EQ(listener_.bytes(), 0u);
}

}  // namespace
}  // namespace trainyard::controller
