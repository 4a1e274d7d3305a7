// Tests plans over HTTP.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "controller/store/stores.h"
#include "tests/controller/controller_harness.h"
#include "tests/controller/http/http_client.h"

namespace trainyard::controller::http {
namespace {

using nlohmann::json;
using testing::HasSubstr;

constexpr char kLlama70b[] = R"(name: llama3-70b
model: {num_layers: 80, hidden_size: 8192, ffn_hidden_size: 28672, num_attention_heads: 64,
        num_query_groups: 8, vocab_size: 128256}
data: {path: /data}
train: {seq_length: 8192, global_batch: 512, tokens: 1T}
)";

v1::Hello GpuHello(const std::string& node_id, const std::string& model) {
  v1::Hello hello = TestHello(node_id, 8);
  for (v1::Slot& slot : *hello.mutable_inventory()->mutable_slots()) {
    slot.set_kind(v1::DEVICE_KIND_GPU);
    slot.set_model(model);
  }
  return hello;
}

class PlannerTest : public testing::Test {
 protected:
  Answer Plan(const json& body) {
    json request = {{"job_file", kLlama70b}, {"device", "H100"}, {"nodes", 8}};
    request.update(body);
    return client_.Post("/api/v1/planner", request.dump());
  }

  RunningController running_{OpenMemoryStores(), {}, "127.0.0.1:0"};
  HttpClient client_{running_.controller->http_address()};
};

TEST_F(PlannerTest, AnswersWithLayoutRanksMemoryTimeAndCost) {
  const Answer answer = Plan({{"network", "roce400"}});
  ASSERT_EQ(answer.status, 200) << answer.body;
  const json plan = answer.Json();
  EXPECT_EQ(plan["cluster"]["devices"], 64);
  EXPECT_EQ(plan["cluster"]["network"], "roce400");
  EXPECT_LT(plan["memory"]["total_bytes"], plan["cluster"]["plannable_bytes"]);
  EXPECT_EQ(plan["stages"].size(), plan["layout"]["pp"]);
  EXPECT_THAT(plan["layout_text"].get<std::string>(), HasSubstr("{"));
  EXPECT_GT(plan["mfu"], 0.3);
  EXPECT_EQ(plan["pareto"][0]["layout"], plan["layout"]);
  EXPECT_FALSE(plan.contains("problem"));
  EXPECT_GT(plan["failures"]["days"], plan["days"]);
  const int64_t sum = plan["not_chosen"][0]["layouts"].get<int64_t>();
  EXPECT_GE(sum, plan["not_chosen"].back()["layouts"].get<int64_t>());
}

TEST_F(PlannerTest, GoodputIsBestAtTheIntervalThatIsAdvised) {
  const json failures = Plan(json::object()).Json()["failures"];
  const json& intervals = failures["by_interval"];
  ASSERT_GE(intervals.size(), 3u);
  const double best = failures["checkpoint_interval_seconds"];
  EXPECT_LT(intervals.front()["checkpoint_interval_seconds"], best);
  EXPECT_GT(intervals.back()["checkpoint_interval_seconds"], best);
  for (const json& interval : intervals) {
    // Daly's formula minimizes only an approximation of the lost time, so its interval need not be
    // the exact optimum.
    EXPECT_LE(interval["goodput"], failures["goodput"].get<double>() + 1e-6) << interval;
  }
  EXPECT_LT(intervals.front()["goodput"], failures["goodput"]);
  EXPECT_LT(intervals.back()["goodput"], failures["goodput"]);
}

TEST_F(PlannerTest, TheLossOfTheRunLiesOnItsLineAndNotBelowTheLeast) {
  const json loss = Plan(json::object()).Json()["loss"];
  EXPECT_GE(loss["loss"], loss["least_loss"]);
  EXPECT_NEAR(loss["flops"].get<double>(), 6 * 70.55e9 * 1e12, 1e-3 * 6 * 70.55e9 * 1e12);
  const json& points = loss["by_flops"];
  ASSERT_GE(points.size(), 3u);
  EXPECT_LT(points.front()["flops"], loss["flops"]);
  EXPECT_GT(points.back()["flops"], loss["flops"]);
  EXPECT_LT(points.back()["loss"], loss["loss"]);
  EXPECT_FALSE(points.front().contains("loss")) << "no token for each parameter";
  for (const json& point : points) {
    EXPECT_GE(point.value("loss", point["least_loss"].get<double>()), point["least_loss"]);
  }
}

// On every axis, the last rank has the last position.
TEST_F(PlannerTest, RankAxesGiveTheCoordinatesOfEachRank) {
  const json plan = Plan(json::object()).Json();
  int64_t ranks = 1;
  for (const json& axis : plan["rank_axes"]) {
    EXPECT_EQ(axis["stride"], ranks) << axis;
    EXPECT_EQ(axis["size"], plan["layout"][axis["name"].get<std::string>()]) << axis;
    ranks *= axis["size"].get<int64_t>();
  }
  EXPECT_EQ(plan["rank_axes"].size(), 4u);
  EXPECT_EQ(ranks, 64);
}

TEST_F(PlannerTest, OverridesAndAPriceCount) {
  const json plan =
      Plan({{"overrides", {"train.global_batch=256", "train.seq_length=4096"}}, {"price", 2.5}})
          .Json();
  EXPECT_EQ(plan["run"]["global_batch"], 256);
  EXPECT_EQ(plan["run"]["seq_length"], 4096);
  ASSERT_EQ(plan["costs"].size(), 1u);
  EXPECT_NEAR(plan["costs"][0]["dollars"][0], 2.5 * plan["device_hours"].get<double>(), 1e-6);
}

TEST_F(PlannerTest, AClusterThatIsTooSmallNamesTheOneThatWouldDo) {
  const Answer answer = Plan({{"nodes", 1}, {"device", "A100"}});
  ASSERT_EQ(answer.status, 200) << answer.body;
  const json plan = answer.Json();
  EXPECT_THAT(plan["problem"].get<std::string>(), HasSubstr("are missing on each GPU"));
  EXPECT_THAT(plan["advice"].get<std::string>(),
              HasSubstr("such nodes are needed; set `resources.nodes` to "));
  EXPECT_FALSE(plan.contains("layout"));
  EXPECT_EQ(plan["stages"], json::array());
  const int64_t nodes = plan["fewest_nodes"];
  EXPECT_TRUE(Plan({{"nodes", nodes}, {"device", "A100"}}).Json().contains("layout"));
}

TEST_F(PlannerTest, RefusesWhatItCannotPlan) {
  const struct {
    json body;
    const char* detail;
  } cases[] = {
      {{{"device", "RTX 3090"}}, "unknown device `RTX 3090`; known values are B200"},
      {{{"device", ""}}, "device: name a GPU"},
      {{{"device", std::string(1000, 'x')}}, "at most 128 bytes"},
      {{{"device", "V100"}}, "no bf16 arithmetic"},
      {{{"network", "x"}}, "unknown network `x`"},
      {{{"nodes", 0}}, "nodes: must be at least 1"},
      {{{"nodes", -5}}, "nodes: must be at least 1"},
      {{{"nodes", 4096}}, "at most 16384"},
      {{{"nodes", 9223372036854775807}, {"per_node", 1024}}, "a cluster has 1 to 16384 nodes"},
      {{{"nodes", 18446744073709551615u}}, "must be a whole number"},
      {{{"nodes", 1.5}}, "must be a whole number"},
      {{{"per_node", 2000}}, "a node has 1 to 1024 GPUs"},
      {{{"price", -1}}, "price: must be in dollars"},
      {{{"price", "2"}}, "price: must be a number"},
      {{{"recipe", "llama3-8b"}}, "either recipe or job_file"},
      {{{"job_file", ""}}, "either recipe or job_file"},
      {{{"job_file", ""}, {"recipe", "/etc/passwd"}}, "is a path"},
      {{{"job_file", ""}, {"recipe", "../x.yaml"}}, "is a path"},
      {{{"job_file", ""}, {"recipe", "no-such"}}, "no recipe `no-such`"},
      {{{"job_file", "name: x\nmodell: {}\n"}}, "did you mean `model`"},
      {{{"job_file", "name: x\ncommand: [a]\nresources: {device: cpu}\n"}}, "its own `command`"},
      {{{"overrides", {"train.seq_length=0"}}}, "train.seq_length"},
      {{{"gpus", 8}}, "unknown key `gpus`"},
  };
  for (const auto& one : cases) {
    const Answer answer = Plan(one.body);
    EXPECT_EQ(answer.status, 400) << one.body << answer.body;
    EXPECT_EQ(answer.Json()["code"], "invalid_argument");
    EXPECT_THAT(answer.Json()["detail"].get<std::string>(), HasSubstr(one.detail)) << one.body;
  }
}

TEST_F(PlannerTest, ReadsRecipesOnlyByName) {
  const struct {
    std::string name;
    int status;
    const char* detail;
  } cases[] = {
      {"no-such", 404, "no recipe `no-such`"},
      {"..%2Fsecret.yaml", 400, "is a path"},
      {"%2Fetc%2Fpasswd", 400, "is a path"},
      {std::string(2000, 'a'), 400, "recipe: at most"},
  };
  for (const auto& one : cases) {
    const Answer answer = client_.Get("/api/v1/recipes/" + one.name);
    EXPECT_EQ(answer.status, one.status) << answer.body;
    EXPECT_THAT(answer.Json()["detail"].get<std::string>(), HasSubstr(one.detail));
  }
}

TEST_F(PlannerTest, ListsDevicesNetworksAndTheNodesOfTheCluster) {
  FakeWorker first(running_.channel, GpuHello("a", "NVIDIA H200"));
  FakeWorker second(running_.channel, GpuHello("b", "NVIDIA H200"));
  FakeWorker unknown(running_.channel, GpuHello("c", "Other 1"));
  FakeWorker cpu(running_.channel, TestHello("d", 2));
  for (FakeWorker* worker : {&first, &second, &unknown, &cpu}) {
    worker->Take(v1::ControllerMessage::kWelcome);
  }
  const json lists = client_.Get("/api/v1/planner").Json();
  EXPECT_EQ(lists["own_nodes"], json::parse(R"([{"device":"H200","nodes":2,"per_node":8}])"));
  EXPECT_EQ(lists["devices"][0]["name"], "B200");
  EXPECT_EQ(lists["networks"].size(), 7u);
  EXPECT_EQ(lists["max_devices"], 16384);
  EXPECT_EQ(lists["usual_per_node"], 8);
}

}  // namespace
}  // namespace trainyard::controller::http
