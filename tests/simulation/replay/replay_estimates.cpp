// Prints the errors of forecasted starts in the recorded clusters, as tables in Markdown.
#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include "tests/simulation/replay/estimates.h"
#include "tests/simulation/replay/llm_mix.h"

namespace trainyard::replay {
namespace {

constexpr int64_t kTwoWeeks = int64_t{14} * 24 * 3600;
constexpr int kGpusPerNode = 8;

void PrintRow(const char* name, const char* known, const EstimateFigures& figures) {
  std::printf(
      "| %s | %s | %lld | %lld | %.1f %% | %.1f %% | %.1f %% | %.2f | %.2f | %.2f | %.2f | %.2f "
      "|\n",
      name, known, static_cast<long long>(figures.waiting_jobs),
      static_cast<long long>(figures.asked), 100 * figures.ShareWithin(0.75, 1.25),
      100 * figures.ShareWithin(1 / 1.5, 1 / 0.5), 100 * figures.ShareWithin(0.5, 2),
      figures.Quantile(0.05), figures.Quantile(0.1), figures.Quantile(0.5), figures.Quantile(0.9),
      figures.Quantile(0.95));
  std::fflush(stdout);
}

// `every`: every n-th of the waiting jobs is asked about, because a forecast takes some 50 ms.
void PrintCluster(const char* name, const std::vector<TraceJob>& jobs, int nodes, int64_t every) {
  std::vector<TraceJob> exact = jobs, limited = jobs;
  for (TraceJob& job : exact) job.limit = job.duration;
  SetUserLimits(1, limited);
  PrintRow(name, "durations",
           MeasureEstimates(exact, nodes, kGpusPerNode, {every, RunTimes::kKnown}));
  PrintRow(name, "limits and ended jobs",
           MeasureEstimates(limited, nodes, kGpusPerNode, {every, RunTimes::kUsual}));
  PrintRow(name, "limits",
           MeasureEstimates(limited, nodes, kGpusPerNode, {every, RunTimes::kLimits}));
}

void Print(const std::string& traces) {
  std::printf(
      "| cluster | known | waiting jobs | asked | within 25 %% | in the range | within a factor of "
      "2 | 5 %% | "
      "10 %% | median | 90 %% | 95 %% |\n|---|---|---|---|---|---|---|---|---|---|---|---|\n");
  const std::vector<TraceJob> philly =
      ReadTrace(traces + "/philly-2017-10.csv", {kTwoWeeks, 2 * kTwoWeeks, ""});
  PrintCluster("Philly, 512 GPUs", philly, 64, 20);
  PrintCluster("Philly, 576 GPUs", philly, 72, 20);
  PrintCluster("Helios, 160 GPUs",
               ReadTrace(traces + "/helios-venus-2020-09.csv", {.queue = "vcvGl"}), 20, 1);
  PrintCluster("LLM mix, 2416 GPUs", MakeLlmMix(1), kLlmMixNodes, 1);
}

}  // namespace
}  // namespace trainyard::replay

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: replay_estimates TRACES, the directory tests/simulation/traces\n");
    return 2;
  }
  try {
    trainyard::replay::Print(argv[1]);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "replay_estimates: %s\n", error.what());
    return 1;
  }
  return 0;
}
