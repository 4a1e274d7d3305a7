// Tests that need a store on disk: folding, roll-ups, crashes, damage, threads.
#include "controller/store/metrics/sqlite_metric_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <limits>
#include <random>
#include <thread>

#include "absl/strings/str_cat.h"
#include "controller/store/metrics/memory_metric_store.h"
#include "tests/controller/store/child_process.h"
#include "tests/controller/store/metrics/not_finite.h"
#include "tests/controller/store/temporary_directory.h"

namespace trainyard::controller {
namespace {

std::unique_ptr<MetricStore> OpenMetricStore(const std::string& path) {
  auto opened = SqliteMetricStore::Open(path);
  EXPECT_TRUE(opened.ok()) << opened.status();
  return opened.ok() ? *std::move(opened) : nullptr;
}

// Returns the bit patterns of the values. Compared in this way, NaN equals NaN.
std::vector<uint64_t> Bits(const google::protobuf::RepeatedField<double>& values) {
  std::vector<uint64_t> bits;
  for (const double value : values) {
    bits.push_back(value != value ? ~uint64_t{0} : std::bit_cast<uint64_t>(value + 0.0));
  }
  return bits;
}

template <typename Column>
std::vector<int64_t> Numbers(const Column& column) {
  return {column.begin(), column.end()};
}

// Compares with a tolerance, because a sum of sums and a sum of points have different rounding
// errors.
template <typename Column>
void ExpectNear(const Column& got, const Column& wanted) {
  ASSERT_EQ(got.size(), wanted.size());
  for (int i = 0; i < got.size(); ++i) {
    if (std::isnan(wanted[i])) {
      EXPECT_TRUE(std::isnan(got[i])) << i;
    } else {
      EXPECT_NEAR(got[i], wanted[i], 1e-9 * std::max(1.0, std::abs(wanted[i]))) << i;
    }
  }
}

void ExpectSame(const v1::Series& got, const v1::Series& wanted, const std::string& what) {
  SCOPED_TRACE(what);
  EXPECT_EQ(Numbers(got.steps()), Numbers(wanted.steps()));
  EXPECT_EQ(Numbers(got.times_ms()), Numbers(wanted.times_ms()));
  EXPECT_EQ(Numbers(got.counts()), Numbers(wanted.counts()));
  EXPECT_EQ(Numbers(got.nan_counts()), Numbers(wanted.nan_counts()));
  EXPECT_EQ(Numbers(got.attempts()), Numbers(wanted.attempts()));
  EXPECT_EQ(Bits(got.min()), Bits(wanted.min()));
  EXPECT_EQ(Bits(got.max()), Bits(wanted.max()));
  EXPECT_EQ(Bits(got.last()), Bits(wanted.last()));
  ExpectNear(got.mean(), wanted.mean());
}

// Writes one random history into two stores. The history contains attempts that resume at random
// steps, spikes, NaN, late and repeated points, and batches of every size.
class RandomHistory {
 public:
  RandomHistory(unsigned seed, std::vector<MetricStore*> stores)
      : random_(seed), stores_(std::move(stores)) {}

  void Run(int64_t attempts, int batches) {
    int64_t reached = 0;
    for (int64_t attempt_number = 1; attempt_number <= attempts; ++attempt_number) {
      int64_t step = reached == 0 ? 0 : static_cast<int64_t>(random_() % reached);
      int64_t offset = 0;
      for (int i = 0; i < batches; ++i) {
        const unsigned size = random_() % 4 == 0 ? random_() % 6000 : random_() % 40;
        MetricBatch batch{
            {1, attempt_number, 0, v1::STREAM_KIND_TELEMETRY}, offset, offset + 10, {}};
        for (unsigned n = 0; n < size; ++n) AddStep(++step, batch.points);
        offset = batch.end_offset;
        for (MetricStore* store : stores_) ASSERT_TRUE(store->Append({batch}).ok());
      }
      reached = std::max(reached, step);
    }
  }

 private:
  void AddStep(int64_t step, std::vector<MetricPoint>& points) {
    points.push_back({"loss", step, step * 7, Value()});
    if (step % 10 == 0) points.push_back({"val_loss", step, step * 7, Value()});
    if (random_() % 500 == 0 && step > 5000) {
      points.push_back({"loss", step - static_cast<int64_t>(random_() % 5000), step * 7, Value()});
    }
  }

  double Value() {
    const unsigned kind = random_() % 1000;
    if (kind == 0) return 1e9;
    if (kind == 1) return std::numeric_limits<double>::quiet_NaN();
    if (kind == 2) return -std::numeric_limits<double>::infinity();
    return static_cast<double>(random_() % 1000) / 100;
  }

  std::mt19937 random_;
  std::vector<MetricStore*> stores_;
};

TEST(SqliteMetricStoreTest, ReadsAsThePlainStoreDoes) {
  for (unsigned seed = 1; seed <= 4; ++seed) {
    TemporaryDirectory temporary;
    auto store = OpenMetricStore(temporary.File("metrics.db"));
    MemoryMetricStore plain;
    RandomHistory(seed, {store.get(), &plain}).Run(3, 40);
    std::mt19937 random(seed);
    for (int i = 0; i < 25; ++i) {
      SeriesQuery query{.job_id = 1, .keys = {"val_loss", "loss"}};
      if (i % 2 == 1) query.from_step = random() % 30'000;
      if (i % 3 == 1) query.to_step = query.from_step + 1 + random() % 30'000;
      if (i % 4 != 0) query.buckets = 1 << (random() % 12);
      if (i % 5 == 4) query.attempt = 1 + random() % 3;
      auto got = store->Read(query);
      auto wanted = plain.Read(query);
      ASSERT_TRUE(got.ok()) << got.status();
      for (int key = 0; key < 2; ++key) {
        ExpectSame((*got)[key], (*wanted)[key],
                   absl::StrCat("seed ", seed, ", query ", i, ", buckets ", query.buckets));
      }
      if (HasFailure()) return;
    }
  }
}

// Appends steps 1..`count`, with a spike at step `spike`. The steps are folded into chunks.
void FillWithSpike(MetricStore& store, int64_t count, int64_t spike) {
  std::vector<MetricPoint> points;
  for (int64_t step = 1; step <= count; ++step) {
    points.push_back({"loss", step, step, step == spike ? 1e6 : 1.0 + 1.0 / step});
  }
  ASSERT_TRUE(store.Append({{{1, 1, 0, v1::STREAM_KIND_TELEMETRY}, 0, 100, points}}).ok());
}

TEST(SqliteMetricStoreTest, SpikeSurvivesThinning) {
  TemporaryDirectory temporary;
  auto store = OpenMetricStore(temporary.File("metrics.db"));
  FillWithSpike(*store, 100'000, 31'337);
  auto series = store->Read({.job_id = 1, .keys = {"loss"}, .buckets = 100});
  ASSERT_TRUE(series.ok()) << series.status();
  EXPECT_EQ(series->front().steps_size(), 100);
  EXPECT_EQ(series->front().max(31), 1e6);
  EXPECT_THAT(series->front().counts(), testing::Each(1000));
}

TEST(SqliteMetricStoreTest, ChunksOfOlderReleasesAndOfInfinitiesHaveAMean) {
  TemporaryDirectory temporary;
  const std::string path = temporary.File("metrics.db");
  std::vector<MetricPoint> points;
  for (int64_t step = 1; step <= 20'480; ++step) {
    points.push_back({"loss", step, step, step % 1024 == 5 ? kInfinity : 1.0 + step % 2});
  }
  const StreamKey stream{1, 1, 0, v1::STREAM_KIND_TELEMETRY};
  ASSERT_TRUE(OpenMetricStore(path)->Append({{stream, 0, 100, points}}).ok());
  const auto mean = [&] {
    auto series = OpenMetricStore(path)->Read({.job_id = 1, .keys = {"loss"}, .buckets = 1});
    return series.ok() ? series->front().mean(0) : std::numeric_limits<double>::quiet_NaN();
  };
  // In every 1,024 values, one value is infinite instead of 2. The mean excludes this value.
  const double wanted = (1024 * 1.5 - 2) / 1023;
  EXPECT_NEAR(mean(), wanted, 1e-9);
  // Changes the file into a file of an older release. That release wrote such chunks into a table
  // without the column `sum`, and wrote no marks, experts, reports or data sets.
  auto database = SqliteDatabase::Open(path, SqliteDatabase::Mode::kWriter);
  ASSERT_TRUE(database.ok()) << database.status();
  ASSERT_EQ(*(*database)->QueryInt64("SELECT COUNT(*) FROM chunk WHERE sum IS NULL"), 20);
  ASSERT_TRUE((*database)
                  ->RunScript("ALTER TABLE chunk DROP COLUMN sum;"
                              "ALTER TABLE stream RENAME COLUMN attempt TO epoch;"
                              "ALTER TABLE attempt RENAME COLUMN attempt TO epoch;"
                              "ALTER TABLE tail RENAME COLUMN attempt TO epoch;"
                              "ALTER TABLE chunk RENAME COLUMN attempt TO epoch;"
                              "DROP TABLE mark;"
                              "DROP TABLE expert;"
                              "DROP TABLE report_part;"
                              "DROP TABLE job_data_set;"
                              "PRAGMA user_version = 1")
                  .ok());
  database->reset();
  EXPECT_NEAR(mean(), wanted, 1e-9);
}

TEST(SqliteMetricStoreTest, PointInTheTailReplacesOneWithinARollUp) {
  TemporaryDirectory temporary;
  auto store = OpenMetricStore(temporary.File("metrics.db"));
  FillWithSpike(*store, 100'000, 500);
  const StreamKey stream{1, 1, 0, v1::STREAM_KIND_TELEMETRY};
  ASSERT_TRUE(store->Append({{stream, 100, 101, {{"loss", 500, 1, 0.5}}}}).ok());
  auto series = store->Read({.job_id = 1, .keys = {"loss"}, .buckets = 1});
  ASSERT_TRUE(series.ok()) << series.status();
  EXPECT_THAT(series->front().counts(), testing::ElementsAre(100'000));
  EXPECT_THAT(series->front().min(), testing::ElementsAre(0.5));
  EXPECT_THAT(series->front().max(), testing::ElementsAre(2.0));
}

class DamagedMetricStoreTest : public testing::Test {
 protected:
  DamagedMetricStoreTest() { FillWithSpike(*OpenMetricStore(path_), 100'000, 5); }

  absl::Status Change(const std::string& sql) {
    auto database = SqliteDatabase::Open(path_, SqliteDatabase::Mode::kWriter);
    return database.ok() ? (*database)->RunScript(sql) : database.status();
  }

  absl::Status Read(int buckets) {
    return OpenMetricStore(path_)
        ->Read({.job_id = 1, .keys = {"loss"}, .buckets = buckets})
        .status();
  }

  TemporaryDirectory temporary_;
  const std::string path_ = temporary_.File("metrics.db");
};

TEST_F(DamagedMetricStoreTest, ChunkWithinOneBucketIsNotDecoded) {
  ASSERT_TRUE(Change("UPDATE chunk SET block = X'00' WHERE first_step = 1").ok());
  EXPECT_TRUE(Read(1).ok()) << Read(1);
  const absl::Status status = Read(1000);
  EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss);
  EXPECT_THAT(std::string(status.message()), testing::HasSubstr("metrics.db"));
}

TEST_F(DamagedMetricStoreTest, DamagedRollUpIsFound) {
  for (const char* column : {"max", "min", "last", "count", "last_step", "last_time_ms", "sum"}) {
    ASSERT_TRUE(Change(absl::StrCat("UPDATE chunk SET ", column, " = ", column,
                                    " + 1 WHERE first_step = 1"))
                    .ok());
    EXPECT_EQ(Read(1).code(), absl::StatusCode::kDataLoss) << column;
    ASSERT_TRUE(Change(absl::StrCat("UPDATE chunk SET ", column, " = ", column,
                                    " - 1 WHERE first_step = 1"))
                    .ok());
    EXPECT_TRUE(Read(1).ok()) << column;
  }
}

TEST_F(DamagedMetricStoreTest, BlockInTheWrongRowIsFound) {
  ASSERT_TRUE(Change("UPDATE chunk SET block = (SELECT block FROM chunk WHERE first_step = 1) "
                     "WHERE first_step = 1025")
                  .ok());
  EXPECT_EQ(Read(0).code(), absl::StatusCode::kDataLoss);
}

TEST_F(DamagedMetricStoreTest, DamagedTailIsFound) {
  ASSERT_TRUE(OpenMetricStore(path_)
                  ->Append({{{1, 2, 0, v1::STREAM_KIND_TELEMETRY}, 0, 1, {{"loss", 1, 1, 1.0}}}})
                  .ok());
  ASSERT_TRUE(Read(0).ok());
  ASSERT_TRUE(Change("UPDATE tail SET attempt = 1").ok());
  EXPECT_EQ(Read(0).code(), absl::StatusCode::kDataLoss);
}

// Appends batches of 37 steps to one stream and reports each batch's end offset. The offsets of
// this stream count steps.
void AppendPointsForever(const std::string& path, int report_fd) {
  auto store = SqliteMetricStore::Open(path);
  if (!store.ok()) _exit(2);
  for (int64_t begin = 0;; begin += 37) {
    MetricBatch batch{{1, 1, 0, v1::STREAM_KIND_TELEMETRY}, begin, begin + 37, {}};
    for (int64_t step = begin + 1; step <= begin + 37; ++step) {
      for (int key = 0; key < 10; ++key) {
        batch.points.push_back({absl::StrCat("key", key), step, step, static_cast<double>(step)});
      }
    }
    if (!(*store)->Append({batch}).ok()) _exit(3);
    ChildProcess::Report(report_fd, begin + 37);
  }
}

TEST(SqliteMetricStoreTest, KilledAtAnyMomentHoldsWhatTheOffsetSays) {
  std::mt19937 random(11);
  for (int round = 0; round < 8; ++round) {
    TemporaryDirectory temporary;
    const std::string path = temporary.File("metrics.db");
    ChildProcess child([&](int report_fd) { AppendPointsForever(path, report_fd); });
    int64_t acknowledged = 0;
    const int reports = static_cast<int>(random() % 100) + 30;
    for (int i = 0; i < reports; ++i) ASSERT_TRUE(child.Read(acknowledged));
    child.Kill();
    while (child.Read(acknowledged)) {
    }
    auto store = OpenMetricStore(path);
    const int64_t stored = *store->StoredOffset({1, 1, 0, v1::STREAM_KIND_TELEMETRY});
    EXPECT_TRUE(stored == acknowledged || stored == acknowledged + 37) << stored;
    auto series = store->Read({.job_id = 1, .keys = {"key0", "key9"}});
    ASSERT_TRUE(series.ok()) << series.status();
    for (const v1::Series& one : *series) {
      ASSERT_EQ(one.steps_size(), stored);
      for (int64_t i = 0; i < stored; ++i) ASSERT_EQ(one.steps(static_cast<int>(i)), i + 1);
    }
  }
}

TEST(SqliteMetricStoreTest, ReadersSeeWholeAppendsWhileAttemptsAreWritten) {
  TemporaryDirectory temporary;
  auto store = OpenMetricStore(temporary.File("metrics.db"));
  std::atomic<bool> done = false;
  const auto read = [&] {
    while (!done) {
      auto series = store->Read({.job_id = 1, .keys = {"loss"}, .attempt = 1});
      ASSERT_TRUE(series.ok()) << series.status();
      ASSERT_EQ(series->front().steps_size() % 50, 0);
    }
  };
  const auto write = [&](int64_t attempt_number) {
    for (int64_t i = 0; i < 100; ++i) {
      MetricBatch batch{{1, attempt_number, 0, v1::STREAM_KIND_TELEMETRY}, i, i + 1, {}};
      for (int64_t step = 1; step <= 50; ++step) {
        batch.points.push_back({"loss", i * 50 + step, step, 1.0});
      }
      ASSERT_TRUE(store->Append({batch}).ok());
    }
  };
  std::thread readers[] = {std::thread(read), std::thread(read)};
  std::thread writers[] = {std::thread(write, 1), std::thread(write, 2)};
  for (std::thread& writer : writers) writer.join();
  done = true;
  for (std::thread& reader : readers) reader.join();
  EXPECT_EQ(store->Read({.job_id = 1, .keys = {"loss"}, .attempt = 2})->front().steps_size(), 5000);
}

}  // namespace
}  // namespace trainyard::controller
