#include "controller/kernel/store_kernel.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace trainyard::controller {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

class StoreKernelTest : public testing::Test {
 protected:
  StoreKernelTest() { kernel_.SetOffset(Key(), 0); }

  static StreamKey Key() { return {1, 1, 0, v1::STREAM_KIND_LOG}; }

  void AddOutput(int64_t begin, const std::string& data) {
    v1::LogChunk chunk;
    chunk.mutable_stream()->set_job_id(1);
    chunk.mutable_stream()->set_attempt(1);
    chunk.mutable_stream()->set_kind(v1::STREAM_KIND_LOG);
    chunk.set_begin_offset(begin);
    chunk.set_data(data);
    kernel_.Add(OutputItem{std::move(chunk), [this](const auto& offset) {
                             answers_.push_back(offset.ok() ? *offset : -1);
                           }});
    Answer();
  }

  void Answer() {
    for (const auto& reply : kernel_.TakeReplies()) reply.stored(reply.result);
  }

  StoreKernel kernel_;
  // The acknowledged offsets; -1 for each error.
  std::vector<int64_t> answers_;
};

TEST_F(StoreKernelTest, AnswersOnceTheGroupIsStored) {
  AddOutput(0, "hello\n");
  AddOutput(6, "bye\n");
  EXPECT_THAT(answers_, IsEmpty());
  EXPECT_THAT(kernel_.group().logs, SizeIs(2));
  EXPECT_THAT(kernel_.GroupStored().jobs_with_output, ElementsAre(1));
  Answer();
  EXPECT_THAT(answers_, ElementsAre(6, 10));
  EXPECT_FALSE(kernel_.HasGroup());
  EXPECT_EQ(kernel_.StoredOffset(Key()), 10);
}

TEST_F(StoreKernelTest, BytesOfTheGroupAreNotStoredTwiceAndNotAnsweredBeforeIt) {
  AddOutput(0, "hello\n");
  AddOutput(0, "hello\n");
  EXPECT_THAT(kernel_.group().logs, SizeIs(1));
  EXPECT_THAT(answers_, IsEmpty());
  kernel_.GroupStored();
  Answer();
  EXPECT_THAT(answers_, ElementsAre(6, 6));
}

TEST_F(StoreKernelTest, RefusesAGapAtOnce) {
  AddOutput(1, "hello\n");
  EXPECT_THAT(answers_, ElementsAre(-1));
  EXPECT_FALSE(kernel_.HasGroup());
}

TEST_F(StoreKernelTest, AcknowledgesNothingOfADamagedStream) {
  AddOutput(0, "hello\n");
  EXPECT_TRUE(kernel_.Quarantine(Key(), absl::DataLossError("damaged")));
  EXPECT_FALSE(kernel_.Quarantine(Key(), absl::DataLossError("damaged")));
  kernel_.GroupStored();
  Answer();
  AddOutput(6, "bye\n");
  EXPECT_THAT(answers_, ElementsAre(-1, -1));
  EXPECT_EQ(kernel_.StoredOffset(Key()), 0);
}

TEST_F(StoreKernelTest, RecordsOfExpertsAreStoredWithTheirAttempt) {
  v1::TelemetryBatch batch;
  batch.mutable_stream()->set_job_id(1);
  batch.mutable_stream()->set_attempt(3);
  batch.mutable_stream()->set_kind(v1::STREAM_KIND_TELEMETRY);
  v1::TelemetryRecord& record = *batch.add_records();
  record.set_time_ms(50);
  record.mutable_experts()->set_step(7);
  record.mutable_experts()->add_balance(1.5F);
  const MetricBatch stored = ToMetricBatch(batch);
  EXPECT_THAT(stored.points, IsEmpty());
  ASSERT_THAT(stored.experts, SizeIs(1));
  EXPECT_EQ(stored.experts[0].attempt, 3);
  EXPECT_EQ(stored.experts[0].time_ms, 50);
  EXPECT_EQ(stored.experts[0].record.step(), 7);
}

TEST_F(StoreKernelTest, ReportsOfDataSetsAreStoredWithTheirAttempt) {
  v1::TelemetryBatch batch;
  batch.mutable_stream()->set_job_id(1);
  batch.mutable_stream()->set_attempt(3);
  batch.mutable_stream()->set_kind(v1::STREAM_KIND_TELEMETRY);
  v1::TelemetryRecord& record = *batch.add_records();
  record.set_time_ms(50);
  record.mutable_data_report()->set_number(2);
  record.mutable_data_report()->set_text("{}");
  const MetricBatch stored = ToMetricBatch(batch);
  EXPECT_THAT(stored.points, IsEmpty());
  ASSERT_THAT(stored.reports, SizeIs(1));
  EXPECT_EQ(stored.reports[0].time_ms, 50);
  EXPECT_EQ(stored.reports[0].key(), (DataReportKey{3, 2}));
  EXPECT_EQ(stored.reports[0].record.text(), "{}");
}

}  // namespace
}  // namespace trainyard::controller
