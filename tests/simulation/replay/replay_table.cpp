// Prints the figures of the recorded clusters in traces/, and of a generated cluster, under each
// policy, as Markdown.
#include <algorithm>
#include <cstdio>
#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "tests/simulation/replay/core_policy.h"
#include "tests/simulation/replay/figures.h"
#include "tests/simulation/replay/llm_mix.h"
#include "tests/simulation/replay/reference_policies.h"

namespace trainyard::replay {
namespace {

constexpr int64_t kDay = int64_t{24} * 3600;
constexpr int kSeeds = 5;
constexpr int kGpusPerNode = 8;

struct Cluster {
  std::string name;
  // Returns the jobs for a seed, without time limits. Only generated jobs depend on the seed.
  std::function<std::vector<TraceJob>(uint64_t)> jobs;
  int nodes = 0;
  int64_t window = 0;
};

struct NamedPolicy {
  std::string name;
  std::function<std::unique_ptr<Policy>(int nodes)> make;
};

std::vector<Cluster> Clusters(const std::string& traces) {
  const int64_t two_weeks = 14 * kDay;
  const std::vector<TraceJob> philly =
      ReadTrace(traces + "/philly-2017-10.csv", {two_weeks, 2 * two_weeks, ""});
  const std::vector<TraceJob> helios =
      ReadTrace(traces + "/helios-venus-2020-09.csv", {.queue = "vcvGl"});
  const auto recorded = [](const std::vector<TraceJob>& jobs) {
    return [jobs](uint64_t /*seed*/) { return jobs; };
  };
  return {{"Philly, 512 GPUs", recorded(philly), 64, two_weeks},
          {"Philly, 576 GPUs", recorded(philly), 72, two_weeks},
          {"Helios, 160 GPUs", recorded(helios), 20, 26 * kDay},
          {"LLM mix, 2416 GPUs", MakeLlmMix, kLlmMixNodes, two_weeks}};
}

std::vector<NamedPolicy> Policies() {
  return {
      {"first come, first served", [](int) { return std::make_unique<FirstComeFirstServed>(); }},
      {"EASY", [](int) { return std::make_unique<EasyBackfill>(); }},
      {"Trainyard", [](int nodes) { return MakeCorePolicy(nodes, kGpusPerNode); }},
      {"Trainyard, 3 promised heads",
       [](int nodes) { return MakeCorePolicy(nodes, kGpusPerNode, nullptr, 3); }}};
}

// The means of the figures over seeds of the users' limits.
ReplayFigures MeanFigures(const Cluster& cluster, const NamedPolicy& named) {
  ReplayFigures mean;
  const auto add = [](double& sum, double value) { sum += value / kSeeds; };
  for (int seed = 1; seed <= kSeeds; ++seed) {
    std::vector<TraceJob> jobs = cluster.jobs(static_cast<uint64_t>(seed));
    SetUserLimits(static_cast<uint64_t>(seed), jobs);
    const std::unique_ptr<Policy> policy = named.make(cluster.nodes);
    const ReplayFigures figures =
        FiguresOf(jobs, RunReplay(jobs, NodePool(cluster.nodes, kGpusPerNode), *policy),
                  cluster.nodes * kGpusPerNode, cluster.window);
    add(mean.all.mean, figures.all.mean);
    add(mean.all.p90, figures.all.p90);
    mean.all.longest = std::max(mean.all.longest, figures.all.longest);
    add(mean.eight_or_more.mean, figures.eight_or_more.mean);
    for (int i = 0; i < kSizeClasses; ++i) add(mean.by_size[i].mean, figures.by_size[i].mean);
    add(mean.utilization, figures.utilization);
    add(mean.jain, figures.jain);
    add(mean.restart_share, figures.restart_share);
    mean.most_in_a_day = std::max(mean.most_in_a_day, figures.most_in_a_day);
  }
  return mean;
}

void Print(const std::string& traces) {
  std::printf("| cluster | policy | mean wait | p90 | longest | >= 8 GPUs |");
  for (int i = 0; i < kSizeClasses; ++i) std::printf(" %s |", NameOfSizeClass(i).c_str());
  std::printf(
      " utilization | Jain | restarts | a day |\n"
      "|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|\n");
  for (const Cluster& cluster : Clusters(traces)) {
    for (const NamedPolicy& named : Policies()) {
      const ReplayFigures figures = MeanFigures(cluster, named);
      std::printf("| %s | %s | %.0f | %.0f | %.0f | %.0f |", cluster.name.c_str(),
                  named.name.c_str(), figures.all.mean, figures.all.p90, figures.all.longest,
                  figures.eight_or_more.mean);
      for (const WaitFigures& wait : figures.by_size) std::printf(" %.0f |", wait.mean);
      std::printf(" %.3f | %.3f | %.3f %% | %lld |\n", figures.utilization, figures.jain,
                  100 * figures.restart_share, static_cast<long long>(figures.most_in_a_day));
      std::fflush(stdout);
    }
  }
}

}  // namespace
}  // namespace trainyard::replay

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: replay_table TRACES, the directory tests/simulation/traces\n");
    return 2;
  }
  try {
    trainyard::replay::Print(argv[1]);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "replay_table: %s\n", error.what());
    return 1;
  }
  return 0;
}
