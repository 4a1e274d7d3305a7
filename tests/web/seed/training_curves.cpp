#include "tests/web/seed/training_curves.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "proto/jobspec/fields/run_config_of.h"

namespace trainyard::seed {
namespace {

constexpr double kTokensPerRankSecond = 8000;
constexpr int64_t kStepsPerCheckpointStall = 500;

// Returns noise between -0.5 and 0.5, by SplitMix64.
double Noise(int64_t job, int64_t step, int64_t salt) {
  uint64_t x = static_cast<uint64_t>(job) * 0x9e3779b97f4a7c15 +
               static_cast<uint64_t>(step) * 0xbf58476d1ce4e5b9 +
               static_cast<uint64_t>(salt) * 0x94d049bb133111eb;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  x ^= x >> 31;
  return static_cast<double>(x >> 11) / 9007199254740992.0 - 0.5;
}

// Returns the loss without noise. The further the learning rate is from 3e-4, the higher the final
// loss, as in a sweep.
double SmoothLoss(const TrainingRun& run, int64_t step) {
  const double octaves = std::log2(std::max(run.lr, 1e-9) / 3e-4);
  const double floor = 1.85 + 0.06 * octaves * octaves + 0.05 * Noise(run.job_id, 0, 9);
  const double pace = 90 * (1 + 0.5 * Noise(run.job_id, 0, 8));
  return floor + 8.9 / std::pow(1 + static_cast<double>(step) / pace, 0.55);
}

double LearningRate(const TrainingRun& run, int64_t step) {
  const double warmup = std::max(1.0, static_cast<double>(run.steps) / 50);
  const double at = static_cast<double>(step);
  if (at < warmup) return run.lr * at / warmup;
  const double part = std::min(1.0, (at - warmup) / std::max(1.0, run.steps - warmup));
  return run.lr * (0.1 + 0.45 * (1 + std::cos(3.14159265358979 * part)));
}

double StepSeconds(const TrainingRun& run, int64_t step) {
  const double stall = step % kStepsPerCheckpointStall < 2 ? 0.22 : 0;
  return run.step_seconds * (1 + stall + 0.03 * std::abs(Noise(run.job_id, step, 5)));
}

}  // namespace

TrainingRun RunOf(const v1::Job& job) {
  const v1::JobSpec& spec = job.spec();
  TrainingRun run;
  run.job_id = job.id();
  run.steps = std::max<int64_t>(spec.train().steps(), 1);
  run.tokens_per_step = std::max(1.0, static_cast<double>(spec.train().seq_length()) *
                                          static_cast<double>(spec.train().global_batch()));
  run.step_seconds =
      std::max(0.2, run.tokens_per_step / (kTokensPerRankSecond * std::max(1, WorldSize(spec))));
  run.lr = spec.optimizer().lr();
  return run;
}

Values ValuesAt(const TrainingRun& run, int64_t step) {
  const double at = static_cast<double>(step);
  const double seconds = StepSeconds(run, step);
  const double fade = 1 / (1 + at / 40);
  return {{"loss", SmoothLoss(run, step) + 0.11 * Noise(run.job_id, step, 1)},
          {"grad_norm", 0.32 + 4 * fade + 0.25 * std::abs(Noise(run.job_id, step, 2))},
          {"lr", LearningRate(run, step)},
          {"step_seconds", seconds},
          {"tokens_per_second", run.tokens_per_step / seconds},
          {"mfu", 0.437 * run.step_seconds / seconds + 0.004 * Noise(run.job_id, step, 4)},
          {"memory_bytes", 118.4e9 + 4e8 * Noise(run.job_id, step / 100, 6)},
          {"tokens", at * run.tokens_per_step},
          {"attention_entropy", 3 + 0.8 * fade + 0.1 * Noise(run.job_id, step, 11)}};
}

double ValidationLossAt(const TrainingRun& run, int64_t step) {
  return SmoothLoss(run, step) + 0.05;
}

double RankStepSeconds(const TrainingRun& run, int rank, int64_t step) {
  const double slow = Noise(run.job_id, rank, 7) > 0.495 ? 1.33 : 1;
  return StepSeconds(run, step) * slow * (1 + 0.04 * Noise(rank, step, 3));
}

std::string OutputLine(const TrainingRun& run, int rank, int64_t step) {
  char line[200];
  if (Noise(run.job_id + rank, step, 10) > 0.49) {
    std::snprintf(line, sizeof line, "WARN checkpoint writer of rank %d is %lld s behind\n", rank,
                  static_cast<long long>(step % 13));
  } else {
    std::snprintf(line, sizeof line, "step %lld/%lld loss %.4f grad_norm %.3f tokens/s %.0f\n",
                  static_cast<long long>(step), static_cast<long long>(run.steps),
                  SmoothLoss(run, step), 0.32, run.tokens_per_step / run.step_seconds);
  }
  return line;
}

}  // namespace trainyard::seed
