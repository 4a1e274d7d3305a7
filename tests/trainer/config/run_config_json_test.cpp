#include "trainer/config/run_config_json.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>
#include <functional>
#include <limits>
#include <nlohmann/json.hpp>
#include <tuple>

#include "trainer/config/trainer_error.h"

namespace trainyard::trainer {
namespace {

using nlohmann::json;

// Returns the smallest valid spec, which contains only the settings that have no default.
json Minimal() {
  return {{"model",
           {{"num_layers", 2},
            {"hidden_size", 64},
            {"ffn_hidden_size", 128},
            {"num_attention_heads", 4},
            {"vocab_size", 256}}},
          {"data", {{"path", "/data"}}},
          {"train", {{"seq_length", 32}, {"global_batch", 8}, {"steps", 10}}}};
}

// Expects that `action` is rejected as a bad configuration, with `part` in the message.
void ExpectRefused(const std::function<void()>& action, const std::string& part) {
  try {
    action();
    ADD_FAILURE() << "Not refused: " << part;
  } catch (const TrainerError& error) {
    EXPECT_EQ(error.code(), ExitCode::kBadConfig);
    EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
  }
}

void ExpectSpecRefused(const json& spec, const std::string& part) {
  ExpectRefused([&] { ParseRunConfig(spec); }, part);
}

TEST(RunConfigJsonTest, FillsDefaultsIn) {
  RunConfig config = ParseRunConfig(Minimal());
  ResolveRunConfig(2, config);
  EXPECT_EQ(config.model.num_query_groups, 4);
  EXPECT_EQ(config.layout.dp, 2);
  EXPECT_EQ(config.train.precision, Precision::kBf16);
  EXPECT_EQ(config.schedule.kind, ScheduleKind::kCosine);
  EXPECT_EQ(config.checkpoint.every_steps, 1000);
  EXPECT_TRUE(config.model.untie_embeddings_and_output_weights);
}

TEST(RunConfigJsonTest, ReadsTheGraceOfAStop) {
  const std::string path = testing::TempDir() + "stop_grace.json";
  const auto seconds = [&path](const json& spec) {
    std::ofstream(path) << spec;
    return LoadStopGraceSeconds(path);
  };
  EXPECT_EQ(seconds({{"stop_grace", "90s"}}), 90);
  EXPECT_EQ(seconds({{"stop_grace", "0.25s"}}), 0.25);
  EXPECT_EQ(seconds(json::object()), std::numeric_limits<double>::infinity());
  for (const json& bad : {json("1m"), json("s"), json("-1s"), json("90"), json(90)}) {
    ExpectRefused(
        [&] {
          seconds({{"stop_grace", bad}});
        },
        "`stop_grace` must be a number of seconds");
  }
  std::remove(path.c_str());
}

TEST(RunConfigJsonTest, SkipsPartsOfAJobThatAreNotTheTrainers) {
  json spec = Minimal();
  spec["restart"] = {{"max_restarts", 5}};
  spec["command"] = json::array();
  spec["resources"] = {{"nodes", 2}, {"slots_per_node", 1}, {"device", "cpu"}};
  EXPECT_EQ(ParseRunConfig(spec).resources.device, DeviceKind::kCpu);
}

TEST(RunConfigJsonTest, PrintedSettingsReadBackAsTheSame) {
  json spec = Minimal();
  spec["layout"] = {{"dp", 2}, {"micro_batch", 2}, {"recompute", "full"}};
  spec["schedule"] = {{"kind", "wsd"}, {"decay_steps", 3}};
  spec["train"]["threads"] = 2;
  const json printed = RunConfigToJson(ParseRunConfig(spec));
  EXPECT_EQ(RunConfigToJson(ParseRunConfig(printed)), printed);
  EXPECT_EQ(printed["schedule"]["kind"], "wsd");
}

TEST(RunConfigJsonTest, TokensBecomeWholeSteps) {
  json spec = Minimal();
  spec["train"].erase("steps");
  spec["train"]["tokens"] = 8 * 32 * 3 + 1;
  RunConfig config = ParseRunConfig(spec);
  ResolveRunConfig(1, config);
  EXPECT_EQ(config.train.steps, 4);
  // The controller sends both the token count and the number of steps derived from that count.
  spec["train"]["steps"] = 4;
  config = ParseRunConfig(spec);
  EXPECT_NO_THROW(ResolveRunConfig(1, config));
}

TEST(RunConfigJsonTest, NamesTheKeyOfABadValue) {
  const auto with = [](const char* section, const char* key, const json& value) {
    json spec = Minimal();
    spec[section][key] = value;
    return spec;
  };
  ExpectSpecRefused(with("model", "num_layers", "two"),
                    "`model.num_layers` must be a whole number");
  ExpectSpecRefused(with("model", "num_layers", 2.5), "got 2.5");
  ExpectSpecRefused(with("train", "tokens", 1e19), "`train.tokens` must be a whole number");
  ExpectSpecRefused(with("train", "precision", "fp8"), "must be one of: fp32, bf16");
  ExpectSpecRefused(with("optimizer", "lr", "high"), "`optimizer.lr` must be a number");
  ExpectSpecRefused(with("checkpoint", "async", 1), "`checkpoint.async` must be true or false");
  ExpectSpecRefused(with("train", "seed", -1), "train.seed");
  ExpectSpecRefused(with("train", "threads", 0), "`train.threads` must be at least 1, got 0");
  ExpectSpecRefused(with("data", "path", 3), "`data.path` must be text");
  ExpectSpecRefused(with("optimizer", "learning_rate", 1), "`optimizer.learning_rate` is not a");
  json spec = Minimal();
  spec["modle"] = json::object();
  ExpectSpecRefused(spec, "`modle` is not a part of a job file");
}

TEST(RunConfigJsonTest, RefusesWrongShapes) {
  json spec = Minimal();
  spec["model"] = 3;
  ExpectSpecRefused(spec, "`model` must be a mapping");
  ExpectSpecRefused(json::array(), "must be a JSON object");
}

TEST(RunConfigJsonTest, ListsEveryBrokenRuleOfTheContract) {
  json spec = Minimal();
  spec["model"].erase("num_layers");
  spec["train"].erase("seq_length");
  ExpectRefused(
      [&] {
        RunConfig config = ParseRunConfig(spec);
        ResolveRunConfig(1, config);
      },
      "`model.num_layers` is missing\n`train.seq_length` is missing");
  for (const auto& [section, key, value, part] :
       {std::tuple{"layout", "dp", 3, "the gang has 1"},
        std::tuple{"layout", "micro_batch", 3, "micro_batch * dp"},
        std::tuple{"layout", "vpp", 2, "needs `layout.pp` above 1"},
        std::tuple{"model", "num_layers", 1001, "must be from 1 to 1000"}}) {
    spec = Minimal();
    spec[section][key] = value;
    RunConfig config = ParseRunConfig(spec);
    ExpectRefused([&] { ResolveRunConfig(1, config); }, part);
  }
}

TEST(RunConfigJsonTest, LoadsFilesWithClearErrors) {
  try {
    LoadRunConfig("/no/such/run.json");
    FAIL();
  } catch (const TrainerError& error) {
    EXPECT_EQ(error.code(), ExitCode::kNoInput);
  }
  const std::string path = testing::TempDir() + "run_config_test.json";
  std::ofstream(path) << "{\"model\": ";
  ExpectRefused([&] { LoadRunConfig(path); }, "not valid JSON");
  std::ofstream(path) << Minimal();
  EXPECT_EQ(LoadRunConfig(path).train.global_batch, 8);
  std::remove(path.c_str());
}

}  // namespace
}  // namespace trainyard::trainer
