#include "controller/rpc/job_watch.h"

#include <gtest/gtest.h>

#include "tests/controller/controller_harness.h"

namespace trainyard::controller {
namespace {

using Kind = v1::ControllerMessage;

class JobWatchTest : public testing::Test {
 protected:
  JobWatchTest() { worker_.Take(Kind::kWelcome); }

  std::unique_ptr<grpc::ClientReader<v1::WatchJobResponse>> Watch(grpc::ClientContext& context,
                                                                  const std::string& job) {
    v1::WatchJobRequest request;
    request.set_job(job);
    context.set_deadline(std::chrono::system_clock::now() + kTestTimeout);
    return running_.jobs->WatchJob(&context, request);
  }

  // Ends the job. The worker still has telemetry, up to the offset `telemetry_end`, that the
  // controller has not received.
  void EndJob(int64_t job, int64_t telemetry_end) {
    v1::AttemptReport report = RunningReport(job);
    report.mutable_ranks(0)->set_running(false);
    report.set_cleared(true);
    v1::StreamEnd& end = *report.add_stream_ends();
    *end.mutable_stream() = Stream(job, v1::STREAM_KIND_TELEMETRY);
    end.set_end_offset(telemetry_end);
    worker_.SendReport(report);
    worker_.SendFact(1, StartedFact(job));
    worker_.SendFact(2, ExitedFact(job, 0));
    worker_.SendFact(3, ClearedFact(job));
  }

  RunningController running_{OpenMemoryStores()};
  FakeWorker worker_{running_.channel, TestHello("a", 1)};
};

TEST_F(JobWatchTest, SendsEachChangeUntilTheEnd) {
  const int64_t job = running_.Submit("job");
  grpc::ClientContext context;
  const auto stream = Watch(context, "job");
  v1::WatchJobResponse response;
  ASSERT_TRUE(stream->Read(&response));
  EXPECT_EQ(response.job().state(), v1::JOB_STATE_STARTING);
  worker_.SendReport(RunningReport(job));
  EndJob(job, 0);
  while (stream->Read(&response)) {
  }
  EXPECT_EQ(response.job().state(), v1::JOB_STATE_SUCCEEDED);
  EXPECT_TRUE(stream->Finish().ok());
}

// A client that watches a job to its end and then reads its metrics must get the final telemetry.
TEST_F(JobWatchTest, EndsOnceTheFinalOutputIsStored) {
  const int64_t job = running_.Submit("job");
  grpc::ClientContext context;
  const auto stream = Watch(context, "job");
  v1::WatchJobResponse response;
  EndJob(job, 20);
  while (response.job().state() != v1::JOB_STATE_SUCCEEDED) ASSERT_TRUE(stream->Read(&response));
  EXPECT_EQ(response.job().progress().step(), 0);
  worker_.SendMetrics(Stream(job, v1::STREAM_KIND_TELEMETRY), 0, 20, 3, 6.0);
  while (stream->Read(&response)) {
  }
  EXPECT_EQ(response.job().progress().step(), 3);
  EXPECT_TRUE(stream->Finish().ok());
  v1::ListKeysRequest request;
  request.set_job("job");
  v1::ListKeysResponse keys;
  grpc::ClientContext keys_context;
  ASSERT_TRUE(
      v1::MetricService::NewStub(running_.channel)->ListKeys(&keys_context, request, &keys).ok());
  EXPECT_EQ(keys.keys_size(), 1);
}

TEST_F(JobWatchTest, FinalOutputThatDoesNotComeIsNotWaitedForLong) {
  const int64_t job = running_.Submit("job");
  grpc::ClientContext context;
  const auto stream = Watch(context, "job");
  v1::WatchJobResponse response;
  EndJob(job, 20);
  while (response.job().state() != v1::JOB_STATE_SUCCEEDED) ASSERT_TRUE(stream->Read(&response));
  running_.clock.Advance(2001);
  while (stream->Read(&response)) {
  }
  EXPECT_TRUE(stream->Finish().ok());
}

TEST_F(JobWatchTest, SendsProgressOnceASecond) {
  const int64_t job = running_.Submit("job");
  worker_.SendReport(RunningReport(job));
  worker_.SendFact(1, StartedFact(job));
  running_.WaitForJob(job,
                      [](const v1::Job& seen) { return seen.state() == v1::JOB_STATE_RUNNING; });
  grpc::ClientContext context;
  const auto stream = Watch(context, "@last");
  v1::WatchJobResponse response;
  ASSERT_TRUE(stream->Read(&response));
  const v1::StreamId telemetry = Stream(job, v1::STREAM_KIND_TELEMETRY);
  worker_.SendMetrics(telemetry, 0, 10, 1, 5.0);
  worker_.SendMetrics(telemetry, 10, 20, 2, 4.0);
  worker_.TakeAcknowledged(telemetry, 20);
  running_.clock.Advance(1000);
  ASSERT_TRUE(stream->Read(&response));
  // One message contains both steps: the first step was not sent separately.
  EXPECT_EQ(response.job().progress().step(), 2);
  EXPECT_EQ(response.job().progress().loss(), 4.0);
}

TEST_F(JobWatchTest, EndsAtOnceForAJobThatHasEnded) {
  running_.Submit("job");
  v1::StopJobRequest stop;
  stop.set_job("job");
  stop.set_kill(true);
  v1::StopJobResponse stopped;
  grpc::ClientContext stop_context;
  ASSERT_TRUE(running_.jobs->StopJob(&stop_context, stop, &stopped).ok());
  worker_.SendFact(1, ClearedFact(1));
  running_.WaitForJob(1, [](const v1::Job& job) { return job.state() == v1::JOB_STATE_STOPPED; });
  grpc::ClientContext context;
  const auto stream = Watch(context, "1");
  v1::WatchJobResponse response;
  ASSERT_TRUE(stream->Read(&response));
  EXPECT_EQ(response.job().state(), v1::JOB_STATE_STOPPED);
  EXPECT_FALSE(stream->Read(&response));
  EXPECT_TRUE(stream->Finish().ok());
}

TEST_F(JobWatchTest, SaysThatAJobIsNotThere) {
  grpc::ClientContext context;
  const auto stream = Watch(context, "nobody");
  v1::WatchJobResponse response;
  EXPECT_FALSE(stream->Read(&response));
  EXPECT_EQ(stream->Finish().error_code(), grpc::StatusCode::NOT_FOUND);
}

TEST_F(JobWatchTest, AClientThatVanishedHoldsNothingUp) {
  running_.Submit("job");
  {
    grpc::ClientContext context;
    const auto stream = Watch(context, "job");
    v1::WatchJobResponse response;
    ASSERT_TRUE(stream->Read(&response));
    context.TryCancel();
  }
  const auto begin = std::chrono::steady_clock::now();
  running_.controller->Stop();
  // Server::Shutdown waits until every call has ended. After a leak, it would wait for the whole
  // grace period.
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(1));
}

}  // namespace
}  // namespace trainyard::controller
