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

constexpr int64_t kDaySeconds = int64_t{24} * 3600;

// Returns the largest number of these times within a day. The times are in order.
int64_t MostInADay(const std::vector<int64_t>& times) {
  int64_t most = 0;
  for (size_t begin = 0, end = 0; end < times.size(); ++end) {
    while (times[end] - times[begin] >= kDaySeconds) ++begin;
    most = std::max(most, static_cast<int64_t>(end - begin) + 1);
  }
  return most;
}

}  // namespace

std::string NameOfSizeClass(int size_class) {
  constexpr const char* kNames[kSizeClasses] = {"1", "2-7", "8", "9-32", "> 32"};
  return kNames[size_class];
}

ReplayFigures FiguresOf(const std::vector<TraceJob>& jobs, const std::vector<JobRun>& runs,
                        int cluster_gpus, int64_t window) {
  std::vector<int64_t> ends(jobs.size());
  std::vector<std::vector<int64_t>> run_ends(jobs.size());
  double used = 0, gpu_seconds = 0;
  for (const JobRun& run : runs) {
    const auto gpus = static_cast<double>(jobs[run.job].gpus);
    ends[run.job] = std::max(ends[run.job], run.end);
    run_ends[run.job].push_back(run.end);
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
    // All runs but the last end with a preemption.
    std::vector<int64_t>& preempted = run_ends[i];
    if (!preempted.empty()) preempted.pop_back();
    figures.preemptions += static_cast<int64_t>(preempted.size());
    figures.most_in_a_day = std::max(figures.most_in_a_day, MostInADay(preempted));
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
