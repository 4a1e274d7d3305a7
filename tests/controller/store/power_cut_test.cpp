// Tests the three stores on a disk that loses power at any call, fails at each call in turn, or
// becomes full. Afterwards all acknowledged data must exist exactly once. The tests check numbers,
// counts and contents.
//
// TRAINYARD_POWER_CUTS=N makes N cuts instead of the default few hundred. TRAINYARD_SEED=N starts
// with another seed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <random>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "controller/store/stores.h"
#include "tests/controller/store/simulated_disk.h"
#include "tests/controller/store/temporary_directory.h"

namespace trainyard::controller {
namespace {

namespace fs = std::filesystem;

#ifdef TRAINYARD_SANITIZED
// Under a sanitizer, fewer cuts are made: a sanitizer makes each cut up to ten times slower without
// changing the result.
constexpr int kCutsOfTheSuite = 60;
#else
constexpr int kCutsOfTheSuite = 240;
#endif
constexpr int kRoundsOfAHistory = 30;
constexpr int64_t kStepsInABatch = 12;
constexpr int64_t kKeys = 8;
constexpr int64_t kBytesOfATelemetryBatch = 1000;

int64_t FromEnvironment(const char* name, int64_t otherwise) {
  const char* text = std::getenv(name);
  int64_t number = 0;
  return text != nullptr && absl::SimpleAtoi(text, &number) && number > 0 ? number : otherwise;
}

// ---- Contents of batch `number`, counted from 0, of each store. The contents depend only on the
// number.

v1::Event StoredEvent(int64_t number) {
  v1::Event event;
  event.set_time_ms(number);
  v1::AlertRaised& alert = *event.mutable_alert_raised();
  alert.set_job_id(1 + number % 3);
  // Some batches fill a dozen pages.
  const auto filler = static_cast<std::size_t>(number % 23 == 0 ? 50'000 : number * 31 % 900);
  alert.set_message(absl::StrCat("event ", number, " ", std::string(filler, 'e')));
  return event;
}

int64_t EventsBefore(int64_t batches) {
  int64_t events = 0;
  for (int64_t batch = 0; batch < batches; ++batch) events += batch % 4 + 1;
  return events;
}

std::vector<v1::Event> EventBatch(int64_t batch) {
  std::vector<v1::Event> events;
  for (int64_t i = EventsBefore(batch); i < EventsBefore(batch + 1); ++i) {
    events.push_back(StoredEvent(i + 1));
  }
  return events;
}

std::vector<StreamKey> TelemetryStreams() {
  return {{1, 1, 0, v1::STREAM_KIND_TELEMETRY},
          {2, 1, 0, v1::STREAM_KIND_TELEMETRY},
          {2, 2, 1, v1::STREAM_KIND_PARSED_LOG}};
}

double ValueAt(int64_t step, int64_t key) {
  return static_cast<double>(step) * 0.5 + static_cast<double>(key);
}

std::vector<MetricBatch> MetricBatches(int64_t batch) {
  std::vector<MetricBatch> batches;
  for (const StreamKey& stream : TelemetryStreams()) {
    MetricBatch& one = batches.emplace_back();
    one.stream = stream;
    one.begin_offset = batch * kBytesOfATelemetryBatch;
    one.end_offset = one.begin_offset + kBytesOfATelemetryBatch;
    for (int64_t i = 1; i <= kStepsInABatch; ++i) {
      const int64_t step = batch * kStepsInABatch + i;
      for (int64_t key = 0; key < kKeys; ++key) {
        one.points.push_back({absl::StrCat("key", key), step, step * 10, ValueAt(step, key)});
      }
    }
  }
  return batches;
}

std::vector<StreamKey> LogStreams() {
  return {{1, 1, 0, v1::STREAM_KIND_LOG}, {2, 1, 3, v1::STREAM_KIND_LOG}};
}

std::string LineNumber(int64_t batch, int line) {
  const auto filler = static_cast<std::size_t>((batch * 37 + line * 101) % 300);
  return absl::StrCat("batch ", batch, " line ", line, " ", std::string(filler, 'l'));
}

int LinesIn(int64_t batch) { return batch % 9 == 0 ? 150 : 12; }

std::string Output(int64_t batch) {
  std::string text;
  for (int line = 0; line < LinesIn(batch); ++line) {
    absl::StrAppend(&text, LineNumber(batch, line), "\n");
  }
  return text;
}

int64_t OutputBytesBefore(int64_t batches) {
  int64_t bytes = 0;
  for (int64_t batch = 0; batch < batches; ++batch) {
    bytes += static_cast<int64_t>(Output(batch).size());
  }
  return bytes;
}

std::vector<LogBatch> LogBatches(int64_t batch) {
  std::vector<LogBatch> batches;
  for (const StreamKey& stream : LogStreams()) {
    batches.push_back({stream, OutputBytesBefore(batch), batch, Output(batch)});
  }
  return batches;
}

// ---- The batches that must exist.

enum StoreIndex { kEvents, kMetrics, kLogs, kStoreCount };

// Lower and upper bounds on the number of batches in each store.
struct Held {
  int64_t least[kStoreCount] = {};
  int64_t most[kStoreCount] = {};
};

int64_t EventBatchesIn(Stores& stores) {
  auto recovery = stores.events->Recover();
  EXPECT_TRUE(recovery.ok()) << recovery.status();
  if (!recovery.ok()) return -1;
  const auto count = static_cast<int64_t>(recovery->last_sequence);
  auto entries = stores.events->ReadEventsBefore(0, 0, 1'000'000);
  EXPECT_TRUE(entries.ok()) << entries.status();
  if (!entries.ok()) return -1;
  EXPECT_EQ(static_cast<int64_t>(entries->size()), count);
  int64_t number = count;
  for (const v1::EventEntry& entry : *entries) {
    EXPECT_EQ(static_cast<int64_t>(entry.sequence()), number);
    EXPECT_EQ(entry.event().SerializeAsString(), StoredEvent(number).SerializeAsString());
    --number;
  }
  int64_t batches = 0;
  while (EventsBefore(batches) < count) ++batches;
  EXPECT_EQ(EventsBefore(batches), count) << "part of a batch";
  return batches;
}

void ExpectSeries(const v1::Series& series, int64_t key, int64_t steps) {
  ASSERT_EQ(series.steps_size(), steps);
  for (int i = 0; i < series.steps_size(); ++i) {
    ASSERT_EQ(series.steps(i), i + 1);
    ASSERT_EQ(series.times_ms(i), (i + 1) * 10);
    ASSERT_EQ(series.last(i), ValueAt(i + 1, key));
  }
}

int64_t MetricBatchesIn(Stores& stores) {
  int64_t batches = -1;
  for (const StreamKey& stream : TelemetryStreams()) {
    auto offset = stores.metrics->StoredOffset(stream);
    EXPECT_TRUE(offset.ok()) << offset.status();
    if (!offset.ok()) return -1;
    if (batches < 0) batches = *offset / kBytesOfATelemetryBatch;
    EXPECT_EQ(*offset, batches * kBytesOfATelemetryBatch) << "streams of one append differ";
    SeriesQuery query{.job_id = stream.job_id, .keys = {}, .attempt = stream.attempt};
    for (int64_t key = 0; key < kKeys; ++key) query.keys.push_back(absl::StrCat("key", key));
    auto series = stores.metrics->Read(query);
    EXPECT_TRUE(series.ok()) << series.status();
    if (!series.ok()) return -1;
    for (int64_t key = 0; key < kKeys; ++key) {
      ExpectSeries((*series)[key], key, batches * kStepsInABatch);
    }
  }
  return batches;
}

int64_t LogBatchesIn(Stores& stores) {
  int64_t batches = 0;
  for (const StreamKey& stream : LogStreams()) {
    LogCursor cursor;
    batches = 0;
    int line = 0;
    const auto take = [&](std::vector<v1::LogLine> lines) {
      for (const v1::LogLine& got : lines) {
        EXPECT_EQ(got.text(), LineNumber(batches, line));
        if (++line < LinesIn(batches)) continue;
        ++batches;
        line = 0;
      }
      return true;
    };
    const absl::Status status =
        stores.logs->Read({.job_id = stream.job_id, .ranks = {stream.rank}}, true, cursor, take);
    EXPECT_TRUE(status.ok()) << status;
    EXPECT_EQ(line, 0) << "part of a batch";
    auto offset = stores.logs->StoredOffset(stream);
    EXPECT_TRUE(offset.ok()) << offset.status();
    EXPECT_EQ(offset.value_or(-1), OutputBytesBefore(batches));
  }
  return batches;
}

// Reads and checks all data. Then sets `held` to the exact number of batches in each store.
void Verify(Stores& stores, Held& held) {
  const int64_t found[kStoreCount] = {EventBatchesIn(stores), MetricBatchesIn(stores),
                                      LogBatchesIn(stores)};
  for (int store = 0; store < kStoreCount; ++store) {
    EXPECT_GE(found[store], held.least[store]) << "acknowledged data is lost in store " << store;
    EXPECT_LE(found[store], held.most[store]) << "store " << store << " holds what nobody sent";
    held.least[store] = held.most[store] = found[store];
  }
}

absl::Status AppendBatch(Stores& stores, int store, int64_t batch) {
  switch (store) {
    case kEvents:
      return stores.events->Append(EventBatch(batch));
    case kMetrics:
      return stores.metrics->Append(MetricBatches(batch));
    default:
      return stores.logs->Append(LogBatches(batch));
  }
}

// Appends the store's next batch and updates `held`.
absl::Status AppendNext(Stores& stores, int store, Held& held) {
  held.most[store] = held.least[store] + 1;
  const absl::Status status = AppendBatch(stores, store, held.least[store]);
  if (status.ok()) held.least[store] = held.most[store];
  return status;
}

absl::Status WriteSnapshot(Stores& stores, const Held& held) {
  v1::Snapshot snapshot;
  snapshot.set_last_sequence(static_cast<uint64_t>(EventsBefore(held.least[kEvents])));
  snapshot.set_next_job_id(held.least[kEvents]);
  return stores.events->WriteSnapshot(snapshot);
}

// ---- Power cuts.

// The history of one seed. Each round opens the files left by the
// previous power cut, verifies them, and writes until the next
// cut. The next cut may occur while the files are being opened.
class CutHistory {
 public:
  explicit CutHistory(unsigned seed) : random_(seed) {}

  void Run(int rounds) {
    for (int round = 0; round < rounds && !testing::Test::HasFailure(); ++round) {
      SCOPED_TRACE(absl::StrCat("round ", round));
      RunRound(1 + static_cast<int64_t>(random_() % (round % 4 == 0 ? 80 : 900)));
    }
    // On a disk without faults, opens the files that the last cut left.
    auto stores = OpenSqliteStores(directory_);
    ASSERT_TRUE(stores.ok()) << stores.status();
    Verify(*stores, held_);
  }

 private:
  void RunRound(int64_t cut_at) {
    Held at_cut;
    disk_.CutAt(cut_at, static_cast<unsigned>(random_()), [&] { at_cut = held_; });
    {
      auto stores = OpenSqliteStores(directory_);
      ASSERT_TRUE(stores.ok()) << stores.status();
      Verify(*stores, held_);
      while (!disk_.cut() && !testing::Test::HasFailure()) WriteSomething(*stores);
    }
    disk_.WriteImage();
    held_ = at_cut;
  }

  void WriteSomething(Stores& stores) {
    const absl::Status status =
        random_() % 16 == 0 ? WriteSnapshot(stores, held_)
                            : AppendNext(stores, static_cast<int>(random_() % kStoreCount), held_);
    ASSERT_TRUE(status.ok()) << status;
  }

  TemporaryDirectory temporary_;
  const std::string directory_ = temporary_.File("data");
  SimulatedDisk disk_{directory_};
  std::mt19937 random_;
  Held held_;
};

TEST(PowerCutTest, KeepsExactlyWhatWasAcknowledged) {
  const int64_t cuts = FromEnvironment("TRAINYARD_POWER_CUTS", kCutsOfTheSuite);
  const int64_t first_seed = FromEnvironment("TRAINYARD_SEED", 1);
  for (int64_t seed = first_seed; (seed - first_seed) * kRoundsOfAHistory < cuts; ++seed) {
    SCOPED_TRACE(absl::StrCat("TRAINYARD_SEED=", seed));
    CutHistory(static_cast<unsigned>(seed)).Run(kRoundsOfAHistory);
    if (HasFailure()) return;
  }
}

// ---- Tests with failing calls.

struct FaultCase {
  DiskFault fault;
  // The number of consecutive calls that fail.
  int64_t calls;
};

constexpr int64_t kForGood = 1'000'000'000;

class FailingDiskTest : public testing::TestWithParam<FaultCase> {
 protected:
  FailingDiskTest() {
    auto stores = OpenSqliteStores(temporary_.File("before"));
    EXPECT_TRUE(stores.ok()) << stores.status();
    for (int i = 0; i < 6; ++i) {
      EXPECT_TRUE(AppendNext(*stores, i % kStoreCount, before_).ok());
    }
  }

  void WriteUntilFailure(SimulatedDisk& disk, Held& held) {
    auto stores = OpenSqliteStores(directory_);
    if (!stores.ok()) {
      ExpectSaysWhy(stores.status());
      return;
    }
    for (int i = 0; i < 6; ++i) {
      const absl::Status status = AppendNext(*stores, i % kStoreCount, held);
      if (!status.ok()) {
        ExpectSaysWhy(status);
        GoOn(*stores, i % kStoreCount, disk, held);
        return;
      }
    }
    const absl::Status status = WriteSnapshot(*stores, held);
    if (!status.ok()) ExpectSaysWhy(status);
  }

  // Checks that the stores still work. On a full disk the stores can be read; they can be written
  // again once there is free space. After an I/O error, the event log cannot be used until the next
  // start, but the other stores accept writes again.
  void GoOn(Stores& stores, int store, SimulatedDisk& disk, Held& held) {
    if (GetParam().fault == DiskFault::kFull) {
      EXPECT_TRUE(stores.events->Recover().ok());
    } else if (store == kEvents) {
      return;
    }
    disk.Mend();
    const absl::Status status = AppendNext(stores, store, held);
    EXPECT_TRUE(status.ok()) << "the disk works again: " << status;
    Verify(stores, held);
  }

  void ExpectSaysWhy(const absl::Status& status) {
    if (GetParam().fault != DiskFault::kFull) return;
    EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted) << status;
    EXPECT_THAT(std::string(status.message()), testing::HasSubstr("free disk space"));
  }

  TemporaryDirectory temporary_;
  const std::string directory_ = temporary_.File("data");
  Held before_;
};

TEST_P(FailingDiskTest, LosesNothingWhicheverCallFails) {
  int64_t call = 1;
  for (bool reached = true; reached && !HasFailure(); ++call) {
    SCOPED_TRACE(absl::StrCat("from call ", call));
    fs::remove_all(directory_);
    fs::copy(temporary_.File("before"), directory_);
    Held held = before_;
    {
      SimulatedDisk disk(directory_);
      disk.FailAt(call, GetParam().fault, GetParam().calls);
      WriteUntilFailure(disk, held);
      // WriteUntilFailure has closed the stores. The fault may have occurred during closing, which
      // folds the log into the database.
      reached = disk.reached();
    }
    auto stores = OpenSqliteStores(directory_);
    ASSERT_TRUE(stores.ok()) << stores.status();
    Verify(*stores, held);
  }
  EXPECT_GT(call, 100) << "too few calls to show anything";
}

TEST_P(FailingDiskTest, ANewDirectoryIsMadeAgainWhicheverCallFailed) {
  int64_t call = 1;
  for (bool reached = true; reached && !HasFailure(); ++call) {
    SCOPED_TRACE(absl::StrCat("from call ", call));
    fs::remove_all(directory_);
    {
      SimulatedDisk disk(directory_);
      disk.FailAt(call, GetParam().fault, GetParam().calls);
      auto stores = OpenSqliteStores(directory_);
      if (!stores.ok()) ExpectSaysWhy(stores.status());
      reached = disk.reached();
    }
    auto stores = OpenSqliteStores(directory_);
    ASSERT_TRUE(stores.ok()) << stores.status();
    Held held;
    Verify(*stores, held);
    for (int store = 0; store < kStoreCount; ++store) {
      EXPECT_TRUE(AppendNext(*stores, store, held).ok());
    }
    Verify(*stores, held);
  }
  EXPECT_GT(call, 50) << "too few calls to show anything";
}

INSTANTIATE_TEST_SUITE_P(Faults, FailingDiskTest,
                         testing::Values(FaultCase{DiskFault::kIoError, 1},
                                         FaultCase{DiskFault::kIoError, kForGood},
                                         FaultCase{DiskFault::kFull, 1},
                                         FaultCase{DiskFault::kFull, kForGood}));

}  // namespace
}  // namespace trainyard::controller
