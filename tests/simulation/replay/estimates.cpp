#include "tests/simulation/replay/estimates.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace trainyard::replay {
namespace {

constexpr int64_t kLongWait = 600;

// Returns the time of the first start of each job.
std::vector<int64_t> FirstStarts(const std::vector<TraceJob>& jobs, int nodes, int gpus_per_node,
                                 StartQuestions* questions) {
  std::vector<int64_t> starts(jobs.size(), INT64_MAX);
  const auto policy = MakeCorePolicy(nodes, gpus_per_node, questions);
  for (const JobRun& run : RunReplay(jobs, NodePool(nodes, gpus_per_node), *policy)) {
    starts[run.job] = std::min(starts[run.job], run.start);
  }
  return starts;
}

}  // namespace

double EstimateFigures::ShareWithin(double low, double high) const {
  const auto within =
      std::ranges::upper_bound(ratios, high) - std::ranges::lower_bound(ratios, low);
  return static_cast<double>(within) / static_cast<double>(std::max<int64_t>(asked, 1));
}

double EstimateFigures::Quantile(double part) const {
  if (ratios.empty()) return std::numeric_limits<double>::quiet_NaN();
  const auto place = static_cast<std::size_t>(part * static_cast<double>(ratios.size()));
  return ratios[std::min(place, ratios.size() - 1)];
}

EstimateFigures MeasureEstimates(const std::vector<TraceJob>& jobs, int nodes, int gpus_per_node,
                                 const EstimateSample& sample) {
  StartQuestions questions{.run_times = sample.run_times};
  const std::vector<int64_t> starts = FirstStarts(jobs, nodes, gpus_per_node, nullptr);
  EstimateFigures figures;
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    const int64_t wait = starts[i] - jobs[i].submit;
    if (wait < kLongWait || figures.waiting_jobs++ % sample.every != 0) continue;
    questions.by_job[static_cast<int>(i)].ask_at = jobs[i].submit + wait / 2;
  }
  figures.asked = static_cast<int64_t>(questions.by_job.size());
  FirstStarts(jobs, nodes, gpus_per_node, &questions);
  for (const auto& [job, question] : questions.by_job) {
    if (!question.start.has_value()) continue;
    figures.ratios.push_back(static_cast<double>(*question.start - question.ask_at) /
                             static_cast<double>(starts[job] - question.ask_at));
  }
  std::ranges::sort(figures.ratios);
  return figures;
}

}  // namespace trainyard::replay
