// Tests the page that a real controller with scripted workers returns for GET /metrics.
#include <chrono>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/controller/controller_harness.h"
#include "tests/controller/store/temporary_directory.h"
#include "tests/deploy/metric_page.h"

namespace trainyard::controller {
namespace {

using test::ValueOf;

std::string Page(const RunningController& controller) {
  return test::HttpGet(controller.controller->http_address(), "/metrics");
}

// Requests the page until it contains `text`, and returns it. The retries are needed because the
// duration of a call is recorded only after its answer was sent.
std::string PageWith(const RunningController& controller, const std::string& text) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  std::string page = Page(controller);
  while (page.find(text) == std::string::npos) {
    if (std::chrono::steady_clock::now() > end) {
      ADD_FAILURE() << "the page does not come to hold " << text;
      break;
    }
    page = Page(controller);
  }
  return page;
}

v1::TelemetryRecord Metrics(int64_t time_ms) {
  v1::TelemetryRecord record;
  record.set_time_ms(time_ms);
  record.mutable_metrics()->set_step(5);
  record.mutable_metrics()->set_total_steps(50);
  auto& values = *record.mutable_metrics()->mutable_values();
  for (const char* key :
       {"loss", "grad_norm", "lr", "step_seconds", "tokens_per_second", "mfu", "mfu_causal",
        "perplexity", "samples_per_second", "noise_scale", "loss_scale", "skipped_steps", "tokens",
        "memory_bytes", "data_stall_seconds", "moe_balance_max", "moe_balance_mean", "moe_aux_loss",
        "moe_router_entropy_min", "moe_dropped_share"}) {
    values[key] = 0.5;
  }
  // The test reads the page a minute after the newest step. Speeds are exported until three step
  // times after that step, so a step must take 30 s.
  values["step_seconds"] = 30;
  values["compute_seconds"] = 20;
  values["ep_wait_seconds"] = 10;
  return record;
}

v1::TelemetryRecord Experts(int64_t time_ms) {
  v1::TelemetryRecord record;
  record.set_time_ms(time_ms);
  record.mutable_experts()->set_step(5);
  record.mutable_experts()->set_experts(8);
  record.mutable_experts()->set_topk(2);
  record.mutable_experts()->add_balance(1.25);
  return record;
}

// Runs a job whose trainer sends every kind of record. The job fails once, restarts and is running
// at the end.
void RunEventfulJob(RunningController& controller, FakeWorker& worker, int64_t job) {
  worker.Take(v1::ControllerMessage::kStartAttempt);
  worker.SendReport(RunningReport(job));
  worker.SendFact(1, StartedFact(job));
  const v1::StreamId stream = Stream(job, v1::STREAM_KIND_TELEMETRY);
  worker.SendRecord(stream, 0, 100, Metrics(controller.clock.Now()));
  v1::TelemetryRecord checkpoint;
  checkpoint.mutable_checkpoint()->set_step(5);
  checkpoint.mutable_checkpoint()->set_path("/checkpoints/5");
  checkpoint.mutable_checkpoint()->set_bytes(1 << 20);
  checkpoint.mutable_checkpoint()->set_total_seconds(2);
  checkpoint.mutable_checkpoint()->set_blocking_seconds(0.25);
  worker.SendRecord(stream, 100, 200, checkpoint);
  v1::TelemetryRecord evaluation;
  evaluation.mutable_evaluation()->set_step(5);
  evaluation.mutable_evaluation()->set_data_set("val");
  evaluation.mutable_evaluation()->set_loss(2);
  worker.SendRecord(stream, 200, 300, evaluation);
  v1::TelemetryRecord alert;
  alert.mutable_alert()->set_step(5);
  alert.mutable_alert()->set_code("nan_loss");
  worker.SendRecord(stream, 300, 400, alert);
  worker.TakeAcknowledged(stream, 400);
  worker.SendOutput(Stream(job, v1::STREAM_KIND_LOG), 0, "twelve bytes");
  worker.TakeAcknowledged(Stream(job, v1::STREAM_KIND_LOG), 12);
  worker.SendFact(2, ExitedFact(job, 3));
  worker.Take(v1::ControllerMessage::kStopAttempt);
  worker.SendFact(3, ClearedFact(job));
  // All telemetry is acknowledged, so the worker forgets the attempt.
  v1::WorkerMessage forgotten;
  forgotten.mutable_heartbeat();
  worker.Send(forgotten);
  controller.WaitForJob(job, [](const v1::Job& seen) {
    return seen.attempts().rbegin()->state() == v1::ATTEMPT_STATE_ENDED;
  });
  controller.clock.Advance(2'000);  // Longer than the backoff.
  // Waits for the second attempt instead of a second StartAttempt command, because the first
  // StartAttempt may have been sent twice.
  controller.WaitForJob(job, [](const v1::Job& seen) { return seen.attempts_size() == 2; });
  const v1::StreamId second = Stream(job, v1::STREAM_KIND_TELEMETRY, 0, 2);
  worker.SendRecord(second, 0, 100, Experts(controller.clock.Now()));
  worker.TakeAcknowledged(second, 100);
}

TEST(MetricsPageTest, ShowsEverythingThatDashboardsBuildOn) {
  const TemporaryDirectory directory;
  RunningController controller(directory.path(), "127.0.0.1:0");
  FakeWorker worker(controller.channel, TestHello("n1", 2));
  worker.Take(v1::ControllerMessage::kWelcome);
  const int64_t job = controller.Submit("eventful");
  RunEventfulJob(controller, worker, job);
  EXPECT_EQ(controller.Submit("waits", 2), job + 1);
  // A scrape is itself a request, so the next scrape counts the previous scrape.
  Page(controller);
  const std::string page = PageWith(controller, "method=\"JobService/SubmitJob\"");
  test::ExpectGolden("controller_metrics.txt", test::ShapeOf(page));

  EXPECT_EQ(ValueOf(page, "trainyard_ingest_bytes_total{kind=\"log\"}"), 12);
  EXPECT_EQ(ValueOf(page, "trainyard_ingest_bytes_total{kind=\"telemetry\"}"), 500);
  EXPECT_EQ(ValueOf(page, "trainyard_events_total{type=\"attempt_failed\"}"), 1);
  EXPECT_EQ(ValueOf(page, "trainyard_restarts_total{cause=\"rank_exited\"}"), 1);
  EXPECT_GT(ValueOf(page, "trainyard_store_size_bytes{database=\"events\"}"), 0);
  EXPECT_GT(ValueOf(page, "trainyard_store_op_duration_seconds_count{op=\"append_events\"}"), 2);
  EXPECT_GT(ValueOf(page, "trainyard_scheduler_cycle_duration_seconds_count"), 2);
  EXPECT_EQ(ValueOf(page,
                    "trainyard_job_alerts_total{job_id=\"1\",job_name=\"eventful\","
                    "code=\"nan_loss\"}"),
            1);
}

TEST(MetricsPageTest, RefusedCallsAreCountedByTheirCode) {
  RunningController controller(OpenMemoryStores(), {}, "127.0.0.1:0");
  grpc::ClientContext context;
  v1::GetJobRequest request;
  request.set_job("99");
  v1::GetJobResponse response;
  EXPECT_EQ(controller.jobs->GetJob(&context, request, &response).error_code(),
            grpc::StatusCode::NOT_FOUND);
  const std::string page = PageWith(controller, "JobService/GetJob");
  EXPECT_EQ(ValueOf(page,
                    "trainyard_rpc_duration_seconds_count{code=\"NOT_FOUND\","
                    "method=\"JobService/GetJob\"}"),
            1);
}

// There is one series per route. Neither the ids of requested jobs nor unknown paths create further
// series.
TEST(MetricsPageTest, RequestsAreCountedByRouteAndStatus) {
  RunningController controller(OpenMemoryStores(), {}, "127.0.0.1:0");
  const std::string address = controller.controller->http_address();
  for (const char* path : {"/api/v1/jobs/98", "/api/v1/jobs/99", "/api/v1/nonsense"}) {
    EXPECT_NE(test::HttpGet(address, path, 404), "");
  }
  for (const char* path : {"/", "/api/v1/nodes"}) EXPECT_NE(test::HttpGet(address, path), "");
  const std::string page = PageWith(controller, "route=\"/api/v1/nodes\"");
  const auto count = [&](const std::string& code, const std::string& route) {
    return ValueOf(page, "trainyard_http_request_duration_seconds_count{code=\"" + code +
                             "\",route=\"" + route + "\"}");
  };
  EXPECT_EQ(count("404", "/api/v1/jobs/{job}"), 2);
  EXPECT_EQ(count("404", "unknown"), 1);
  EXPECT_EQ(count("200", "page"), 1);
  EXPECT_EQ(count("200", "/api/v1/nodes"), 1);
  EXPECT_EQ(ValueOf(page, "trainyard_http_streams"), 0);
}

}  // namespace
}  // namespace trainyard::controller
