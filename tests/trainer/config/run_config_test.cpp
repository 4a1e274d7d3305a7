#include "trainer/config/run_config.h"

#include <gtest/gtest.h>

#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>

#include "trainer/config/trainer_error.h"

namespace trainyard::trainer {
namespace {

using nlohmann::json;

// The smallest spec: what has no default.
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

// Expects refusal as bad configuration with `part` in the message.
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

TEST(RunConfigTest, FillsDefaultsIn) {
  const RunConfig config = ParseRunConfig(Minimal());
  EXPECT_EQ(config.model.num_query_groups, 4);
  EXPECT_EQ(config.model.HeadSize(), 16);
  EXPECT_EQ(config.train.precision, Precision::kBf16);
  EXPECT_EQ(config.schedule.kind, ScheduleKind::kCosine);
  EXPECT_EQ(config.checkpoint.every_steps, 1000);
  EXPECT_TRUE(config.model.untie_embeddings_and_output_weights);
}

TEST(RunConfigTest, SkipsPartsOfAJobThatAreNotTheTrainers) {
  json spec = Minimal();
  spec["restart"] = {{"max_restarts", 5}};
  spec["command"] = json::array();
  spec["resources"] = {{"nodes", 2}, {"slots_per_node", 1}, {"device", "cpu"}};
  EXPECT_EQ(ParseRunConfig(spec).resources.device, DeviceKind::kCpu);
}

TEST(RunConfigTest, PrintedSettingsReadBackAsTheSame) {
  json spec = Minimal();
  spec["layout"] = {{"dp", 2}, {"micro_batch", 2}, {"recompute", "full"}};
  spec["schedule"] = {{"kind", "wsd"}, {"decay_steps", 3}};
  spec["train"]["threads"] = 2;
  const json printed = RunConfigToJson(ParseRunConfig(spec));
  EXPECT_EQ(RunConfigToJson(ParseRunConfig(printed)), printed);
  EXPECT_EQ(printed["schedule"]["kind"], "wsd");
}

TEST(RunConfigTest, TokensBecomeWholeSteps) {
  json spec = Minimal();
  spec["train"].erase("steps");
  spec["train"]["tokens"] = 8 * 32 * 3 + 1;
  EXPECT_EQ(ParseRunConfig(spec).train.steps, 4);
  spec["train"]["steps"] = 4;
  ExpectSpecRefused(spec, "either train.steps or train.tokens");
}

TEST(RunConfigTest, NamesTheKeyOfABadValue) {
  const auto with = [](const char* section, const char* key, const json& value) {
    json spec = Minimal();
    spec[section][key] = value;
    return spec;
  };
  ExpectSpecRefused(with("model", "num_layers", "two"), "model.num_layers must be a whole number");
  ExpectSpecRefused(with("model", "num_layers", 0), "model.num_layers must be from 1 to 1000");
  ExpectSpecRefused(with("model", "num_layers", 2.5), "(it is 2.5)");
  ExpectSpecRefused(with("train", "precision", "fp8"), "must be one of: fp32, bf16");
  ExpectSpecRefused(with("optimizer", "lr", -1), "optimizer.lr must be from 0");
  ExpectSpecRefused(with("checkpoint", "async", 1), "checkpoint.async must be true or false");
  ExpectSpecRefused(with("train", "seed", -1), "train.seed");
  ExpectSpecRefused(with("optimizer", "learning_rate", 1), "optimizer.learning_rate is not a");
  ExpectSpecRefused(with("model", "num_attention_heads", 5), "multiple of");
  ExpectSpecRefused(with("model", "num_query_groups", 3), "model.num_query_groups 3");
  ExpectSpecRefused(with("data", "path", ""), "data.path is missing");
}

TEST(RunConfigTest, RefusesMissingSettingsAndWrongShapes) {
  json spec = Minimal();
  spec["train"].erase("seq_length");
  ExpectSpecRefused(spec, "train.seq_length is missing");
  spec = Minimal();
  spec["model"] = 3;
  ExpectSpecRefused(spec, "`model` must be a map");
  ExpectSpecRefused(json::array(), "must be a JSON object");
}

TEST(RunConfigTest, LoadsFilesWithClearErrors) {
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

TEST(ResolveLayoutTest, FillsDataParallelismIn) {
  json spec = Minimal();
  spec["layout"] = {{"tp", 2}};
  RunConfig config = ParseRunConfig(spec);
  ResolveLayout(8, config);
  EXPECT_EQ(config.layout.dp, 4);
}

TEST(ResolveLayoutTest, RefusesWhatDoesNotMultiplyOutOrDivide) {
  json spec = Minimal();
  spec["layout"] = {{"tp", 2}, {"dp", 3}};
  RunConfig config = ParseRunConfig(spec);
  ExpectRefused([&] { ResolveLayout(4, config); }, "is 6, but there are 4 ranks");
  spec["layout"] = {{"micro_batch", 3}};
  config = ParseRunConfig(spec);
  ExpectRefused([&] { ResolveLayout(1, config); }, "multiple of layout.micro_batch * dp = 3");
}

TEST(CheckSupportedTest, RefusesEveryAxisThatIsNotThereYet) {
  for (const char* axis : {"tp", "cp", "ep", "pp", "vpp"}) {
    json spec = Minimal();
    spec["layout"] = {{axis, 2}};
    ExpectRefused([&] { CheckSupported(ParseRunConfig(spec)); },
                  std::string("layout.") + axis + " is 2");
  }
  json spec = Minimal();
  spec["layout"] = {{"zero", 1}};
  ExpectRefused([&] { CheckSupported(ParseRunConfig(spec)); }, "layout.zero is 1");
}

TEST(CheckSupportedTest, RefusesSixteenBitsOnCpu) {
  json spec = Minimal();
  spec["resources"] = {{"device", "cpu"}};
  ExpectRefused([&] { CheckSupported(ParseRunConfig(spec)); }, "train.precision bf16");
  spec["train"]["precision"] = "fp32";
  EXPECT_NO_THROW(CheckSupported(ParseRunConfig(spec)));
}

}  // namespace
}  // namespace trainyard::trainer
