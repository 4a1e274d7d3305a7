#include "controller/loop/worker_sessions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <set>

#include "tests/controller/controller_harness.h"

namespace trainyard::controller {
namespace {

using Kind = v1::ControllerMessage;

// The number of large jobs. The start commands of all large jobs exceed the flow-control window of
// a worker that does not read.
constexpr int kLargeJobs = 8;

// Returns true if another stream of the worker replaced the stream. The code is CANCELLED if the
// stream still had a running write, which can be the Welcome that the test has already received.
bool IsCut(const grpc::Status& status) {
  return status.error_code() == grpc::StatusCode::ABORTED ||
         status.error_code() == grpc::StatusCode::CANCELLED;
}

class WorkerSessionsTest : public testing::Test {
 protected:
  static Stores GatedStores(GatedEventLog** log) {
    Stores stores = OpenMemoryStores();
    auto gated = std::make_unique<GatedEventLog>();
    *log = gated.get();
    stores.events = std::move(gated);
    return stores;
  }

  std::unique_ptr<FakeWorker> Attach(const v1::Hello& hello) {
    return std::make_unique<FakeWorker>(running_.channel, hello);
  }

  // Reads the Welcome and runs a job on this worker until all facts of the job are acknowledged.
  // The last fact has number 1.
  int64_t RunJob(FakeWorker& worker) {
    worker.Take(Kind::kWelcome);
    const int64_t job = running_.Submit("job");
    worker.Take(Kind::kStartAttempt);
    worker.SendReport(RunningReport(job));
    worker.SendFact(1, StartedFact(job));
    EXPECT_EQ(worker.Take(Kind::kFactsAcknowledged).facts_acknowledged().fact_sequence(), 1u);
    return job;
  }

  grpc::Status SubmitLarge(int number) {
    v1::SubmitJobRequest request;
    *request.mutable_spec() = CommandSpec(absl::StrCat("large-", number), 1);
    request.mutable_spec()->set_description(std::string(900'000, 'd'));
    request.set_user("ada");
    grpc::ClientContext context;
    v1::SubmitJobResponse response;
    return running_.jobs->SubmitJob(&context, request, &response);
  }

  // Waits until the only worker has joined, then submits the jobs.
  void SubmitLargeJobs() {
    const auto deadline = std::chrono::steady_clock::now() + kTestTimeout;
    while (!SubmitLarge(0).ok()) {
      ASSERT_LT(std::chrono::steady_clock::now(), deadline) << "the worker never joined";
    }
    for (int number = 1; number < kLargeJobs; ++number) ASSERT_TRUE(SubmitLarge(number).ok());
  }

  void PassASecond() {
    running_.clock.Advance(1000);
    running_.Tick();
  }

  GatedEventLog* log_ = nullptr;
  RunningController running_{GatedStores(&log_)};
};

TEST_F(WorkerSessionsTest, WelcomesAWorkerAndNamesTheCluster) {
  auto worker = Attach(TestHello("a", 1));
  const v1::Welcome welcome = worker->Take(Kind::kWelcome).welcome();
  EXPECT_EQ(welcome.fact_sequence(), 0u);
  EXPECT_EQ(welcome.streams_size(), 0);
  EXPECT_EQ(welcome.heartbeat_interval().seconds(), 1);
  EXPECT_EQ(welcome.cluster_id().size(), 32u);
}

TEST_F(WorkerSessionsTest, SendsStartAttemptOnlyAfterTheCommit) {
  auto worker = Attach(TestHello("a", 1));
  worker->Take(Kind::kWelcome);
  log_->Close();
  std::thread submit([&] { running_.Submit("job"); });
  ASSERT_TRUE(log_->WaitForAppend());
  EXPECT_EQ(worker->Count(Kind::kStartAttempt), 0);
  log_->Open();
  const v1::StartAttempt start = worker->Take(Kind::kStartAttempt).start_attempt();
  submit.join();
  EXPECT_EQ(start.job_id(), 1);
  EXPECT_EQ(start.attempt(), 1);
  ASSERT_EQ(start.ranks_size(), 1);
}

TEST_F(WorkerSessionsTest, RepeatsACommandUntilItIsAnswered) {
  auto worker = Attach(TestHello("a", 1));
  worker->Take(Kind::kWelcome);
  const int64_t job = running_.Submit("job");
  worker->Take(Kind::kStartAttempt);
  running_.clock.Advance(900);
  running_.Tick();
  EXPECT_EQ(worker->Count(Kind::kStartAttempt), 0);
  running_.clock.Advance(200);
  EXPECT_EQ(worker->Take(Kind::kStartAttempt).start_attempt().job_id(), job);
  worker->SendReport(RunningReport(job));
  worker->SendFact(1, StartedFact(job));
  worker->Take(Kind::kFactsAcknowledged);
  running_.clock.Advance(1000);
  running_.Tick();
  EXPECT_EQ(worker->Count(Kind::kStartAttempt), 0);
}

// A worker that attaches and reads nothing until End is called.
class SlowWorker {
 public:
  SlowWorker(RunningController& running, const std::string& node_id)
      : stub_(v1::WorkerControl::NewStub(running.channel)) {
    context_.set_deadline(std::chrono::system_clock::now() + kTestTimeout);
    stream_ = stub_->Attach(&context_);
    v1::WorkerMessage message;
    *message.mutable_hello() = TestHello(node_id, kLargeJobs);
    EXPECT_TRUE(stream_->Write(message));
  }

  // Reads start commands and returns their jobs.
  // Stops after `most` jobs or at the stream's end.
  std::set<int64_t> ReadStarts(std::size_t most) {
    std::set<int64_t> jobs;
    v1::ControllerMessage message;
    while (jobs.size() < most && stream_->Read(&message)) {
      if (message.has_start_attempt()) jobs.insert(message.start_attempt().job_id());
    }
    return jobs;
  }

  // Ends the call and returns its status. The status is DEADLINE_EXCEEDED if the controller does
  // not end the stream.
  grpc::Status End() {
    v1::ControllerMessage message;
    while (stream_->Read(&message)) {
    }
    return stream_->Finish();
  }

 private:
  grpc::ClientContext context_;
  std::unique_ptr<v1::WorkerControl::Stub> stub_;
  std::unique_ptr<grpc::ClientReaderWriter<v1::WorkerMessage, v1::ControllerMessage>> stream_;
};

TEST_F(WorkerSessionsTest, CutsOffAWorkerThatReadsNothing) {
  SlowWorker slow(running_, "a");
  SubmitLargeJobs();
  for (int second = 0; second < 32; ++second) PassASecond();
  EXPECT_NE(slow.End().error_code(), grpc::StatusCode::DEADLINE_EXCEEDED);
}

TEST_F(WorkerSessionsTest, KeepsAWorkerThatHasTakenWhatWaited) {
  auto worker = Attach(TestHello("a", 1));
  const int64_t job = RunJob(*worker);
  for (int second = 0; second < 40; ++second) {
    // The controller can write the answer to this fact only after the worker has read the previous
    // answer.
    worker->SendFact(1, StartedFact(job));
    EXPECT_EQ(worker->Take(Kind::kFactsAcknowledged).facts_acknowledged().fact_sequence(), 1u);
    PassASecond();
  }
}

TEST_F(WorkerSessionsTest, KeepsAWorkerWhileTheControllerItselfStoodStill) {
  SlowWorker slow(running_, "a");
  SubmitLargeJobs();
  for (int i = 0; i < 3; ++i) {
    running_.clock.Advance(31'000);
    running_.Tick();
  }
  EXPECT_EQ(slow.ReadStarts(kLargeJobs).size(), kLargeJobs);
}

TEST_F(WorkerSessionsTest, AcknowledgesAFactThatIsInTheLogOnceMore) {
  auto worker = Attach(TestHello("a", 1));
  const int64_t job = RunJob(*worker);
  const int before = log_->appends();
  worker->SendFact(1, StartedFact(job));
  EXPECT_EQ(worker->Take(Kind::kFactsAcknowledged).facts_acknowledged().fact_sequence(), 1u);
  EXPECT_EQ(log_->appends(), before);
}

TEST_F(WorkerSessionsTest, EndsTheStreamOfAWorkerThatSkipsAFact) {
  auto worker = Attach(TestHello("a", 1));
  const int64_t job = RunJob(*worker);
  worker->SendFact(3, ExitedFact(job, 0));
  EXPECT_EQ(worker->WaitForEnd().error_code(), grpc::StatusCode::OUT_OF_RANGE);
}

TEST_F(WorkerSessionsTest, RefusesASecondWorkerWithTheSameNodeId) {
  auto first = Attach(TestHello("a", 1));
  first->Take(Kind::kWelcome);
  v1::Hello hello = TestHello("a", 1);
  hello.set_incarnation("2");
  auto second = Attach(hello);
  const grpc::Status status = second->WaitForEnd();
  EXPECT_EQ(status.error_code(), grpc::StatusCode::ALREADY_EXISTS);
  EXPECT_NE(status.error_message().find("--data-dir"), std::string::npos);
  // The controller still serves the first worker.
  const int64_t job = running_.Submit("job");
  EXPECT_EQ(first->Take(Kind::kStartAttempt).start_attempt().job_id(), job);
}

TEST_F(WorkerSessionsTest, TheSameWorkerTakesItsStreamOver) {
  auto first = Attach(TestHello("a", 1));
  first->Take(Kind::kWelcome);
  auto second = Attach(TestHello("a", 1));
  second->Take(Kind::kWelcome);
  EXPECT_TRUE(IsCut(first->WaitForEnd()));
  const int64_t job = running_.Submit("job");
  EXPECT_EQ(second->Take(Kind::kStartAttempt).start_attempt().job_id(), job);
}

TEST_F(WorkerSessionsTest, AWorkerThatWasStartedAgainReplacesAnUnresponsiveStream) {
  auto first = Attach(TestHello("a", 1));
  first->Take(Kind::kWelcome);
  for (int i = 0; i < 4; ++i) {
    running_.clock.Advance(900);
    running_.Tick();
  }
  v1::Hello hello = TestHello("a", 1);
  hello.set_incarnation("2");
  auto second = Attach(hello);
  second->Take(Kind::kWelcome);
  EXPECT_TRUE(IsCut(first->WaitForEnd()));
}

TEST_F(WorkerSessionsTest, RefusesAWorkerOfAnotherCluster) {
  v1::Hello hello = TestHello("a", 1);
  hello.set_cluster_id("0123");
  const grpc::Status status = Attach(hello)->WaitForEnd();
  EXPECT_EQ(status.error_code(), grpc::StatusCode::FAILED_PRECONDITION);
  EXPECT_NE(status.error_message().find("0123"), std::string::npos);
}

TEST_F(WorkerSessionsTest, RefusesAnotherProtocolVersion) {
  v1::Hello hello = TestHello("a", 1);
  hello.set_protocol_version(2);
  EXPECT_EQ(Attach(hello)->WaitForEnd().error_code(), grpc::StatusCode::FAILED_PRECONDITION);
}

TEST_F(WorkerSessionsTest, StoresMetricsOnceWhenTheWorkerSendsThemAgain) {
  const v1::StreamId stream = Stream(1, v1::STREAM_KIND_TELEMETRY);
  {
    auto worker = Attach(TestHello("a", 1));
    RunJob(*worker);
    worker->SendMetrics(stream, 0, 100, 1, 5.0);
    worker->SendMetrics(stream, 100, 200, 2, 4.0);
    worker->TakeAcknowledged(stream, 200);
  }
  v1::Hello hello = TestHello("a", 1);
  *hello.add_attempts() = RunningReport(1);
  auto worker = Attach(hello);
  const v1::Welcome welcome = worker->Take(Kind::kWelcome).welcome();
  EXPECT_EQ(welcome.fact_sequence(), 1u);
  ASSERT_EQ(welcome.streams_size(), 1);
  EXPECT_EQ(welcome.streams(0).offset(), 200);
  worker->SendMetrics(stream, 100, 200, 2, 4.0);
  worker->SendMetrics(stream, 200, 300, 3, 3.0);
  worker->TakeAcknowledged(stream, 300);

  v1::GetSeriesRequest request;
  request.set_job("1");
  request.add_keys("loss");
  v1::GetSeriesResponse response;
  grpc::ClientContext context;
  ASSERT_TRUE(running_.metrics->GetSeries(&context, request, &response).ok());
  ASSERT_EQ(response.series_size(), 1);
  EXPECT_THAT(response.series(0).steps(), testing::ElementsAre(1, 2, 3));
  EXPECT_THAT(response.series(0).counts(), testing::Each(1));
  EXPECT_EQ(running_.Get("1").progress().step(), 3);
  EXPECT_EQ(running_.Get("1").attempts(0).last_step(), 3);
}

TEST_F(WorkerSessionsTest, EndsTheStreamWhenBytesAreMissing) {
  auto worker = Attach(TestHello("a", 1));
  RunJob(*worker);
  worker->SendMetrics(Stream(1, v1::STREAM_KIND_TELEMETRY), 100, 200, 2, 4.0);
  EXPECT_EQ(worker->WaitForEnd().error_code(), grpc::StatusCode::OUT_OF_RANGE);
}

TEST_F(WorkerSessionsTest, CommitsACheckpointBeforeItsBytesAreAcknowledged) {
  auto worker = Attach(TestHello("a", 1));
  const int64_t job = RunJob(*worker);
  const v1::StreamId stream = Stream(job, v1::STREAM_KIND_TELEMETRY);
  v1::TelemetryRecord record;
  record.mutable_checkpoint()->set_step(100);
  record.mutable_checkpoint()->set_path("/c/step_000000100");
  log_->Close();
  worker->SendRecord(stream, 0, 50, record);
  // These later bytes of the stream must not be stored before the earlier bytes.
  worker->SendMetrics(stream, 50, 100, 101, 4.0);
  ASSERT_TRUE(log_->WaitForAppend());
  EXPECT_EQ(worker->Count(Kind::kStreamAcknowledged), 0);
  log_->Open();
  worker->TakeAcknowledged(stream, 100);
  ASSERT_EQ(running_.Get("1").checkpoints_size(), 1);
  EXPECT_EQ(running_.Get("1").checkpoints(0).attempt(), 1);
}

TEST_F(WorkerSessionsTest, AnAlertThatComesAgainWhileTheDiskIsFullIsRaisedOnce) {
  auto first = Attach(TestHello("a", 1));
  const int64_t job = RunJob(*first);
  v1::TelemetryRecord record;
  record.mutable_alert()->set_step(7);
  record.mutable_alert()->set_code("nan_loss");
  const v1::StreamId stream = Stream(job, v1::STREAM_KIND_TELEMETRY);
  log_->SetFull(true);
  first->SendRecord(stream, 0, 50, record);
  // Waits until the controller has received the alert and failed to commit it.
  v1::GetServerInfoResponse info;
  while (info.storage_problems().empty()) {
    grpc::ClientContext context;
    ASSERT_TRUE(running_.server->GetServerInfo(&context, {}, &info).ok());
  }
  v1::Hello hello = TestHello("a", 1);
  *hello.add_attempts() = RunningReport(job);
  auto second = Attach(hello);
  EXPECT_EQ(second->Take(Kind::kWelcome).welcome().streams_size(), 0) << "not stored yet";
  second->SendRecord(stream, 0, 50, record);
  second->SendMetrics(stream, 50, 100, 8, 4.0);
  log_->SetFull(false);
  second->TakeAcknowledged(stream, 100);
  const auto events = log_->ReadJobEvents(job, 100);
  ASSERT_TRUE(events.ok());
  EXPECT_EQ(std::ranges::count_if(*events, [](const auto& e) { return e.has_alert_raised(); }), 1);
}

TEST_F(WorkerSessionsTest, ForgetsAnAttemptOnceItHasEndedAndAllOfItIsStored) {
  auto worker = Attach(TestHello("a", 1));
  const int64_t job = RunJob(*worker);
  worker->SendOutput(Stream(job, v1::STREAM_KIND_LOG), 0, "hello\n");
  worker->TakeAcknowledged(Stream(job, v1::STREAM_KIND_LOG), 6);
  v1::AttemptReport report = RunningReport(job);
  report.mutable_ranks(0)->set_running(false);
  report.set_cleared(true);
  v1::StreamEnd& end = *report.add_stream_ends();
  *end.mutable_stream() = Stream(job, v1::STREAM_KIND_LOG);
  end.set_end_offset(10);
  worker->SendReport(report);
  worker->SendFact(2, ExitedFact(job, 0));
  worker->SendFact(3, ClearedFact(job));
  running_.WaitForJob(job,
                      [](const v1::Job& seen) { return seen.state() == v1::JOB_STATE_SUCCEEDED; });
  EXPECT_EQ(worker->Count(Kind::kForgetAttempt), 0);
  worker->SendOutput(Stream(job, v1::STREAM_KIND_LOG), 6, "bye\n");
  const v1::ForgetAttempt forget = worker->Take(Kind::kForgetAttempt).forget_attempt();
  EXPECT_EQ(forget.job_id(), job);
  EXPECT_EQ(forget.attempt(), 1);
}

// A controller that was restored from a backup. Job 7 was submitted after the backup was made.
class RestoredStoreTest : public testing::Test {
 protected:
  static Stores RestoredStores() {
    Stores stores = OpenMemoryStores();
    v1::Event restored;
    restored.mutable_store_restored()->set_skipped_job_ids(100);
    EXPECT_TRUE(stores.events->Append({restored}).ok());
    return stores;
  }

  RunningController running_{RestoredStores()};
};

TEST_F(RestoredStoreTest, ALostJobIsNeitherStoppedNorAcknowledgedNorForgotten) {
  FakeWorker worker(running_.channel, TestHello("a", 1));
  worker.Take(Kind::kWelcome);
  worker.SendReport(RunningReport(7));
  worker.SendOutput(Stream(7, v1::STREAM_KIND_LOG), 0, "all that is left\n");
  const auto answer = worker.Take(Kind::kStreamAcknowledged).stream_acknowledged();
  EXPECT_TRUE(answer.quarantined());
  EXPECT_EQ(answer.offset(), 0);
  // The worker clears the attempt without sending an exit fact.
  v1::AttemptReport report = RunningReport(7);
  report.mutable_ranks(0)->set_running(false);
  report.set_cleared(true);
  worker.SendReport(report);
  worker.SendOutput(Stream(99, v1::STREAM_KIND_LOG), 0, "x");
  worker.Take(Kind::kStreamAcknowledged);
  running_.Tick();
  EXPECT_EQ(worker.Count(Kind::kStopAttempt), 0);
  EXPECT_EQ(worker.Count(Kind::kForgetAttempt), 0);
}

TEST_F(WorkerSessionsTest, LetsAWorkerGetRidOfAnUnknownJobsOutput) {
  auto worker = Attach(TestHello("a", 1));
  worker->Take(Kind::kWelcome);
  const v1::StreamId stream = Stream(77, v1::STREAM_KIND_LOG);
  worker->SendOutput(stream, 0, "old\n");
  worker->TakeAcknowledged(stream, 4);
}

TEST_F(WorkerSessionsTest, StoresNothingOfARankOfAnotherNode) {
  auto owner = Attach(TestHello("a", 1));
  const int64_t job = RunJob(*owner);
  auto other = Attach(TestHello("b", 1));
  other->Take(Kind::kWelcome);
  const v1::StreamId telemetry = Stream(job, v1::STREAM_KIND_TELEMETRY);
  const v1::StreamId log = Stream(job, v1::STREAM_KIND_LOG);
  v1::TelemetryRecord record;
  record.mutable_checkpoint()->set_step(100);
  record.mutable_checkpoint()->set_path("/c/step_000000100");
  other->SendRecord(telemetry, 0, 50, record);
  other->SendOutput(log, 0, "not mine\n");
  for (int i = 0; i < 2; ++i) {
    const auto answer = other->Take(Kind::kStreamAcknowledged).stream_acknowledged();
    EXPECT_TRUE(answer.quarantined());
    EXPECT_EQ(answer.offset(), 0);
  }
  EXPECT_EQ(running_.Get("1").checkpoints_size(), 0);
  // The node that ran the rank starts at offset 0.
  owner->SendOutput(log, 0, "mine\n");
  owner->TakeAcknowledged(log, 5);
}

TEST_F(WorkerSessionsTest, StoresNothingOfAnAttemptThatWasNeverPlaced) {
  auto worker = Attach(TestHello("a", 1));
  const int64_t job = RunJob(*worker);
  worker->SendOutput(Stream(job, v1::STREAM_KIND_LOG, 0, 2), 0, "from the future\n");
  EXPECT_TRUE(worker->Take(Kind::kStreamAcknowledged).stream_acknowledged().quarantined());
}

}  // namespace
}  // namespace trainyard::controller
