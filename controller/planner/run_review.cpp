#include "controller/planner/run_review.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <numeric>

#include "controller/planner/scaling_law.h"

namespace trainyard::planner {
namespace {

using Findings = std::vector<Finding>;

// Allowed relative deviation of a figure, in addition to its rounding.
constexpr double kTolerance = 0.02;
// Far more tokens than any corpus has.
constexpr double kTooManyTokens = 1e15;

std::string Text(int64_t value) { return std::to_string(value); }

std::string Rounded(double value) {
  char text[40];
  std::snprintf(text, sizeof(text), "%.4g", value);
  return text;
}

std::string Scientific(double value) {
  char text[40];
  std::snprintf(text, sizeof(text), "%.2g", value);
  return text;
}

bool Agrees(const Amount& claimed, double value) {
  return std::abs(claimed.value - value) <= std::max(claimed.half_unit, kTolerance * value);
}

bool Overlaps(const Range& claimed, double low, double high) {
  return claimed.low <= high * (1 + kTolerance) && claimed.high >= low * (1 - kTolerance);
}

double ActiveParameters(const DescribedRun& run) {
  if (!run.has_model) return run.claims.parameters ? run.claims.parameters->value : 0;
  const std::optional<ParameterSum> sum = CountParameters(run.model);
  return sum ? static_cast<double>(sum->active) : 0;
}

std::string WidthAdvice(const DescribedRun& run, const ParameterSum& sum) {
  const int64_t width = ExpertWidthFor(run.model, run.claims.parameters->value);
  const bool is_near = width == 0 || 2 * run.claims.parameters->value > double(sum.total);
  if (is_near) return "";
  return ", or experts about " + Text(width) + " wide (moe-ffn-hidden-size), if " +
         Text(run.model.dense.ffn_hidden_size) + " is the width of dense layers";
}

void ReviewParameters(const DescribedRun& run, Findings& findings) {
  if (!run.has_model) return;
  const std::optional<ParameterSum> sum = CountParameters(run.model);
  if (!sum) {
    findings.push_back({"the model has more than 9.2e18 parameters", "its sizes multiply to that",
                        "sizes of a model that can exist"});
    return;
  }
  const Claims& claims = run.claims;
  const auto total = static_cast<double>(sum->total), active = static_cast<double>(sum->active);
  if (claims.parameters && !Agrees(*claims.parameters, total)) {
    const bool mixture = run.model.experts.count > 0;
    findings.push_back(
        {"`claimed-parameters` " + AmountText(claims.parameters->value),
         "these sizes have " + Text(sum->total) +
             (mixture ? ": only feed-forward layers are there " + Text(run.model.experts.count) +
                            " times, attention and embedding once"
                      : ""),
         AmountText(total) + WidthAdvice(run, *sum)});
  }
  if (claims.active_parameters && !Agrees(*claims.active_parameters, active)) {
    findings.push_back(
        {"`claimed-active-parameters` " + AmountText(claims.active_parameters->value),
         "a token is computed with " + Text(sum->active), AmountText(active)});
  }
}

void ReviewAttention(const DescribedRun& run, Findings& findings) {
  if (!run.has_model || !run.has_latent_attention) return;
  if (run.model.latent.key_rank == 0) {
    findings.push_back(
        {"`multi-latent-attention` without its ranks",
         "without kv-lora-rank its parameters cannot be counted, and are counted as "
         "plain attention",
         "kv-lora-rank, q-lora-rank, qk-head-dim, qk-pos-emb-head-dim and v-head-dim "
         "(512, 1536, 128, 64 and 128 in DeepSeek-V3, arXiv 2412.19437)"});
  }
  if (run.has_query_groups) {
    findings.push_back({"`num-query-groups` " + Text(run.model.dense.num_query_groups) +
                            " with multi-head latent attention",
                        "latent attention computes keys and values of all heads from one vector",
                        "no num-query-groups"});
  }
}

std::string NearestDivisors(int64_t whole, int64_t part) {
  int64_t below = std::min(part, whole), above = part;
  while (whole % below != 0) --below;
  while (above <= whole && whole % above != 0) ++above;
  return Text(below) + (above <= whole ? " or " + Text(above) : "");
}

void ReviewStages(const DescribedRun& run, Findings& findings) {
  const int64_t layers = run.model.dense.num_layers, stages = run.layout.pipeline;
  if (layers == 0 || layers % stages == 0 || run.layout.uneven_pipeline) return;
  findings.push_back(
      {"`num-layers` " + Text(layers) + " with `pipeline-model-parallel-size` " + Text(stages),
       Text(layers) + " / " + Text(stages) + " = " + Rounded(double(layers) / double(stages)) +
           " layers per stage",
       "pipeline-model-parallel-size " + NearestDivisors(layers, stages) +
           ", or uneven stages, which trainyard-trainer supports"});
}

void ReviewExpertParallel(const DescribedRun& run, int64_t data, Findings& findings) {
  const DescribedLayout& layout = run.layout;
  if (layout.expert <= 1) return;
  const int64_t experts = run.model.experts.count;
  if (experts > 0 && experts % layout.expert != 0) {
    findings.push_back({"`expert-model-parallel-size` " + Text(layout.expert),
                        "it does not divide " + Text(experts) + " experts",
                        NearestDivisors(experts, layout.expert)});
  }
  const int64_t tensor = layout.expert_tensor > 0 ? layout.expert_tensor : layout.tensor;
  const int64_t ranks = layout.tensor * layout.context * data;  // Ranks of a stage.
  if (ranks % (layout.expert * tensor) == 0) return;
  const std::string what =
      "`expert-model-parallel-size` " + Text(layout.expert) + " on " + Text(layout.gpus) + " GPUs";
  const std::string why = "expert-parallel ranks are inside data parallelism, and DP is " +
                          Text(data) + ", less than " + Text(layout.expert);
  const bool folds = ranks % layout.expert == 0;
  findings.push_back(
      {what, why,
       folds ? "expert-tensor-parallel-size 1: experts then spread over TP x CP x DP = " +
                   Text(ranks) + " ranks"
             : "at most " + Text(data)});
}

void ReviewRanks(const DescribedRun& run, Findings& findings) {
  const DescribedLayout& layout = run.layout;
  if (layout.gpus == 0) return;
  const int64_t ranks = layout.tensor * layout.pipeline * layout.context;
  if (layout.gpus % ranks != 0) {
    findings.push_back({Text(layout.gpus) + " GPUs",
                        "not a multiple of TP x PP x CP = " + Text(ranks),
                        Text((layout.gpus / ranks + 1) * ranks) + " GPUs, or another layout"});
    return;
  }
  const int64_t data = layout.gpus / ranks;
  if (run.claims.data_parallel && std::abs(*run.claims.data_parallel - double(data)) > 1e-9) {
    findings.push_back(
        {"`claimed-data-parallel-size` " + Rounded(*run.claims.data_parallel),
         std::string("DP is GPUs / (TP x PP x CP)") +
             (layout.expert > 1 ? "; expert-parallel ranks are inside it and divide nothing" : ""),
         Text(data)});
  }
  ReviewExpertParallel(run, data, findings);
  const int64_t unit = run.batch.micro_batch * data;
  if (unit > 0 && run.batch.global_batch % unit != 0) {
    findings.push_back({"`global-batch-size` " + Text(run.batch.global_batch),
                        "not a multiple of micro-batch-size x DP = " + Text(unit),
                        Text((run.batch.global_batch / unit + 1) * unit)});
  }
}

// Setting names known to the reader of a finding.
struct SettingNames {
  std::string sequence_parallel;
  std::string tensor;
  std::string samples;
  std::string blend;
};

const SettingNames& MegatronNames() {
  static const SettingNames names = {"sequence-parallel", "tensor-model-parallel-size",
                                     "train-samples", "data-blend"};
  return names;
}

const SettingNames& JobNames() {
  static const SettingNames names = {"layout.sequence_parallel", "layout.tp", "train.samples",
                                     "data.blend"};
  return names;
}

void ReviewSequenceParallel(const DescribedRun& run, const SettingNames& names,
                            Findings& findings) {
  if (!run.layout.sequence_parallel || run.layout.tensor > 1) return;
  findings.push_back({"`" + names.sequence_parallel + "` at " + names.tensor + " 1",
                      "it splits norms over tensor-parallel ranks, and there is only one",
                      "remove it: it has no effect"});
}

// Returns true if the sample count can only be meant as tokens.
bool ReviewSamples(const DescribedBatch& batch, const SettingNames& names, Findings& findings) {
  const double tokens = TokensOf(batch);
  if (batch.samples == 0 || batch.seq_length == 0 || tokens <= kTooManyTokens) return false;
  findings.push_back({"`" + names.samples + "` " + Text(batch.samples),
                      "that many samples of " + Text(batch.seq_length) + " are " +
                          Scientific(tokens) + " tokens; it means " +
                          AmountText(double(batch.samples)) + " tokens",
                      names.samples + " " + Text(batch.samples / batch.seq_length)});
  return true;
}

void ReviewLength(const DescribedRun& run, Findings& findings) {
  const DescribedBatch& batch = run.batch;
  const double tokens = TokensOf(batch);
  if (ReviewSamples(batch, MegatronNames(), findings)) return;
  const std::optional<Amount>& claimed = run.claims.tokens;
  if (!claimed || tokens == 0 || Agrees(*claimed, tokens)) return;
  const double step = double(batch.global_batch) * double(batch.seq_length);
  findings.push_back(
      {"`claimed-tokens` " + AmountText(claimed->value),
       batch.steps > 0 ? Text(batch.steps) + " steps x " + Text(batch.global_batch) + " x " +
                             Text(batch.seq_length) + " are " + AmountText(tokens)
                       : "the settings make " + AmountText(tokens),
       batch.steps > 0 ? "train-iters " + Text(std::llround(claimed->value / step)) : ""});
}

void ReviewWarmup(const DescribedRun& run, Findings& findings) {
  const DescribedBatch& batch = run.batch;
  if (!run.claims.warmup_tokens || batch.warmup_samples == 0) return;
  const double tokens = double(batch.warmup_samples) * double(batch.seq_length);
  if (Agrees(*run.claims.warmup_tokens, tokens)) return;
  findings.push_back({"`claimed-warmup-tokens` " + AmountText(run.claims.warmup_tokens->value),
                      Text(batch.warmup_samples) + " samples x " + Text(batch.seq_length) +
                          " are " + AmountText(tokens),
                      "lr-warmup-samples " + Text(std::llround(run.claims.warmup_tokens->value /
                                                               double(batch.seq_length)))});
}

void ReviewBlend(const DescribedRun& run, const SettingNames& names, Findings& findings) {
  if (run.blend.empty()) return;
  const double sum = std::accumulate(run.blend.begin(), run.blend.end(), 0.0);
  if (std::abs(sum - 1) < 1e-6) return;
  findings.push_back({"`" + names.blend + "` of " + Text(int64_t(run.blend.size())) + " sets",
                      "the shares sum to " + Rounded(sum), "shares that sum to 1"});
}

void ReviewFlops(const DescribedRun& run, Findings& findings) {
  const double parameters = ActiveParameters(run), tokens = TokensOf(run.batch);
  if (parameters == 0 || tokens == 0) return;
  const double flops = 6 * parameters * tokens;
  const std::optional<Amount>& claimed = run.claims.flops;
  if (claimed && std::abs(claimed->value - flops) > 0.1 * flops) {
    findings.push_back(
        {"`claimed-flops` " + Rounded(claimed->value),
         "6 x " + AmountText(parameters) + " x " + AmountText(tokens) + " are " + Scientific(flops),
         Rounded(flops) + ", or " + AmountText(claimed->value / 6 / parameters) + " tokens"});
  }
  const std::optional<Amount>& loss = run.claims.loss;
  const double expected = LossOf(parameters, tokens);
  if (loss && std::abs(loss->value - expected) > std::max(loss->half_unit, 0.002)) {
    findings.push_back({"`claimed-loss` " + Rounded(loss->value),
                        "1.69 + 406.4 / N^0.34 + 410.7 / D^0.28 gives another", Rounded(expected)});
  }
}

// Checks ratio and agreement with C = 6 N D, at Chinchilla's own budget.
void ReviewLaw(const DescribedRun& run, Findings& findings) {
  const DescribedLaw& law = run.law;
  if (law.n == 0 || law.d == 0) return;
  const double flops = 6 * 70e9 * 1.4e12;
  const double parameters = law.n * std::pow(flops, law.n_exponent);
  const double tokens = law.d * std::pow(flops, law.d_exponent);
  const double ratio = tokens / parameters;
  const std::optional<double>& claimed = run.claims.tokens_per_parameter;
  if (claimed && std::abs(*claimed - ratio) > 0.1 * ratio) {
    findings.push_back({"`claimed-tokens-per-parameter` " + Rounded(*claimed),
                        "the coefficients give D / N = " + Rounded(ratio),
                        "about " + Rounded(ratio) + ", or other coefficients"});
  }
  const double made = 6 * parameters * tokens;
  if (std::abs(made - flops) > 0.1 * flops) {
    findings.push_back({"coefficients of N and D", "6 N D is " + Rounded(made / flops) + " times C",
                        "coefficients whose product is 1/6"});
  }
}

// Checks MFU by the document's own kind of count: 6 N per token.
void ReviewRates(const DescribedRun& run, Findings& findings) {
  const Claims& claims = run.claims;
  const double parameters = ActiveParameters(run);
  const double peak = claims.peak_flops * double(run.layout.gpus);
  if (claims.tokens_per_second && claims.mfu && peak > 0 && parameters > 0) {
    // The lower bound ignores attention, the upper bound counts all of it.
    const double six = 6 * parameters;
    const double most = run.has_model && run.batch.seq_length > 0
                            ? std::max(six, DescribedFlopsPerToken(run.model, run.batch.seq_length))
                            : six;
    const double low = claims.tokens_per_second->low * six / peak;
    const double high = claims.tokens_per_second->high * most / peak;
    if (!Overlaps(*claims.mfu, low, high)) {
      findings.push_back(
          {"`claimed-tokens-per-second` " + Rounded(claims.tokens_per_second->low) + "-" +
               Rounded(claims.tokens_per_second->high) + " with `claimed-mfu` " +
               Rounded(claims.mfu->low) + "-" + Rounded(claims.mfu->high),
           "that rate is an MFU of " + Rounded(low) + "-" + Rounded(high),
           Rounded(claims.mfu->low * peak / most) + "-" + Rounded(claims.mfu->high * peak / six) +
               " tokens/s, or the rate is of one GPU"});
    }
  }
  const double tokens = TokensOf(run.batch);
  if (!claims.hours || !claims.tokens_per_second || tokens == 0) return;
  const double low = tokens / claims.tokens_per_second->high / 3600;
  const double high = tokens / claims.tokens_per_second->low / 3600;
  if (Overlaps(*claims.hours, low, high)) return;
  findings.push_back(
      {"`claimed-hours` " + Rounded(claims.hours->low) + "-" + Rounded(claims.hours->high),
       AmountText(tokens) + " tokens at that rate take longer or shorter",
       Rounded(low) + "-" + Rounded(high) + " hours"});
}

// Weights of entries such as "0.67 /data/web", if they are meant as shares. A job file may use any
// unit; weights whose sum is nearly 1 are meant as shares. Empty if the sum is right or far from 1.
std::vector<double> SharesOf(const std::vector<std::string>& blend) {
  constexpr double kNearly = 0.2, kRounded = 0.002;
  std::vector<double> weights;
  double sum = 0;
  for (const std::string& entry : blend) {
    weights.push_back(std::strtod(entry.c_str(), nullptr));
    sum += weights.back();
  }
  const double gap = std::abs(sum - 1);
  if (gap > kNearly || gap <= kRounded) weights.clear();
  return weights;
}

}  // namespace

double TokensOf(const DescribedBatch& batch) {
  const auto length = static_cast<double>(batch.seq_length);
  if (batch.tokens > 0) return batch.tokens;
  if (batch.samples > 0) return static_cast<double>(batch.samples) * length;
  return static_cast<double>(batch.steps) * static_cast<double>(batch.global_batch) * length;
}

std::vector<Finding> ReviewRun(const DescribedRun& run) {
  std::vector<Finding> findings;
  ReviewParameters(run, findings);
  ReviewAttention(run, findings);
  ReviewStages(run, findings);
  ReviewRanks(run, findings);
  ReviewSequenceParallel(run, MegatronNames(), findings);
  ReviewLength(run, findings);
  ReviewWarmup(run, findings);
  ReviewBlend(run, MegatronNames(), findings);
  ReviewFlops(run, findings);
  ReviewLaw(run, findings);
  ReviewRates(run, findings);
  return findings;
}

std::vector<Finding> ReviewJob(const RunConfig& config, bool writes_sequence_parallel) {
  DescribedRun run;
  run.layout.tensor = config.layout.tp;
  run.layout.sequence_parallel = writes_sequence_parallel && config.layout.sequence_parallel;
  run.batch.seq_length = config.train.seq_length;
  run.batch.samples = config.train.samples;
  run.blend = SharesOf(config.data.blend);
  std::vector<Finding> findings;
  ReviewSequenceParallel(run, JobNames(), findings);
  ReviewSamples(run.batch, JobNames(), findings);
  ReviewBlend(run, JobNames(), findings);
  return findings;
}

}  // namespace trainyard::planner
