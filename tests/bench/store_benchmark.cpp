// Measures the speed of the stores on a disk. Run it in a directory on that disk; it leaves no
// files there.
#include <benchmark/benchmark.h>
#include <stdlib.h>

#include <cmath>
#include <filesystem>
#include <map>
#include <string>

#include "absl/strings/str_cat.h"
#include "controller/store/stores.h"

namespace trainyard::controller {
namespace {

// The stores, in a new directory below the current one.
class StoreFixture : public benchmark::Fixture {
 public:
  void SetUp(benchmark::State& state) override {
    directory_ = "./store_benchmark_XXXXXX";
    if (mkdtemp(directory_.data()) == nullptr)
      return state.SkipWithError("cannot create files here");
    auto opened = OpenSqliteStores(directory_);
    if (!opened.ok()) return state.SkipWithError(opened.status().ToString().c_str());
    stores_ = *std::move(opened);
  }

  void TearDown(benchmark::State&) override {
    stores_ = Stores();
    std::filesystem::remove_all(directory_);
  }

 protected:
  static void Check(const absl::Status& status, benchmark::State& state) {
    if (!status.ok()) state.SkipWithError(status.ToString().c_str());
  }

  std::string directory_;
  Stores stores_;
};

// Returns a submission of about 1 KiB, the size of a recipe's.
v1::Event Submission(int64_t job_id) {
  v1::Event event;
  event.set_time_ms(1'700'000'000'000 + job_id);
  event.set_actor("user ada");
  v1::JobSubmitted& submitted = *event.mutable_job_submitted();
  submitted.set_job_id(job_id);
  submitted.set_user("ada");
  submitted.mutable_spec()->set_name(absl::StrCat("llama-", job_id));
  submitted.set_request_id(std::string(900, 'r'));
  return event;
}

// Argument: number of events per transaction.
BENCHMARK_DEFINE_F(StoreFixture, DurableEvents)(benchmark::State& state) {
  std::vector<v1::Event> events;
  for (int64_t i = 0; i < state.range(0); ++i) events.push_back(Submission(i + 1));
  for (auto _ : state) Check(stores_.events->Append(events), state);
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK_REGISTER_F(StoreFixture, DurableEvents)->Arg(1)->Arg(64)->UseRealTime();

std::vector<MetricPoint> StepsOfTenKeys(int64_t first, int64_t count) {
  std::vector<MetricPoint> points;
  for (int64_t step = first; step < first + count; ++step) {
    for (int key = 0; key < 10; ++key) {
      const double value = 3.0 + std::sin(static_cast<double>(step * (key + 1))) / 10;
      points.push_back({absl::StrCat("metric_", key), step, 1'700'000'000'000 + step * 200, value});
    }
  }
  return points;
}

// Reopens the store and checks that each job has exactly `steps` points of each key.
class MetricFixture : public StoreFixture {
 protected:
  void CheckPoints(int64_t jobs, int64_t steps, benchmark::State& state) {
    stores_ = Stores();
    auto opened = OpenSqliteStores(directory_);
    if (!opened.ok()) return state.SkipWithError(opened.status().ToString().c_str());
    stores_ = *std::move(opened);
    for (int64_t job = 1; job <= jobs; ++job) {
      SeriesQuery query{.job_id = job, .keys = {}, .buckets = 1};
      for (int key = 0; key < 10; ++key) query.keys.push_back(absl::StrCat("metric_", key));
      const auto series = stores_.metrics->Read(query);
      Check(series.status(), state);
      if (!series.ok()) return;
      for (const v1::Series& one : *series) {
        if (one.counts_size() == 1 && one.counts(0) == steps) continue;
        return state.SkipWithError("points are missing, or stored twice");
      }
    }
  }
};

// Arguments: number of jobs per append, number of steps per job.
BENCHMARK_DEFINE_F(MetricFixture, DurableMetricPoints)(benchmark::State& state) {
  const int64_t steps = state.range(1);
  int64_t begin = 0;
  for (auto _ : state) {
    state.PauseTiming();
    std::vector<MetricBatch> batches;
    for (int64_t job = 1; job <= state.range(0); ++job) {
      const StreamKey stream{job, 1, 0, v1::STREAM_KIND_TELEMETRY};
      batches.push_back({stream, begin, begin + steps, StepsOfTenKeys(begin + 1, steps)});
    }
    begin += steps;
    state.ResumeTiming();
    Check(stores_.metrics->Append(batches), state);
  }
  CheckPoints(state.range(0), begin, state);
  state.SetItemsProcessed(state.iterations() * state.range(0) * steps * 10);
}
BENCHMARK_REGISTER_F(MetricFixture, DurableMetricPoints)
    ->Args({1, 1})
    ->Args({1, 100})
    ->Args({64, 10})
    ->Args({1, 1000})
    ->UseRealTime();

// Thins one million points of one key. Argument: number of buckets.
BENCHMARK_DEFINE_F(StoreFixture, ThinMillionPoints)(benchmark::State& state) {
  for (int64_t begin = 0; begin < 1'000'000; begin += 10'000) {
    const StreamKey stream{1, 1, 0, v1::STREAM_KIND_TELEMETRY};
    std::vector<MetricPoint> points;
    for (int64_t step = begin + 1; step <= begin + 10'000; ++step) {
      const double value = 3.0 + std::sin(static_cast<double>(step)) / 10;
      points.push_back({"loss", step, 1'700'000'000'000 + step * 200, value});
    }
    Check(stores_.metrics->Append({{stream, begin, begin + 10'000, points}}), state);
  }
  const SeriesQuery query{
      .job_id = 1, .keys = {"loss"}, .buckets = static_cast<int>(state.range(0))};
  for (auto _ : state) {
    auto series = stores_.metrics->Read(query);
    Check(series.status(), state);
    benchmark::DoNotOptimize(series);
  }
}
BENCHMARK_REGISTER_F(StoreFixture, ThinMillionPoints)
    ->Arg(100)
    ->Arg(2000)
    ->Unit(benchmark::kMillisecond);

std::string LogText(int64_t bytes) {
  std::string text;
  for (int64_t step = 1; static_cast<int64_t>(text.size()) < bytes; ++step) {
    const double loss = 3.0 + std::sin(static_cast<double>(step)) / 10;
    absl::StrAppend(&text, "[2026-11-21 12:00:00] step ", step, "/300000 loss ", loss,
                    " grad_norm ", loss / 3, " tokens/s ", 5000 + step % 97, "\n");
  }
  text.resize(bytes);
  return text;
}

// Argument: number of bytes per append.
BENCHMARK_DEFINE_F(StoreFixture, DurableLogBytes)(benchmark::State& state) {
  const std::string text = LogText(state.range(0));
  int64_t offset = 0;
  for (auto _ : state) {
    const StreamKey stream{1, 1, 0, v1::STREAM_KIND_LOG};
    Check(stores_.logs->Append({{stream, offset, 1'700'000'000'000, text}}), state);
    offset += state.range(0);
  }
  state.SetBytesProcessed(offset);
}
BENCHMARK_REGISTER_F(StoreFixture, DurableLogBytes)
    ->Arg(4096)
    ->Arg(65536)
    ->Arg(1 << 20)
    ->UseRealTime();

// A store that contains the log of one rank, created once for all repetitions.
class StoredLog {
 public:
  explicit StoredLog(int64_t mebibytes) {
    if (mkdtemp(directory_.data()) == nullptr) return;
    auto opened = OpenSqliteStores(directory_);
    if (!opened.ok()) return;
    stores_ = *std::move(opened);
    const std::string text = LogText(kPiece);
    for (int64_t offset = 0; offset < mebibytes * kPiece; offset += kPiece) {
      const StreamKey stream{1, 1, 0, v1::STREAM_KIND_LOG};
      if (!stores_.logs->Append({{stream, offset, 1'700'000'000'000, text}}).ok()) return;
    }
    complete_ = true;
  }
  ~StoredLog() {
    stores_ = Stores();
    std::filesystem::remove_all(directory_);
  }

  bool complete() const { return complete_; }

  // Returns how many lines the query finds; -1 on an error.
  int64_t CountLines(const LogQuery& query) {
    LogCursor cursor;
    int64_t lines = 0;
    const auto count = [&](const std::vector<v1::LogLine>& chunk) {
      lines += static_cast<int64_t>(chunk.size());
      return true;
    };
    return stores_.logs->Read(query, false, cursor, count).ok() ? lines : -1;
  }

 private:
  static constexpr int64_t kPiece = 1 << 20;

  std::string directory_ = "./store_benchmark_XXXXXX";
  Stores stores_;
  bool complete_ = false;
};

StoredLog& LogOf(int64_t mebibytes) {
  static std::map<int64_t, StoredLog> logs;
  return logs.try_emplace(mebibytes, mebibytes).first->second;
}

// The reported throughput is in raw bytes searched per second.
void ReadLog(const LogQuery& query, benchmark::State& state) {
  StoredLog& log = LogOf(state.range(0));
  if (!log.complete()) return state.SkipWithError("cannot write the log");
  for (auto _ : state) {
    if (log.CountLines(query) < 0) state.SkipWithError("cannot read the log");
  }
  state.SetBytesProcessed(state.iterations() * (state.range(0) << 20));
}

// Argument: size of the log in MiB.
void SearchRareText(benchmark::State& state) {
  ReadLog({.job_id = 1, .grep = "step 777777/"}, state);
}
BENCHMARK(SearchRareText)->Arg(8)->Arg(64)->Arg(1024)->Unit(benchmark::kMillisecond);

void ReadAllLines(benchmark::State& state) { ReadLog({.job_id = 1}, state); }
BENCHMARK(ReadAllLines)->Arg(8)->Arg(64)->Unit(benchmark::kMillisecond);

void TailThousandLines(benchmark::State& state) { ReadLog({.job_id = 1, .tail = 1000}, state); }
BENCHMARK(TailThousandLines)->Arg(8)->Arg(64)->Arg(1024)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace trainyard::controller

BENCHMARK_MAIN();
