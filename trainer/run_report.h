// Output of rank 0 for a person: a header, a line for each logged step, a summary.
#ifndef TRAINYARD_TRAINER_RUN_REPORT_H_
#define TRAINYARD_TRAINER_RUN_REPORT_H_

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "proto/contract/run_config.h"
#include "trainer/checkpoint/checkpoint_writer.h"
#include "trainer/config/runtime_environment.h"

namespace trainyard::trainer {

struct StepReport {
  int64_t step = 0;
  double loss = 0;
  double grad_norm = 0;
  double learning_rate = 0;
  double step_seconds = 0;
  double tokens_per_second = 0;
  double samples_per_second = 0;
  double mfu = 0;         // With attention over the full length; 0 when unknown.
  double mfu_causal = 0;  // With attention to earlier tokens only.
  double seconds_left = 0;
};

// One data set that the run trains on.
struct SourceFacts {
  std::string path;
  int64_t tokens = 0;
  int64_t samples = 0;  // Of one data epoch.
  int64_t share = 1;    // Of the sum of all shares, in samples.
  double passes = 0;    // Times that the whole run reads it.
};

struct HeaderFacts {
  std::string device;
  int64_t threads = 0;
  std::string attention;             // Backend that computes it.
  std::vector<SourceFacts> sources;  // At least one.
  int64_t first_step = 0;
  std::string resumed_from;
};

// Prints nothing when not enabled. Thread-safe: checkpoint lines come from the writer's thread.
class RunReport {
 public:
  explicit RunReport(bool enabled) : enabled_(enabled) {}

  void Header(const RunConfig& config, const RuntimeEnvironment& env, const HeaderFacts& facts);
  // The header of a run that only evaluates; facts.sources is not read.
  void EvaluationHeader(const RunConfig& config, const RuntimeEnvironment& env,
                        const HeaderFacts& facts);
  void Step(const StepReport& report, int64_t total_steps);
  void Evaluation(int64_t step, const std::string& set, double loss, int64_t tokens);
  void Checkpoint(const CheckpointEvent& event);
  void Note(const std::string& text);
  void Summary(int64_t step, double seconds);

 private:
  void Print(const std::string& line);

  const bool enabled_;
  std::mutex mutex_;  // Guards what follows, and keeps lines whole.
  double first_loss_ = 0;
  double last_loss_ = 0;
  std::map<std::string, double> evaluation_losses_;  // Newest of each set.
  bool has_loss_ = false;
};

// "1,234,567".
std::string GroupedDigits(int64_t number);

// "12s", "3m05s", "2h07m".
std::string ShortDuration(double seconds);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_RUN_REPORT_H_
