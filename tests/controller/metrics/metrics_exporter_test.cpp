#include "controller/metrics/metrics_exporter.h"

#include <deque>

#include "controller/core/observations/observe.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/controller/core/test_cluster.h"
#include "tests/deploy/metric_page.h"

namespace trainyard::controller {
namespace {

using test::ValueOf;
using testing::HasSubstr;
using testing::Not;

// A loop that answers readers only when the test calls them, on the test's thread.
class HandLoop final : public ClusterLoop {
 public:
  ClusterView View() const { return cluster.View(); }

  void Read(std::function<void(const ClusterView& view)> work) override {
    ++reads;
    if (stuck) {
      waiting.push_back(std::move(work));
    } else {
      work(View());
    }
  }
  void Submit(Request, RequestDone) override { ADD_FAILURE() << "a scrape changes nothing"; }
  void Listen(TickListener listener) override { listeners.push_back(std::move(listener)); }

  void Tell(const std::vector<v1::Event>& events) {
    for (const TickListener& listener : listeners) {
      EXPECT_TRUE(listener(View(), {.changed_jobs = {}, .events = events}));
    }
  }

  TestCluster cluster;
  bool stuck = false;
  int reads = 0;
  std::deque<std::function<void(const ClusterView& view)>> waiting;
  std::vector<TickListener> listeners;
};

struct ScriptedExporter {
  explicit ScriptedExporter(std::chrono::milliseconds min_age = std::chrono::milliseconds(0))
      : exporter(loop, loop.View(),
                 {.version = "1.2.3",
                  .data_dir = "/nowhere",
                  .more = nullptr,
                  .snapshot_min_age = min_age,
                  .loop_timeout = std::chrono::milliseconds(1)}) {}

  HandLoop loop;
  MetricsExporter exporter;
};

TEST(MetricsExporterTest, EachScrapeTakesASnapshot) {
  ScriptedExporter exported;
  EXPECT_EQ(ValueOf(exported.exporter.RenderMetrics(), "trainyard_nodes{state=\"ready\"}"), 0);
  exported.loop.cluster.AddNode("a", 1);
  const std::string page = exported.exporter.RenderMetrics();
  EXPECT_EQ(ValueOf(page, "trainyard_nodes{state=\"ready\"}"), 1);
  EXPECT_EQ(ValueOf(page, "trainyard_build_info{version=\"1.2.3\",component=\"controller\"}"), 1);
  test::ShapeOf(page);
}

TEST(MetricsExporterTest, WhoeverAsksOftenCostsTheLoopNoMore) {
  ScriptedExporter exported(std::chrono::hours(1));
  for (int i = 0; i < 10; ++i) exported.exporter.RenderMetrics();
  EXPECT_EQ(exported.loop.reads, 1);
}

TEST(MetricsExporterTest, LoopThatIsStuckLeavesTheNewestSnapshot) {
  ScriptedExporter exported;
  exported.loop.cluster.AddNode("a", 1);
  exported.exporter.RenderMetrics();
  exported.loop.stuck = true;
  exported.loop.cluster.AddNode("b", 1);
  const std::string page = exported.exporter.RenderMetrics();
  EXPECT_EQ(ValueOf(page, "trainyard_nodes{state=\"ready\"}"), 1);
  EXPECT_GE(ValueOf(page, "trainyard_snapshot_age_seconds"), 0.001) << "the patience at least";
  // An answer that arrives late is still used.
  exported.loop.waiting.front()(exported.loop.View());
  EXPECT_EQ(ValueOf(exported.exporter.RenderMetrics(), "trainyard_nodes{state=\"ready\"}"), 2);
}

// The loop is stuck, as in a commit to a disk that hangs for minutes.
TEST(MetricsExporterTest, ALoopThatIsStuckIsAskedOnce) {
  ScriptedExporter exported;
  exported.loop.stuck = true;
  for (int i = 0; i < 10; ++i) exported.exporter.RenderMetrics();
  EXPECT_EQ(exported.loop.waiting.size(), 1u);
  exported.loop.waiting.front()(exported.loop.View());
  exported.exporter.RenderMetrics();
  EXPECT_EQ(exported.loop.waiting.size(), 2u);
}

TEST(MetricsExporterTest, ShowsItselfBeforeTheFirstSnapshot) {
  ScriptedExporter exported;
  exported.loop.stuck = true;
  const std::string page = exported.exporter.RenderMetrics();
  EXPECT_THAT(page, HasSubstr("process_cpu_seconds_total"));
  EXPECT_THAT(page, Not(HasSubstr("trainyard_jobs")));
  EXPECT_THAT(page, Not(HasSubstr("trainyard_snapshot_age_seconds")));
}

TEST(MetricsExporterTest, CountsEventsAndForgetsJobsThatEnded) {
  ScriptedExporter exported;
  exported.loop.cluster.AddNode("a", 1);
  const int64_t job = exported.loop.cluster.Submit("short", 1, 1);
  exported.loop.cluster.RunJob(job);
  v1::TelemetryBatch batch;
  batch.mutable_stream()->set_job_id(job);
  batch.mutable_stream()->set_attempt(1);
  (*batch.add_records()->mutable_metrics()->mutable_values())["loss"] = 2;
  exported.exporter.ObserveTelemetry(batch, exported.loop.cluster.now);
  exported.loop.cluster.ExitAll(job, 0);
  exported.loop.cluster.ClearAll(job);
  v1::Event ended;
  ended.set_time_ms(exported.loop.cluster.now);
  ended.mutable_job_ended()->set_job_id(job);
  ended.mutable_job_ended()->set_state(v1::JOB_STATE_SUCCEEDED);
  exported.loop.Tell({ended});
  std::string page = exported.exporter.RenderMetrics();
  EXPECT_EQ(ValueOf(page, "trainyard_events_total{type=\"job_ended\"}"), 1);
  EXPECT_EQ(ValueOf(page, "trainyard_train_loss{job_id=\"1\",job_name=\"short\"}"), 2);
  exported.loop.cluster.now += 10 * 60 * 1000;
  exported.loop.Tell({});
  page = exported.exporter.RenderMetrics();
  EXPECT_THAT(page, Not(HasSubstr("job_id=\"1\"")));
  EXPECT_EQ(ValueOf(page, "trainyard_events_total{type=\"job_ended\"}"), 1);
}

TEST(MetricsExporterTest, ObservesDurations) {
  ScriptedExporter exported;
  exported.exporter.ObserveCycle(0.002);
  exported.exporter.ObserveStore(StoreOperation::kAppendLogs, 0.5);
  exported.exporter.ObserveCall("JobService/GetJob", "OK", 0.25);
  exported.exporter.ObserveCall("JobService/GetJob", "OK", 0.25);
  exported.exporter.ObserveRequest("/api/v1/jobs", "200", 0.125);
  const std::string page = exported.exporter.RenderMetrics();
  EXPECT_EQ(ValueOf(page, "trainyard_scheduler_cycle_duration_seconds_sum"), 0.002);
  EXPECT_EQ(ValueOf(page, "trainyard_store_op_duration_seconds_sum{op=\"append_logs\"}"), 0.5);
  EXPECT_EQ(ValueOf(page, "trainyard_store_op_duration_seconds_count{op=\"append_events\"}"), 0);
  EXPECT_EQ(
      ValueOf(page, "trainyard_rpc_duration_seconds_sum{code=\"OK\",method=\"JobService/GetJob\"}"),
      0.5);
  EXPECT_EQ(
      ValueOf(page,
              "trainyard_http_request_duration_seconds_sum{code=\"200\",route=\"/api/v1/jobs\"}"),
      0.125);
}

}  // namespace
}  // namespace trainyard::controller
