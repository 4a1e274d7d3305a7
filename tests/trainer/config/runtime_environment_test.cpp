#include "trainer/config/runtime_environment.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <map>

#include "trainer/config/trainer_error.h"

namespace trainyard::trainer {
namespace {

RuntimeEnvironment Read(const std::map<std::string, std::string>& variables) {
  return ReadRuntimeEnvironment([&](const std::string& name) -> std::optional<std::string> {
    const auto found = variables.find(name);
    if (found == variables.end()) return std::nullopt;
    return found->second;
  });
}

void ExpectRefused(const std::map<std::string, std::string>& variables, const std::string& part) {
  try {
    Read(variables);
    ADD_FAILURE() << "Not refused: " << part;
  } catch (const TrainerError& error) {
    EXPECT_EQ(error.code(), ExitCode::kBadConfig);
    EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
  }
}

TEST(RuntimeEnvironmentTest, NothingSetMeansOneProcessHere) {
  const RuntimeEnvironment env = Read({});
  EXPECT_EQ(env.world_size, 1);
  EXPECT_EQ(env.rank, 0);
  EXPECT_EQ(env.run_dir, ".");
  EXPECT_EQ(env.telemetry_path, "./telemetry.jsonl");
  EXPECT_EQ(env.resume_from, "");
}

TEST(RuntimeEnvironmentTest, ReadsTorchrunsNamesAndOurs) {
  const RuntimeEnvironment env = Read({{"RANK", "3"},
                                       {"WORLD_SIZE", "4"},
                                       {"LOCAL_RANK", "1"},
                                       {"LOCAL_WORLD_SIZE", "2"},
                                       {"MASTER_ADDR", "10.0.0.1"},
                                       {"MASTER_PORT", "1234"},
                                       {"TRAINYARD_ATTEMPT", "7"},
                                       {"TRAINYARD_RUN_DIR", "/run"},
                                       {"TRAINYARD_SPEC", "/run/spec.json"},
                                       {"TRAINYARD_TELEMETRY", "/run/t.jsonl"},
                                       {"TRAINYARD_CHECKPOINT_DIR", "/ck"},
                                       {"TRAINYARD_RESUME_FROM", "/ck/step_000000010"},
                                       {"TRAINYARD_SKIP_SAMPLES", "1:2"},
                                       {"TRAINYARD_LR_FACTOR", "0.25"},
                                       {"TRAINYARD_ROLLED_BACK", "1:90"},
                                       {"TRAINYARD_LIVE_JOBS", "3,17"}});
  EXPECT_EQ(env.rank, 3);
  EXPECT_EQ(env.local_rank, 1);
  EXPECT_EQ(env.master_addr, "10.0.0.1");
  EXPECT_EQ(env.master_port, 1234);
  EXPECT_EQ(env.attempt, 7);
  EXPECT_EQ(env.telemetry_path, "/run/t.jsonl");
  EXPECT_EQ(env.checkpoint_dir, "/ck");
  EXPECT_EQ(env.resume_from, "/ck/step_000000010");
  EXPECT_EQ(env.skip_samples, "1:2");
  EXPECT_EQ(env.lr_factor, 0.25);
  EXPECT_EQ(env.rolled_back, "1:90");
  EXPECT_EQ(env.live_jobs, "3,17");
}

TEST(RuntimeEnvironmentTest, NamesTheBadVariable) {
  ExpectRefused({{"RANK", "x"}}, "RANK must be a whole number");
  ExpectRefused({{"WORLD_SIZE", "0"}}, "WORLD_SIZE must be");
  ExpectRefused({{"RANK", "2"}, {"WORLD_SIZE", "2"}}, "RANK is 2; it must be below WORLD_SIZE = 2");
  ExpectRefused({{"LOCAL_RANK", "1"}}, "below LOCAL_WORLD_SIZE");
  ExpectRefused({{"MASTER_PORT", "70000"}}, "MASTER_PORT");
  ExpectRefused({{"RANK", "1 "}, {"WORLD_SIZE", "2"}}, "RANK");
}

TEST(RuntimeEnvironmentTest, ProcessVariablesAreThoseOfThisProcess) {
  setenv("TRAINYARD_TEST_VARIABLE", "value", 1);
  EXPECT_EQ(ProcessVariable("TRAINYARD_TEST_VARIABLE"), "value");
  unsetenv("TRAINYARD_TEST_VARIABLE");
  EXPECT_EQ(ProcessVariable("TRAINYARD_TEST_VARIABLE"), std::nullopt);
}

}  // namespace
}  // namespace trainyard::trainer
