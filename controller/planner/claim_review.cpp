#include "controller/planner/claim_review.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>

#include "controller/planner/figures.h"
#include "controller/planner/run_review.h"
#include "controller/planner/scaling_law.h"
#include "proto/model/model_size.h"

namespace trainyard::planner {
namespace {

using Findings = std::vector<Finding>;

// The relative deviation that a claimed figure may have in addition to its rounding error.
constexpr double kTolerance = 0.02;

std::string CountText(int64_t value) { return std::to_string(value); }

std::string Rounded(double value) { return FigureText(value, 4); }

bool Agrees(const Amount& claimed, double value) {
  return std::abs(claimed.value - value) <= std::max(claimed.half_unit, kTolerance * value);
}

bool Overlaps(const Range& claimed, double low, double high) {
  return claimed.low <= high * (1 + kTolerance) && claimed.high >= low * (1 - kTolerance);
}

double DevicesOf(const RunConfig& config) {
  return static_cast<double>(config.resources.nodes * config.resources.slots_per_node);
}

double ActiveParameters(const RunConfig& config) {
  return static_cast<double>(ActiveParameterCount(config.model));
}

std::string WidthAdvice(const ModelConfig& model, double claimed, double total) {
  const int64_t width = ExpertWidthFor(model, claimed);
  const bool is_near = width == 0 || 2 * claimed > total;
  if (is_near) return "";
  return ", or experts about " + CountText(width) + " wide (model.moe_ffn_hidden_size), if " +
         CountText(model.ffn_hidden_size) + " is the width of dense layers";
}

void ReviewParameters(const ModelConfig& model, const Claims& claims, Findings& findings) {
  const int64_t count = ParameterCount(model);
  const auto total = static_cast<double>(count);
  if (claims.parameters && !Agrees(*claims.parameters, total)) {
    findings.push_back(
        {"claimed parameters " + AmountText(claims.parameters->value),
         "a model of these sizes has " + CountText(count) +
             (HasExperts(model)
                  ? " parameters. Only feed-forward layers are repeated " +
                        CountText(model.num_experts) + " times; attention and embedding occur once"
                  : " parameters"),
         AmountText(total) + WidthAdvice(model, claims.parameters->value, total)});
  }
  const int64_t active = ActiveParameterCount(model);
  if (claims.active_parameters && !Agrees(*claims.active_parameters, static_cast<double>(active))) {
    findings.push_back({"claimed active parameters " + AmountText(claims.active_parameters->value),
                        CountText(active) + " parameters are active per token",
                        AmountText(static_cast<double>(active))});
  }
}

std::string NearestDivisors(int64_t whole, int64_t part) {
  int64_t below = std::min(part, whole), above = part;
  while (whole % below != 0) --below;
  while (above <= whole && whole % above != 0) ++above;
  return CountText(below) + (above <= whole ? " or " + CountText(above) : "");
}

void ReviewStages(const RunConfig& config, const Claims& claims, Findings& findings) {
  const int64_t layers = config.model.num_layers, stages = config.layout.pp;
  if (!claims.even_stages || layers % stages == 0) return;
  findings.push_back({"claimed even stages with `model.num_layers` " + CountText(layers) +
                          " and `layout.pp` " + CountText(stages),
                      CountText(layers) + " / " + CountText(stages) + " = " +
                          Rounded(double(layers) / double(stages)) + " layers per stage",
                      "layout.pp " + NearestDivisors(layers, stages) +
                          ", or uneven stages, which trainyard-trainer supports"});
}

void ReviewDataParallel(const RunConfig& config, const Claims& claims, Findings& findings) {
  const LayoutConfig& layout = config.layout;
  if (!claims.data_parallel || std::abs(*claims.data_parallel - double(layout.dp)) < 1e-9) return;
  findings.push_back({"claimed data-parallel size " + Rounded(*claims.data_parallel),
                      std::string("DP is GPUs / (TP x PP x CP)") +
                          (layout.ep > 1 ? "; expert-parallel ranks are part of the data-parallel "
                                           "ranks, so EP does not divide DP"
                                         : ""),
                      CountText(layout.dp)});
}

void ReviewLength(const TrainConfig& train, const Claims& claims, Findings& findings) {
  const double tokens = TokensOf(train);
  if (!claims.tokens || tokens == 0 || Agrees(*claims.tokens, tokens)) return;
  const double step = double(train.global_batch) * double(train.seq_length);
  const bool in_steps = train.tokens == 0 && train.samples == 0;
  findings.push_back(
      {"claimed tokens " + AmountText(claims.tokens->value),
       in_steps ? CountText(train.steps) + " steps x " + CountText(train.global_batch) + " x " +
                      CountText(train.seq_length) + " = " + AmountText(tokens) + " tokens"
                : "the settings give " + AmountText(tokens) + " tokens",
       in_steps ? "train.steps " + CountText(std::llround(claims.tokens->value / step)) : ""});
}

void ReviewWarmup(const RunConfig& config, const Claims& claims, Findings& findings) {
  const int64_t samples = config.schedule.warmup_samples, length = config.train.seq_length;
  if (!claims.warmup_tokens || samples == 0) return;
  const double tokens = double(samples) * double(length);
  if (Agrees(*claims.warmup_tokens, tokens)) return;
  findings.push_back({"claimed warm-up tokens " + AmountText(claims.warmup_tokens->value),
                      CountText(samples) + " samples x " + CountText(length) + " = " +
                          AmountText(tokens) + " tokens",
                      "schedule.warmup_samples " +
                          CountText(std::llround(claims.warmup_tokens->value / double(length)))});
}

void ReviewFlops(const RunConfig& config, const Claims& claims, Findings& findings) {
  const double parameters = ActiveParameters(config), tokens = TokensOf(config.train);
  const double flops = 6 * parameters * tokens;
  if (claims.flops && std::abs(claims.flops->value - flops) > 0.1 * flops) {
    findings.push_back(
        {"claimed FLOP " + Rounded(claims.flops->value),
         "6 x " + AmountText(parameters) + " x " + AmountText(tokens) + " = " +
             FigureText(flops, 2),
         Rounded(flops) + ", or " + AmountText(claims.flops->value / 6 / parameters) + " tokens"});
  }
  const double expected = LossOf(parameters, tokens);
  const std::optional<Amount>& loss = claims.loss;
  if (loss && std::abs(loss->value - expected) > std::max(loss->half_unit, 0.002)) {
    findings.push_back({"claimed loss " + Rounded(loss->value),
                        "1.69 + 406.4 / N^0.34 + 410.7 / D^0.28 gives a different loss",
                        Rounded(expected)});
  }
}

double ValueAt(const PowerLaw& law, double flops) {
  return law.coefficient * std::pow(flops, law.exponent);
}

// Checks two claims at Chinchilla's budget: the ratio of tokens to parameters, and whether N and D
// of the scaling law satisfy C = 6 N D.
void ReviewLaw(const Claims& claims, Findings& findings) {
  if (!claims.optimal_parameters || !claims.optimal_tokens) return;
  const double flops = 6 * 70e9 * 1.4e12;
  const double parameters = ValueAt(*claims.optimal_parameters, flops);
  const double tokens = ValueAt(*claims.optimal_tokens, flops);
  const double ratio = tokens / parameters;
  const std::optional<double>& claimed = claims.tokens_per_parameter;
  if (claimed && std::abs(*claimed - ratio) > 0.1 * ratio) {
    findings.push_back({"claimed: " + Rounded(*claimed) + " tokens per parameter",
                        "the coefficients give " + Rounded(ratio) + " tokens per parameter",
                        "claim about " + Rounded(ratio) + ", or state other coefficients"});
  }
  const double made = 6 * parameters * tokens;
  if (std::abs(made - flops) > 0.1 * flops) {
    findings.push_back({"claimed coefficients of N and D",
                        "6 N D is " + Rounded(made / flops) + " times C",
                        "coefficients whose product is 1/6"});
  }
}

// Checks that the claimed MFU follows from the claimed tokens per second. Counts 6 N operations per
// token, as documents do.
void ReviewRates(const RunConfig& config, const Claims& claims, Findings& findings) {
  const double peak = claims.peak_flops * DevicesOf(config);
  if (!claims.tokens_per_second || !claims.mfu || peak == 0) return;
  // The lowest MFU counts no attention operations. The highest MFU counts all of them.
  const double six = 6 * ActiveParameters(config);
  const double most = std::max(six, TrainingFlopsPerToken(config.model, config.train.seq_length));
  const Range& rate = *claims.tokens_per_second;
  const double low = rate.low * six / peak, high = rate.high * most / peak;
  if (Overlaps(*claims.mfu, low, high)) return;
  findings.push_back(
      {"claimed tokens per second " + Rounded(rate.low) + "-" + Rounded(rate.high) +
           " with claimed MFU " + Rounded(claims.mfu->low) + "-" + Rounded(claims.mfu->high),
       "that rate corresponds to an MFU of " + Rounded(low) + "-" + Rounded(high),
       Rounded(claims.mfu->low * peak / most) + "-" + Rounded(claims.mfu->high * peak / six) +
           " tokens/s, unless the claimed rate is that of one GPU"});
}

void ReviewHours(const RunConfig& config, const Claims& claims, Findings& findings) {
  const double tokens = TokensOf(config.train);
  if (!claims.hours || !claims.tokens_per_second || tokens == 0) return;
  const double low = tokens / claims.tokens_per_second->high / 3600;
  const double high = tokens / claims.tokens_per_second->low / 3600;
  if (Overlaps(*claims.hours, low, high)) return;
  findings.push_back(
      {"claimed hours " + Rounded(claims.hours->low) + "-" + Rounded(claims.hours->high),
       AmountText(tokens) + " tokens take a different time at the claimed rate",
       Rounded(low) + "-" + Rounded(high) + " hours"});
}

}  // namespace

std::vector<Finding> ReviewClaims(const RunConfig& config, const Claims& claims) {
  std::vector<Finding> findings;
  ReviewParameters(config.model, claims, findings);
  ReviewStages(config, claims, findings);
  ReviewDataParallel(config, claims, findings);
  ReviewLength(config.train, claims, findings);
  ReviewWarmup(config, claims, findings);
  ReviewFlops(config, claims, findings);
  ReviewLaw(claims, findings);
  ReviewRates(config, claims, findings);
  ReviewHours(config, claims, findings);
  return findings;
}

}  // namespace trainyard::planner
