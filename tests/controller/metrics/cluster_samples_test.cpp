#include "controller/metrics/cluster_samples.h"

#include "absl/strings/str_cat.h"
#include "controller/core/observations/observe.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/controller/core/test_cluster.h"
#include "tests/deploy/metric_page.h"

namespace trainyard::controller {
namespace {

using testing::HasSubstr;
using testing::Not;

v1::Event At(Timestamp time_ms) {
  v1::Event event;
  event.set_time_ms(time_ms);
  return event;
}

// A cluster and the metrics exported for it.
struct Exported {
  TestCluster cluster;
  EventTotals events;
  TrainingTotals training;

  std::string Page() const {
    MetricSet metrics;
    AddClusterSamples({cluster.View(), events, training}, cluster.now, metrics);
    return RenderText(metrics.Take());
  }
  double Value(const std::string& series) const { return test::ValueOf(Page(), series); }
  void Count(const v1::Event& event) { events.Count(event, cluster.state); }
  void Count(const std::vector<v1::Event>& counted) {
    for (const v1::Event& event : counted) Count(event);
  }
};

TEST(ClusterSamplesTest, EmptyClusterShowsZeros) {
  const Exported exported;
  EXPECT_EQ(exported.Value("trainyard_jobs{state=\"running\"}"), 0);
  EXPECT_EQ(exported.Value("trainyard_jobs_pending{reason=\"resources\"}"), 0);
  EXPECT_EQ(exported.Value("trainyard_queue_depth"), 0);
  EXPECT_EQ(exported.Value("trainyard_queue_oldest_wait_seconds"), 0);
  EXPECT_EQ(exported.Value("trainyard_nodes{state=\"ready\"}"), 0);
  EXPECT_EQ(exported.Value("trainyard_restarts_total{cause=\"node_lost\"}"), 0);
  EXPECT_EQ(exported.Value("trainyard_events_total{type=\"job_submitted\"}"), 0);
  // Checks that Prometheus would accept the page.
  test::ShapeOf(exported.Page());
}

TEST(ClusterSamplesTest, QueueShowsDepthReasonsAndTheLongestWait) {
  Exported exported;
  exported.cluster.AddNode("a", 1);
  exported.cluster.Submit("big", 1, 1);
  exported.cluster.Settle();
  exported.cluster.Submit("second", 1, 1);
  exported.cluster.Submit("third", 1, 1);
  exported.cluster.Pass(5000);
  EXPECT_EQ(exported.Value("trainyard_queue_depth"), 2);
  EXPECT_EQ(exported.Value("trainyard_jobs_pending{reason=\"resources\"}"), 1);
  EXPECT_EQ(exported.Value("trainyard_jobs_pending{reason=\"priority\"}"), 1);
  EXPECT_EQ(exported.Value("trainyard_queue_oldest_wait_seconds"), 5);
  EXPECT_EQ(exported.Value("trainyard_jobs{state=\"queued\"}"), 2);
  EXPECT_EQ(exported.Value("trainyard_jobs{state=\"starting\"}"), 1);
  EXPECT_EQ(exported.Value("trainyard_slots{kind=\"cpu\",state=\"used\"}"), 1);
  EXPECT_EQ(exported.Value("trainyard_slots{kind=\"cpu\",state=\"free\"}"), 0);
}

TEST(ClusterSamplesTest, ACordonedNodeHasASeriesWithTheReason) {
  Exported exported;
  exported.cluster.AddNode("a", 1);
  exported.cluster.AddNode("b", 1);
  CordonNode cordon{.request = {}, .principal = {"ada"}};
  cordon.request.set_node("a");
  cordon.request.set_cordoned(true);
  cordon.request.set_reason("bad \"fan\"\n");
  exported.cluster.Do(cordon);
  const std::string page = exported.Page();
  EXPECT_THAT(page, HasSubstr("trainyard_node_cordoned{node=\"a\",reason=\"bad \\\"fan\\\""));
  EXPECT_THAT(page, Not(HasSubstr("trainyard_node_cordoned{node=\"b\"")));
  test::ShapeOf(page);
  cordon.request.set_cordoned(false);
  exported.cluster.Do(cordon);
  EXPECT_THAT(exported.Page(), Not(HasSubstr("trainyard_node_cordoned{")));
}

TEST(ClusterSamplesTest, RunningJobHasSeriesOfItsOwn) {
  Exported exported;
  exported.cluster.AddNode("a", 2);
  const int64_t job = exported.cluster.Submit("llama", 1, 2);
  exported.cluster.RunJob(job);
  v1::TelemetryRecord record;
  record.set_time_ms(exported.cluster.now);
  record.mutable_checkpoint()->set_step(40);
  record.mutable_checkpoint()->set_path("/c/step_40");
  exported.cluster.Do(ReceiveTelemetry{job, 1, 0, record});
  const std::string labels = absl::StrCat("{job_id=\"", job, "\",job_name=\"llama\"}");
  EXPECT_EQ(exported.Value("trainyard_job_running" + labels), 1);
  EXPECT_EQ(exported.Value("trainyard_job_slots" + labels), 2);
  EXPECT_EQ(exported.Value("trainyard_job_attempt" + labels), 1);
  EXPECT_EQ(exported.Value("trainyard_checkpoint_last_step" + labels), 40);
  EXPECT_EQ(exported.Value("trainyard_checkpoint_last_success_timestamp_seconds" + labels),
            static_cast<double>(exported.cluster.now) / 1000);
  exported.cluster.Pass(3000);
  EXPECT_EQ(exported.Value(absl::StrCat("trainyard_job_time_seconds{job_id=\"", job,
                                        "\",job_name=\"llama\",phase=\"train\"}")),
            3);
}

TEST(ClusterSamplesTest, LayersWithUnevenLoadAreCountedByProblem) {
  Exported exported;
  exported.cluster.AddNode("a", 1);
  const int64_t job = exported.cluster.Submit("llama", 1, 1);
  exported.cluster.RunJob(job);
  EXPECT_THAT(exported.Page(), Not(HasSubstr("problem_layers"))) << "no experts reported";
  v1::ExpertsRecord record;
  record.set_experts(8);
  record.set_topk(2);
  for (const float balance : {1.25F, 3.5F, 4.0F}) {
    record.add_balance(balance);
    record.add_dropped(0.5F);
  }
  const auto layers = [&](const char* problem) {
    return exported.Value(absl::StrCat("trainyard_train_moe_problem_layers{job_id=\"", job,
                                       "\",job_name=\"llama\",problem=\"", problem, "\"}"));
  };
  const auto add_records = [&](int count) {
    for (int i = 0; i < count; ++i) {
      record.set_step(record.step() + 1);
      exported.cluster.observations.attempts[{job, 1}].experts.Add(record);
    }
  };
  add_records(1);
  EXPECT_EQ(layers("collapsed"), 0) << "single steps vary";
  add_records(kExpertRecordsInARow - 1);
  EXPECT_EQ(layers("collapsed"), 2);
  EXPECT_EQ(layers("dropping"), 3);
  EXPECT_EQ(layers("certain"), 0);
  EXPECT_EQ(layers("idle"), 0);
}

TEST(ClusterSamplesTest, TimesOfAJobAreThoseOfItsLedger) {
  Exported exported;
  exported.cluster.AddNode("a", 1);
  const int64_t job = exported.cluster.Submit("llama", 1, 1);
  exported.cluster.RunJob(job);
  exported.cluster.Pass(3000);
  v1::RankRecord& heard = exported.cluster.observations.attempts[{job, 1}].ranks[0].newest;
  heard.set_data_stall_seconds(1);
  const auto time = [&](const char* phase) {
    return exported.Value(absl::StrCat("trainyard_job_time_seconds{job_id=\"", job,
                                       "\",job_name=\"llama\",phase=\"", phase, "\"}"));
  };
  EXPECT_EQ(time("data_stall"), 1);
  EXPECT_EQ(time("train"), 2);
}

TEST(ClusterSamplesTest, UnresponsiveNodeShowsItsHeartbeatAgeAndItsSlotsAreUnavailable) {
  Exported exported;
  exported.cluster.AddNode("a", 2);
  exported.cluster.AddNode("b", 3);
  exported.cluster.StopHeartbeats("b");
  exported.cluster.Pass(4000);
  EXPECT_EQ(exported.Value("trainyard_node_heartbeat_age_seconds{node=\"b\"}"), 4);
  EXPECT_EQ(exported.Value("trainyard_node_ready{node=\"b\"}"), 0);
  EXPECT_EQ(exported.Value("trainyard_node_ready{node=\"a\"}"), 1);
  EXPECT_EQ(exported.Value("trainyard_nodes{state=\"suspect\"}"), 1);
  EXPECT_EQ(exported.Value("trainyard_slots{kind=\"cpu\",state=\"unavailable\"}"), 3);
  EXPECT_EQ(exported.Value("trainyard_workers_attached"), 2);
}

TEST(ClusterSamplesTest, AnUnhealthyNodeIsNotReadyAndItsSlotsAreNotFree) {
  Exported exported;
  exported.cluster.AddNode("a", 2);
  v1::Heartbeat heartbeat;
  heartbeat.mutable_condition()->set_trouble("disk full");
  ObserveHeartbeat("a", heartbeat, exported.cluster.now, exported.cluster.state,
                   exported.cluster.observations);
  exported.cluster.Settle();
  EXPECT_EQ(exported.Value("trainyard_nodes{state=\"unhealthy\"}"), 1);
  EXPECT_EQ(exported.Value("trainyard_nodes{state=\"ready\"}"), 0);
  EXPECT_EQ(exported.Value("trainyard_slots{kind=\"cpu\",state=\"unhealthy\"}"), 2);
  EXPECT_THAT(exported.Page(), Not(HasSubstr("trainyard_slots{kind=\"cpu\",state=\"free\"}")));
}

TEST(ClusterSamplesTest, NodesOfOneNameAreTwoSeries) {
  Exported exported;
  exported.cluster.AddNode("a", 1);
  exported.cluster.AddNode("b", 1);
  exported.cluster.state.nodes.at("b").node.set_name("a");
  const std::string page = exported.Page();
  test::ShapeOf(page);
  EXPECT_THAT(page, HasSubstr("trainyard_node_ready{node=\"a-b\"}"));
}

TEST(ClusterSamplesTest, EndedJobIsShownForTenMinutes) {
  Exported exported;
  exported.cluster.AddNode("a", 1);
  const int64_t job = exported.cluster.Submit("short", 1, 1);
  exported.cluster.RunJob(job);
  exported.cluster.ExitAll(job, 0);
  exported.cluster.ClearAll(job);
  ASSERT_EQ(exported.cluster.StateOf(job), v1::JOB_STATE_SUCCEEDED);
  v1::Event ended = At(exported.cluster.now);
  ended.mutable_job_ended()->set_job_id(job);
  ended.mutable_job_ended()->set_state(v1::JOB_STATE_SUCCEEDED);
  exported.Count(ended);
  EXPECT_THAT(exported.Page(), HasSubstr("job_name=\"short\""));
  EXPECT_EQ(exported.Value("trainyard_jobs_ended_total{state=\"succeeded\"}"), 1);

  exported.cluster.now += kEndedJobKeptMs - 1;
  EXPECT_THAT(exported.Page(), HasSubstr("job_name=\"short\""));
  EXPECT_TRUE(exported.events.ForgetEnded(exported.cluster.now).empty());
  exported.cluster.now += 1;
  EXPECT_THAT(exported.Page(), Not(HasSubstr("job_name=\"short\"")));
  EXPECT_EQ(exported.events.ForgetEnded(exported.cluster.now), std::vector<int64_t>{job});
  EXPECT_TRUE(exported.events.ended_jobs().empty());
  // A controller that starts now does not count the job. A controller that started 1 ms earlier
  // does.
  EventTotals fresh;
  fresh.Restore(exported.cluster.state, exported.cluster.now);
  EXPECT_TRUE(fresh.ended_jobs().empty());
  fresh.Restore(exported.cluster.state, exported.cluster.now - 1);
  EXPECT_EQ(fresh.ended_jobs().size(), 1u);
}

TEST(ClusterSamplesTest, RestartsAreCountedByCause) {
  Exported exported;
  exported.cluster.AddNode("a", 1);
  const int64_t job = exported.cluster.Submit("flaky", 1, 1);
  exported.cluster.RunJob(job);
  exported.cluster.ExitRank(job, 0, 3);
  exported.cluster.Settle();
  exported.cluster.ClearAll(job);
  exported.Count(exported.cluster.Pass(60'000));
  ASSERT_EQ(exported.cluster.Attempt(job).number(), 2);
  EXPECT_EQ(exported.Value(absl::StrCat("trainyard_job_restarts_total{job_id=\"", job,
                                        "\",job_name=\"flaky\",cause=\"rank_exited\"}")),
            1);
  EXPECT_EQ(exported.Value("trainyard_restarts_total{cause=\"rank_exited\"}"), 1);
  EXPECT_EQ(exported.Value("trainyard_placements_total{kind=\"restart\"}"), 1);
}

TEST(ClusterSamplesTest, QueueWaitIsObservedOnceForEachJob) {
  Exported exported;
  exported.cluster.AddNode("a", 1);
  const int64_t job = exported.cluster.Submit("waits", 1, 1);
  for (const int64_t attempt_number : {1, 2}) {
    v1::Event placed = At(exported.cluster.now + 20'000 * attempt_number);
    placed.mutable_job_placed()->set_job_id(job);
    placed.mutable_job_placed()->set_attempt(attempt_number);
    exported.Count(placed);
  }
  EXPECT_EQ(exported.Value("trainyard_queue_wait_seconds_count"), 1);
  EXPECT_EQ(exported.Value("trainyard_queue_wait_seconds_sum"), 20);
  EXPECT_EQ(exported.Value("trainyard_queue_wait_seconds_bucket{le=\"15\"}"), 0);
  EXPECT_EQ(exported.Value("trainyard_queue_wait_seconds_bucket{le=\"60\"}"), 1);
}

TEST(ClusterSamplesTest, NamesThatTrainersChooseAreBounded) {
  Exported exported;
  for (int i = 0; i < 100; ++i) {
    v1::Event event = At(1);
    event.mutable_alert_raised()->set_job_id(1);
    event.mutable_alert_raised()->set_code(absl::StrCat("code_", i));
    exported.Count(event);
  }
  EXPECT_EQ(exported.Value("trainyard_alerts_total{code=\"code_0\"}"), 1);
  EXPECT_EQ(exported.Value("trainyard_alerts_total{code=\"other\"}"), 100 - kMaxNamesCounted);
}

TEST(ClusterSamplesTest, JobsBeyondTheBoundHaveNoSeries) {
  Exported exported;
  exported.cluster.AddNode("a", 1);
  const int64_t running = exported.cluster.Submit("running", 1, 1);
  exported.cluster.RunJob(running);
  for (std::size_t i = 0; i < kMaxJobsExported + 9; ++i) {
    exported.cluster.Submit(absl::StrCat("job-", i), 1, 1);
  }
  const std::string page = exported.Page();
  EXPECT_THAT(page, HasSubstr("job_name=\"running\""));
  EXPECT_THAT(page, HasSubstr("job_name=\"job-0\""));
  EXPECT_EQ(test::ValueOf(page, "trainyard_series_omitted{of=\"jobs\"}"), 10);
  EXPECT_EQ(test::ValueOf(page, "trainyard_queue_depth"), kMaxJobsExported + 9);
}

TEST(ClusterSamplesTest, LabelsThatNeedEscapingAreEscaped) {
  Exported exported;
  exported.cluster.AddNode("a", 1);
  exported.cluster.state.nodes.at("a").node.set_name("a\"b\\c\nd");
  EXPECT_THAT(exported.Page(), HasSubstr(R"(trainyard_node_ready{node="a\"b\\c\nd"} 1)"));
}

}  // namespace
}  // namespace trainyard::controller
