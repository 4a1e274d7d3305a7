#include "controller/loop/ingest.h"

#include <gtest/gtest.h>

#include <cmath>
#include <future>

#include "controller/store/stores.h"
#include "tests/controller/controller_harness.h"
#include "tests/controller/store/simulated_disk.h"
#include "tests/controller/store/temporary_directory.h"
#include "tests/fakes/keeps_data.h"

namespace trainyard::controller {
namespace {

// Fails the first `failures` appends and the first `failed_reads` reads of offsets.
class StubbornMetricStore final : public KeepsData<MetricStore> {
 public:
  explicit StubbornMetricStore(int failures, int failed_reads = 0)
      : failures_(failures), failed_reads_(failed_reads) {}
  absl::Status Append(const std::vector<MetricBatch>& batches) override {
    if (failures_-- > 0) return absl::ResourceExhaustedError("disk full");
    return inner_->Append(batches);
  }
  absl::StatusOr<int64_t> StoredOffset(const StreamKey& stream) override {
    if (failed_reads_-- > 0) return absl::UnavailableError("disk I/O error");
    return inner_->StoredOffset(stream);
  }
  void Mend() { failures_ = 0; }
  absl::StatusOr<std::vector<v1::Series>> Read(const SeriesQuery& query) override {
    return inner_->Read(query);
  }
  absl::StatusOr<std::vector<std::string>> Keys(int64_t job_id) override {
    return inner_->Keys(job_id);
  }
  absl::StatusOr<std::vector<AttemptRange>> Attempts(int64_t job_id) override {
    return inner_->Attempts(job_id);
  }
  absl::StatusOr<std::vector<StoredExperts>> ReadExperts(int64_t job_id) override {
    return inner_->ReadExperts(job_id);
  }
  absl::StatusOr<std::optional<StoredDataReport>> ReadDataReport(int64_t job_id) override {
    return inner_->ReadDataReport(job_id);
  }
  absl::StatusOr<std::vector<LinkedDataSet>> ReadDataSets(int64_t job_id) override {
    return inner_->ReadDataSets(job_id);
  }

 private:
  std::atomic<int> failures_;
  std::atomic<int> failed_reads_;
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
  std::vector<std::pair<int64_t, int64_t>> points_stored_;
  Ingest ingest_{*stores_.metrics,
                 *stores_.logs,
                 health_,
                 {.on_output =
                      [this](int64_t job_id) {
                        const std::lock_guard lock(mutex_);
                        jobs_with_output_.push_back(job_id);
                      },
                  .on_points =
                      [this](int64_t job_id, int64_t step) {
                        const std::lock_guard lock(mutex_);
                        points_stored_.emplace_back(job_id, step);
                      },
                  .on_write = nullptr}};
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
  // A program that does not measure how long a checkpoint blocks it has no such point.
  batch.add_records()->mutable_checkpoint()->set_step(4);
  batch.add_records()->mutable_phase()->set_phase("train");
  const MetricBatch metrics = ToMetricBatch(batch);
  ASSERT_EQ(metrics.points.size(), 4u);
  EXPECT_EQ(metrics.points[0].key, "loss");
  EXPECT_EQ(metrics.points[1].key, "val_loss");
  EXPECT_EQ(metrics.points[1].step, 2);
  EXPECT_EQ(metrics.points[1].value, 4.5);
  EXPECT_EQ(metrics.points[2].key, "val_perplexity");
  EXPECT_EQ(metrics.points[2].step, 2);
  EXPECT_DOUBLE_EQ(metrics.points[2].value, std::exp(4.5));
  EXPECT_EQ(metrics.points[3].key, "checkpoint_blocking_seconds");
  EXPECT_EQ(metrics.points[3].value, 0.25);
}

// If the checkpoint became a point of the newer attempt, the curves of the attempt that trained
// these steps would end there.
TEST(ToMetricBatchTest, ACheckpointOfAnEarlierAttemptIsNoPointOfThisOne) {
  v1::TelemetryBatch batch;
  batch.mutable_stream()->set_attempt(2);
  for (const int64_t attempt : {0, 1, 2}) {
    v1::CheckpointRecord& checkpoint = *batch.add_records()->mutable_checkpoint();
    checkpoint.set_step(10 * attempt + 10);
    checkpoint.set_attempt(attempt);
    checkpoint.set_blocking_seconds(0.1);
  }
  const MetricBatch metrics = ToMetricBatch(batch);
  ASSERT_EQ(metrics.points.size(), 2u);
  EXPECT_EQ(metrics.points[0].step, 10) << "without a number: of the attempt that reports it";
  EXPECT_EQ(metrics.points[1].step, 30);
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
  // A rejected batch does not affect the valid batches that arrive with it.
  EXPECT_TRUE(Add(Batch(0, 100, 1)).get().ok());
}

TEST_F(IngestTest, TellsWhichJobHasNewOutput) {
  EXPECT_EQ(Add(Chunk(0, "one\n")).get().value(), 4);
  EXPECT_EQ(Add(Chunk(0, "one\ntwo\n")).get().value(), 8);
  EXPECT_EQ(Add(Chunk(0, "one\n")).get().value(), 8);
  ingest_.Stop();
  EXPECT_EQ(jobs_with_output_, (std::vector<int64_t>{1, 1}));
}

TEST_F(IngestTest, TellsWhichStepsAreStored) {
  ASSERT_TRUE(Add(Batch(0, 100, 7)).get().ok());
  ASSERT_TRUE(Add(Batch(0, 100, 7)).get().ok());
  ASSERT_TRUE(Add(Chunk(0, "no points")).get().ok());
  ingest_.Stop();
  EXPECT_EQ(points_stored_, (std::vector<std::pair<int64_t, int64_t>>{{1, 7}}));
}

TEST_F(IngestTest, AnswersOffsetsAfterWhatCameBefore) {
  const StreamKey telemetry = ToStreamKey(Stream(1, v1::STREAM_KIND_TELEMETRY));
  const StreamKey output = ToStreamKey(Stream(1, v1::STREAM_KIND_LOG));
  (void)Add(Batch(0, 100, 1));
  (void)Add(Chunk(0, "four"));
  std::promise<StreamOffsets> promise;
  ingest_.ReadOffsets({telemetry, output},
                      [&](const auto& offsets) { promise.set_value(offsets); });
  (void)Add(Batch(100, 200, 2));
  StreamOffsets offsets = promise.get_future().get();
  EXPECT_EQ(offsets[telemetry], 100);
  EXPECT_EQ(offsets[output], 4);
}

TEST_F(IngestTest, TriesAgainUntilTheStoreWorks) {
  StubbornMetricStore metrics(2);
  Ingest ingest(metrics, *stores_.logs, health_, {});
  std::promise<absl::StatusOr<int64_t>> promise;
  ingest.AddTelemetry(Batch(0, 100, 1), [&](const auto& offset) { promise.set_value(offset); });
  EXPECT_EQ(promise.get_future().get().value(), 100);
}

TEST_F(IngestTest, AnOffsetThatCannotBeReadNowIsReadAgain) {
  StubbornMetricStore metrics(0, 2);
  Ingest ingest(metrics, *stores_.logs, health_, {});
  std::promise<absl::StatusOr<int64_t>> promise;
  ingest.AddTelemetry(Batch(0, 100, 1), [&](const auto& offset) { promise.set_value(offset); });
  EXPECT_EQ(promise.get_future().get().value(), 100);
  EXPECT_TRUE(health_.Works(StoreName::kMetrics));
}

// The stores are real. The disk below them returns one transient error.
TEST_F(IngestTest, AnErrorOfTheDiskThatPassesSetsNothingAside) {
  const TemporaryDirectory temporary;
  SimulatedDisk disk(temporary.File("data"));
  auto stores = OpenSqliteStores(temporary.File("data"));
  ASSERT_TRUE(stores.ok()) << stores.status();
  Ingest ingest(*stores->metrics, *stores->logs, health_, {});
  const auto store = [&](int64_t begin) {
    std::promise<absl::StatusOr<int64_t>> metrics;
    std::promise<absl::StatusOr<int64_t>> output;
    ingest.AddTelemetry(Batch(begin * 100, begin * 100 + 100, begin + 1),
                        [&](const auto& offset) { metrics.set_value(offset); });
    ingest.AddOutput(Chunk(begin * 4, "four"),
                     [&](const auto& offset) { output.set_value(offset); });
    EXPECT_EQ(metrics.get_future().get().value(), begin * 100 + 100);
    EXPECT_EQ(output.get_future().get().value(), begin * 4 + 4);
  };
  store(0);
  const int64_t calls_before = disk.calls();
  store(1);
  const int64_t calls_of_a_write = disk.calls() - calls_before;
  // The number of failing calls, one per iteration. The failures are spread over the reads, writes
  // and syncs of both stores. Each failure costs one initial backoff wait.
  constexpr int64_t kPlaces = 4;
  for (int64_t i = 0; i < kPlaces; ++i) {
    const int64_t call = 1 + i * calls_of_a_write / kPlaces;
    SCOPED_TRACE(call);
    disk.FailAt(call, DiskFault::kIoError);
    store(i + 2);
    ASSERT_TRUE(disk.reached());
    disk.Mend();
  }
  EXPECT_GT(ingest.Statistics().failed_writes, 0);
  EXPECT_TRUE(health_.Problems().empty());
}

TEST_F(IngestTest, SaysWhereStreamsStandWhileAStoreIsFull) {
  StubbornMetricStore metrics(1'000'000);
  const StreamKey telemetry = ToStreamKey(Stream(1, v1::STREAM_KIND_TELEMETRY));
  Ingest ingest(metrics, *stores_.logs, health_, {});
  std::promise<absl::StatusOr<int64_t>> stored;
  ingest.AddTelemetry(Batch(0, 100, 1), [&](const auto& offset) { stored.set_value(offset); });
  for (int i = 0; i < 2; ++i) {
    std::promise<StreamOffsets> promise;
    ingest.ReadOffsets({telemetry}, [&](const auto& offsets) { promise.set_value(offsets); });
    auto answer = promise.get_future();
    ASSERT_EQ(answer.wait_for(kTestTimeout), std::future_status::ready) << "waits for room";
    EXPECT_EQ(answer.get()[telemetry], 0);
  }
  metrics.Mend();
  EXPECT_EQ(stored.get_future().get().value(), 100);
}

TEST_F(IngestTest, SaysWhichStoreFailsAsLongAsItDoes) {
  StubbornMetricStore metrics(1);
  Ingest ingest(metrics, *stores_.logs, health_, {});
  std::promise<absl::StatusOr<int64_t>> promise;
  ingest.AddTelemetry(Batch(0, 100, 1), [&](const auto& offset) { promise.set_value(offset); });
  const auto deadline = std::chrono::steady_clock::now() + kTestTimeout;
  while (health_.Works(StoreName::kMetrics) && std::chrono::steady_clock::now() < deadline) {
  }
  EXPECT_EQ(health_.Problems().at(0).message(), "disk full");
  EXPECT_TRUE(promise.get_future().get().ok());
  EXPECT_TRUE(health_.Problems().empty());
}

// A store with damaged pages. Appends for job 2 fail, and reads of job 3's offset fail.
class DamagedMetricStore final : public KeepsData<MetricStore> {
 public:
  absl::Status Append(const std::vector<MetricBatch>& batches) override {
    for (const MetricBatch& batch : batches) {
      if (batch.stream.job_id == 2) return absl::DataLossError("the page at byte 4096 is damaged");
    }
    return inner_->Append(batches);
  }
  absl::StatusOr<int64_t> StoredOffset(const StreamKey& stream) override {
    if (stream.job_id == 3) return absl::DataLossError("the page at byte 8192 is damaged");
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
  absl::StatusOr<std::vector<StoredExperts>> ReadExperts(int64_t job_id) override {
    return inner_->ReadExperts(job_id);
  }
  absl::StatusOr<std::optional<StoredDataReport>> ReadDataReport(int64_t job_id) override {
    return inner_->ReadDataReport(job_id);
  }
  absl::StatusOr<std::vector<LinkedDataSet>> ReadDataSets(int64_t job_id) override {
    return inner_->ReadDataSets(job_id);
  }

 private:
  std::unique_ptr<MetricStore> inner_ = OpenMemoryStores().metrics;
};

TEST_F(IngestTest, ADamagedStreamIsNeverAcknowledgedAndHoldsNobodyUp) {
  DamagedMetricStore metrics;
  std::atomic<int> refused = 0;
  std::promise<absl::StatusOr<int64_t>> sound;
  Ingest ingest(metrics, *stores_.logs, health_, {});
  // No data of job 2 can be written. Not even the offset of job 3 can be read.
  for (int i = 0; i < 3; ++i) {
    for (const int64_t job_id : {2, 3}) {
      v1::TelemetryBatch damaged = Batch(0, 100, 1);
      damaged.mutable_stream()->set_job_id(job_id);
      ingest.AddTelemetry(damaged, [&](const absl::StatusOr<int64_t>& offset) {
        refused += static_cast<int>(absl::IsDataLoss(offset.status()));
      });
    }
  }
  ingest.AddTelemetry(Batch(0, 100, 1), [&](const auto& offset) { sound.set_value(offset); });
  EXPECT_EQ(sound.get_future().get().value(), 100);
  ingest.Stop();
  EXPECT_EQ(refused, 6);
  EXPECT_EQ(health_.Problems().size(), 2u);
  EXPECT_FALSE(health_.Works(StoreName::kMetrics)) << "nobody is alarmed";
}

TEST_F(IngestTest, OffsetsThatAreDamagedLockNobodyOut) {
  DamagedMetricStore metrics;
  Ingest ingest(metrics, *stores_.logs, health_, {});
  StreamKey sound = ToStreamKey(Stream(1, v1::STREAM_KIND_TELEMETRY));
  StreamKey damaged = ToStreamKey(Stream(3, v1::STREAM_KIND_TELEMETRY));
  std::promise<StreamOffsets> promise;
  ingest.ReadOffsets({sound, damaged}, [&](const auto& offsets) { promise.set_value(offsets); });
  EXPECT_EQ(promise.get_future().get(), (StreamOffsets{{sound, 0}}));
}

TEST_F(IngestTest, StopsWhileTheStoreFailsAndAcknowledgesNothing) {
  StubbornMetricStore metrics(1'000'000);
  bool acknowledged = false;
  Ingest ingest(metrics, *stores_.logs, health_, {});
  ingest.AddTelemetry(Batch(0, 100, 1), [&](const auto&) { acknowledged = true; });
  ingest.Stop();
  EXPECT_FALSE(acknowledged);
  EXPECT_EQ(metrics.StoredOffset(ToStreamKey(Stream(1, v1::STREAM_KIND_TELEMETRY))).value(), 0);
}

}  // namespace
}  // namespace trainyard::controller
