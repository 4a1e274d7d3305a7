#include "worker/metrics/metrics_server.h"

#include <filesystem>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/deploy/metric_page.h"
#include "tests/worker/spool/temporary_dir.h"

namespace trainyard::worker {
namespace {

using test::HttpGet;
using test::ValueOf;
using testing::HasSubstr;
using testing::Not;

v1::Fact Exited(int exit_code, int signal = 0, bool out_of_memory = false,
                const std::string& spawn_error = "") {
  v1::Fact fact;
  fact.mutable_rank_exited()->set_exit_code(exit_code);
  fact.mutable_rank_exited()->set_signal(signal);
  fact.mutable_rank_exited()->set_out_of_memory(out_of_memory);
  fact.mutable_rank_exited()->set_spawn_error(spawn_error);
  return fact;
}

WorkerStatistics Statistics() {
  WorkerStatistics statistics;
  statistics.node = "n1";
  statistics.version = "1.2.3";
  for (int i = 0; i < 3; ++i) {
    v1::Slot& slot = *statistics.inventory.add_slots();
    slot.set_index(i);
    slot.set_kind(i < 2 ? v1::DEVICE_KIND_GPU : v1::DEVICE_KIND_CPU);
    if (i < 2) slot.set_uuid("GPU-" + std::to_string(i));
  }
  const RankPosition position{.tp = 0, .cp = 0, .dp = 2, .pp = 1};
  statistics.ranks = {{{{{7, 2}, 4}, 1, "running"}, "llama", position},
                      {{{{7, 1}, 4}, 1, "exiting"}, "llama", position}};
  statistics.connected = true;
  statistics.connections = 3;
  statistics.shipped_log_bytes = 1000;
  statistics.shipped_telemetry_bytes = 200;
  statistics.lost_output_bytes = 77;
  statistics.unsent_facts = 1;
  statistics.in_flight_bytes = 64;
  return statistics;
}

class MetricsServerTest : public testing::Test {
 protected:
  std::unique_ptr<MetricsServer> Start(bool gpus) {
    auto server = MetricsServer::Start({.listen = "127.0.0.1:0",
                                        .data_dir = directory_.path(),
                                        .gpu_metrics = gpus,
                                        .nvml_library = FAKE_NVML});
    EXPECT_TRUE(server.ok()) << server.status();
    return *std::move(server);
  }

  TemporaryDir directory_;
};

TEST_F(MetricsServerTest, ShowsEverythingThatDashboardsBuildOn) {
  const auto server = Start(true);
  server->Publish(Statistics());
  // The listener counts a scrape after answering, so only the next scrape includes this scrape.
  HttpGet(server->address(), "/metrics");
  const std::string page = HttpGet(server->address(), "/metrics");
  test::ExpectGolden("worker_metrics.txt", test::ShapeOf(page));
  EXPECT_EQ(ValueOf(page, "trainyard_worker_processes{state=\"running\"}"), 1);
  EXPECT_EQ(ValueOf(page, "trainyard_worker_processes{state=\"exiting\"}"), 1);
  EXPECT_EQ(ValueOf(page, "trainyard_worker_processes{state=\"waiting\"}"), 0);
  EXPECT_EQ(ValueOf(page, "trainyard_worker_slots{kind=\"gpu\",state=\"used\"}"), 1);
  EXPECT_EQ(ValueOf(page, "trainyard_worker_slots{kind=\"gpu\",state=\"free\"}"), 1);
  EXPECT_EQ(ValueOf(page, "trainyard_worker_slots{kind=\"cpu\",state=\"free\"}"), 1);
  EXPECT_EQ(ValueOf(page, "trainyard_worker_shipped_bytes_total{kind=\"log\"}"), 1000);
  EXPECT_EQ(ValueOf(page, "trainyard_worker_connected"), 1);
  EXPECT_EQ(ValueOf(page, "trainyard_worker_lost_output_bytes_total"), 77);
  EXPECT_GT(ValueOf(page, "trainyard_worker_disk_free_bytes"), 0);
  EXPECT_EQ(ValueOf(page,
                    "trainyard_gpu_assignment_info{uuid=\"GPU-1\",UUID=\"GPU-1\",gpu=\"1\","
                    "node=\"n1\",job_id=\"7\",job_name=\"llama\",attempt=\"2\",rank=\"4\","
                    "tp=\"0\",pp=\"1\",dp=\"2\",cp=\"0\"}"),
            1);
  EXPECT_THAT(page, Not(HasSubstr("attempt=\"1\""))) << "a join needs one series a GPU";
  EXPECT_EQ(ValueOf(page,
                    "DCGM_FI_DEV_GPU_UTIL{gpu=\"1\",UUID=\"GPU-1\",device=\"nvidia1\","
                    "modelName=\"NVIDIA H200\",hostname=\"n1\"}"),
            91);
  EXPECT_EQ(ValueOf(page, "trainyard_worker_gpu_healthy{gpu=\"1\",uuid=\"GPU-1\",node=\"n1\"}"), 1);
}

TEST_F(MetricsServerTest, NoControlCharacterOfANodeNamePasses) {
  const auto server = Start(true);
  WorkerStatistics statistics = Statistics();
  statistics.node = "n1\x1b[2J";
  server->Publish(statistics);
  const std::string page = HttpGet(server->address(), "/metrics");
  EXPECT_THAT(page, HasSubstr("node=\"n1\\\\u001b[2J\""));
  EXPECT_THAT(page, Not(HasSubstr("\x1b")));
}

TEST_F(MetricsServerTest, LeavesGpusToDcgmExporter) {
  const auto server = Start(false);
  server->Publish(Statistics());
  const std::string page = HttpGet(server->address(), "/metrics");
  EXPECT_THAT(page, Not(HasSubstr("DCGM_")));
  // Only the worker knows which job uses which GPU, so the worker must export the assignment.
  EXPECT_THAT(page, HasSubstr("trainyard_gpu_assignment_info{"));
}

TEST_F(MetricsServerTest, MeasuresTheSpool) {
  std::filesystem::create_directories(directory_.path() + "/attempts/7/1/rank0");
  const auto server = Start(false);
  server->Publish(Statistics());
  std::FILE* file = std::fopen((directory_.path() + "/attempts/7/1/rank0/output.log").c_str(), "w");
  std::fputs("0123456789", file);
  std::fclose(file);
  const std::string sparse = directory_.path() + "/attempts/7/1/rank0/sparse.log";
  std::fclose(std::fopen(sparse.c_str(), "w"));
  std::filesystem::resize_file(sparse, 1 << 30);
  const double bytes =
      ValueOf(HttpGet(server->address(), "/metrics"), "trainyard_worker_spool_bytes");
  EXPECT_GE(bytes, 10);
  EXPECT_LT(bytes, 1 << 20) << "what was dropped takes no space";
}

TEST_F(MetricsServerTest, SaysWhyItCannotListen) {
  const auto server = Start(false);
  const auto listen = [&](const std::string& address) {
    return MetricsServer::Start({.listen = address, .data_dir = directory_.path()}).status();
  };
  const absl::Status taken = listen(server->address());
  EXPECT_EQ(taken.code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(std::string(taken.message()), HasSubstr("--metrics-listen"));
  for (const char* address : {"", "7072", ":7072", "127.0.0.1:", "127.0.0.1:70000", "host:7072",
                              "127.0.0.1:0,127.0.0.1:0", "127.0.0.1:80s", "127.0.0.1:0 ",
                              "::1:7199", "cafe:7199", "1.2:7199", "999.1.1.1:7199"}) {
    EXPECT_EQ(listen(address).code(), absl::StatusCode::kInvalidArgument) << address;
  }
}

TEST(FactTotalsTest, CountsStartsAndEnds) {
  FactTotals totals;
  v1::Fact started;
  started.mutable_rank_started()->set_attempt(1);
  totals.Count(started);
  started.mutable_rank_started()->set_attempt(2);
  totals.Count(started);
  EXPECT_EQ(totals.starts, 2);
  EXPECT_EQ(totals.restarts, 1);
  totals.Count(Exited(0));
  totals.Count(Exited(3));
  totals.Count(Exited(0, 9));
  totals.Count(Exited(0, 9, true));
  totals.Count(Exited(127, 0, false, "no such file"));
  for (const auto& [reason, count] : totals.exits) EXPECT_EQ(count, 1) << reason;
}

}  // namespace
}  // namespace trainyard::worker
