// Tests writing, reading and rejecting sweep files.
#include "cli/recipes/sweep_file.h"

#include <filesystem>
#include <fstream>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/fakes/temporary_directory.h"

namespace trainyard::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

class SweepFileTest : public testing::Test {
 protected:
  std::string Write(const std::string& text) {
    std::ofstream(path_) << text;
    return path_;
  }
  std::string Refused(const std::string& text) {
    const auto sweep = ReadSweep(Write(text));
    return sweep.ok() ? "accepted" : std::string(sweep.status().message());
  }

  TemporaryDirectory directory_;
  const std::string path_ = directory_.File("sweep.json");
};

Sweep TwoRuns() {
  return {.device = "H200",
          .steps = 10,
          .layouts = 8,
          .date = "",
          .data = "",
          .runs = {{"micro_batch 1", {{"name", "a"}}, "", {}},
                   {"micro_batch 2", {{"name", "b"}}, "", {}}}};
}

TEST_F(SweepFileTest, HoldsSpecsAndTakesWhatWasMeasured) {
  nlohmann::json root = nlohmann::json::parse(SweepText(TwoRuns()));
  EXPECT_EQ(root["runs"][1]["spec"]["name"], "b");
  root["date"] = "2026-11-27";
  root["runs"][0]["metrics"] = {{"step_seconds", {0.5, nullptr, 0.4}}, {"loss", 3}};
  const auto sweep = ReadSweep(Write(root.dump()));
  ASSERT_TRUE(sweep.ok()) << sweep.status();
  EXPECT_EQ(sweep->device, "H200");
  EXPECT_EQ(sweep->steps, 10);
  EXPECT_EQ(sweep->layouts, 8);
  EXPECT_EQ(sweep->date, "2026-11-27");
  ASSERT_THAT(sweep->runs, SizeIs(2));
  EXPECT_EQ(sweep->runs[0].settings, "micro_batch 1");
  EXPECT_EQ(sweep->runs[1].spec["name"], "b");
  EXPECT_THAT(sweep->runs[0].metrics.at("step_seconds"), ElementsAre(0.5, 0.4));
  EXPECT_EQ(sweep->runs[0].failure, "");
  EXPECT_EQ(sweep->runs[1].failure, "this run was not measured");
}

TEST_F(SweepFileTest, ARunThatFailedSaysWhy) {
  nlohmann::json root = nlohmann::json::parse(SweepText(TwoRuns()));
  root["runs"][0]["metrics"] = {{"step_seconds", {0.5}}};
  root["runs"][1]["failure"] = "rank 0 ended with 78: CUDA out of memory";
  const auto sweep = ReadSweep(Write(root.dump()));
  ASSERT_TRUE(sweep.ok()) << sweep.status();
  EXPECT_EQ(sweep->runs[1].failure, "rank 0 ended with 78: CUDA out of memory");
}

TEST_F(SweepFileTest, WhatIsNoMeasuredSweepIsRefused) {
  EXPECT_THAT(Refused("{"), HasSubstr("not JSON"));
  EXPECT_THAT(Refused("[1]"), HasSubstr("not a sweep that this version"));
  EXPECT_THAT(Refused(R"({"sweep": 2})"), HasSubstr("not a sweep that this version"));
  EXPECT_THAT(Refused(R"({"sweep": 1, "device": 5})"), HasSubstr("is missing or invalid"));
  EXPECT_THAT(Refused(R"({"sweep": 1, "device": "H200", "steps": 5, "layouts": 2, "runs": [1]})"),
              HasSubstr("a run is not an object"));
  EXPECT_THAT(Refused(SweepText(TwoRuns())), HasSubstr("no run in the file was measured"));
  nlohmann::json root = nlohmann::json::parse(SweepText(TwoRuns()));
  for (const char* date : {"2026-11-2", "2026-11-277", "x\nlayout: {tp: 9}"}) {
    root["date"] = date;
    EXPECT_THAT(Refused(root.dump()), HasSubstr("`date` is not a date"));
  }
  EXPECT_THAT(std::string(ReadSweep(directory_.path()).status().message()),
              HasSubstr("cannot be opened"));
  std::filesystem::remove(path_);
  EXPECT_THAT(std::string(ReadSweep(path_).status().message()), HasSubstr("cannot be opened"));
}

}  // namespace
}  // namespace trainyard::cli
