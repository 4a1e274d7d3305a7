// Tests `plan --device`.
#include "gmock/gmock.h"
#include "nlohmann/json.hpp"
#include "tests/cli/cli_fixture.h"

namespace trainyard::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

class PlanLayoutTest : public CliFixture {
 protected:
  PlanLayoutTest() {
    environment_.recipe_directories = {RECIPES_DIRECTORY};
    job_ = WriteFile("llama.yaml", R"(name: llama3-70b
model: {num_layers: 80, hidden_size: 8192, ffn_hidden_size: 28672, num_attention_heads: 64,
        num_query_groups: 8, vocab_size: 128256}
data: {path: /data}
train: {seq_length: 8192, global_batch: 512, tokens: 1T}
)");
  }

  CliResult Plan(std::vector<std::string> more) {
    std::vector<std::string> words = {"plan", job_};
    words.insert(words.end(), more.begin(), more.end());
    return Run(words);
  }

  std::string job_;
};

TEST_F(PlanLayoutTest, ShowsLayoutRanksMemoryTimeAndDays) {
  const CliResult result = Plan({"--nodes", "8", "--device", "H100"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.err, IsEmpty());
  EXPECT_THAT(result.out,
              HasSubstr("Layout for llama3-70b on 8 nodes of 8 H100 (NVLink 4; ndr)\n"));
  for (const char* part : {"\n  layout: {", "\nRanks\n", "stage 0", "\nMemory per GPU of stage ",
                           "weights", "kept activations", " of 85.0 GB\n", "\nStep time of stage",
                           "compute", "\nRun\n", "tokens/s", "MFU", "days", "GPU-hours", "cost",
                           "per GPU-hour) to $", "\nRejected layouts (", "is slower"}) {
    EXPECT_THAT(result.out, HasSubstr(part));
  }
  EXPECT_THAT(result.out, Not(HasSubstr("submit would refuse")));
}

TEST_F(PlanLayoutTest, ShowsTheWrittenLayoutBesideTheBest) {
  const std::vector<std::string> words = {"plan", "llama3-70b-tp8-pp4", "--device", "H100"};
  const CliResult best = Run(words);
  EXPECT_EQ(best.exit_code, 0) << best.err;
  EXPECT_THAT(best.out, HasSubstr("Layout for llama3-70b-tp8-pp4 on 8 nodes of 8 H100"));
  EXPECT_THAT(best.out, HasSubstr("\nLayout of the job file\n"));
  EXPECT_THAT(best.out, HasSubstr("times the step time of the best"));
  const auto document = [this, words](std::vector<std::string> more) {
    more.insert(more.begin(), words.begin(), words.end());
    more.insert(more.end(), {"-o", "json"});
    return nlohmann::json::parse(Run(more).out);
  };
  const nlohmann::json chosen = document({});
  const nlohmann::json written = document({"--layout", "written"});
  EXPECT_EQ(written["layout"]["tp"], 8);
  EXPECT_EQ(written["layout"]["pp"], 4);
  EXPECT_EQ(written["layout"]["dp"], 2);
  EXPECT_EQ(written["step"]["step_seconds"], chosen["written_layout"]["step"]["step_seconds"]);
  EXPECT_GT(written["step"]["step_seconds"], chosen["step"]["step_seconds"]);
  EXPECT_EQ(written["pareto"][0]["layout"], chosen["layout"]) << "the best stands beside it";
  const nlohmann::json more = document({"--layout", "written", "--nodes", "16"});
  EXPECT_EQ(more["layout"]["dp"], 4) << "follows from the cluster";
}

TEST_F(PlanLayoutTest, RefusesAWrittenLayoutThatCannotRun) {
  const CliResult small = Run({"plan", "llama3-70b-tp8-pp4", "--device", "A6000", "--set",
                               "layout.pp=1", "--layout", "written"});
  EXPECT_EQ(small.exit_code, 1);
  EXPECT_THAT(small.err, HasSubstr("the layout of the job file cannot run on 8 nodes of 8 A6000: "
                                   "the layout needs "));
  const CliResult uneven = Run({"plan", "llama3-70b-tp8-pp4", "--device", "H100", "--nodes", "16",
                                "--set", "layout.dp=2", "--layout", "written"});
  EXPECT_EQ(uneven.exit_code, 2);
  EXPECT_THAT(Plan({"--device", "H100", "--nodes", "8", "--layout", "written"}).err,
              HasSubstr("sets no layout"));
}

TEST_F(PlanLayoutTest, NamesTheTableEntryOfAnotherName) {
  const CliResult variant = Plan({"--nodes", "8", "--device", "H100 NVL"});
  EXPECT_EQ(variant.exit_code, 0) << variant.err;
  EXPECT_THAT(variant.err,
              HasSubstr("`H100 NVL` is planned with the specifications of the H100: 85 GB, "
                        "989.4 TFLOP/s, 3.35 TB/s, NVLink 4"));
  for (const auto& [name, bytes] : {std::pair("GB200", 186e9), std::pair("gh200", 96e9)}) {
    const CliResult own = Plan({"--nodes", "8", "--device", name, "-o", "json"});
    EXPECT_THAT(own.err, IsEmpty()) << "a device of its own";
    EXPECT_EQ(nlohmann::json::parse(own.out)["cluster"]["device_bytes"], bytes);
  }
  const CliResult document = Plan({"--nodes", "8", "--device", "H100 NVL", "-o", "json"});
  EXPECT_THAT(nlohmann::json::parse(document.out)["notes"][0].get<std::string>(),
              HasSubstr("specifications of the H100"));
}

TEST_F(PlanLayoutTest, TheDocumentHasTheSameForPrograms) {
  const CliResult result =
      Plan({"--nodes", "8", "--device", "nvidia h200", "--network", "roce400", "-o", "json"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  const nlohmann::json plan = nlohmann::json::parse(result.out);
  EXPECT_EQ(plan["name"], "llama3-70b");
  EXPECT_EQ(plan["cluster"]["device"], "H200");
  EXPECT_EQ(plan["cluster"]["devices"], 64);
  EXPECT_EQ(plan["cluster"]["network"], "roce400");
  const nlohmann::json& layout = plan["layout"];
  EXPECT_EQ(layout["tp"].get<int>() * layout["cp"].get<int>() * layout["pp"].get<int>() *
                layout["dp"].get<int>(),
            64);
  EXPECT_EQ(plan["stages"].size(), layout["pp"]);
  EXPECT_EQ(plan["stages"].back()["last_rank"], 63);
  EXPECT_EQ(plan["stages"].back()["last_node"], 7);
  double sum = 0;
  for (const auto& [key, value] : plan["step"].items()) {
    if (key != "stage" && key != "step_seconds") sum += value.get<double>();
  }
  EXPECT_NEAR(sum, plan["step"]["step_seconds"].get<double>(), 1e-9);
  EXPECT_LT(plan["memory"]["total_bytes"], 141e9);
  EXPECT_GT(plan["mfu"], 0.3);
  EXPECT_LT(plan["mfu"], 0.75);
  for (const nlohmann::json& cost : plan["costs"]) {
    EXPECT_NEAR(cost["dollars"][0].get<double>(),
                cost["dollars_per_gpu_hour"][0].get<double>() * plan["device_hours"].get<double>(),
                1)
        << cost;
  }
  EXPECT_EQ(plan["costs"].size(), 3u);
  EXPECT_NEAR(plan["days"].get<double>(), 1e12 / plan["tokens_per_second"].get<double>() / 86400,
              0.01);
  EXPECT_EQ(plan["problem"], nullptr);
}

// `submit` accepts the layout in the form in which the command prints it.
TEST_F(PlanLayoutTest, TheLayoutCanBeSetInAJobFile) {
  const CliResult result = Plan({"--nodes", "8", "--device", "H100"});
  const size_t begin = result.out.find("layout: {");
  ASSERT_NE(begin, std::string::npos);
  const std::string layout = result.out.substr(begin, result.out.find('\n', begin) - begin);
  const std::string planned =
      WriteFile("planned.yaml", "extends: " + job_ +
                                    "\nresources: {nodes: 8, slots_per_node: 8}\n" + layout + "\n");
  const CliResult check = Run({"plan", "--offline", planned, "-o", "json"});
  EXPECT_EQ(check.exit_code, 0) << check.err;
  EXPECT_THAT(nlohmann::json::parse(check.out)["warnings"], IsEmpty());
}

TEST_F(PlanLayoutTest, NodesComeFromTheJobWithoutTheOption) {
  const CliResult result = Plan({"--device", "H200", "--set", "resources.nodes=4", "-o", "json"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(nlohmann::json::parse(result.out)["cluster"]["devices"], 32);
}

TEST_F(PlanLayoutTest, AClusterThatIsTooSmallNamesTheOneThatWouldDo) {
  const CliResult result = Plan({"--nodes", "1", "--device", "A100"});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.out, IsEmpty());
  EXPECT_THAT(result.err, HasSubstr("no layout fits into 1 node of 8 A100"));
  EXPECT_THAT(result.err, HasSubstr("are missing on each GPU"));
  EXPECT_THAT(result.err, AllOf(HasSubstr("such nodes are needed; set `resources.nodes` to "),
                                HasSubstr("`plan --nodes ")));
  const CliResult json = Plan({"--nodes", "1", "--device", "A100", "-o", "json"});
  EXPECT_EQ(json.exit_code, 1);
  const nlohmann::json plan = nlohmann::json::parse(json.out);
  EXPECT_EQ(plan["layout"], nullptr);
  EXPECT_EQ(plan["mfu"], nullptr);
  EXPECT_EQ(plan["memory"], nullptr);
  EXPECT_THAT(plan["stages"], IsEmpty());
  EXPECT_THAT(plan["problem"].get<std::string>(), HasSubstr("no layout fits"));
  const int nodes = plan["fewest_nodes"];
  EXPECT_EQ(Plan({"--nodes", std::to_string(nodes), "--device", "A100"}).exit_code, 0);
  EXPECT_EQ(Plan({"--nodes", std::to_string(nodes - 1), "--device", "A100"}).exit_code, 1);
}

TEST_F(PlanLayoutTest, RefusesWhatItCannotPlan) {
  const auto error = [this](const std::vector<std::string>& more) {
    const CliResult result = Plan(more);
    EXPECT_EQ(result.exit_code, 2);
    return result.err;
  };
  EXPECT_THAT(error({"--device", "RTX 3090"}),
              HasSubstr("unknown device `RTX 3090`; known values are B200"));
  EXPECT_THAT(error({"--device", "H100", "--network", "x"}), HasSubstr("unknown network `x`"));
  EXPECT_THAT(error({"--device", "V100"}), HasSubstr("the V100 has no bf16 arithmetic"));
  EXPECT_THAT(error({"--device", "H100", "--nodes", "4096"}), HasSubstr("at most 16384"));
  EXPECT_THAT(error({"--nodes", "4"}), HasSubstr("--device"));
  const std::string other = WriteFile("other.yaml", kJobFile);
  EXPECT_THAT(Run({"plan", other, "--device", "H100"}).err, HasSubstr("its own `command`"));
}

TEST_F(PlanLayoutTest, ABatchThatNoLayoutDividesIsNoQuestionOfMemory) {
  const CliResult result =
      Plan({"--device", "H100", "--nodes", "11", "--set", "train.global_batch=3", "--set",
            "model.num_layers=2", "--per-node", "1"});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.err, HasSubstr("satisfies the rules of the job"));
  EXPECT_THAT(result.err, HasSubstr("train.global_batch"));
}

TEST_F(PlanLayoutTest, PlansMixturesOfExperts) {
  const CliResult result = Run({"plan", "mixtral-8x7b", "--device", "H100", "--nodes", "8"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  for (const char* part :
       {"  layout: {ep: ", "  parameters: 46702792704, 12879925248 active per token",
        " of 8 per GPU; ep ", "divides the ranks of tp, cp and dp", "copies of an expert",
        "exchange of tokens", "all-to-all: a token is sent to", "expert inputs", "wait: experts",
        "tokens/s", "MFU", "days", "cost"}) {
    EXPECT_THAT(result.out, HasSubstr(part));
  }
  const CliResult document =
      Run({"plan", "mixtral-8x7b", "--device", "H100", "--nodes", "8", "-o", "json"});
  const nlohmann::json plan = nlohmann::json::parse(document.out);
  EXPECT_EQ(plan["run"]["parameters"], 46702792704);
  EXPECT_GT(plan["layout"]["ep"], 1);
  EXPECT_GT(plan["memory"]["dispatch_bytes"], 0);
  EXPECT_GT(plan["step"]["ep_wait_seconds"], 0);
  EXPECT_TRUE(plan["warnings"].empty()) << "submit accepts the job";
}

TEST_F(PlanLayoutTest, PlansLatentAttentionAndFp8) {
  const CliResult latent = Run({"plan", "deepseek-v3", "--device", "H100", "--nodes", "64"});
  EXPECT_EQ(latent.exit_code, 0) << latent.err;
  EXPECT_THAT(latent.out, Not(HasSubstr("submit would refuse")));
  EXPECT_THAT(latent.out, HasSubstr("divides the ranks of tp, cp and dp"));
  const CliResult narrow = Run({"plan", "llama3-8b-fp8", "--device", "H100"});
  EXPECT_EQ(narrow.exit_code, 0) << narrow.err;
  EXPECT_THAT(narrow.out, Not(HasSubstr("submit would refuse")));
  EXPECT_THAT(narrow.out, HasSubstr("% of the FP8 peak"));
  EXPECT_THAT(Run({"plan", "llama3-8b-fp8", "--device", "A100"}).err, HasSubstr("has no FP8"));
}

TEST_F(PlanLayoutTest, AMixtureTakesSettingsAndItsWrittenLayout) {
  const std::vector<std::string> words = {"plan",     "mixtral-8x7b", "--device",
                                          "H100",     "--set",        "model.moe_router_topk=1",
                                          "--layout", "written"};
  const CliResult result = Run(words);
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("Job file's layout for mixtral-8x7b"));
  EXPECT_THAT(result.out, HasSubstr("ep: 8"));
  EXPECT_THAT(
      Run({"plan", "mixtral-8x7b", "--device", "H100", "--set", "model.moe_router_topk=9"}).err,
      HasSubstr("`model.moe_router_topk` (9) must not be above `model.num_experts` (8)"));
  const CliResult plain = Run({"plan", "--offline", "mixtral-8x7b"});
  EXPECT_EQ(plain.exit_code, 0) << plain.err;
  EXPECT_THAT(plain.out, Not(HasSubstr("cannot be trained yet")));
}

TEST_F(PlanLayoutTest, StorageCanBoundAStep) {
  EXPECT_THAT(Plan({"--device", "H100", "--storage", "tape"}).err,
              HasSubstr("unknown storage `tape`; known values are nvme, nfs, object"));
  const CliResult slow = Run({"plan", "gpt2-1.36b", "--device", "H200", "--storage", "object"});
  EXPECT_EQ(slow.exit_code, 0) << slow.err;
}

TEST_F(PlanLayoutTest, WritesAFigureOfTheStep) {
  const std::string figure = WriteFile("step.svg", "");
  const CliResult result = Plan({"--nodes", "8", "--device", "H100", "--svg", figure});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.err, HasSubstr("wrote " + figure));
  EXPECT_THAT(ReadFile(figure), HasSubstr("Step of llama3-70b on 8 nodes of 8 H100"));
  EXPECT_THAT(Plan({"--nodes", "8", "--device", "H100", "--svg", "/nowhere/a.svg"}).err,
              HasSubstr("cannot write /nowhere/a.svg"));
  EXPECT_EQ(Plan({"--svg", figure}).exit_code, 2) << "without a device there is no step";
}

}  // namespace
}  // namespace trainyard::cli
