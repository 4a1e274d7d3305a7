#include "tests/simulation/replay/figures.h"

#include <algorithm>
#include <map>
#include <numeric>

namespace trainyard::replay {
namespace {

int SizeClassOf(int gpus) {
  if (gpus == 1) return 0;
  if (gpus < 8) return 1;
  if (gpus == 8) return 2;
  return gpus <= 32 ? 3 : 4;
}

WaitFigures WaitOf(std::vector<double> waits) {
  if (waits.empty()) return {};
  std::ranges::sort(waits);
  const auto count = static_cast<double>(waits.size());
  const auto p90 = static_cast<size_t>(0.9 * (count - 1));
  return {static_cast<int64_t>(waits.size()), std::reduce(waits.begin(), waits.end()) / count,
          waits[p90], waits.back()};
}

double JainOf(const std::vector<TraceJob>& jobs, const std::vector<int64_t>& ends) {
  struct Times {
    double running = 0;
    double residence = 0;
  };
  std::map<std::string, Times> queues;
  for (size_t i = 0; i < jobs.size(); ++i) {
    const auto gpus = static_cast<double>(jobs[i].gpus);
    Times& times = queues[jobs[i].queue];
    times.running += gpus * static_cast<double>(jobs[i].duration);
    times.residence += gpus * static_cast<double>(ends[i] - jobs[i].submit);
  }
  double sum = 0, squares = 0;
  for (const auto& [queue, times] : queues) {
    const double share = times.running / times.residence;
    sum += share;
    squares += share * share;
  }
  return queues.empty() ? 1 : sum * sum / (static_cast<double>(queues.size()) * squares);
}

}  // namespace

std::string NameOfSizeClass(int size_class) {
  constexpr const char* kNames[kSizeClasses] = {"1", "2-7", "8", "9-32", "> 32"};
  return kNames[size_class];
}

ReplayFigures FiguresOf(const std::vector<TraceJob>& jobs, const std::vector<JobRun>& runs,
                        int cluster_gpus, int64_t window) {
  std::vector<int64_t> ends(jobs.size()), counts(jobs.size());
  double used = 0, gpu_seconds = 0;
  for (const JobRun& run : runs) {
    const auto gpus = static_cast<double>(jobs[run.job].gpus);
    ends[run.job] = std::max(ends[run.job], run.end);
    ++counts[run.job];
    gpu_seconds += gpus * static_cast<double>(run.end - run.start);
    used += gpus * static_cast<double>(std::max<int64_t>(std::min(run.end, window) - run.start, 0));
  }
  ReplayFigures figures;
  std::vector<double> waits, large;
  std::vector<double> by_size[kSizeClasses];
  double residence = 0, work = 0;
  for (size_t i = 0; i < jobs.size(); ++i) {
    const TraceJob& job = jobs[i];
    const auto wait = static_cast<double>(ends[i] - job.submit - job.duration);
    waits.push_back(wait);
    by_size[SizeClassOf(job.gpus)].push_back(wait);
    if (job.gpus >= 8) large.push_back(wait);
    residence += static_cast<double>(ends[i] - job.submit);
    work += static_cast<double>(job.gpus) * static_cast<double>(job.duration);
    figures.preemptions += counts[i] - 1;
    figures.most_preemptions = std::max(figures.most_preemptions, counts[i] - 1);
  }
  figures.all = WaitOf(std::move(waits));
  figures.eight_or_more = WaitOf(std::move(large));
  for (int i = 0; i < kSizeClasses; ++i) figures.by_size[i] = WaitOf(std::move(by_size[i]));
  figures.mean_residence = residence / static_cast<double>(std::max<size_t>(jobs.size(), 1));
  figures.utilization = used / (static_cast<double>(cluster_gpus) * static_cast<double>(window));
  figures.jain = JainOf(jobs, ends);
  figures.restart_share = work == 0 ? 0 : gpu_seconds / work - 1;
  return figures;
}

}  // namespace trainyard::replay
