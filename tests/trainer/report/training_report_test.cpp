#include "trainer/report/training_report.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>

#include "proto/contract/data_report.h"
#include "proto/contract/telemetry_keys.h"
#include "tests/fakes/temporary_directory.h"
#include "tests/trainer/data/token_directory.h"
#include "trainer/report/source_facts.h"

namespace trainyard::trainer {
namespace {

RunConfig ReportedRun(const TokenDirectory& tokens) {
  tokens.WriteCounting(1001);
  nlohmann::json header = nlohmann::json::parse(ReadFile(tokens.path() + "/train.json"));
  header["xxh64"] = "00000000000000aa";
  tokens.WriteText("train.json", header.dump());
  RunConfig config;
  config.data.path = tokens.path();
  config.model.vocab_size = 65536;
  config.train.seq_length = 10;
  config.train.global_batch = 4;
  config.train.steps = 10;
  config.train.log_every_steps = 2;
  config.layout.dp = 1;
  return config;
}

class TrainingReportTest : public testing::Test {
 protected:
  // Finishes the next step after `seconds`, with four samples.
  StepResult Finish(double seconds) {
    ++state_.step;
    state_.samples += 4;
    StepResult result;
    result.seconds = seconds;
    report_.AddStep(result, 4);
    return result;
  }

  std::vector<nlohmann::json> Records() const {
    std::istringstream lines(ReadFile(path_));
    std::vector<nlohmann::json> records;
    for (std::string line; std::getline(lines, line);) {
      records.push_back(nlohmann::json::parse(line));
    }
    return records;
  }

  const TokenDirectory tokens_;
  const TemporaryDirectory directory_;
  const std::string path_ = directory_.File("telemetry.jsonl");
  const RunConfig config_ = ReportedRun(tokens_);
  const RuntimeEnvironment env_;
  TelemetryWriter telemetry_{path_};
  RankProgress progress_{telemetry_};
  RunReport console_{false};
  const TrainingSamples samples_{config_, "", 0};
  TrainingReport report_{{config_, env_, torch::kCPU, samples_, telemetry_, progress_, console_}};
  TrainingState state_;
};

TEST_F(TrainingReportTest, ARecordCoversTheStepsSinceThePreviousOne) {
  report_.EndInterval(state_, Finish(9), 0, {});
  Finish(1);
  const StepResult second = Finish(3);
  EXPECT_EQ(report_.PositionsOfInterval(state_), "4:12");
  report_.EndInterval(state_, second, 0.5, {{"more", 7}});
  const nlohmann::json record = Records().at(1);
  EXPECT_EQ(record["step"], 3);
  EXPECT_EQ(record["samples"], "4:12");
  EXPECT_EQ(record[telemetry::kStepSeconds], 2);
  EXPECT_EQ(record[telemetry::kSamplesPerSecond], 2);
  EXPECT_EQ(record[telemetry::kDataStallSeconds], 0.5);
  EXPECT_EQ(record["more"], 7);
}

// `trainyard dataset` finds the job that made the data by the checksum.
TEST_F(TrainingReportTest, ReportsTheDataSetsOfTheRun) {
  report_.DataSets();
  const nlohmann::json record = Records().at(0);
  EXPECT_EQ(record["type"], "data_report");
  EXPECT_EQ(record["number"], 1);
  EXPECT_EQ(record["part"], 1);
  EXPECT_EQ(record["parts"], 1);
  const nlohmann::json report = nlohmann::json::parse(record["text"].get<std::string>());
  EXPECT_EQ(report["format"], "trainyard-data-use");
  ASSERT_EQ(report["data_sets"].size(), 1u);
  EXPECT_EQ(report["data_sets"][0]["path"], tokens_.path());
  EXPECT_EQ(report["data_sets"][0]["tokens"], 1001);
  EXPECT_EQ(report["data_sets"][0]["xxh64"], "00000000000000aa");
}

TEST_F(TrainingReportTest, OnlyRankZeroReportsTheDataSets) {
  RuntimeEnvironment env;
  env.rank = 1;
  TrainingReport report({config_, env, torch::kCPU, samples_, telemetry_, progress_, console_});
  report.DataSets();
  EXPECT_TRUE(Records().empty());
}

// A report has one part. Data sets that do not fit are left out.
TEST(DataUseReportTest, FitsIntoOnePart) {
  const TokenDirectory tokens;
  RunConfig config = ReportedRun(tokens);
  config.data.path.clear();
  const TemporaryDirectory links;
  for (int i = 0; i < 150; ++i) {
    const std::string name = "s" + std::to_string(i);
    std::filesystem::create_directory_symlink(tokens.path(), links.File(name));
    config.data.blend.push_back("1 " + links.path() + std::string(400, '/') + name);
  }
  const TrainingSamples samples(config, "", 0);
  const std::string text = DataUseReport(config, samples.source());
  EXPECT_LE(text.size(), kMaxDataReportPartBytes);
  const size_t sets = nlohmann::json::parse(text)["data_sets"].size();
  EXPECT_GT(sets, 50u);
  EXPECT_LT(sets, kMaxReportDataSets);
}

TEST_F(TrainingReportTest, OnlyTheFirstRecordHasTheAttentionBackend) {
  report_.EndInterval(state_, Finish(1), 0, {});
  report_.EndInterval(state_, Finish(1), 0, {});
  const std::vector<nlohmann::json> records = Records();
  EXPECT_TRUE(records.at(0).contains(telemetry::kAttentionBackend));
  EXPECT_FALSE(records.at(1).contains(telemetry::kAttentionBackend));
}

TEST_F(TrainingReportTest, AFewStepsHaveRecordsOfExperts) {
  StepResult first = Finish(1);
  first.experts = {{.layer = 0, .load = {3, 1}, .dropped = 1, .entropy = 0.5}};
  report_.EndInterval(state_, first, 0, {});
  StepResult second = Finish(1);
  second.experts = first.experts;
  report_.EndInterval(state_, second, 0, {});
  StepResult last = Finish(1);
  last.experts = first.experts;
  state_.step = config_.train.steps;
  report_.EndInterval(state_, last, 0, {});
  const std::vector<nlohmann::json> records = Records();
  ASSERT_EQ(records.size(), 5u);
  EXPECT_EQ(records[0][telemetry::kMoeBalanceMax], 1.5);
  EXPECT_EQ(records[0][telemetry::kMoeDroppedShare], 0.25);
  EXPECT_EQ(records[1]["type"], "experts");
  EXPECT_EQ(records[2]["type"], "metrics");
  EXPECT_EQ(records[2][telemetry::kMoeBalanceMax], 1.5);
  EXPECT_EQ(records[3]["type"], "metrics");
  EXPECT_EQ(records[4]["type"], "experts") << "the last step always has a record";
  EXPECT_EQ(records[4]["step"], config_.train.steps);
}

TEST_F(TrainingReportTest, RepeatsOnlyStepsThatHaveARecord) {
  report_.Repeat({.step = 3, .samples = "8:12"});
  report_.Repeat({.step = 4, .loss = 2, .samples = "12:16"});
  const std::vector<nlohmann::json> records = Records();
  ASSERT_EQ(records.size(), 1u);
  EXPECT_EQ(records[0]["step"], 4);
  EXPECT_EQ(records[0]["samples"], "12:16");
  EXPECT_EQ(records[0][telemetry::kLoss], 2);
}

}  // namespace
}  // namespace trainyard::trainer
