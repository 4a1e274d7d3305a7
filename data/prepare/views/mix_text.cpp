#include <algorithm>
#include <cmath>
#include <numeric>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "data/prepare/command/progress.h"
#include "data/prepare/views/mix.h"

namespace trainyard::data {
namespace {

int64_t SumOfShares(const BlendStage& stage) {
  return std::accumulate(stage.shares.begin(), stage.shares.end(), int64_t{0});
}

std::string PercentText(int64_t share, int64_t sum) {
  const double percent = 100 * static_cast<double>(share) / static_cast<double>(sum);
  return absl::StrFormat("%.4g %%", percent);
}

std::string TableText(const MixResult& result) {
  size_t width = 6;
  for (const MixSource& source : result.sources) width = std::max(width, source.name.size());
  const int columns = static_cast<int>(width);
  const bool has_uses = !result.uses.empty();
  std::string text =
      absl::StrFormat("%-*s %9s %18s %14s", columns, "SOURCE", "WEIGHT", "TOKENS", "DOCUMENTS");
  text += has_uses ? absl::StrFormat(" %18s %9s\n", "TOKENS USED", "EPOCHS") : "\n";
  const int64_t sum = SumOfShares(result.stages.front());
  for (size_t i = 0; i < result.sources.size(); ++i) {
    const MixSource& source = result.sources[i];
    text +=
        absl::StrFormat("%-*s %9s %18s %14s", columns, source.name,
                        PercentText(result.stages.front().shares[i], sum),
                        ReadableCount(source.train.tokens), ReadableCount(source.train.documents));
    text += has_uses ? absl::StrFormat(" %18s %9.2f\n",
                                       ReadableCount(std::llround(result.uses[i].tokens)),
                                       result.uses[i].passes)
                     : "\n";
  }
  return text;
}

std::string StageText(const MixResult& result, const BlendStage& stage) {
  std::string text;
  for (size_t i = 0; i < stage.shares.size(); ++i) {
    if (stage.shares[i] == 0) continue;
    absl::StrAppend(&text, text.empty() ? "" : ", ", result.sources[i].name, " ",
                    PercentText(stage.shares[i], SumOfShares(stage)));
  }
  return absl::StrCat("from step ", stage.first_step, ": ", text, "\n");
}

}  // namespace

std::string NormalizationText(const MixResult& result) {
  if (std::abs(result.weight_sum - 1) < 1e-9) return "";
  return absl::StrFormat("the weights sum to %.6g and are normalized to 1", result.weight_sum);
}

std::string MixText(const MixResult& result) {
  std::string text = NormalizationText(result);
  if (!text.empty()) text += "\n";
  text += TableText(result);
  for (size_t stage = 1; stage < result.stages.size(); ++stage) {
    text += StageText(result, result.stages[stage]);
  }
  absl::StrAppend(&text, "tokenizer: ", result.sources.front().tokenizer, "\n");
  for (const std::string& warning : result.warnings) {
    absl::StrAppend(&text, "warning: ", warning, "\n");
  }
  absl::StrAppend(&text, "wrote ", result.directory,
                  "/data.yaml; to train on the blend, extend this file in a job file\n");
  return text;
}

}  // namespace trainyard::data
