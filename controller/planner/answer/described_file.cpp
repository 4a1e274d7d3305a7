#include "controller/planner/answer/described_file.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "controller/planner/cluster.h"
#include "proto/jobspec/loader.h"
#include "proto/jobspec/schema.h"
#include "yaml-cpp/yaml.h"

namespace trainyard::planner {
namespace {

// Keys of a document that affect neither sizes nor layout, and its source.
const std::set<std::string>& IgnoredKeys() {
  static const std::set<std::string> keys = {"source",
                                             "lr",
                                             "min-lr",
                                             "lr-decay-style",
                                             "lr-decay-samples",
                                             "lr-warmup-iters",
                                             "lr-warmup-steps",
                                             "lr-warmup-tokens",
                                             "lr-warmup-fraction",
                                             "optimizer",
                                             "adam-beta1",
                                             "adam-beta2",
                                             "weight-decay",
                                             "clip-grad",
                                             "bf16",
                                             "rampup-batch-size",
                                             "use-distributed-optimizer",
                                             "overlap-grad-reduce",
                                             "overlap-param-gather",
                                             "rope-theta",
                                             "position-embedding-type",
                                             "group-query-attention",
                                             "fp8-amax-history-len",
                                             "fp8-amax-compute-algo",
                                             "eval-interval",
                                             "eval-iters",
                                             "moe-router-load-balancing-type",
                                             "moe-aux-loss-coeff"};
  return keys;
}

// Values of Megatron-LM's data-parallel-sharding-strategy, by ZeRO stage.
constexpr const char* kShardingNames[] = {"no_shard", "optim", "optim_grads", "optim_grads_params"};

// A whole number and its maximum.
struct Whole {
  int64_t* value;
  double most;
};

class Reader {
 public:
  explicit Reader(const std::string& display_name) : display_name_(display_name) {}

  absl::StatusOr<DescribedFile> Read(const YAML::Node& root) {
    for (const auto& entry : root) Take(entry.first.Scalar(), entry.second);
    Finish();
    if (!errors_.empty()) return absl::InvalidArgumentError(absl::StrJoin(errors_, "\n"));
    return std::move(file_);
  }

 private:
  void Add(const YAML::Node& at, const std::string& message) {
    const std::string line =
        at.Mark().line >= 0 ? absl::StrCat(":", at.Mark().line + 1) : std::string();
    errors_.push_back(absl::StrCat(display_name_, line, ": ", message));
  }

  std::map<std::string, Whole> Wholes() {
    DescribedRun& run = file_.run;
    ModelConfig& model = run.model.dense;
    ExpertShape& experts = run.model.experts;
    LatentAttention& latent = run.model.latent;
    constexpr double kWidth = 1048576, kRanks = 1e6, kCount = 1e18;
    return {{"num-layers", {&model.num_layers, 1000}},
            {"hidden-size", {&model.hidden_size, 131072}},
            {"ffn-hidden-size", {&model.ffn_hidden_size, kWidth}},
            {"num-attention-heads", {&model.num_attention_heads, 1024}},
            {"num-query-groups", {&model.num_query_groups, 1024}},
            {"kv-channels", {&model.kv_channels, 65536}},
            {"vocab-size", {&model.vocab_size, 4194304}},
            {"max-position-embeddings", {&model.max_position_embeddings, 16777216}},
            {"num-experts", {&experts.count, 65536}},
            {"moe-router-topk", {&experts.topk, 65536}},
            {"moe-ffn-hidden-size", {&experts.ffn_hidden_size, kWidth}},
            {"moe-shared-expert-intermediate-size", {&experts.shared_ffn_hidden_size, kWidth}},
            {"shared-expert-intermediate-size", {&experts.shared_ffn_hidden_size, kWidth}},
            {"moe-dense-layers", {&experts.dense_layers, 1000}},
            {"q-lora-rank", {&latent.query_rank, kWidth}},
            {"kv-lora-rank", {&latent.key_rank, kWidth}},
            {"qk-head-dim", {&latent.head_size, 65536}},
            {"qk-pos-emb-head-dim", {&latent.rotary_size, 65536}},
            {"v-head-dim", {&latent.value_size, 65536}},
            {"seq-length", {&run.batch.seq_length, 16777216}},
            {"global-batch-size", {&run.batch.global_batch, 16777216}},
            {"micro-batch-size", {&run.batch.micro_batch, 65536}},
            {"train-iters", {&run.batch.steps, 1e12}},
            {"train-samples", {&run.batch.samples, kCount}},
            {"lr-warmup-samples", {&run.batch.warmup_samples, kCount}},
            {"gpus", {&run.layout.gpus, kRanks}},
            {"tensor-model-parallel-size", {&run.layout.tensor, kRanks}},
            {"pipeline-model-parallel-size", {&run.layout.pipeline, kRanks}},
            {"context-parallel-size", {&run.layout.context, kRanks}},
            {"expert-model-parallel-size", {&run.layout.expert, kRanks}},
            {"expert-tensor-parallel-size", {&run.layout.expert_tensor, kRanks}},
            {"num-virtual-stages-per-pipeline-rank", {&run.layout.chunks, 1000}}};
  }

  std::map<std::string, std::optional<Amount>*> Amounts() {
    Claims& claims = file_.run.claims;
    return {{"claimed-parameters", &claims.parameters},
            {"claimed-active-parameters", &claims.active_parameters},
            {"claimed-tokens", &claims.tokens},
            {"claimed-warmup-tokens", &claims.warmup_tokens},
            {"claimed-flops", &claims.flops},
            {"claimed-loss", &claims.loss}};
  }

  std::map<std::string, std::optional<Range>*> Ranges() {
    Claims& claims = file_.run.claims;
    return {{"claimed-tokens-per-second", &claims.tokens_per_second},
            {"claimed-mfu", &claims.mfu},
            {"claimed-hours", &claims.hours}};
  }

  std::map<std::string, std::optional<double>*> Numbers() {
    Claims& claims = file_.run.claims;
    return {{"claimed-data-parallel-size", &claims.data_parallel},
            {"claimed-tokens-per-parameter", &claims.tokens_per_parameter}};
  }

  std::map<std::string, bool*> Switches() {
    DescribedRun& run = file_.run;
    return {{"sequence-parallel", &run.layout.sequence_parallel},
            {"uneven-pipeline", &run.layout.uneven_pipeline},
            {"multi-latent-attention", &run.has_latent_attention},
            {"untie-embeddings-and-output-weights",
             &run.model.dense.untie_embeddings_and_output_weights},
            {"qk-layernorm", &run.model.dense.qk_layernorm},
            {"add-bias-linear", &run.model.dense.add_bias_linear},
            {"swiglu", &swiglu_},
            {"squared-relu", &squared_relu_},
            {"fp8-hybrid", &run.is_fp8}};
  }

  void Take(const std::string& key, const YAML::Node& node) {
    if (!seen_.insert(key).second) return Add(node, absl::StrCat("`", key, "` appears twice"));
    if (IgnoredKeys().contains(key)) return;
    if (key == "guard" || key == "checkpoint") return CheckSection(key, node);
    if (TakeText(key, node) || TakeNumber(key, node)) return;
    std::vector<std::string> known = {"name",
                                      "describes",
                                      "device",
                                      "data-blend",
                                      "train-tokens",
                                      "optimal-parameters",
                                      "optimal-tokens",
                                      "normalization",
                                      "guard",
                                      "checkpoint",
                                      "without-fp8",
                                      "recompute-granularity",
                                      "data-parallel-sharding-strategy"};
    for (const auto& [name, value] : Wholes()) known.push_back(name);
    for (const auto& [name, value] : Amounts()) known.push_back(name);
    for (const auto& [name, value] : Ranges()) known.push_back(name);
    for (const auto& [name, value] : Numbers()) known.push_back(name);
    for (const auto& [name, value] : Switches()) known.push_back(name);
    const std::string nearest = NearestName(key, known);
    Add(node, absl::StrCat("unknown key `", key, "`",
                           nearest.empty() ? "" : absl::StrCat("; did you mean `", nearest, "`?")));
  }

  // Checks a job file section that a described run keeps for later use.
  void CheckSection(const std::string& key, const YAML::Node& node) {
    YAML::Node job;
    job["name"] = "described";
    job["command"].push_back("program");
    job[key] = node;
    YAML::Emitter text;
    text << job;
    const auto reader = [&](const std::string& reference,
                            const std::string&) -> absl::StatusOr<JobFileText> {
      return JobFileText{reference, text.c_str()};
    };
    const absl::StatusOr<ResolvedSpec> resolved = ResolveJobFile(key, {}, reader);
    if (resolved.ok()) return;
    for (const absl::string_view line : absl::StrSplit(resolved.status().message(), '\n')) {
      // Omit the position, which is relative to the section.
      Add(node, std::string(line.substr(std::min(line.size(), line.find(": ") + 2))));
    }
  }

  bool TakeText(const std::string& key, const YAML::Node& node) {
    if (key == "name") {
      file_.run.name = Scalar(node);
    } else if (key == "describes") {
      file_.describes = Scalar(node);
    } else if (key == "without-fp8") {
      file_.without_fp8 = Scalar(node);
    } else if (key == "recompute-granularity") {
      TakeRecompute(node);
    } else if (key == "data-parallel-sharding-strategy") {
      TakeSharding(node);
    } else if (key == "device") {
      const DeviceSpec* device = FindDeviceSpec(Scalar(node));
      if (device == nullptr) {
        Add(node, absl::StrCat("unknown device `", Scalar(node), "`"));
      } else {
        file_.run.claims.peak_flops = device->rating->bf16_flops;
      }
    } else if (key == "normalization") {
      const bool is_layer_norm = Scalar(node) == "LayerNorm";
      if (!is_layer_norm && Scalar(node) != "RMSNorm") {
        Add(node, "`normalization` must be RMSNorm or LayerNorm");
      }
      if (is_layer_norm) file_.run.model.dense.normalization = Normalization::kLayerNorm;
    } else {
      return false;
    }
    return true;
  }

  void TakeRecompute(const YAML::Node& node) {
    const bool is_full = Scalar(node) == "full";
    if (!is_full && Scalar(node) != "selective") {
      return Add(node, "`recompute-granularity` must be full or selective");
    }
    file_.run.layout.recompute = is_full ? Recompute::kFull : Recompute::kSelective;
  }

  void TakeSharding(const YAML::Node& node) {
    const auto* const found =
        std::find(std::begin(kShardingNames), std::end(kShardingNames), Scalar(node));
    if (found == std::end(kShardingNames)) {
      return Add(node, absl::StrCat("`data-parallel-sharding-strategy` must be one of ",
                                    absl::StrJoin(kShardingNames, ", ")));
    }
    file_.run.layout.zero = found - std::begin(kShardingNames);
  }

  bool TakeNumber(const std::string& key, const YAML::Node& node) {
    if (const auto found = Wholes(); found.contains(key)) {
      TakeWhole(key, found.at(key), node);
    } else if (const auto amounts = Amounts(); amounts.contains(key)) {
      *amounts.at(key) = ReadOne(key, node);
    } else if (const auto ranges = Ranges(); ranges.contains(key)) {
      const std::vector<double> ends = ReadList(key, node);
      if (ends.size() != 2 || ends[0] > ends[1]) {
        return Add(node, absl::StrCat("`", key, "` must be [LOW, HIGH]")), true;
      }
      *ranges.at(key) = Range{ends[0], ends[1]};
    } else if (const auto numbers = Numbers(); numbers.contains(key)) {
      *numbers.at(key) = ReadOne(key, node).value;
    } else if (const auto switches = Switches(); switches.contains(key)) {
      TakeSwitch(key, switches.at(key), node);
    } else if (key == "train-tokens") {
      file_.run.batch.tokens = ReadOne(key, node).value;
    } else if (key == "data-blend") {
      file_.run.blend = ReadList(key, node);
    } else if (key == "optimal-parameters" || key == "optimal-tokens") {
      TakeLaw(key, node);
    } else {
      return false;
    }
    return true;
  }

  void TakeWhole(const std::string& key, const Whole& whole, const YAML::Node& node) {
    const double value = ReadOne(key, node).value;
    if (value < 1 || value > whole.most || value != std::floor(value)) {
      Add(node, absl::StrCat("`", key, "` must be a whole number from 1 to ", whole.most));
      return;
    }
    *whole.value = static_cast<int64_t>(value);
  }

  void TakeSwitch(const std::string& key, bool* value, const YAML::Node& node) {
    if (Scalar(node) != "true" && Scalar(node) != "false") {
      return Add(node, absl::StrCat("`", key, "` must be true or false"));
    }
    *value = Scalar(node) == "true";
  }

  // Coefficient and exponent.
  void TakeLaw(const std::string& key, const YAML::Node& node) {
    const std::vector<double> law = ReadList(key, node);
    if (law.size() != 2) {
      return Add(node, absl::StrCat("`", key, "` must be [COEFFICIENT, EXPONENT]"));
    }
    DescribedLaw& laws = file_.run.law;
    (key == "optimal-parameters" ? laws.n : laws.d) = law[0];
    (key == "optimal-parameters" ? laws.n_exponent : laws.d_exponent) = law[1];
  }

  std::string Scalar(const YAML::Node& node) const { return node.IsScalar() ? node.Scalar() : ""; }

  Amount ReadOne(const std::string& key, const YAML::Node& node) {
    const std::optional<Amount> amount = ReadAmount(Scalar(node));
    if (amount.has_value()) return *amount;
    Add(node, absl::StrCat("`", key, "` must be a number such as 300, 56B or 1.36e21"));
    return {1, 0};
  }

  std::vector<double> ReadList(const std::string& key, const YAML::Node& node) {
    std::vector<double> values;
    if (!node.IsSequence()) {
      Add(node, absl::StrCat("`", key, "` must be a list of numbers"));
      return values;
    }
    for (const YAML::Node& entry : node) {
      // "0.67 /data/web", or only the share.
      const std::string text = Scalar(entry);
      const bool is_share = key == "data-blend" && text.find(' ') != std::string::npos;
      values.push_back(
          ReadOne(key, is_share ? YAML::Node(text.substr(0, text.find(' '))) : entry).value);
    }
    return values;
  }

  void Finish() {
    DescribedRun& run = file_.run;
    ModelConfig& model = run.model.dense;
    run.has_query_groups = model.num_query_groups > 0;
    if (model.num_query_groups == 0) model.num_query_groups = model.num_attention_heads;
    if (squared_relu_) model.activation = Activation::kSquaredRelu;
    if (!swiglu_ && !squared_relu_) model.activation = Activation::kGelu;
    if (seen_.contains("moe-router-topk") && run.model.experts.topk > run.model.experts.count) {
      errors_.push_back(absl::StrCat(display_name_, ": `moe-router-topk` is above `num-experts`"));
    }
    run.has_model = model.num_layers > 0;
    if (run.has_model) CheckSizes(model);
  }

  void CheckSizes(const ModelConfig& model) {
    for (const char* key :
         {"hidden-size", "ffn-hidden-size", "num-attention-heads", "vocab-size"}) {
      if (seen_.contains(key)) continue;
      errors_.push_back(
          absl::StrCat(display_name_, ": `", key, "` is missing: parameters cannot be counted"));
    }
    const int64_t heads = std::max<int64_t>(model.num_attention_heads, 1);
    if (model.kv_channels == 0 && model.hidden_size % heads != 0) {
      errors_.push_back(absl::StrCat(display_name_, ": `hidden-size` (", model.hidden_size,
                                     ") must be a multiple of `num-attention-heads` (", heads,
                                     ")"));
    }
    if (file_.run.model.latent.key_rank > 0) CheckLatent(file_.run.model.latent);
  }

  void CheckLatent(const LatentAttention& latent) {
    if (latent.head_size > 0 && latent.rotary_size > 0 && latent.value_size > 0) return;
    errors_.push_back(absl::StrCat(display_name_,
                                   ": `kv-lora-rank` needs qk-head-dim, qk-pos-emb-head-dim and "
                                   "v-head-dim"));
  }

  const std::string& display_name_;
  DescribedFile file_;
  std::set<std::string> seen_;
  std::vector<std::string> errors_;
  bool swiglu_ = true;
  bool squared_relu_ = false;
};

}  // namespace

std::string ShardingName(int64_t zero) { return kShardingNames[zero]; }

bool IsDescribed(const std::string& text) {
  try {
    const YAML::Node root = YAML::Load(text);
    return root.IsMap() && root[kDescribesKey].IsDefined();
  } catch (const YAML::Exception&) {
    return false;
  }
}

absl::StatusOr<DescribedFile> ReadDescribedFile(const JobFileText& file) {
  try {
    const YAML::Node root = YAML::Load(file.text);
    return Reader(file.display_name).Read(root);
  } catch (const YAML::Exception& error) {
    return absl::InvalidArgumentError(absl::StrCat(file.display_name, ": ", error.what()));
  }
}

}  // namespace trainyard::planner
