// How fast the stores are on a disk: run it in a directory there; it leaves nothing behind.
#include <benchmark/benchmark.h>
#include <stdlib.h>

#include <cmath>
#include <filesystem>
#include <string>

#include "absl/strings/str_cat.h"
#include "controller/store/stores.h"

namespace trainyard::controller {
namespace {

// Stores in a directory of their own below the current one.
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

// A submission as a recipe makes it: about 1 KiB.
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

// Argument: events in a transaction.
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

// Arguments: jobs in an append, steps of each.
BENCHMARK_DEFINE_F(StoreFixture, DurableMetricPoints)(benchmark::State& state) {
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
  state.SetItemsProcessed(state.iterations() * state.range(0) * steps * 10);
}
BENCHMARK_REGISTER_F(StoreFixture, DurableMetricPoints)
    ->Args({1, 1})
    ->Args({1, 100})
    ->Args({64, 10})
    ->Args({1, 1000})
    ->UseRealTime();

// One million points of one key; argument: buckets.
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

// Argument: bytes of an append.
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

class LogReadFixture : public StoreFixture {
 public:
  static constexpr int64_t kBytes = int64_t{64} << 20;

  void SetUp(benchmark::State& state) override {
    StoreFixture::SetUp(state);
    const std::string text = LogText(kBytes);
    for (int64_t offset = 0; offset < kBytes; offset += 1 << 20) {
      const StreamKey stream{1, 1, 0, v1::STREAM_KIND_LOG};
      Check(
          stores_.logs->Append({{stream, offset, 1'700'000'000'000, text.substr(offset, 1 << 20)}}),
          state);
    }
  }

 protected:
  int64_t CountLines(const LogQuery& query, benchmark::State& state) {
    LogCursor cursor;
    int64_t lines = 0;
    Check(stores_.logs->Read(query, false, cursor,
                             [&](std::vector<v1::LogLine> chunk) {
                               lines += static_cast<int64_t>(chunk.size());
                               return true;
                             }),
          state);
    return lines;
  }
};

// Throughput counts the raw bytes that were looked through.
BENCHMARK_DEFINE_F(LogReadFixture, SearchRareText)(benchmark::State& state) {
  for (auto _ : state) CountLines({.job_id = 1, .grep = "step 77777/"}, state);
  state.SetBytesProcessed(state.iterations() * kBytes);
}
BENCHMARK_REGISTER_F(LogReadFixture, SearchRareText)->Unit(benchmark::kMillisecond);

BENCHMARK_DEFINE_F(LogReadFixture, ReadAllLines)(benchmark::State& state) {
  for (auto _ : state) CountLines({.job_id = 1}, state);
  state.SetBytesProcessed(state.iterations() * kBytes);
}
BENCHMARK_REGISTER_F(LogReadFixture, ReadAllLines)->Unit(benchmark::kMillisecond);

BENCHMARK_DEFINE_F(LogReadFixture, TailThousandLines)(benchmark::State& state) {
  for (auto _ : state) CountLines({.job_id = 1, .tail = 1000}, state);
}
BENCHMARK_REGISTER_F(LogReadFixture, TailThousandLines)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace trainyard::controller

BENCHMARK_MAIN();
