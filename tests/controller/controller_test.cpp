#include "controller/controller.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <future>
#include <memory>
#include <string>
#include <thread>

#include "tests/controller/controller_harness.h"
#include "tests/controller/store/temporary_directory.h"
#include "tests/fakes/keeps_data.h"

namespace trainyard::controller {
namespace {

using Kind = v1::ControllerMessage;

// A metric store that rejects all writes, as on a full disk.
class FullMetricStore : public KeepsData<MetricStore> {
 public:
  absl::Status Append(const std::vector<MetricBatch>&) override {
    return absl::ResourceExhaustedError("disk full");
  }
  absl::StatusOr<int64_t> StoredOffset(const StreamKey&) override { return 0; }
  absl::StatusOr<std::vector<v1::Series>> Read(const SeriesQuery&) override {
    return std::vector<v1::Series>{};
  }
  absl::StatusOr<std::vector<std::string>> Keys(int64_t) override {
    return std::vector<std::string>{};
  }
  absl::StatusOr<std::vector<AttemptRange>> Attempts(int64_t) override {
    return std::vector<AttemptRange>{};
  }
  absl::StatusOr<std::vector<StoredExperts>> ReadExperts(int64_t) override {
    return std::vector<StoredExperts>{};
  }
  absl::StatusOr<std::optional<StoredDataReport>> ReadDataReport(int64_t) override {
    return std::optional<StoredDataReport>();
  }
  absl::StatusOr<std::vector<LinkedDataSet>> ReadDataSets(int64_t) override {
    return std::vector<LinkedDataSet>();
  }
};

// A metric store in which requests for keys never return.
class HangingMetricStore final : public FullMetricStore {
 public:
  absl::StatusOr<std::vector<std::string>> Keys(int64_t) override {
    asked_.set_value();
    std::promise<void>().get_future().wait();
    return absl::InternalError("woke up");
  }

  void WaitUntilAsked() { asked_.get_future().wait(); }

 private:
  std::promise<void> asked_;
};

[[noreturn]] void StopWhileAQueryHangs() {
  Stores stores = OpenMemoryStores();
  auto hanging = std::make_unique<HangingMetricStore>();
  HangingMetricStore& metrics = *hanging;
  stores.metrics = std::move(hanging);
  RunningController running(std::move(stores));
  FakeWorker worker(running.channel, TestHello("a", 1));
  worker.Take(Kind::kWelcome);
  v1::ListKeysRequest request;
  request.set_job(std::to_string(running.Submit("job")));
  std::thread query([&] {
    grpc::ClientContext context;
    v1::ListKeysResponse response;
    running.metrics->ListKeys(&context, request, &response);
  });
  metrics.WaitUntilAsked();
  Controller::StopWithin(std::chrono::milliseconds(100), std::move(running.controller));
  std::_Exit(EXIT_FAILURE);
}

void RunJob(RunningController& running, FakeWorker& worker) {
  const int64_t job = running.Submit("job");
  ASSERT_EQ(job, 1);
  worker.Take(Kind::kStartAttempt);
  worker.SendReport(RunningReport(job));
  worker.SendFact(1, StartedFact(job));
  worker.Take(Kind::kFactsAcknowledged);
}

// Waits until job 1 has completed a step, and returns its progress.
v1::Progress WaitForProgress(RunningController& running) {
  const auto deadline = std::chrono::steady_clock::now() + kTestTimeout;
  v1::Progress progress = running.Get("1").progress();
  while (progress.step() == 0 && std::chrono::steady_clock::now() < deadline) {
    std::this_thread::yield();
    progress = running.Get("1").progress();
  }
  return progress;
}

TEST(ControllerTest, ARestartInTheMiddleOfARunDisturbsNothing) {
  const TemporaryDirectory directory;
  const v1::StreamId stream = Stream(1, v1::STREAM_KIND_TELEMETRY);
  v1::Hello hello = TestHello("a", 1);
  {
    RunningController running(directory.path());
    FakeWorker worker(running.channel, hello);
    hello.set_cluster_id(worker.Take(Kind::kWelcome).welcome().cluster_id());
    RunJob(running, worker);
    worker.SendMetrics(stream, 0, 100, 7, 2.5);
    worker.TakeAcknowledged(stream, 100);
    running.controller->Stop();
    EXPECT_EQ(worker.WaitForEnd().error_code(), grpc::StatusCode::UNAVAILABLE);
  }
  RunningController running(directory.path());
  EXPECT_EQ(running.Get("1").state(), v1::JOB_STATE_RUNNING);
  // The wait is needed because the controller reads the progress from the store while already
  // serving.
  EXPECT_EQ(WaitForProgress(running).step(), 7);
  EXPECT_EQ(running.Get("1").progress().loss(), 2.5);
  *hello.add_attempts() = RunningReport(1);
  FakeWorker worker(running.channel, hello);
  const v1::Welcome welcome = worker.Take(Kind::kWelcome).welcome();
  EXPECT_EQ(welcome.fact_sequence(), 1u);
  ASSERT_EQ(welcome.streams_size(), 1);
  EXPECT_EQ(welcome.streams(0).offset(), 100);
  worker.SendFact(2, ExitedFact(1, 0));
  worker.SendFact(3, ClearedFact(1));
  running.WaitForJob(1, [](const v1::Job& job) { return job.state() == v1::JOB_STATE_SUCCEEDED; });
  EXPECT_EQ(worker.Count(Kind::kStartAttempt), 0);
  EXPECT_EQ(running.Get("1").attempts_size(), 1);
}

TEST(ControllerTest, AnAlertIsRaisedOnceThoughItsBytesWereNotStoredAtFirst) {
  const TemporaryDirectory directory;
  const v1::StreamId stream = Stream(1, v1::STREAM_KIND_TELEMETRY);
  v1::TelemetryRecord record;
  record.mutable_alert()->set_step(7);
  record.mutable_alert()->set_code("nan_loss");
  v1::Hello hello = TestHello("a", 1);
  {
    auto stores = OpenSqliteStores(directory.path());
    ASSERT_TRUE(stores.ok()) << stores.status();
    stores->metrics = std::make_unique<FullMetricStore>();
    RunningController running(*std::move(stores));
    FakeWorker worker(running.channel, hello);
    worker.Take(Kind::kWelcome);
    RunJob(running, worker);
    worker.SendRecord(stream, 0, 50, record);
    worker.SendFact(2, StartedFact(1));
    // The alert was sent before this fact, so the alert has been handled.
    worker.Take(Kind::kFactsAcknowledged);
    EXPECT_EQ(worker.Count(Kind::kStreamAcknowledged), 0);
  }
  RunningController running(directory.path());
  *hello.add_attempts() = RunningReport(1);
  FakeWorker worker(running.channel, hello);
  worker.Take(Kind::kWelcome);
  worker.SendRecord(stream, 0, 50, record);
  worker.TakeAcknowledged(stream, 50);
  record.mutable_alert()->set_step(8);
  worker.SendRecord(stream, 50, 100, record);
  worker.TakeAcknowledged(stream, 100);

  v1::GetJobRequest request;
  request.set_job("1");
  v1::GetJobResponse response;
  grpc::ClientContext context;
  ASSERT_TRUE(running.jobs->GetJob(&context, request, &response).ok());
  std::vector<int64_t> alert_steps;
  for (const v1::Event& event : response.events()) {
    if (event.has_alert_raised()) alert_steps.push_back(event.alert_raised().step());
  }
  EXPECT_THAT(alert_steps, testing::ElementsAre(7, 8));
}

TEST(ControllerTest, RefusesADirectoryThatAnotherOneUses) {
  const TemporaryDirectory directory;
  RunningController running(directory.path());
  ControllerOptions options;
  options.listen = "127.0.0.1:0";
  options.data_dir = directory.path();
  const auto second = Controller::Start(options, running.clock);
  EXPECT_EQ(second.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(second.status().message()), testing::HasSubstr(directory.path()));
}

TEST(ControllerTest, SaysThatThePortIsInUseAndHowToChooseAnother) {
  RunningController running(OpenMemoryStores());
  ControllerOptions options;
  options.listen = running.controller->address();
  const auto second = Controller::StartOn(OpenMemoryStores(), options, running.clock);
  EXPECT_EQ(second.status().code(), absl::StatusCode::kUnavailable);
  const std::string message(second.status().message());
  EXPECT_THAT(message, testing::HasSubstr(options.listen.substr(options.listen.rfind(':') + 1)));
  EXPECT_THAT(message, testing::HasSubstr("--listen"));
}

TEST(ControllerTest, SaysThatTheDirectoryCannotBeUsed) {
  HandClock clock;
  ControllerOptions options;
  options.data_dir = "/proc/trainyard";
  const auto started = Controller::Start(options, clock);
  ASSERT_FALSE(started.ok());
  EXPECT_THAT(std::string(started.status().message()), testing::HasSubstr("/proc/trainyard"));
}

TEST(ControllerDeathTest, EndsInTimeThoughAQueryHangs) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(StopWhileAQueryHangs(), testing::ExitedWithCode(0), "");
}

TEST(ControllerTest, StopsThoughClientsWatchAndFollow) {
  RunningController running(OpenMemoryStores());
  FakeWorker worker(running.channel, TestHello("a", 1));
  worker.Take(Kind::kWelcome);
  RunJob(running, worker);
  v1::WatchJobRequest watch;
  watch.set_job("1");
  grpc::ClientContext watch_context;
  const auto watching = running.jobs->WatchJob(&watch_context, watch);
  v1::WatchJobResponse job;
  ASSERT_TRUE(watching->Read(&job));
  v1::ReadLogsRequest read;
  read.set_job("1");
  read.set_follow(true);
  grpc::ClientContext read_context;
  const auto following = running.logs->ReadLogs(&read_context, read);
  worker.SendOutput(Stream(1, v1::STREAM_KIND_LOG), 0, "line\n");
  v1::ReadLogsResponse lines;
  ASSERT_TRUE(following->Read(&lines));
  running.controller->Stop();
  while (watching->Read(&job)) {
  }
  EXPECT_FALSE(following->Read(&lines));
  EXPECT_EQ(watching->Finish().error_code(), grpc::StatusCode::UNAVAILABLE);
  EXPECT_EQ(following->Finish().error_code(), grpc::StatusCode::UNAVAILABLE);
}

}  // namespace
}  // namespace trainyard::controller
