// Console output of rank 0: a header, one line per logged step, and a summary.
#ifndef TRAINYARD_TRAINER_REPORT_RUN_REPORT_H_
#define TRAINYARD_TRAINER_REPORT_RUN_REPORT_H_

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
  double mfu = 0;         // Assumes full attention; 0 if unknown.
  double mfu_causal = 0;  // Counts attention to earlier tokens only.
  double seconds_left = 0;
};

// One data source of the training run.
struct SourceFacts {
  std::string path;
  int64_t tokens = 0;
  int64_t samples = 0;  // Samples per data epoch.
  int64_t share = 1;    // This source's share, relative to the sum of all shares.
  double passes = 0;    // Passes over the source in the whole run.
};

struct HeaderFacts {
  std::string device;
  int64_t threads = 0;
  std::string attention;             // Attention backend.
  std::vector<std::string> fp8;      // Products in FP8 and others; empty without FP8.
  std::string tensor_exchange;       // Communicator::Transport of the tensor-parallel ranks.
  std::string context_exchange;      // Communicator::Transport of the context-parallel ranks.
  std::vector<SourceFacts> sources;  // At least one.
  int64_t first_step = 0;
  std::string resumed_from;
};

// Prints nothing unless enabled. Thread-safe, because checkpoint lines come from the writer's
// thread.
class RunReport {
 public:
  explicit RunReport(bool enabled) : enabled_(enabled) {}

  void Header(const RunConfig& config, const RuntimeEnvironment& env, const HeaderFacts& facts);
  // Prints the header of a run that only evaluates. Ignores facts.sources.
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
  std::mutex mutex_;  // Guards the members below and keeps lines whole.
  double first_loss_ = 0;
  double last_loss_ = 0;
  std::map<std::string, double> evaluation_losses_;  // Latest loss on each evaluation set.
  bool has_loss_ = false;
};

// Formats as "1,234,567".
std::string GroupedDigits(int64_t number);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_REPORT_RUN_REPORT_H_
