#include "tests/simulation/replay/llm_mix.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <random>
#include <string>

namespace trainyard::replay {
namespace {

constexpr int64_t kWindow = int64_t{14} * 24 * 3600;  // Seconds.
constexpr int kBursts = 68;
constexpr int kDebuggingJobs = 165;
constexpr int kPretrainingJobs = 105;
constexpr double kFailed = 0.4;
// The longest time without a failure: a week.
constexpr double kLongest = 7.0 * 24 * 3600;

// The distributions of <random> differ between libraries, so the numbers are computed here.
class Draws {
 public:
  explicit Draws(uint64_t seed) : random_(seed) {}

  // Returns a number in [0, 1).
  double Part() { return static_cast<double>(random_() >> 11) * 0x1.0p-53; }
  int64_t Between(int64_t low, int64_t high) {
    return low + static_cast<int64_t>(Part() * static_cast<double>(high - low + 1));
  }
  // Returns a number with a log-normal distribution. `spread` is the standard deviation of its
  // logarithm.
  double LogNormal(double median, double spread) {
    const double radius = std::sqrt(-2 * std::log(1 - Part()));
    return median * std::exp(spread * radius * std::cos(2 * std::numbers::pi * Part()));
  }

 private:
  std::mt19937_64 random_;
};

// Returns the running time of a job that would run for `whole` seconds without a failure.
int64_t DurationOf(double whole, Draws& draws) {
  const double part = draws.Part() < kFailed ? draws.Part() : 1;
  return std::max<int64_t>(1, std::llround(std::min(whole, kLongest) * part));
}

// One checkpoint is evaluated on many sets at once.
void AddBurst(Draws& draws, std::vector<TraceJob>& jobs) {
  const int64_t submit = draws.Between(0, kWindow - 1);
  for (int64_t left = draws.Between(20, 60); left > 0; --left) {
    jobs.push_back({.submit = submit,
                    .duration = DurationOf(draws.LogNormal(150, 0.6), draws),
                    .gpus = 1,
                    .queue = "evaluation"});
  }
}

TraceJob DebuggingJob(Draws& draws) {
  const int gpus = 1 << draws.Between(0, 4);
  return {.submit = draws.Between(0, kWindow - 1),
          .duration = DurationOf(draws.LogNormal(400, 1.5), draws),
          .gpus = gpus,
          .queue = "debugging"};
}

TraceJob PretrainingJob(Draws& draws) {
  const double size = draws.Part();
  return {.submit = draws.Between(0, kWindow - 1),
          .duration = DurationOf(draws.LogNormal(19'000, 1.2), draws),
          .gpus = size < 0.15  ? 256
                  : size < 0.4 ? 512
                               : 1024,
          .queue = "pretraining"};
}

}  // namespace

std::vector<TraceJob> MakeLlmMix(uint64_t seed) {
  Draws draws(seed);
  std::vector<TraceJob> jobs;
  for (int i = 0; i < kBursts; ++i) AddBurst(draws, jobs);
  for (int i = 0; i < kDebuggingJobs; ++i) jobs.push_back(DebuggingJob(draws));
  for (int i = 0; i < kPretrainingJobs; ++i) jobs.push_back(PretrainingJob(draws));
  std::ranges::stable_sort(jobs, {}, &TraceJob::submit);
  return jobs;
}

}  // namespace trainyard::replay
