// Tests the links between jobs with the same data sets on every implementation.
#include "controller/store/metrics/data_sets.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "controller/store/metrics/sqlite_metric_store.h"
#include "proto/contract/data_report.h"
#include "tests/controller/store/contract/store_contract.h"
#include "tests/controller/store/temporary_directory.h"

namespace trainyard::controller {
namespace {

using nlohmann::json;

json SetOf(const std::string& path, const std::string& xxh64) {
  return {{kReportPath, path}, {kReportChecksum, xxh64}, {kReportTokens, 1000}};
}

std::string Made(const json::array_t& sets) {
  return json{{kReportFormat, kDataReportFormat}, {kReportDataSets, sets}}.dump();
}

std::string Read(const json::array_t& sets) {
  return json{{kReportFormat, kDataUseFormat}, {kReportDataSets, sets}}.dump();
}

class DataSetsTest : public StoreContract<MetricStore> {
 protected:
  // Adds a report in two parts.
  void Report(int64_t job, const std::string& text, int64_t number = 1) {
    const std::size_t middle = text.size() / 2;
    AddPart(job, number, 1, text.substr(0, middle));
    AddPart(job, number, 2, text.substr(middle));
  }

  void AddPart(int64_t job, int64_t number, int part, const std::string& text) {
    const StreamKey stream{job, 1, 0, v1::STREAM_KIND_TELEMETRY};
    const int64_t begin = *store_->StoredOffset(stream);
    MetricBatch batch{stream, begin, begin + 100, {}};
    StoredReportPart& added = batch.reports.emplace_back();
    added.attempt = 1;
    added.record.set_number(number);
    added.record.set_part(part);
    added.record.set_parts(2);
    added.record.set_text(text);
    const absl::Status status = store_->Append({batch});
    ASSERT_TRUE(status.ok()) << status;
  }

  // Returns one text per data set, such as "/out aa: 3 as /copy, 2 as /out".
  std::vector<std::string> Links(int64_t job) {
    const auto sets = store_->ReadDataSets(job);
    EXPECT_TRUE(sets.ok()) << sets.status();
    std::vector<std::string> texts;
    if (!sets.ok()) return texts;
    for (const LinkedDataSet& linked : *sets) {
      std::string text = linked.set.path + " " + linked.set.xxh64 + ":";
      for (const DataSetUser& user : linked.jobs) {
        text += " " + std::to_string(user.job_id) + " as " + user.path;
      }
      if (linked.omitted_jobs > 0) text += " and " + std::to_string(linked.omitted_jobs);
      texts.push_back(text);
    }
    return texts;
  }
};

TEST_P(DataSetsTest, MakersAndReadersAreLinkedByChecksum) {
  Report(1, Made({SetOf("/out", "aa"), SetOf("/more", "")}));
  Report(2, Read({SetOf("/out", "aa"), SetOf("/second", "aa")}));
  Report(3, Read({SetOf("/copy", "aa"), SetOf("/other", "bb"), SetOf("/text", "")}));
  Reopen();
  EXPECT_THAT(Links(1), testing::ElementsAre("/out aa: 3 as /copy 2 as /out", "/more :"));
  EXPECT_THAT(Links(3), testing::ElementsAre("/copy aa: 1 as /out", "/other bb:", "/text :"))
      << "the other reader is not a maker";
  EXPECT_EQ((*store_->ReadDataSets(1))[0].set.tokens, 1000);
  EXPECT_FALSE((*store_->ReadDataSets(1))[0].reads);
  EXPECT_TRUE((*store_->ReadDataSets(3))[0].reads);
  EXPECT_THAT(Links(4), testing::IsEmpty());
}

TEST_P(DataSetsTest, TheNewestCompleteReportCounts) {
  Report(1, Made({SetOf("/out", "aa")}));
  Report(2, Read({SetOf("/out", "aa")}));
  const std::string newer = Made({SetOf("/out", "bb")});
  AddPart(1, 2, 1, newer.substr(0, 10));
  EXPECT_THAT(Links(2), testing::ElementsAre("/out aa: 1 as /out")) << "a part is missing";
  AddPart(1, 2, 2, newer.substr(10));
  EXPECT_THAT(Links(2), testing::ElementsAre("/out aa:"));
  EXPECT_THAT(Links(1), testing::ElementsAre("/out bb:"));
  Report(1, "{", 3);
  EXPECT_THAT(Links(1), testing::IsEmpty());
}

TEST_P(DataSetsTest, ADroppedJobIsNotLinked) {
  Report(1, Made({SetOf("/out", "aa")}));
  Report(2, Read({SetOf("/out", "aa")}));
  ASSERT_TRUE(store_->DropJob(2).ok());
  EXPECT_THAT(Links(1), testing::ElementsAre("/out aa:"));
  EXPECT_THAT(Links(2), testing::IsEmpty());
}

TEST_P(DataSetsTest, FurtherJobsAreCounted) {
  Report(1, Made({SetOf("/out", "aa")}));
  for (int64_t job = 2; job < 2 + kLinkedJobsMax + 3; ++job) Report(job, Read({SetOf("/r", "aa")}));
  const auto sets = store_->ReadDataSets(1);
  ASSERT_TRUE(sets.ok()) << sets.status();
  ASSERT_EQ(sets->size(), 1u);
  EXPECT_EQ(sets->front().jobs.size(), static_cast<std::size_t>(kLinkedJobsMax));
  EXPECT_EQ(sets->front().jobs.front().job_id, 2 + kLinkedJobsMax + 2) << "newest first";
  EXPECT_EQ(sets->front().omitted_jobs, 3);
}

INSTANTIATE_TEST_SUITE_P(, DataSetsTest, EveryStore(), StoreName);

TEST(DataSetsInReportTest, UnexpectedEntriesAreLeftOut) {
  json::array_t entries = {7,
                           {{"path", 5}},
                           SetOf("", "aa"),
                           SetOf(std::string(12'289, 'x'), "aa"),
                           SetOf("/a", std::string(17, 'a')),
                           {{"path", "/b"}, {"tokens", "x"}}};
  const ReportedDataSets sets = DataSetsInReport(Read(entries));
  EXPECT_TRUE(sets.reads);
  ASSERT_EQ(sets.sets.size(), 1u);
  EXPECT_EQ(sets.sets[0].path, "/b");
  EXPECT_EQ(sets.sets[0].tokens, 0);
  for (const char* text : {"", "{", "[]", "7", R"({"data_sets": 7})", R"({"format": []})"}) {
    EXPECT_TRUE(DataSetsInReport(text).sets.empty()) << text;
  }
  EXPECT_FALSE(DataSetsInReport(R"({"format": []})").reads);
}

TEST(DataSetsInReportTest, TheirNumberIsLimited) {
  const json::array_t many(2 * kMaxReportDataSets, SetOf("/a", "aa"));
  EXPECT_EQ(DataSetsInReport(Made(many)).sets.size(), kMaxReportDataSets);
}

// Telemetry of a job is accepted even if an earlier part of its report was damaged on the disk.
TEST(DamagedReportPartTest, LeavesNoDataSets) {
  const TemporaryDirectory temporary;
  auto store = SqliteMetricStore::Open(temporary.File("metrics.db"));
  ASSERT_TRUE(store.ok()) << store.status();
  const std::string text = Made({SetOf("/out", "aa")});
  const auto append = [&](int part, const std::string& piece) {
    MetricBatch batch{{1, 1, 0, v1::STREAM_KIND_TELEMETRY}, 100 * (part - 1), 100 * part, {}};
    StoredReportPart& added = batch.reports.emplace_back();
    added.attempt = 1;
    added.record.set_number(1);
    added.record.set_part(part);
    added.record.set_parts(2);
    added.record.set_text(piece);
    return (*store)->Append({batch});
  };
  ASSERT_TRUE(append(1, text.substr(0, 9)).ok());
  auto database = SqliteDatabase::Open(temporary.File("metrics.db"), SqliteDatabase::Mode::kWriter);
  ASSERT_TRUE(database.ok()) << database.status();
  ASSERT_TRUE((*database)->RunScript("UPDATE report_part SET time_ms = 7").ok());
  database->reset();
  const absl::Status status = append(2, text.substr(9));
  EXPECT_TRUE(status.ok()) << status;
  EXPECT_TRUE((*store)->ReadDataSets(1)->empty());
}

}  // namespace
}  // namespace trainyard::controller
