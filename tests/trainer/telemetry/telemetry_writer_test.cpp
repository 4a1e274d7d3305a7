#include "trainer/telemetry/telemetry_writer.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <thread>

#include "tests/fakes/full_disk.h"
#include "tests/fakes/temporary_directory.h"

namespace trainyard::trainer {
namespace {

class TelemetryWriterTest : public testing::Test {
 protected:
  TelemetryWriterTest() { path_ = directory_.File("telemetry.jsonl"); }

  std::vector<std::string> Lines() const {
    std::ifstream in(path_);
    std::vector<std::string> lines;
    for (std::string line; std::getline(in, line);) lines.push_back(line);
    return lines;
  }

  TemporaryDirectory directory_;
  std::string path_;
};

int64_t FixedTime() { return 1795262400000; }

TEST_F(TelemetryWriterTest, WritesEveryKindOfRecord) {
  TelemetryWriter writer(path_, FixedTime);
  writer.WriteMetrics(5, 300, {{"loss", 3.25}, {"tokens", 81920}, {"expert_load", 0.1}});
  writer.WritePhase(Phase::kTrain, 5);
  writer.WriteCheckpoint({100, 3, "/c/step_000000100", 123, 0.01, 0.5, false});
  writer.WriteCheckpoint({50, 2, "/c/step_000000050", 120, 0, 0, true});
  writer.WriteEvaluation(100, "val", 4.125, 8192);
  writer.WriteAlert(7, "nan_loss", "loss of step 7 is not a number");
  writer.WriteRank({.step = 8, .step_seconds = 0.5, .memory_bytes = 7, .load_seconds = 1.25});
  writer.WriteRank({.step = 9, .step_times = {{"compute_seconds", 0.25}}});
  writer.WriteFlight({.group = "tp0",
                      .ranks = "0-3",
                      .sequence = 7,
                      .operation = "all-reduce",
                      .bytes = 64,
                      .queued_ms = 5,
                      .entered_ms = 6});
  const std::vector<std::string> lines = Lines();
  ASSERT_EQ(lines.size(), 9u);
  EXPECT_EQ(nlohmann::json::parse(lines[7])["compute_seconds"], 0.25);
  EXPECT_EQ(lines[8],
            R"({"type":"flight","time_ms":1795262400000,"group":"tp0","ranks":"0-3","sequence":7,)"
            R"("operation":"all-reduce","bytes":64,"queued_ms":5,"entered_ms":6})");
  EXPECT_EQ(lines[6],
            R"({"type":"rank","time_ms":1795262400000,"step":8,"step_seconds":0.5,)"
            R"("memory_bytes":7,"init_seconds":0,"load_seconds":1.25,"data_stall_seconds":0,)"
            R"("checkpoint_seconds":0,"evaluation_seconds":0})");
  EXPECT_EQ(lines[0],
            R"({"type":"metrics","time_ms":1795262400000,"step":5,"total_steps":300,"loss":3.25,)"
            R"("tokens":81920,"expert_load":0.1})");
  EXPECT_EQ(lines[1], R"({"type":"phase","time_ms":1795262400000,"phase":"train","step":5})");
  EXPECT_EQ(lines[2], R"({"type":"checkpoint","time_ms":1795262400000,"step":100,"attempt":3,)"
                      R"("path":"/c/step_000000100","bytes":123,"blocking_seconds":0.01,)"
                      R"("total_seconds":0.5})");
  EXPECT_EQ(nlohmann::json::parse(lines[3])["deleted"], true);
  EXPECT_EQ(nlohmann::json::parse(lines[3])["attempt"], 2);
  EXPECT_EQ(lines[4],
            R"({"type":"eval","time_ms":1795262400000,"step":100,"data_set":"val","loss":4.125,)"
            R"("tokens":8192})");
  EXPECT_EQ(nlohmann::json::parse(lines[5])["message"], "loss of step 7 is not a number");
}

TEST_F(TelemetryWriterTest, WritesTheBalanceOfExperts) {
  TelemetryWriter writer(path_, FixedTime);
  writer.WriteExperts({.step = 7,
                       .first_layer = 1,
                       .experts = 2,
                       .topk = 1,
                       .load = {0, 128, 255, 16},
                       .balance = {1.5, 2},
                       .entropy = {0.9, 0.25}});
  EXPECT_EQ(
      Lines().at(0),
      R"({"type":"experts","time_ms":1795262400000,"step":7,"first_layer":1,)"
      R"("expert_count":2,"topk":1,"load":"0080ff10","balance":[1.5,2],"entropy":[0.9,0.25]})");
}

TEST_F(TelemetryWriterTest, KeepsNumbersThatAreNotFiniteAndEveryBitOfOthers) {
  TelemetryWriter writer(path_, FixedTime);
  const double inf = std::numeric_limits<double>::infinity();
  writer.WriteMetrics(1, 0, {{"loss", NAN}, {"grad_norm", inf}, {"low", -inf}, {"lr", 0.1 + 0.2}});
  EXPECT_EQ(Lines().at(0), R"({"type":"metrics","time_ms":1795262400000,"step":1,"loss":NaN,)"
                           R"("grad_norm":Infinity,"low":-Infinity,"lr":0.30000000000000004})");
}

TEST_F(TelemetryWriterTest, EscapesHostileText) {
  TelemetryWriter writer(path_, FixedTime);
  writer.WriteAlert(1, "code", "line one\nline \"two\" \xff\x01");
  ASSERT_EQ(Lines().size(), 1u);
  EXPECT_EQ(nlohmann::json::parse(Lines()[0])["message"], "line one\nline \"two\" \ufffd\x01");
}

TEST_F(TelemetryWriterTest, AppendsAndKeepsTheFilePrivate) {
  TelemetryWriter(path_, FixedTime).WritePhase(Phase::kInit, 0);
  TelemetryWriter(path_, FixedTime).WritePhase(Phase::kDone, 9);
  EXPECT_EQ(Lines().size(), 2u);
  struct stat status {};
  ASSERT_EQ(stat(path_.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600u);
}

TEST_F(TelemetryWriterTest, LinesOfSeveralThreadsNeverMix) {
  TelemetryWriter writer(path_);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&writer, t] {
      for (int i = 1; i <= 200; ++i) writer.WriteMetrics(i, 200, {{"thread", t}});
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::vector<int> next(4, 1);
  for (const std::string& line : Lines()) {
    const nlohmann::json record = nlohmann::json::parse(line);
    EXPECT_EQ(record["step"], next[record["thread"].get<int>()]++);
  }
  EXPECT_EQ(next, std::vector<int>(4, 201));
}

TEST_F(TelemetryWriterTest, WithoutAFileWritesNothing) {
  testing::internal::CaptureStderr();
  TelemetryWriter writer("");
  writer.WritePhase(Phase::kInit, 0);
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

TEST_F(TelemetryWriterTest, WarnsOnceWhenTheDiskIsFullAndGoesOn) {
  testing::internal::CaptureStderr();
  TelemetryWriter writer("/dev/full");
  writer.WritePhase(Phase::kInit, 0);
  writer.WritePhase(Phase::kTrain, 0);
  const std::string warning = testing::internal::GetCapturedStderr();
  EXPECT_NE(warning.find("No space left on device"), std::string::npos) << warning;
  EXPECT_EQ(std::count(warning.begin(), warning.end(), '\n'), 1) << warning;
}

TEST_F(TelemetryWriterTest, WarnsOnceWhenTheFileCannotBeOpened) {
  testing::internal::CaptureStderr();
  TelemetryWriter writer(directory_.File("no/such/directory"));
  writer.WritePhase(Phase::kInit, 0);
  EXPECT_NE(testing::internal::GetCapturedStderr().find("No such file"), std::string::npos);
}

// The disk is full, so the kernel writes only a part of a line. The rest must be written later.
TEST_F(TelemetryWriterTest, WhatAFullDiskDidNotTakeIsWrittenLater) {
  testing::internal::CaptureStderr();
  TelemetryWriter writer(path_, FixedTime);
  {
    const FullDisk full(20);
    writer.WritePhase(Phase::kInit, 0);
    writer.WritePhase(Phase::kLoad, 0);
    EXPECT_EQ(std::filesystem::file_size(path_), 20u);
  }
  writer.WritePhase(Phase::kTrain, 3);
  testing::internal::GetCapturedStderr();
  ASSERT_EQ(Lines().size(), 3u);
  EXPECT_EQ(nlohmann::json::parse(Lines()[0])["phase"], "init");
  EXPECT_EQ(nlohmann::json::parse(Lines()[1])["phase"], "load");
  EXPECT_EQ(nlohmann::json::parse(Lines()[2])["phase"], "train");
}

TEST_F(TelemetryWriterTest, TheEndIsALastTry) {
  testing::internal::CaptureStderr();
  {
    TelemetryWriter writer(path_, FixedTime);
    const FullDisk full(0);
    writer.WritePhase(Phase::kDone, 3);
  }
  testing::internal::GetCapturedStderr();
  EXPECT_EQ(Lines().size(), 1u);
}

// One thread writes its last records while another thread frees disk space.
TEST_F(TelemetryWriterTest, TheRestWaitsForSpaceButNotForEver) {
  testing::internal::CaptureStderr();
  TelemetryWriter writer(path_, FixedTime);
  auto full = std::make_unique<FullDisk>(0);
  writer.WritePhase(Phase::kDone, 3);
  writer.WriteRest(std::chrono::milliseconds(1));
  EXPECT_EQ(std::filesystem::file_size(path_), 0u);
  std::thread rest([&] { writer.WriteRest(std::chrono::minutes(10)); });
  full.reset();
  rest.join();
  testing::internal::GetCapturedStderr();
  EXPECT_EQ(Lines().size(), 1u);
}

constexpr int kTooManyAlerts = 2000;

void WriteTooMuch(TelemetryWriter& writer) {
  for (int i = 0; i < kTooManyAlerts; ++i) writer.WriteAlert(i, "code", std::string(1000, 'x'));
}

TEST_F(TelemetryWriterTest, WhatWaitsIsBounded) {
  testing::internal::CaptureStderr();
  {
    TelemetryWriter writer(path_, FixedTime);
    const FullDisk full(0);
    WriteTooMuch(writer);
  }
  testing::internal::GetCapturedStderr();
  const std::vector<std::string> lines = Lines();
  EXPECT_GT(lines.size(), 900u);
  EXPECT_LT(lines.size(), 1048u);
  for (int i = 0; i < static_cast<int>(lines.size()); ++i) {
    EXPECT_EQ(nlohmann::json::parse(lines[i])["step"], i);
  }
}

TEST_F(TelemetryWriterTest, ALossIsSaidOnce) {
  testing::internal::CaptureStderr();
  {
    TelemetryWriter writer("/dev/full");
    WriteTooMuch(writer);
  }
  const std::string warnings = testing::internal::GetCapturedStderr();
  EXPECT_NE(warnings.find("some metrics will be missing"), std::string::npos) << warnings;
  EXPECT_EQ(std::count(warnings.begin(), warnings.end(), '\n'), 2) << warnings;
}

}  // namespace
}  // namespace trainyard::trainer
