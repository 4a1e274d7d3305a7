// Tests the reports of data sets of metric_store.h on every implementation.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "controller/store/metrics/sqlite_metric_store.h"
#include "tests/controller/store/contract/store_contract.h"
#include "tests/controller/store/temporary_directory.h"

namespace trainyard::controller {
namespace {

class DataReportTest : public StoreContract<MetricStore> {
 protected:
  // Adds part `part` of `parts`, with a text such as "<2.1/3>".
  void Add(int64_t attempt, int64_t number, int part, int parts) {
    const StreamKey stream{1, attempt, 0, v1::STREAM_KIND_TELEMETRY};
    const int64_t begin = *store_->StoredOffset(stream);
    MetricBatch batch{stream, begin, begin + 100, {}};
    StoredReportPart& added = batch.reports.emplace_back();
    added.attempt = attempt;
    added.time_ms = 1000 * number + part;
    added.record.set_number(number);
    added.record.set_part(part);
    added.record.set_parts(parts);
    added.record.set_text("<" + std::to_string(number) + "." + std::to_string(part) + "/" +
                          std::to_string(parts) + ">");
    const absl::Status status = store_->Append({batch});
    ASSERT_TRUE(status.ok()) << status;
  }

  std::string Text() {
    const absl::StatusOr<std::optional<StoredDataReport>> read = store_->ReadDataReport(1);
    EXPECT_TRUE(read.ok()) << read.status();
    return read.ok() && read->has_value() ? (*read)->text : "none";
  }
};

TEST_P(DataReportTest, PartsAreJoined) {
  EXPECT_EQ(Text(), "none");
  Add(2, 1, 1, 2);
  EXPECT_EQ(Text(), "none") << "a part is missing";
  Add(2, 1, 2, 2);
  Reopen();
  EXPECT_EQ(Text(), "<1.1/2><1.2/2>");
  const StoredDataReport report = **store_->ReadDataReport(1);
  EXPECT_EQ(report.attempt, 2);
  EXPECT_EQ(report.time_ms, 1002);
  EXPECT_FALSE(store_->ReadDataReport(2)->has_value());
  EXPECT_TRUE(store_->Keys(1)->empty()) << "a report is no series";
}

TEST_P(DataReportTest, AReportIsReplacedByACompleteOne) {
  Add(1, 1, 1, 1);
  Add(1, 2, 1, 2);
  EXPECT_EQ(Text(), "<1.1/1>");
  Add(1, 2, 2, 2);
  EXPECT_EQ(Text(), "<2.1/2><2.2/2>");
  Add(2, 1, 1, 1);
  EXPECT_EQ(Text(), "<1.1/1>") << "the report of the newer attempt";
  Add(1, 3, 1, 1);
  EXPECT_EQ(Text(), "<1.1/1>") << "an older attempt's report arrived late";
}

TEST_P(DataReportTest, UnfinishedReportsDoNotPileUp) {
  Add(1, 1, 1, 1);
  Add(1, 2, 1, 2);
  const int64_t bytes = *store_->JobBytes(1);
  for (int64_t number = 3; number < 9; ++number) Add(1, number, 1, 2);
  EXPECT_EQ(*store_->JobBytes(1), bytes);
  EXPECT_EQ(Text(), "<1.1/1>");
  Add(1, 8, 2, 2);
  EXPECT_EQ(Text(), "<8.1/2><8.2/2>");
}

TEST_P(DataReportTest, ADroppedJobHasNone) {
  Add(1, 1, 1, 1);
  EXPECT_GT(*store_->JobBytes(1), 0);
  ASSERT_TRUE(store_->DropJob(1).ok());
  EXPECT_EQ(Text(), "none");
  EXPECT_EQ(*store_->JobBytes(1), 0);
}

INSTANTIATE_TEST_SUITE_P(, DataReportTest, EveryStore(), StoreName);

TEST(DamagedDataReportTest, IsAnError) {
  const TemporaryDirectory temporary;
  auto store = SqliteMetricStore::Open(temporary.File("metrics.db"));
  ASSERT_TRUE(store.ok()) << store.status();
  MetricBatch batch{{1, 1, 0, v1::STREAM_KIND_TELEMETRY}, 0, 100, {}};
  StoredReportPart& part = batch.reports.emplace_back();
  part.attempt = 1;
  part.record.set_number(1);
  part.record.set_part(1);
  part.record.set_parts(1);
  part.record.set_text("{}");
  ASSERT_TRUE((*store)->Append({batch}).ok());
  auto database = SqliteDatabase::Open(temporary.File("metrics.db"), SqliteDatabase::Mode::kWriter);
  ASSERT_TRUE(database.ok()) << database.status();
  ASSERT_TRUE((*database)->RunScript("UPDATE report_part SET time_ms = 7").ok());
  EXPECT_TRUE(absl::IsDataLoss((*store)->ReadDataReport(1).status()));
}

}  // namespace
}  // namespace trainyard::controller
