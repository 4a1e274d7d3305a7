// Measures the speed of the pure core, in memory, on a cluster of 10,000 nodes with 8 slots each.
#include <benchmark/benchmark.h>
#include <time.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "controller/core/apply/apply.h"
#include "controller/core/commands.h"
#include "controller/core/decide/decide.h"
#include "controller/core/event_log/snapshot.h"
#include "controller/core/explain/explain.h"
#include "controller/core/explain/pending_reason.h"
#include "controller/core/explain/start_forecast.h"
#include "controller/core/reconcile.h"
#include "controller/core/schedule/expected_ends.h"
#include "controller/core/schedule/preemption.h"
#include "controller/core/schedule/rendezvous_ports.h"
#include "controller/core/schedule/schedule.h"
#include "controller/core/state/cluster_state.h"
#include "controller/core/support/core_options.h"
#include "controller/planner/layout_search.h"

namespace trainyard::controller {
namespace {

constexpr int kSlotsPerNode = 8;
constexpr Timestamp kNow = 1'700'000'000'000;

// Returns the processor time of this thread. Elapsed time would include the load of other programs.
double CpuSeconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

// A cluster whose workers are all connected and send heartbeats.
struct Cluster {
  explicit Cluster(int nodes) {
    for (int i = 0; i < nodes; ++i) AddNode(absl::StrFormat("node-%05d", i));
  }

  void AddNode(const std::string& id) {
    v1::Event event;
    event.set_time_ms(kNow);
    v1::Node& node = *event.mutable_node_joined()->mutable_node();
    node.set_id(id);
    node.set_name(id);
    node.set_address("10.0.0.1");
    for (int i = 0; i < kSlotsPerNode; ++i) {
      v1::Slot& slot = *node.mutable_inventory()->add_slots();
      slot.set_index(i);
      slot.set_kind(v1::DEVICE_KIND_GPU);
    }
    Apply(event, state);
    observations.nodes[id].attached = true;
    observations.nodes[id].takes_commands = true;
    observations.nodes[id].last_heartbeat_ms = kNow;
  }

  // Returns false if the core rejects the job.
  // `limit_s`: the time limit; 0: none.
  bool Submit(int nodes, int slots_per_node, const std::string& user = "ada", int limit_s = 0) {
    v1::SubmitJobRequest request;
    v1::JobSpec& spec = *request.mutable_spec();
    spec.set_name(absl::StrCat("job-", state.next_job_id));
    spec.mutable_resources()->set_nodes(nodes);
    spec.mutable_resources()->set_slots_per_node(slots_per_node);
    spec.mutable_resources()->set_device(v1::DEVICE_KIND_GPU);
    spec.add_command("train");
    if (limit_s > 0) spec.mutable_time_limit()->set_seconds(limit_s);
    const auto submit = JobSubmission::Check(request, {user});
    if (!submit.ok()) return false;
    const auto events = Decide(state, *submit, options, kNow);
    if (!events.ok()) return false;
    for (const v1::Event& event : *events) Apply(event, state);
    return true;
  }

  // Ends a job with a live attempt.
  void End(int64_t job_id) {
    const v1::Attempt attempt = *LiveAttempt(state.jobs.at(job_id));
    v1::Event event;
    event.set_time_ms(kNow);
    if (attempt.state() == v1::ATTEMPT_STATE_STARTING) {
      event.mutable_attempt_running()->set_job_id(job_id);
      event.mutable_attempt_running()->set_attempt(attempt.number());
      Apply(event, state);
    }
    for (const std::string& node : GangNodes(attempt)) {
      event.mutable_attempt_cleared()->set_job_id(job_id);
      event.mutable_attempt_cleared()->set_attempt(attempt.number());
      event.mutable_attempt_cleared()->set_node_id(node);
      Apply(event, state);
    }
    event.mutable_attempt_ended()->set_job_id(job_id);
    event.mutable_attempt_ended()->set_attempt(attempt.number());
    Apply(event, state);
    event.mutable_job_ended()->set_job_id(job_id);
    event.mutable_job_ended()->set_state(v1::JOB_STATE_SUCCEEDED);
    Apply(event, state);
  }

  // Reconciles until nothing is due, as the loop does. Returns the number of placements.
  int64_t Settle() {
    int64_t placed = 0;
    while (true) {
      const std::vector<v1::Event> events = Reconcile(state, observations, options, kNow).events;
      if (events.empty()) return placed;
      for (const v1::Event& event : events) {
        placed += event.has_job_placed() ? 1 : 0;
        Apply(event, state);
      }
    }
  }

  ClusterState state;
  Observations observations;
  CoreOptions options;
};

// (nodes, slots per node) of gangs with 1 to 32 slots. The mean is 12.2 slots per job.
constexpr std::array<std::pair<int, int>, 5> kShapes = {{{1, 1}, {1, 8}, {2, 8}, {1, 4}, {4, 8}}};

Cluster ClusterWithQueue(int nodes, int jobs, benchmark::State& state) {
  Cluster cluster(nodes);
  cluster.options.checkpoint_root = "/checkpoints";
  for (int i = 0; i < jobs; ++i) {
    const auto [gang_nodes, slots] = kShapes[i % kShapes.size()];
    if (!cluster.Submit(gang_nodes, slots)) state.SkipWithError("a job was refused");
  }
  return cluster;
}

// Arguments: nodes, jobs. Places all queued jobs on an empty cluster. Measures the time of
// Reconcile and Apply.
void PlaceGangs(benchmark::State& state) {
  const auto nodes = static_cast<int>(state.range(0)), jobs = static_cast<int>(state.range(1));
  const Cluster queued = ClusterWithQueue(nodes, jobs, state);
  for (auto _ : state) {
    Cluster cluster = queued;
    const double begin = CpuSeconds();
    const int64_t placed = cluster.Settle();
    state.SetIterationTime(CpuSeconds() - begin);
    if (placed != jobs) state.SkipWithError("not every gang was placed");
  }
  state.SetItemsProcessed(state.iterations() * jobs);
}
BENCHMARK(PlaceGangs)->Args({10'000, 6'000})->UseManualTime()->Unit(benchmark::kMillisecond);
BENCHMARK(PlaceGangs)->Args({100, 50})->UseManualTime()->Unit(benchmark::kMillisecond);

// Arguments: nodes, jobs. Measures Reconcile and CommandsDue in a tick without events. Every gang
// is running.
void IdleTick(benchmark::State& state) {
  const auto nodes = static_cast<int>(state.range(0)), jobs = static_cast<int>(state.range(1));
  Cluster cluster = ClusterWithQueue(nodes, jobs, state);
  cluster.Settle();
  for (auto& [id, entry] : cluster.state.jobs) {
    const v1::Attempt& attempt = entry.job.attempts(0);
    for (const v1::RankPlacement& rank : attempt.ranks()) {
      v1::Event started;
      started.set_time_ms(kNow);
      started.mutable_rank_started()->set_job_id(id);
      started.mutable_rank_started()->set_attempt(attempt.number());
      started.mutable_rank_started()->set_rank(rank.rank());
      Apply(started, cluster.state);
    }
  }
  cluster.Settle();
  for (auto _ : state) {
    benchmark::DoNotOptimize(Reconcile(cluster.state, cluster.observations, cluster.options, kNow));
    benchmark::DoNotOptimize(CommandsDue(cluster.state, cluster.observations, kNow));
  }
}
BENCHMARK(IdleTick)->Args({10'000, 6'000})->Unit(benchmark::kMillisecond);
BENCHMARK(IdleTick)->Args({100, 50})->Unit(benchmark::kMillisecond);

// Arguments: nodes, jobs. Measures one pass over a queue whose head does not fit. The pass includes
// each job's pending reason.
void SchedulePass(benchmark::State& state) {
  const auto nodes = static_cast<int>(state.range(0)), jobs = static_cast<int>(state.range(1));
  Cluster cluster(nodes);
  cluster.options.checkpoint_root = "/checkpoints";
  for (int i = 0; i < nodes; ++i) {
    if (!cluster.Submit(1, kSlotsPerNode - 1)) state.SkipWithError("a running job was refused");
  }
  cluster.Settle();
  for (int i = 0; i < jobs; ++i) {
    if (!cluster.Submit(1, kSlotsPerNode)) state.SkipWithError("a job was refused");
  }
  for (auto _ : state) {
    const Plan plan = Reconcile(cluster.state, cluster.observations, cluster.options, kNow);
    const ClusterView view{cluster.state, cluster.observations, cluster.options, plan.schedule,
                           kNow};
    int waiting = 0;
    for (const QueueKey& place : cluster.state.pending_jobs) {
      const v1::PendingCode code = PendingCodeOf(view, cluster.state.jobs.at(place.job_id));
      waiting += code == v1::PENDING_CODE_PRIORITY ? 1 : 0;
    }
    if (waiting != jobs - 1) state.SkipWithError("a job does not wait for the head");
  }
}
BENCHMARK(SchedulePass)->Args({5'000, 10'000})->Unit(benchmark::kMillisecond);
BENCHMARK(SchedulePass)->Args({100, 50})->Unit(benchmark::kMillisecond);

// Returns a cluster with waiting jobs of 100 users, 5 shapes and 4 time limits, that is, 2,000
// classes. No job can start, because each node has one free slot.
Cluster FullCluster(benchmark::State& state) {
  const auto nodes = static_cast<int>(state.range(0)), running = static_cast<int>(state.range(1)),
             waiting = static_cast<int>(state.range(2));
  Cluster cluster(nodes);
  cluster.options.checkpoint_root = "/checkpoints";
  const int nodes_per_job = nodes / running;
  for (int i = 0; i < running; ++i) {
    const std::string user = absl::StrCat("user-", i % 100);
    if (!cluster.Submit(nodes_per_job, kSlotsPerNode - 1, user, 3600 * (1 + i % 50))) {
      state.SkipWithError("a running job was refused");
    }
  }
  cluster.Settle();
  constexpr std::array<std::pair<int, int>, 5> kWaiting = {
      {{4, 8}, {1, 8}, {2, 8}, {1, 4}, {1, 2}}};
  for (int i = 0; i < waiting; ++i) {
    const auto [gang_nodes, slots] = kWaiting[i / 4 % kWaiting.size()];
    const std::string user = absl::StrCat("user-", i / 20 % 100);
    if (!cluster.Submit(gang_nodes, slots, user, 3600 * (1 + i % 4))) {
      state.SkipWithError("a job was refused");
    }
  }
  return cluster;
}

// The iterations of rows with a 99th percentile.
constexpr int kPercentileIterations = 300;

// Measures the processor time of each iteration. Reports the 99th percentile.
class IterationTimes {
 public:
  explicit IterationTimes(benchmark::State& state) : state_(state) {}
  ~IterationTimes() {
    if (seconds_.empty()) return;
    std::ranges::sort(seconds_);
    const std::size_t place = std::min(seconds_.size() - 1, seconds_.size() * 99 / 100);
    state_.counters["p99_ms"] = 1000 * seconds_[place];
  }

  void Begin() { begin_ = CpuSeconds(); }
  void End() {
    seconds_.push_back(CpuSeconds() - begin_);
    state_.SetIterationTime(seconds_.back());
  }

 private:
  benchmark::State& state_;
  double begin_ = 0;
  std::vector<double> seconds_;
};

// Arguments: nodes, running jobs, waiting jobs. Measures a call of Reconcile.
void FullPass(benchmark::State& state) {
  Cluster cluster = FullCluster(state);
  IterationTimes times(state);
  for (auto _ : state) {
    times.Begin();
    const Plan plan = Reconcile(cluster.state, cluster.observations, cluster.options, kNow);
    times.End();
    if (!plan.events.empty()) state.SkipWithError("a job was placed");
  }
  state.counters["classes"] = static_cast<double>(cluster.state.pending_classes.size());
}
BENCHMARK(FullPass)
    ->Args({10'000, 5'000, 10'000})
    ->UseManualTime()
    ->Iterations(kPercentileIterations)
    ->Unit(benchmark::kMillisecond);

Schedule MakeScheduleOf(const Cluster& cluster, Timestamp now) {
  RendezvousPorts ports(cluster.state, cluster.options);
  return MakeSchedule(cluster.state, ports, {},
                      ExpectedEndsOf(cluster.state, cluster.observations, now), now);
}

// Arguments: nodes, running jobs, waiting jobs. Measures the pass after the arrival of one job.
void PassAfterArrival(benchmark::State& state) {
  Cluster cluster = FullCluster(state);
  IterationTimes times(state);
  for (auto _ : state) {
    if (!cluster.Submit(1, kSlotsPerNode, "user-1", 3600)) state.SkipWithError("a job was refused");
    times.Begin();
    const Schedule schedule = MakeScheduleOf(cluster, kNow);
    times.End();
    if (!schedule.placements.empty()) state.SkipWithError("a job was placed");
  }
}
BENCHMARK(PassAfterArrival)
    ->Args({10'000, 5'000, 10'000})
    ->UseManualTime()
    ->Iterations(kPercentileIterations)
    ->Unit(benchmark::kMillisecond);

// Arguments: nodes, running jobs, waiting jobs. Measures the pass after the end of one job, whose
// two nodes other jobs get.
void PassAfterEnd(benchmark::State& state) {
  Cluster cluster = FullCluster(state);
  IterationTimes times(state);
  for (auto _ : state) {
    cluster.End(*cluster.state.live_jobs.begin());
    times.Begin();
    const Schedule schedule = MakeScheduleOf(cluster, kNow);
    times.End();
    if (schedule.placements.empty()) state.SkipWithError("no job was placed");
    cluster.Settle();
  }
}
BENCHMARK(PassAfterEnd)
    ->Args({10'000, 5'000, 10'000})
    ->UseManualTime()
    ->Iterations(kPercentileIterations)
    ->Unit(benchmark::kMillisecond);

// Arguments: nodes, running jobs, waiting jobs. Measures a pass in which the head has waited long
// enough to preempt jobs, but no job may be preempted.
void PassWithLongWait(benchmark::State& state) {
  const Cluster cluster = FullCluster(state);
  for (auto _ : state) {
    const Schedule schedule = MakeScheduleOf(cluster, kNow + 2 * PreemptionLimits{}.wait_ms);
    if (!schedule.preemptions.empty()) state.SkipWithError("a job was preempted");
  }
}
BENCHMARK(PassWithLongWait)->Args({10'000, 5'000, 10'000})->Unit(benchmark::kMillisecond);

// Arguments: nodes, running jobs, waiting jobs. Measures the answer to `trainyard why` for the
// newest waiting job.
void WhyJob(benchmark::State& state) {
  const Cluster cluster = FullCluster(state);
  const Schedule schedule = MakeScheduleOf(cluster, kNow);
  const ClusterView view{cluster.state, cluster.observations, cluster.options, schedule, kNow};
  const JobEntry& entry = cluster.state.jobs.at(cluster.state.newest_job_id);
  IterationTimes times(state);
  for (auto _ : state) {
    times.Begin();
    const v1::WhyJobResponse response = ExplainJob(view, entry);
    times.End();
    if (response.pending().queue_position() == 0) state.SkipWithError("the job has no position");
  }
}
BENCHMARK(WhyJob)
    ->Args({10'000, 5'000, 10'000})
    ->UseManualTime()
    ->Iterations(kPercentileIterations)
    ->Unit(benchmark::kMillisecond);

// Arguments: nodes, running jobs, waiting jobs. Measures the copy for a forecast, which the loop
// thread makes.
void CopyState(benchmark::State& state) {
  const Cluster cluster = FullCluster(state);
  const Schedule schedule = MakeScheduleOf(cluster, kNow);
  const ClusterView view{cluster.state, cluster.observations, cluster.options, schedule, kNow};
  for (auto _ : state) {
    const std::optional<ForecastInput> input = CopyForForecast(view);
    if (!input.has_value()) state.SkipWithError("the state was not copied");
  }
}
BENCHMARK(CopyState)->Args({2'000, 1'000, 5'000})->Unit(benchmark::kMillisecond);
BENCHMARK(CopyState)->Args({100, 50, 200})->Unit(benchmark::kMillisecond);

// Arguments: nodes, jobs. Measures serialising the state, which the loop does for each snapshot.
void Snapshot(benchmark::State& state) {
  const auto nodes = static_cast<int>(state.range(0)), jobs = static_cast<int>(state.range(1));
  Cluster cluster = ClusterWithQueue(nodes, jobs, state);
  cluster.Settle();
  std::size_t bytes = 0;
  for (auto _ : state) bytes = ToSnapshot(cluster.state, 1).SerializeAsString().size();
  state.counters["bytes"] = static_cast<double>(bytes);
}
BENCHMARK(Snapshot)->Args({2'000, 10'000})->Unit(benchmark::kMillisecond);
BENCHMARK(Snapshot)->Args({100, 50})->Unit(benchmark::kMillisecond);

// Arguments: number of nodes with 8 H100 each, global batch. Each iteration searches all layouts of
// LLaMA 3.1 405B once.
void SearchLayouts(benchmark::State& state) {
  RunConfig config;
  config.model = {.num_layers = 126,
                  .hidden_size = 16384,
                  .ffn_hidden_size = 53248,
                  .num_attention_heads = 128,
                  .num_query_groups = 8,
                  .vocab_size = 128256};
  config.train.seq_length = 8192;
  config.train.global_batch = state.range(1);
  config.layout.dp = 1;
  const planner::DeviceSpec* device = planner::FindDeviceSpec("H100");
  const planner::Cluster cluster = {device, state.range(0), 8,
                                    *planner::FindNetwork(device->network)};
  int64_t tried = 0;
  for (auto _ : state) {
    const planner::LayoutSearch search = planner::SearchLayouts(config, cluster);
    if (!search.best.has_value()) state.SkipWithError("no layout fits");
    tried = search.tried;
  }
  state.counters["layouts"] = static_cast<double>(tried);
}
BENCHMARK(SearchLayouts)->Args({128, 2048})->Unit(benchmark::kMillisecond);
BENCHMARK(SearchLayouts)->Args({64, 64})->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace trainyard::controller

BENCHMARK_MAIN();
