#include "controller/rpc/exec_service.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "proto/contract/limits.h"
#include "tests/controller/controller_harness.h"
#include "tests/controller/store/temporary_directory.h"

namespace trainyard::controller {
namespace {

using Kind = v1::ControllerMessage;
using testing::HasSubstr;

// One end of a session: the client, or the worker's program.
template <typename Sent, typename Received>
class ExecEnd {
 public:
  using Stream = grpc::ClientReaderWriter<Sent, Received>;

  template <typename Open>
  explicit ExecEnd(const Open& open)
      : stream_((context_.set_deadline(std::chrono::system_clock::now() + kTestTimeout),
                 open(&context_))) {}
  ~ExecEnd() {
    context_.TryCancel();
    End();
  }

  bool Send(const Sent& message) { return stream_->Write(message); }
  void SendNothingMore() { stream_->WritesDone(); }
  // Returns an empty message at the end of the stream.
  Received Take() {
    Received message;
    if (!stream_->Read(&message)) message.Clear();
    return message;
  }
  void Cancel() { context_.TryCancel(); }
  grpc::Status End() {
    if (end_ != nullptr) return *end_;
    Received message;
    while (stream_->Read(&message)) {
    }
    end_ = std::make_unique<grpc::Status>(stream_->Finish());
    return *end_;
  }

 private:
  grpc::ClientContext context_;
  std::unique_ptr<Stream> stream_;
  std::unique_ptr<grpc::Status> end_;
};

using ClientEnd = ExecEnd<v1::ExecInput, v1::ExecOutput>;
using WorkerEnd = ExecEnd<v1::ExecOutput, v1::ExecInput>;

v1::ExecInput StartOf(const std::string& job) {
  v1::ExecInput input;
  input.mutable_start()->set_job(job);
  input.mutable_start()->set_user("ada");
  input.mutable_start()->mutable_command()->add_argv("true");
  return input;
}

v1::ExecInput DataOf(const std::string& bytes) {
  v1::ExecInput input;
  input.set_data(bytes);
  return input;
}

v1::Hello HelloWith(bool serves_exec) {
  v1::Hello hello = TestHello("a", 1);
  hello.set_serves_exec(serves_exec);
  return hello;
}

class ExecServiceTest : public testing::Test {
 protected:
  void Attach(bool serves_exec = true) {
    worker_ = std::make_unique<FakeWorker>(running_.channel, HelloWith(serves_exec));
    worker_->Take(Kind::kWelcome);
    running_.Submit("job");
    worker_->SendReport(RunningReport(1));
    worker_->SendFact(1, StartedFact(1));
    worker_->Take(Kind::kFactsAcknowledged);
  }

  std::unique_ptr<ClientEnd> Connect() {
    return std::make_unique<ClientEnd>(
        [this](grpc::ClientContext* context) { return stub_->Exec(context); });
  }
  std::unique_ptr<ClientEnd> Start(const std::string& job = "job") {
    auto client = Connect();
    client->Send(StartOf(job));
    return client;
  }
  std::unique_ptr<WorkerEnd> Serve(const std::string& id) {
    auto end = std::make_unique<WorkerEnd>(
        [this](grpc::ClientContext* context) { return stub_->ServeExec(context); });
    v1::ExecOutput hello;
    hello.mutable_hello()->set_id(id);
    end->Send(hello);
    return end;
  }
  // Opens a session, and returns the worker's end.
  std::unique_ptr<WorkerEnd> Join(ClientEnd& client) {
    auto end = Serve(worker_->Take(Kind::kOpenExec).open_exec().id());
    EXPECT_EQ(client.Take().started().node(), "name-of-a");
    return end;
  }
  std::string Refusal(const std::string& job = "job") { return Start(job)->End().error_message(); }

  RunningController running_{OpenMemoryStores()};
  std::unique_ptr<v1::ExecService::Stub> stub_ = v1::ExecService::NewStub(running_.channel);
  std::unique_ptr<FakeWorker> worker_;
};

TEST_F(ExecServiceTest, ConnectsTheClientWithTheWorker) {
  Attach();
  const auto client = Start();
  const v1::OpenExec open = worker_->Take(Kind::kOpenExec).open_exec();
  EXPECT_EQ(open.id().size(), 64U);
  EXPECT_EQ(open.job_id(), 1);
  EXPECT_EQ(open.attempt(), 1);
  EXPECT_EQ(open.command().argv(0), "true");
  const auto end = Serve(open.id());
  EXPECT_EQ(client->Take().started().attempt(), 1);
  for (int i = 0; i < 100; ++i) {
    const std::string text = std::to_string(i);
    client->Send(DataOf(text));
    ASSERT_EQ(end->Take().data(), text);
    v1::ExecOutput output;
    output.set_standard_error(text);
    end->Send(output);
    ASSERT_EQ(client->Take().standard_error(), text);
  }
  v1::ExecOutput last;
  last.mutable_ended()->set_exit_code(3);
  end->Send(last);
  EXPECT_EQ(client->Take().ended().exit_code(), 3);
  EXPECT_TRUE(client->End().ok());
  EXPECT_TRUE(end->End().ok());
}

TEST_F(ExecServiceTest, AHalfClosedClientStillReadsTheOutput) {
  Attach();
  const auto client = Start();
  const auto end = Join(*client);
  client->SendNothingMore();
  EXPECT_TRUE(end->Take().end_of_input());
  v1::ExecOutput output;
  output.set_standard_output("late");
  end->Send(output);
  EXPECT_EQ(client->Take().standard_output(), "late");
  output.mutable_ended();
  end->Send(output);
  EXPECT_TRUE(client->Take().has_ended());
  EXPECT_TRUE(client->End().ok());
}

TEST_F(ExecServiceTest, AHalfClosedWorkerEndsTheSession) {
  Attach();
  const auto client = Start();
  const auto end = Join(*client);
  end->SendNothingMore();
  EXPECT_EQ(client->End().error_code(), grpc::StatusCode::ABORTED);
  EXPECT_THAT(client->End().error_message(), HasSubstr("node name-of-a is lost"));
  EXPECT_FALSE(end->End().ok());
}

TEST_F(ExecServiceTest, ALostEndEndsTheOtherEnd) {
  Attach();
  auto client = Start();
  auto end = Join(*client);
  client->Cancel();
  EXPECT_EQ(end->End().error_code(), grpc::StatusCode::CANCELLED);
  client = Start();
  end = Join(*client);
  end->Cancel();
  EXPECT_EQ(client->End().error_code(), grpc::StatusCode::ABORTED);
}

TEST_F(ExecServiceTest, AStopOfTheControllerEndsTheSession) {
  Attach();
  const auto client = Start();
  const auto end = Join(*client);
  running_.controller->Stop();
  EXPECT_EQ(client->End().error_message(),
            "the controller is shutting down; the command was ended");
  EXPECT_FALSE(end->End().ok());
}

TEST_F(ExecServiceTest, AnIdAdmitsOneStreamOfAWorker) {
  Attach();
  EXPECT_EQ(Serve("unknown")->End().error_code(), grpc::StatusCode::NOT_FOUND);
  const auto client = Start();
  const std::string id = worker_->Take(Kind::kOpenExec).open_exec().id();
  const auto end = Serve(id);
  EXPECT_TRUE(client->Take().has_started());
  EXPECT_EQ(Serve(id)->End().error_code(), grpc::StatusCode::NOT_FOUND);
  client->Send(DataOf("x"));
  EXPECT_EQ(end->Take().data(), "x");
}

TEST_F(ExecServiceTest, BadMessagesEndTheSession) {
  Attach();
  const auto early = Connect();
  early->Send(DataOf("x"));
  EXPECT_EQ(early->End().error_message(), "the first message must be ExecStart");
  const auto closed = Connect();
  closed->SendNothingMore();
  EXPECT_EQ(closed->End().error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  for (const v1::ExecInput& bad :
       {StartOf("job"), v1::ExecInput(), DataOf(std::string(kMaxExecPieceBytes + 1, 'x'))}) {
    const auto client = Start();
    const auto end = Join(*client);
    client->Send(bad);
    EXPECT_EQ(client->End().error_code(), grpc::StatusCode::INVALID_ARGUMENT);
    EXPECT_FALSE(end->End().ok());
  }
}

TEST_F(ExecServiceTest, AnOlderWorkerIsNamed) {
  Attach(/*serves_exec=*/false);
  EXPECT_EQ(Refusal(),
            "the worker of node name-of-a is of an older release, which does not support exec; "
            "upgrade it");
  EXPECT_EQ(running_.Get("job").state(), v1::JOB_STATE_RUNNING);
}

TEST_F(ExecServiceTest, ADisconnectedWorkerIsNamed) {
  Attach();
  worker_ = nullptr;
  // The controller notices the end of the stream a moment later.
  std::string refusal;
  const auto end = std::chrono::steady_clock::now() + kTestTimeout;
  while (refusal.empty() && std::chrono::steady_clock::now() < end) {
    const auto client = Start();
    client->SendNothingMore();
    const grpc::Status status = client->End();
    if (status.error_code() == grpc::StatusCode::FAILED_PRECONDITION) {
      refusal = status.error_message();
    }
  }
  EXPECT_THAT(refusal, HasSubstr("the worker of node name-of-a is not connected"));
}

TEST_F(ExecServiceTest, JobsWithoutTheRankAreRefused) {
  EXPECT_THAT(Refusal(), HasSubstr("there is no job `job`"));
  Attach();
  v1::ExecInput input = StartOf("job");
  input.mutable_start()->set_rank(7);
  const auto client = Connect();
  client->Send(input);
  EXPECT_EQ(client->End().error_message(), "job 1 (job) has no rank 7; its ranks are 0 to 0");
}

TEST_F(ExecServiceTest, SessionsOfANodeAreLimitedAndCountedUntilTheirEnd) {
  Attach();
  std::vector<std::unique_ptr<ClientEnd>> clients;
  std::vector<std::unique_ptr<WorkerEnd>> ends;
  for (int i = 0; i < kMaxExecSessionsOfNode; ++i) {
    clients.push_back(Start());
    ends.push_back(Join(*clients.back()));
  }
  EXPECT_THAT(Refusal(), HasSubstr("has 8 open exec sessions, which is the maximum"));
  v1::ExecOutput last;
  last.mutable_ended();
  ends[0]->Send(last);
  EXPECT_TRUE(clients[0]->End().ok());
  const auto client = Start();
  EXPECT_NE(Join(*client), nullptr);
}

TEST(ExecTableTest, NewSessionsHaveARateLimit) {
  ExecTable table;
  for (int64_t i = 0; i < ExecTable::kAtOnce; ++i) EXPECT_TRUE(table.Admit(1'000'000).ok());
  EXPECT_TRUE(absl::IsResourceExhausted(table.Admit(1'000'000)));
  EXPECT_TRUE(table.Admit(1'000'100).ok());
  EXPECT_FALSE(table.Admit(1'000'101).ok());
}

TEST(ExecTableTest, AllSessionsTogetherAreLimited) {
  ExecTable table;
  for (std::size_t i = 0; i < ExecTable::kMost; ++i) {
    const std::string id = std::to_string(i);
    ASSERT_TRUE(table.Add(id, "node" + id, nullptr).ok());
  }
  EXPECT_TRUE(absl::IsResourceExhausted(table.Add("more", "other", nullptr)));
  table.Remove("17");
  EXPECT_TRUE(table.Add("more", "other", nullptr).ok());
}

}  // namespace
}  // namespace trainyard::controller
