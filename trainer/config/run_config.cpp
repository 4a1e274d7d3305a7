#include "trainer/config/run_config.h"

#include <fstream>
#include <nlohmann/json.hpp>

#include "trainer/config/config_reader.h"
#include "trainer/config/trainer_error.h"

namespace trainyard::trainer {
namespace {

using nlohmann::json;

template <typename Enum>
using Names = std::vector<std::pair<std::string, Enum>>;

const Names<DeviceKind> kDeviceNames = {{"cpu", DeviceKind::kCpu}, {"gpu", DeviceKind::kGpu}};
const Names<Precision> kPrecisionNames = {{"fp32", Precision::kFp32}, {"bf16", Precision::kBf16}};
const Names<Recompute> kRecomputeNames = {{"none", Recompute::kNone}, {"full", Recompute::kFull}};
const Names<ScheduleKind> kScheduleNames = {{"constant", ScheduleKind::kConstant},
                                            {"cosine", ScheduleKind::kCosine},
                                            {"linear", ScheduleKind::kLinear},
                                            {"wsd", ScheduleKind::kWsd}};

template <typename Enum>
std::string NameOf(const Names<Enum>& names, Enum value) {
  for (const auto& [name, candidate] : names) {
    if (candidate == value) return name;
  }
  throw TrainerError(ExitCode::kInternal, "An enum value has no name.");
}

[[noreturn]] void Refuse(const std::string& message) {
  throw TrainerError(ExitCode::kBadConfig, message);
}

ResourcesConfig ReadResources(const json& spec) {
  ResourcesConfig resources;
  ConfigReader reader(spec, "resources");
  reader.Read("device", kDeviceNames, resources.device);
  return resources;  // The other keys are the scheduler's.
}

LayoutConfig ReadLayout(const json& spec) {
  LayoutConfig layout;
  ConfigReader reader(spec, "layout");
  reader.Read("tp", 1, 1024, layout.tp);
  reader.Read("cp", 1, 1024, layout.cp);
  reader.Read("ep", 1, 16384, layout.ep);
  reader.Read("dp", 1, 16384, layout.dp);
  reader.Read("pp", 1, 1024, layout.pp);
  reader.Read("vpp", 1, 1024, layout.vpp);
  reader.Read("zero", 0, 3, layout.zero);
  reader.Read("micro_batch", 1, 65536, layout.micro_batch);
  reader.Read("recompute", kRecomputeNames, layout.recompute);
  reader.RefuseUnknownKeys();
  return layout;
}

void CheckModel(const ModelConfig& model) {
  if (model.hidden_size % model.num_attention_heads != 0) {
    Refuse("model.hidden_size " + std::to_string(model.hidden_size) +
           " must be a multiple of model.num_attention_heads " +
           std::to_string(model.num_attention_heads) + ".");
  }
  if (model.HeadSize() % 2 != 0) {
    Refuse("model.hidden_size / model.num_attention_heads is " + std::to_string(model.HeadSize()) +
           "; rotary positions need an even number.");
  }
  if (model.num_attention_heads % model.num_query_groups != 0) {
    Refuse("model.num_attention_heads " + std::to_string(model.num_attention_heads) +
           " must be a multiple of model.num_query_groups " +
           std::to_string(model.num_query_groups) + ".");
  }
}

ModelConfig ReadModel(const json& spec) {
  ModelConfig model;
  ConfigReader reader(spec, "model");
  reader.Require("num_layers", 1, 1000, model.num_layers);
  reader.Require("hidden_size", 8, 131072, model.hidden_size);
  reader.Require("ffn_hidden_size", 8, 1048576, model.ffn_hidden_size);
  reader.Require("num_attention_heads", 1, 1024, model.num_attention_heads);
  model.num_query_groups = model.num_attention_heads;
  reader.Read("num_query_groups", 1, 1024, model.num_query_groups);
  reader.Require("vocab_size", 2, 4194304, model.vocab_size);
  reader.Read("rotary_base", 1, 1e9, model.rotary_base);
  reader.Read("norm_epsilon", 1e-12, 1e-2, model.norm_epsilon);
  reader.Read("untie_embeddings_and_output_weights", model.untie_embeddings_and_output_weights);
  reader.Read("init_method_std", 0, 10, model.init_method_std);
  reader.RefuseUnknownKeys();
  CheckModel(model);
  return model;
}

DataConfig ReadData(const json& spec) {
  DataConfig data;
  ConfigReader reader(spec, "data");
  reader.Read("path", data.path);
  reader.Read("seed", data.seed);
  reader.RefuseUnknownKeys();
  if (data.path.empty()) {
    Refuse("data.path is missing; name a directory made by `trainyard data prepare`.");
  }
  return data;
}

TrainConfig ReadTrain(const json& spec) {
  TrainConfig train;
  ConfigReader reader(spec, "train");
  reader.Require("seq_length", 2, 16777216, train.seq_length);
  reader.Require("global_batch", 1, 16777216, train.global_batch);
  reader.Read("steps", 1, 1'000'000'000'000, train.steps);
  int64_t tokens = 0;
  reader.Read("tokens", 1, 1'000'000'000'000'000'000, tokens);
  reader.Read("precision", kPrecisionNames, train.precision);
  reader.Read("seed", train.seed);
  reader.Read("log_every_steps", 1, 1000000, train.log_every_steps);
  reader.Read("threads", 1, 1024, train.threads);
  reader.RefuseUnknownKeys();
  if ((train.steps > 0) == (tokens > 0)) Refuse("Give either train.steps or train.tokens.");
  if (tokens > 0) train.steps = (tokens - 1) / train.TokensPerStep() + 1;
  return train;
}

OptimizerConfig ReadOptimizer(const json& spec) {
  OptimizerConfig optimizer;
  ConfigReader reader(spec, "optimizer");
  reader.Read("lr", 0, 100, optimizer.lr);
  reader.Read("min_lr", 0, 100, optimizer.min_lr);
  reader.Read("weight_decay", 0, 10, optimizer.weight_decay);
  reader.Read("adam_beta1", 0, 0.999999, optimizer.adam_beta1);
  reader.Read("adam_beta2", 0, 0.9999999, optimizer.adam_beta2);
  reader.Read("adam_eps", 0, 1, optimizer.adam_eps);
  reader.Read("clip_grad", 0, 1e9, optimizer.clip_grad);
  reader.RefuseUnknownKeys();
  return optimizer;
}

ScheduleConfig ReadSchedule(const json& spec) {
  ScheduleConfig schedule;
  ConfigReader reader(spec, "schedule");
  reader.Read("kind", kScheduleNames, schedule.kind);
  reader.Read("warmup_steps", 0, 1'000'000'000'000, schedule.warmup_steps);
  reader.Read("decay_steps", 1, 1'000'000'000'000, schedule.decay_steps);
  reader.RefuseUnknownKeys();
  return schedule;
}

EvaluationConfig ReadEvaluation(const json& spec) {
  EvaluationConfig evaluation;
  ConfigReader reader(spec, "evaluation");
  reader.Read("every_steps", 0, 1'000'000'000'000, evaluation.every_steps);
  reader.Read("samples", 1, 1'000'000'000, evaluation.samples);
  reader.RefuseUnknownKeys();
  return evaluation;
}

CheckpointConfig ReadCheckpoint(const json& spec) {
  CheckpointConfig checkpoint;
  ConfigReader reader(spec, "checkpoint");
  reader.Read("dir", checkpoint.dir);
  reader.Read("every_steps", 0, 1'000'000'000'000, checkpoint.every_steps);
  reader.Read("keep_last", 1, 100000, checkpoint.keep_last);
  reader.Read("keep_every_steps", 0, 1'000'000'000'000, checkpoint.keep_every_steps);
  reader.Read("async", checkpoint.async);
  reader.Read("resume_from", checkpoint.resume_from);
  reader.RefuseUnknownKeys();
  return checkpoint;
}

}  // namespace

RunConfig ParseRunConfig(const json& spec) {
  if (!spec.is_object()) Refuse("The run's settings must be a JSON object.");
  RunConfig config;
  if (const auto name = spec.find("name"); name != spec.end() && name->is_string()) {
    config.name = name->get<std::string>();
  }
  config.resources = ReadResources(spec);
  config.layout = ReadLayout(spec);
  config.model = ReadModel(spec);
  config.data = ReadData(spec);
  config.train = ReadTrain(spec);
  config.optimizer = ReadOptimizer(spec);
  config.schedule = ReadSchedule(spec);
  config.evaluation = ReadEvaluation(spec);
  config.checkpoint = ReadCheckpoint(spec);
  return config;
}

RunConfig LoadRunConfig(const std::string& path) {
  std::ifstream file(path);
  if (!file) {
    throw TrainerError(ExitCode::kNoInput, "Cannot read the settings file " + path + ".");
  }
  json spec;
  try {
    spec = json::parse(file);
  } catch (const json::exception& error) {
    Refuse(path + " is not valid JSON: " + error.what());
  }
  return ParseRunConfig(spec);
}

json RunConfigToJson(const RunConfig& config) {
  const auto& [name, resources, layout, model, data, train, optimizer, schedule, evaluation,
               checkpoint] = config;
  json out;
  out["name"] = name;
  out["resources"] = {{"device", NameOf(kDeviceNames, resources.device)}};
  out["layout"] = {{"tp", layout.tp},
                   {"cp", layout.cp},
                   {"ep", layout.ep},
                   {"pp", layout.pp},
                   {"vpp", layout.vpp},
                   {"zero", layout.zero},
                   {"micro_batch", layout.micro_batch},
                   {"recompute", NameOf(kRecomputeNames, layout.recompute)}};
  if (layout.dp > 0) out["layout"]["dp"] = layout.dp;
  out["model"] = {
      {"num_layers", model.num_layers},
      {"hidden_size", model.hidden_size},
      {"ffn_hidden_size", model.ffn_hidden_size},
      {"num_attention_heads", model.num_attention_heads},
      {"num_query_groups", model.num_query_groups},
      {"vocab_size", model.vocab_size},
      {"rotary_base", model.rotary_base},
      {"norm_epsilon", model.norm_epsilon},
      {"untie_embeddings_and_output_weights", model.untie_embeddings_and_output_weights},
      {"init_method_std", model.init_method_std}};
  out["data"] = {{"path", data.path}, {"seed", data.seed}};
  out["train"] = {{"seq_length", train.seq_length},
                  {"global_batch", train.global_batch},
                  {"steps", train.steps},
                  {"precision", NameOf(kPrecisionNames, train.precision)},
                  {"seed", train.seed},
                  {"log_every_steps", train.log_every_steps}};
  if (train.threads > 0) out["train"]["threads"] = train.threads;
  out["optimizer"] = {{"lr", optimizer.lr},
                      {"min_lr", optimizer.min_lr},
                      {"weight_decay", optimizer.weight_decay},
                      {"adam_beta1", optimizer.adam_beta1},
                      {"adam_beta2", optimizer.adam_beta2},
                      {"adam_eps", optimizer.adam_eps},
                      {"clip_grad", optimizer.clip_grad}};
  out["schedule"] = {{"kind", NameOf(kScheduleNames, schedule.kind)},
                     {"warmup_steps", schedule.warmup_steps}};
  if (schedule.decay_steps > 0) out["schedule"]["decay_steps"] = schedule.decay_steps;
  out["evaluation"] = {{"every_steps", evaluation.every_steps}, {"samples", evaluation.samples}};
  out["checkpoint"] = {{"dir", checkpoint.dir},
                       {"every_steps", checkpoint.every_steps},
                       {"keep_last", checkpoint.keep_last},
                       {"keep_every_steps", checkpoint.keep_every_steps},
                       {"async", checkpoint.async},
                       {"resume_from", checkpoint.resume_from}};
  return out;
}

void ResolveLayout(int64_t world_size, RunConfig& config) {
  LayoutConfig& layout = config.layout;
  const int64_t model_ranks = layout.tp * layout.cp * layout.pp;
  if (layout.dp == 0 && world_size % model_ranks == 0) layout.dp = world_size / model_ranks;
  if (model_ranks * layout.dp != world_size) {
    Refuse("layout.tp * cp * pp * dp is " +
           std::to_string(model_ranks * std::max<int64_t>(layout.dp, 1)) + ", but there are " +
           std::to_string(world_size) + " ranks; change the layout or the number of slots.");
  }
  const int64_t samples = layout.micro_batch * layout.dp;
  if (config.train.global_batch % samples != 0) {
    Refuse("train.global_batch " + std::to_string(config.train.global_batch) +
           " must be a multiple of layout.micro_batch * dp = " + std::to_string(samples) + ".");
  }
}

void CheckSupported(const RunConfig& config) {
  const LayoutConfig& layout = config.layout;
  const std::pair<const char*, int64_t> axes[] = {{"tp", layout.tp},
                                                  {"cp", layout.cp},
                                                  {"ep", layout.ep},
                                                  {"pp", layout.pp},
                                                  {"vpp", layout.vpp}};
  for (const auto& [axis, size] : axes) {
    if (size == 1) continue;
    Refuse("layout." + std::string(axis) + " is " + std::to_string(size) +
           ", but this version of trainyard-trainer supports data parallelism only; set it to 1 "
           "and use dp.");
  }
  if (layout.zero != 0) {
    Refuse("layout.zero is " + std::to_string(layout.zero) +
           ", but this version of trainyard-trainer shards nothing over dp; set it to 0.");
  }
  if (config.resources.device == DeviceKind::kCpu && config.train.precision == Precision::kBf16) {
    Refuse(
        "train.precision bf16 is for GPUs; a CPU has no fast bf16 arithmetic, so set "
        "train.precision to fp32.");
  }
}

}  // namespace trainyard::trainer
