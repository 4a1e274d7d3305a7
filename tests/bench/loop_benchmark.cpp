// Measures submissions through the controller's loop into the store, without gRPC, to show the gain
// of group commit. The store is SQLite, or an empty PostgreSQL database whose connection string is
// in $TRAINYARD_BENCH_POSTGRES.
#include <benchmark/benchmark.h>
#include <stdlib.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <semaphore>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "controller/loop/loop.h"
#include "controller/store/stores.h"
#include "proto/support/clock.h"
#include "tests/bench/load.h"

namespace trainyard::controller {
namespace {

// Keeps `callers` submissions in flight until all are durable. The calling thread validates each
// submission before passing it to the loop, as the gRPC threads do.
class Submitter {
 public:
  Submitter(Loop& loop, int jobs, int callers) : loop_(loop), jobs_(jobs), capacity_(callers) {}

  // Returns false if a submission was rejected.
  bool Run() {
    for (int number = 0; number < jobs_; ++number) {
      v1::SubmitJobRequest request;
      *request.mutable_spec() = bench::RecipeSpec(absl::StrCat("job-", number), 1, 1);
      auto submit = JobSubmission::Check(std::move(request), {"ada"});
      if (!submit.ok()) return false;
      capacity_.acquire();
      loop_.Submit(*std::move(submit), [this](const RequestOutcome& outcome, const ClusterView&) {
        Finish(outcome.ok());
      });
    }
    all_done_.acquire();
    return refused_ == 0;
  }

 private:
  // Loop thread.
  void Finish(bool accepted) {
    if (!accepted) ++refused_;
    capacity_.release();
    if (++done_ == jobs_) all_done_.release();
  }

  Loop& loop_;
  const int jobs_;
  std::counting_semaphore<> capacity_;
  std::binary_semaphore all_done_{0};
  int done_ = 0;
  int refused_ = 0;
};

// Starts the loop with one worker that has a free slot for any one-slot job. The worker sends a
// heartbeat at every tick but runs nothing.
void StartWithWorker(Loop& loop) {
  loop.BeforeTick([&loop](Timestamp now) {
    NodeObservation& node = loop.observations().nodes["node"];
    node.attached = true;
    node.takes_commands = true;
    node.last_heartbeat_ms = now;
  });
  loop.Start();
  v1::Hello hello;
  hello.set_node_id("node");
  hello.set_node_name("node");
  hello.set_incarnation("1");
  hello.set_address("127.0.0.1");
  hello.mutable_inventory()->add_slots()->set_kind(v1::DEVICE_KIND_CPU);
  std::binary_semaphore attached{0};
  loop.Submit(AttachWorker{hello},
              [&](const RequestOutcome&, const ClusterView&) { attached.release(); });
  attached.acquire();
}

absl::StatusOr<Stores> OpenStoresIn(const std::string& directory) {
  const char* postgres = std::getenv("TRAINYARD_BENCH_POSTGRES");
  if (postgres == nullptr) return OpenSqliteStores(directory);
  return OpenPostgresStores({.settings = postgres,
                             .data_directory = directory,
                             .new_cluster_id = std::string(32, 'a'),
                             .holder = "loop_benchmark",
                             .on_lost = [](const absl::Status&) { std::abort(); }});
}

// Arguments: jobs, callers.
void LoopSubmissions(benchmark::State& state) {
  const auto jobs = static_cast<int>(state.range(0)), callers = static_cast<int>(state.range(1));
  for (auto _ : state) {
    std::string directory = "./loop_benchmark_XXXXXX";
    if (mkdtemp(directory.data()) == nullptr) return state.SkipWithError("cannot create files");
    {
      auto stores = OpenStoresIn(directory);
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
