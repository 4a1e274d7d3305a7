// Tests the HTTP endpoints for GPU time and cost.
#include <gtest/gtest.h>

#include <string>

#include "controller/store/stores.h"
#include "tests/controller/controller_harness.h"
#include "tests/controller/http/http_client.h"

namespace trainyard::controller::http {
namespace {

using nlohmann::json;

LoopOptions Priced(const GpuPrice& price) {
  LoopOptions options;
  options.core.gpu_price = price;
  return options;
}

v1::Hello GpuHello() {
  v1::Hello hello = TestHello("a", 2);
  for (v1::Slot& slot : *hello.mutable_inventory()->mutable_slots()) {
    slot.set_kind(v1::DEVICE_KIND_GPU);
  }
  return hello;
}

// A controller with one node, which runs a job on two GPUs.
class Cluster {
 public:
  explicit Cluster(const GpuPrice& price)
      : running_(OpenMemoryStores(), Priced(price), "127.0.0.1:0") {
    worker_.Take(v1::ControllerMessage::kWelcome);
    const json job = {{"spec",
                       {{"name", "tiny"},
                        {"command", {"/bin/true"}},
                        {"resources", {{"slots_per_node", 2}, {"device", "gpu"}}}}},
                      {"user", "ada"}};
    EXPECT_EQ(client_.Post("/api/v1/jobs", job.dump()).status, 200);
    worker_.Take(v1::ControllerMessage::kStartAttempt);
    running_.clock.Advance(1000);
    running_.Tick();
  }

  json Get(const std::string& path) {
    const Answer answer = client_.Get("/api/v1" + path);
    EXPECT_EQ(answer.status, 200) << answer.body;
    return answer.Json();
  }

 private:
  RunningController running_;
  FakeWorker worker_{running_.channel, GpuHello()};
  HttpClient client_{running_.controller->http_address()};
};

TEST(UsageTest, AJobAndAReportHaveTheSameGpuTimeAndCost) {
  Cluster cluster({.per_hour = 1800, .currency = "USD"});
  const json ledger = cluster.Get("/jobs/1")["ledger"];
  const double gpu_seconds = ledger["gpu_seconds"];
  EXPECT_GE(gpu_seconds, 2);
  EXPECT_DOUBLE_EQ(ledger["cost"]["amount"], gpu_seconds / 2);
  EXPECT_EQ(ledger["cost"]["currency"], "USD");
  EXPECT_EQ(ledger["cost"]["gpu_hour_price"], 1800);
  for (const char* by : {"user", "job", "week", "cluster"}) {
    const json report = cluster.Get(std::string("/report?by=") + by);
    ASSERT_EQ(report["groups"].size(), 1) << by;
    EXPECT_DOUBLE_EQ(report["groups"][0]["gpu_seconds"], gpu_seconds) << by;
    EXPECT_EQ(report["groups"][0]["cost"], ledger["cost"]) << by;
    EXPECT_EQ(report["total"]["cost"], ledger["cost"]) << by;
  }
  EXPECT_EQ(cluster.Get("/report?by=week&job_id=1")["total"]["cost"], ledger["cost"]);
  EXPECT_TRUE(cluster.Get("/report?by=week&job_id=2")["groups"].empty());
}

TEST(UsageTest, WithoutAPriceNoAnswerHasACost) {
  Cluster cluster({});
  const json ledger = cluster.Get("/jobs/1")["ledger"];
  EXPECT_GE(ledger["gpu_seconds"].get<double>(), 2);
  EXPECT_FALSE(ledger.contains("cost"));
  const json report = cluster.Get("/report?by=user");
  EXPECT_EQ(report["groups"][0]["gpu_seconds"], ledger["gpu_seconds"]);
  EXPECT_FALSE(report["groups"][0].contains("cost"));
  EXPECT_FALSE(report["total"].contains("cost"));
}

}  // namespace
}  // namespace trainyard::controller::http
