// Submissions through the controller's loop into SQLite, without gRPC: what group commit gives.
#include <benchmark/benchmark.h>
#include <stdlib.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <filesystem>
#include <mutex>
#include <string>

#include "absl/strings/str_cat.h"
#include "controller/loop.h"
#include "controller/store/stores.h"
#include "proto/support/clock.h"
#include "tests/bench/load.h"

namespace trainyard::controller {
namespace {

// Keeps `callers` submissions under way until all are durable.
class Submitter {
 public:
  Submitter(Loop& loop, int jobs, int callers) : loop_(loop), jobs_(jobs), callers_(callers) {}

  // False when one was refused.
  bool Run() {
    for (int i = 0; i < std::min(callers_, jobs_); ++i) SubmitNext();
    std::unique_lock lock(mutex_);
    finished_.wait(lock, [this] { return done_ == jobs_; });
    return refused_ == 0;
  }

 private:
  void SubmitNext() {
    SubmitJob submit;
    {
      const std::lock_guard lock(mutex_);
      if (next_ == jobs_) return;
      *submit.request.mutable_spec() = bench::RecipeSpec(absl::StrCat("job-", next_++), 1, 1);
    }
    submit.request.set_user("ada");
    loop_.Submit(std::move(submit), [this](const ClusterLoop::Outcome& outcome,
                                           const ClusterView&) { Finish(outcome.ok()); });
  }

  void Finish(bool accepted) {
    SubmitNext();
    const std::lock_guard lock(mutex_);
    if (!accepted) ++refused_;
    if (++done_ == jobs_) finished_.notify_all();
  }

  Loop& loop_;
  const int jobs_;
  const int callers_;
  std::mutex mutex_;
  std::condition_variable finished_;
  int next_ = 0;
  int done_ = 0;
  int refused_ = 0;
};

// A worker that every job of one slot fits on. It is heard at every tick and runs nothing.
void StartWithWorker(Loop& loop) {
  loop.BeforeTick(
      [&loop](Timestamp now) { loop.observations().nodes["node"].last_heard_ms = now; });
  loop.Start();
  v1::Hello hello;
  hello.set_node_id("node");
  hello.set_node_name("node");
  hello.set_incarnation("1");
  hello.set_address("127.0.0.1");
  hello.mutable_inventory()->add_slots()->set_kind(v1::DEVICE_KIND_CPU);
  loop.Submit(AttachWorker{hello}, [](const ClusterLoop::Outcome&, const ClusterView&) {});
}

// Arguments: jobs, callers.
void LoopSubmissions(benchmark::State& state) {
  const auto jobs = static_cast<int>(state.range(0)), callers = static_cast<int>(state.range(1));
  for (auto _ : state) {
    std::string directory = "./loop_benchmark_XXXXXX";
    if (mkdtemp(directory.data()) == nullptr) return state.SkipWithError("cannot create files");
    {
      auto stores = OpenSqliteStores(directory);
      if (!stores.ok()) return state.SkipWithError(stores.status().ToString().c_str());
      const SystemClock clock;
      LoopOptions options;
      options.core.checkpoint_root = "/checkpoints";
      auto loop = Loop::Recover(*stores->events, clock, options);
      if (!loop.ok()) return state.SkipWithError(loop.status().ToString().c_str());
      StartWithWorker(**loop);
      const auto begin = std::chrono::steady_clock::now();
      if (!Submitter(**loop, jobs, callers).Run()) state.SkipWithError("a job was refused");
      state.SetIterationTime(
          std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
    }
    std::filesystem::remove_all(directory);
  }
  state.SetItemsProcessed(state.iterations() * jobs);
}
BENCHMARK(LoopSubmissions)
    ->Args({20'000, 8'000})
    ->Args({500, 100})
    ->UseManualTime()
    ->MeasureProcessCPUTime()
    ->Iterations(1)
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace trainyard::controller

BENCHMARK_MAIN();
