// Measures arrays of 1,000,000 elements in the pure core, on a cluster of 10,000 nodes with 8 slots
// each.
#include <benchmark/benchmark.h>

#include <cstdint>
#include <fstream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "controller/core/apply/apply.h"
#include "controller/core/archive.h"
#include "controller/core/decide/decide.h"
#include "controller/core/event_log/snapshot.h"
#include "controller/core/explain/array_table.h"
#include "controller/core/explain/explain.h"
#include "controller/core/reconcile.h"
#include "controller/core/schedule/schedule.h"
#include "controller/core/state/cluster_state.h"
#include "controller/core/support/core_options.h"

namespace trainyard::controller {
namespace {

constexpr int kSlotsPerNode = 8;
constexpr int kNodesPerElement = 2;
constexpr int64_t kElements = 1'000'000;
constexpr Timestamp kNow = 1'700'000'000'000;

// Returns the resident memory of this process in MiB.
double ResidentMib() {
  std::ifstream file("/proc/self/statm");
  int64_t all = 0, resident = 0;
  file >> all >> resident;
  return static_cast<double>(resident) * 4096 / (1 << 20);
}

void JoinNode(int number, ClusterState& state, Observations& observations) {
  v1::Event event;
  event.set_time_ms(kNow);
  v1::Node& node = *event.mutable_node_joined()->mutable_node();
  node.set_id(absl::StrCat("node-", number));
  node.set_name(node.id());
  node.set_address("10.0.0.1");
  for (int i = 0; i < kSlotsPerNode; ++i) {
    v1::Slot& slot = *node.mutable_inventory()->add_slots();
    slot.set_index(i);
    slot.set_kind(v1::DEVICE_KIND_GPU);
  }
  Apply(event, state);
  observations.nodes[node.id()].attached = true;
  observations.nodes[node.id()].takes_commands = true;
  observations.nodes[node.id()].last_heartbeat_ms = kNow;
}

v1::JobSpec ArraySpec() {
  v1::JobSpec spec;
  spec.set_name("sweep");
  spec.add_command("train");
  spec.mutable_resources()->set_nodes(kNodesPerElement);
  spec.mutable_resources()->set_slots_per_node(kSlotsPerNode);
  spec.mutable_resources()->set_device(v1::DEVICE_KIND_GPU);
  spec.mutable_time_limit()->set_seconds(3600);
  (*spec.mutable_matrix())["env.SEED"] = absl::StrCat("1..", kElements);
  return spec;
}

// A cluster whose slots are taken by elements of one array, which has one job that waits.
struct ArrayCluster {
  ArrayCluster(int nodes, benchmark::State& bench) {
    options.checkpoint_root = "/checkpoints";
    for (int i = 0; i < nodes; ++i) JoinNode(i, state, observations);
    v1::SubmitJobRequest request;
    *request.mutable_spec() = ArraySpec();
    const auto submit = JobSubmission::Check(request, {"ada"});
    const auto events = Decide(state, *submit, options, kNow);
    if (!events.ok()) {
      bench.SkipWithError("the array was refused");
      return;
    }
    for (const v1::Event& event : *events) Apply(event, state);
    array = state.newest_job_id;
    while (true) {
      Plan plan = Reconcile(state, observations, options, kNow);
      if (plan.events.empty()) break;
      for (const v1::Event& event : plan.events) Apply(event, state);
    }
    if (std::ssize(state.live_jobs) < nodes / kNodesPerElement) {
      bench.SkipWithError("not every slot is taken");
    }
  }

  // Records all elements as ended, as they are when the array ends.
  void EndElements() {
    JobEntry& entry = state.jobs.at(array);
    for (int64_t index = 0; index < kElements; ++index) {
      v1::ArrayElement& element = entry.elements.emplace_back();
      element.set_index(index);
      element.set_job_id(array + 1 + index);
      element.set_state(v1::JOB_STATE_SUCCEEDED);
      element.set_step(1000);
      element.set_loss(2 + static_cast<double>(index * 7919 % kElements) / kElements);
      element.set_validation_loss(element.loss() + 0.01);
    }
  }

  ClusterState state;
  Observations observations;
  CoreOptions options;
  int64_t array = 0;
};

// Arguments: nodes. Measures a call of Reconcile while elements of the array wait.
void ArrayPass(benchmark::State& bench) {
  const ArrayCluster cluster(static_cast<int>(bench.range(0)), bench);
  for (auto _ : bench) {
    const Plan plan = Reconcile(cluster.state, cluster.observations, cluster.options, kNow);
    if (!plan.events.empty()) bench.SkipWithError("an element was placed");
  }
  bench.counters["running"] = static_cast<double>(cluster.state.live_jobs.size());
  bench.counters["MiB"] = ResidentMib();
}
BENCHMARK(ArrayPass)->Arg(10'000)->Arg(100)->Unit(benchmark::kMillisecond);

// Arguments: nodes. Measures the answer to `trainyard why` for the array.
void WhyArray(benchmark::State& bench) {
  const ArrayCluster cluster(static_cast<int>(bench.range(0)), bench);
  const Plan plan = Reconcile(cluster.state, cluster.observations, cluster.options, kNow);
  const ClusterView view{cluster.state, cluster.observations, cluster.options, plan.schedule, kNow};
  for (auto _ : bench) {
    const v1::WhyJobResponse response = ExplainJob(view, cluster.state.jobs.at(cluster.array));
    if (response.pending().message().empty()) bench.SkipWithError("the array has no reason");
  }
}
BENCHMARK(WhyArray)->Arg(10'000)->Arg(100)->Unit(benchmark::kMillisecond);

// Arguments: nodes, order. Measures one page of the table of an array whose elements have all
// ended.
void ArrayPage(benchmark::State& bench) {
  ArrayCluster cluster(static_cast<int>(bench.range(0)), bench);
  cluster.EndElements();
  // The newest elements are still in the state, with their progress.
  for (int64_t i = 0; i < 5000; ++i) {
    cluster.observations.progress[cluster.array + kElements - i].set_step(1000);
  }
  const Schedule schedule;
  const ClusterView view{cluster.state, cluster.observations, cluster.options, schedule, kNow};
  v1::GetArrayRequest request;
  request.set_limit(1000);
  request.set_order(static_cast<v1::ArrayOrder>(bench.range(1)));
  for (auto _ : bench) {
    const auto table = ArrayTable(view, cluster.state.jobs.at(cluster.array), request);
    if (!table.ok() || table->rows_size() != 1000) bench.SkipWithError("the page is not full");
  }
  bench.counters["MiB"] = ResidentMib();
}
BENCHMARK(ArrayPage)
    ->Args({100, v1::ARRAY_ORDER_UNSPECIFIED})
    ->Args({100, v1::ARRAY_ORDER_VALIDATION_LOSS})
    ->Unit(benchmark::kMillisecond);

// Arguments: nodes. Measures the record with which an array of ended elements enters the archive.
void ArchiveArray(benchmark::State& bench) {
  ArrayCluster cluster(static_cast<int>(bench.range(0)), bench);
  cluster.EndElements();
  std::size_t bytes = 0;
  for (auto _ : bench) {
    bytes = ToArchived(cluster.state.jobs.at(cluster.array), cluster.observations, kNow)
                .SerializeAsString()
                .size();
  }
  bench.counters["bytes"] = static_cast<double>(bytes);
}
BENCHMARK(ArchiveArray)->Arg(100)->Unit(benchmark::kMillisecond);

// Arguments: nodes. Measures the snapshot of a state with such an array.
void SnapshotArray(benchmark::State& bench) {
  ArrayCluster cluster(static_cast<int>(bench.range(0)), bench);
  cluster.EndElements();
  std::size_t bytes = 0;
  for (auto _ : bench) bytes = ToSnapshot(cluster.state, 1).SerializeAsString().size();
  bench.counters["bytes"] = static_cast<double>(bytes);
  bench.counters["MiB"] = ResidentMib();
}
BENCHMARK(SnapshotArray)->Arg(100)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace trainyard::controller
