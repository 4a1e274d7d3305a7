// The settings of a run as the trainer reads them from a job's spec.json: one struct a component.
// Setting names are those of proto/trainyard/v1/job_spec.proto; so are the defaults.
#ifndef TRAINYARD_TRAINER_CONFIG_RUN_CONFIG_H_
#define TRAINYARD_TRAINER_CONFIG_RUN_CONFIG_H_

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>

namespace trainyard::trainer {

enum class DeviceKind { kCpu, kGpu };
enum class Precision { kFp32, kBf16 };
enum class Recompute { kNone, kFull };
enum class ScheduleKind { kConstant, kCosine, kLinear, kWsd };

struct ResourcesConfig {
  DeviceKind device = DeviceKind::kGpu;
};

// How the model and the batch are spread over ranks; tp * cp * pp * dp ranks.
struct LayoutConfig {
  int64_t tp = 1;
  int64_t cp = 1;
  int64_t ep = 1;
  int64_t dp = 0;  // 0: as many as the ranks give.
  int64_t pp = 1;
  int64_t vpp = 1;
  int64_t zero = 0;
  int64_t micro_batch = 1;  // Samples.
  Recompute recompute = Recompute::kNone;
};

struct ModelConfig {
  int64_t num_layers = 0;
  int64_t hidden_size = 0;
  int64_t ffn_hidden_size = 0;
  int64_t num_attention_heads = 0;
  int64_t num_query_groups = 0;
  int64_t vocab_size = 0;
  double rotary_base = 10000;
  double norm_epsilon = 1e-5;
  bool untie_embeddings_and_output_weights = true;
  double init_method_std = 0.02;

  int64_t HeadSize() const { return hidden_size / num_attention_heads; }
  bool operator==(const ModelConfig&) const = default;
};

struct DataConfig {
  std::string path;
  uint64_t seed = 1234;
};

struct TrainConfig {
  int64_t seq_length = 0;    // Tokens.
  int64_t global_batch = 0;  // Samples.
  int64_t steps = 0;         // Derived from `tokens` when the job gives that instead.
  Precision precision = Precision::kBf16;
  uint64_t seed = 1234;
  int64_t log_every_steps = 1;
  int64_t threads = 0;  // 0: the cores divided by the node's ranks.

  int64_t TokensPerStep() const { return seq_length * global_batch; }
};

struct OptimizerConfig {
  double lr = 3e-4;
  double min_lr = 3e-5;
  double weight_decay = 0.1;
  double adam_beta1 = 0.9;
  double adam_beta2 = 0.95;
  double adam_eps = 1e-8;
  double clip_grad = 1.0;  // 0: no clipping.
};

struct ScheduleConfig {
  ScheduleKind kind = ScheduleKind::kCosine;
  int64_t warmup_steps = 0;
  int64_t decay_steps = 0;  // 0: the whole run (for wsd: a tenth of it).
};

struct EvaluationConfig {
  int64_t every_steps = 0;  // 0: no evaluation.
  int64_t samples = 64;
};

struct CheckpointConfig {
  std::string dir;
  int64_t every_steps = 1000;  // 0: only at the end, on stop and on SIGUSR1.
  int64_t keep_last = 3;
  int64_t keep_every_steps = 0;  // 0: none is kept for ever.
  bool async = true;
  std::string resume_from;
};

struct RunConfig {
  std::string name;
  ResourcesConfig resources;
  LayoutConfig layout;
  ModelConfig model;
  DataConfig data;
  TrainConfig train;
  OptimizerConfig optimizer;
  ScheduleConfig schedule;
  EvaluationConfig evaluation;
  CheckpointConfig checkpoint;
};

// Reads and checks the settings. Throws TrainerError(kBadConfig) that names the key for a missing,
// unknown, mistyped or impossible value. Parts of a job that are not the trainer's are skipped.
RunConfig ParseRunConfig(const nlohmann::json& spec);

// The same from a file. Throws TrainerError(kNoInput) when it cannot be read and kBadConfig when
// it is not JSON.
RunConfig LoadRunConfig(const std::string& path);

// The resolved settings in the form that ParseRunConfig reads.
nlohmann::json RunConfigToJson(const RunConfig& config);

// Fills layout.dp in when it is 0 and checks what depends on the number of ranks: that the layout
// multiplies out and the batch divides. Throws TrainerError(kBadConfig).
void ResolveLayout(int64_t world_size, RunConfig& config);

// Throws TrainerError(kBadConfig) when the run needs something that this version cannot do.
void CheckSupported(const RunConfig& config);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_CONFIG_RUN_CONFIG_H_
