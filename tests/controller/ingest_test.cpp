#include "controller/ingest.h"

#include <gtest/gtest.h>

#include <future>

#include "controller/store/stores.h"
#include "tests/controller/controller_harness.h"

namespace trainyard::controller {
namespace {

// Fails as often as it was told to.
class StubbornMetricStore final : public MetricStore {
 public:
  explicit StubbornMetricStore(int failures) : failures_(failures) {}
  absl::Status Append(const std::vector<MetricBatch>& batches) override {
    if (failures_-- > 0) return absl::ResourceExhaustedError("disk full");
    return inner_->Append(batches);
  }
  absl::StatusOr<int64_t> StoredOffset(const StreamKey& stream) override {
    return inner_->StoredOffset(stream);
  }
  absl::StatusOr<std::vector<v1::Series>> Read(const SeriesQuery& query) override {
    return inner_->Read(query);
  }
  absl::StatusOr<std::vector<std::string>> Keys(int64_t job_id) override {
    return inner_->Keys(job_id);
  }
  absl::StatusOr<std::vector<AttemptRange>> Attempts(int64_t job_id) override {
    return inner_->Attempts(job_id);
  }

 private:
  std::atomic<int> failures_;
  std::unique_ptr<MetricStore> inner_ = OpenMemoryStores().metrics;
};

v1::TelemetryBatch Batch(int64_t begin, int64_t end, int64_t step) {
  v1::TelemetryBatch batch;
  *batch.mutable_stream() = Stream(1, v1::STREAM_KIND_TELEMETRY);
  batch.set_begin_offset(begin);
  batch.set_end_offset(end);
  v1::TelemetryRecord& record = *batch.add_records();
  record.set_time_ms(step);
  record.mutable_metrics()->set_step(step);
  (*record.mutable_metrics()->mutable_values())["loss"] = static_cast<double>(step);
  return batch;
}

v1::LogChunk Chunk(int64_t begin, const std::string& data) {
  v1::LogChunk chunk;
  *chunk.mutable_stream() = Stream(1, v1::STREAM_KIND_LOG);
  chunk.set_begin_offset(begin);
  chunk.set_data(data);
  return chunk;
}

class IngestTest : public testing::Test {
 protected:
  using Result = std::future<absl::StatusOr<int64_t>>;

  Result Add(v1::TelemetryBatch batch) {
    auto promise = std::make_shared<std::promise<absl::StatusOr<int64_t>>>();
    ingest_.AddTelemetry(std::move(batch),
                         [promise](const auto& offset) { promise->set_value(offset); });
    return promise->get_future();
  }

  Result Add(v1::LogChunk chunk) {
    auto promise = std::make_shared<std::promise<absl::StatusOr<int64_t>>>();
    ingest_.AddOutput(std::move(chunk),
                      [promise](const auto& offset) { promise->set_value(offset); });
    return promise->get_future();
  }

  std::vector<int64_t> Steps() {
    const auto series = stores_.metrics->Read({.job_id = 1, .keys = {"loss"}});
    if (!series.ok() || series->empty()) return {};
    return {series->front().steps().begin(), series->front().steps().end()};
  }

  Stores stores_ = OpenMemoryStores();
  std::mutex mutex_;
  std::vector<int64_t> jobs_with_output_;
  HandClock clock_;
  StorageHealth health_{clock_};
  Ingest ingest_{*stores_.metrics, *stores_.logs, health_, [this](int64_t job_id) {
                   const std::lock_guard lock(mutex_);
                   jobs_with_output_.push_back(job_id);
                 }};
};

TEST(ToMetricBatchTest, NamesTheSeries) {
  v1::TelemetryBatch batch = Batch(0, 10, 1);
  v1::EvaluationRecord& evaluation = *batch.add_records()->mutable_evaluation();
  evaluation.set_step(2);
  evaluation.set_data_set("val");
  evaluation.set_loss(4.5);
  v1::CheckpointRecord& checkpoint = *batch.add_records()->mutable_checkpoint();
  checkpoint.set_step(3);
  checkpoint.set_blocking_seconds(0.25);
  batch.add_records()->mutable_checkpoint()->set_deleted(true);
  batch.add_records()->mutable_phase()->set_phase("train");
  const MetricBatch metrics = ToMetricBatch(batch);
  ASSERT_EQ(metrics.points.size(), 3u);
  EXPECT_EQ(metrics.points[0].key, "loss");
  EXPECT_EQ(metrics.points[1].key, "val_loss");
  EXPECT_EQ(metrics.points[1].step, 2);
  EXPECT_EQ(metrics.points[1].value, 4.5);
  EXPECT_EQ(metrics.points[2].key, "checkpoint_blocking_seconds");
  EXPECT_EQ(metrics.points[2].value, 0.25);
}

TEST_F(IngestTest, StoresEachByteOnce) {
  EXPECT_EQ(Add(Batch(0, 100, 1)).get().value(), 100);
  EXPECT_EQ(Add(Batch(0, 100, 1)).get().value(), 100);
  EXPECT_EQ(Add(Batch(100, 200, 2)).get().value(), 200);
  EXPECT_EQ(Steps(), (std::vector<int64_t>{1, 2}));
}

TEST_F(IngestTest, RefusesBytesThatDoNotFollow) {
  EXPECT_EQ(Add(Batch(50, 100, 1)).get().status().code(), absl::StatusCode::kOutOfRange);
  EXPECT_EQ(Add(Chunk(5, "late\n")).get().status().code(), absl::StatusCode::kOutOfRange);
  // What is refused does not spoil what comes with it.
  EXPECT_TRUE(Add(Batch(0, 100, 1)).get().ok());
}

TEST_F(IngestTest, TellsWhichJobHasNewOutput) {
  EXPECT_EQ(Add(Chunk(0, "one\n")).get().value(), 4);
  EXPECT_EQ(Add(Chunk(0, "one\ntwo\n")).get().value(), 8);
  EXPECT_EQ(Add(Chunk(0, "one\n")).get().value(), 8);
  ingest_.Stop();
  EXPECT_EQ(jobs_with_output_, (std::vector<int64_t>{1, 1}));
}

TEST_F(IngestTest, AnswersOffsetsAfterWhatCameBefore) {
  const StreamKey telemetry = ToStreamKey(Stream(1, v1::STREAM_KIND_TELEMETRY));
  const StreamKey output = ToStreamKey(Stream(1, v1::STREAM_KIND_LOG));
  (void)Add(Batch(0, 100, 1));
  (void)Add(Chunk(0, "four"));
  std::promise<Ingest::Offsets> promise;
  ingest_.ReadOffsets({telemetry, output},
                      [&](const auto& offsets) { promise.set_value(*offsets); });
  (void)Add(Batch(100, 200, 2));
  Ingest::Offsets offsets = promise.get_future().get();
  EXPECT_EQ(offsets[telemetry], 100);
  EXPECT_EQ(offsets[output], 4);
}

TEST_F(IngestTest, TriesAgainUntilTheStoreWorks) {
  StubbornMetricStore metrics(2);
  Ingest ingest(metrics, *stores_.logs, health_, [](int64_t) {});
  std::promise<absl::StatusOr<int64_t>> promise;
  ingest.AddTelemetry(Batch(0, 100, 1), [&](const auto& offset) { promise.set_value(offset); });
  EXPECT_EQ(promise.get_future().get().value(), 100);
}

TEST_F(IngestTest, SaysWhichStoreFailsAsLongAsItDoes) {
  StubbornMetricStore metrics(1);
  Ingest ingest(metrics, *stores_.logs, health_, [](int64_t) {});
  std::promise<absl::StatusOr<int64_t>> promise;
  ingest.AddTelemetry(Batch(0, 100, 1), [&](const auto& offset) { promise.set_value(offset); });
  const auto deadline = std::chrono::steady_clock::now() + kPatience;
  while (health_.Works(StoreName::kMetrics) && std::chrono::steady_clock::now() < deadline) {
  }
  EXPECT_EQ(health_.Problems().at(0).message(), "disk full");
  EXPECT_TRUE(promise.get_future().get().ok());
  EXPECT_TRUE(health_.Problems().empty());
}

// One job's place in it is damaged.
class DamagedMetricStore final : public MetricStore {
 public:
  absl::Status Append(const std::vector<MetricBatch>& batches) override {
    for (const MetricBatch& batch : batches) {
      if (batch.stream.job_id == 2) return absl::DataLossError("the page at byte 4096 is damaged");
    }
    return inner_->Append(batches);
  }
  absl::StatusOr<int64_t> StoredOffset(const StreamKey& stream) override {
    return inner_->StoredOffset(stream);
  }
  absl::StatusOr<std::vector<v1::Series>> Read(const SeriesQuery& query) override {
    return inner_->Read(query);
  }
  absl::StatusOr<std::vector<std::string>> Keys(int64_t job_id) override {
    return inner_->Keys(job_id);
  }
  absl::StatusOr<std::vector<AttemptRange>> Attempts(int64_t job_id) override {
    return inner_->Attempts(job_id);
  }

 private:
  std::unique_ptr<MetricStore> inner_ = OpenMemoryStores().metrics;
};

TEST_F(IngestTest, ADamagedStreamIsNeverAcknowledgedAndHoldsNobodyUp) {
  DamagedMetricStore metrics;
  std::atomic<int> damaged_answers = 0;
  std::promise<absl::StatusOr<int64_t>> sound;
  Ingest ingest(metrics, *stores_.logs, health_, [](int64_t) {});
  v1::TelemetryBatch damaged = Batch(0, 100, 1);
  damaged.mutable_stream()->set_job_id(2);
  for (int i = 0; i < 3; ++i) {
    ingest.AddTelemetry(damaged, [&](const auto&) { ++damaged_answers; });
  }
  ingest.AddTelemetry(Batch(0, 100, 1), [&](const auto& offset) { sound.set_value(offset); });
  EXPECT_EQ(sound.get_future().get().value(), 100);
  ingest.Stop();
  EXPECT_EQ(damaged_answers, 0);
  ASSERT_EQ(health_.Problems().size(), 1u);
  EXPECT_EQ(health_.Problems()[0].message(), "the page at byte 4096 is damaged");
}

TEST_F(IngestTest, StopsWhileTheStoreFailsAndAcknowledgesNothing) {
  StubbornMetricStore metrics(1'000'000);
  bool acknowledged = false;
  Ingest ingest(metrics, *stores_.logs, health_, [](int64_t) {});
  ingest.AddTelemetry(Batch(0, 100, 1), [&](const auto&) { acknowledged = true; });
  ingest.Stop();
  EXPECT_FALSE(acknowledged);
  EXPECT_EQ(metrics.StoredOffset(ToStreamKey(Stream(1, v1::STREAM_KIND_TELEMETRY))).value(), 0);
}

}  // namespace
}  // namespace trainyard::controller
