#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>

#include "absl/strings/str_format.h"
#include "data/pipeline/run_steps.h"
#include "data/pipeline/step_pass.h"
#include "data/prepare/views/mix.h"
#include "data/tokens/output_directory.h"
#include "proto/support/status_macros.h"

namespace trainyard::data {
namespace {

bool HasText(const std::string& path, const std::string& text) {
  std::ifstream file(path, std::ios::binary);
  return file && std::string{std::istreambuf_iterator<char>(file),
                             std::istreambuf_iterator<char>()} == text;
}

// "web 69.07 %, code 30.93 %", the weights of the first stage.
std::string WeightsText(const MixResult& result) {
  const std::vector<int64_t>& shares = result.stages.front().shares;
  double sum = 0;
  for (const int64_t share : shares) sum += static_cast<double>(share);
  std::string text;
  for (size_t i = 0; i < result.sources.size(); ++i) {
    text += absl::StrFormat("%s%s %.4g %%", i == 0 ? "" : ", ", result.sources[i].name,
                            100 * static_cast<double>(shares[i]) / sum);
  }
  return text;
}

}  // namespace

absl::StatusOr<std::string> RunMixStep(PassRunner* runner, const PipelineStep& step) {
  const RunContext& context = runner->context();
  const auto& mix = std::get<MixStep>(step.options);
  MixOptions options;
  options.out = DirectoryOf(context.pipeline, step);
  options.tokens = mix.tokens;
  options.step_tokens = mix.step_tokens;
  TRAINYARD_ASSIGN_OR_RETURN(const MixResult result, DescribeMix(mix.data, options));
  const MixFiles files = FilesOf(result);
  const bool is_complete = HasText(options.out + "/" + MixFiles::kJobFile, files.job_file) &&
                           HasText(options.out + "/" + kMixFile, files.mix);
  if (!is_complete) {
    std::error_code error;
    const bool replaces = std::filesystem::exists(options.out, error);
    if (replaces) PrintRestart(step.name, "its settings or data sets changed", context.progress);
    TRAINYARD_RETURN_IF_ERROR(WriteMix(files, options.out, replaces));
  }
  if (const std::string text = NormalizationText(result); !text.empty()) {
    context.progress->PrintLine(step.name + ": " + text);
  }
  for (const std::string& warning : result.warnings) {
    context.progress->PrintLine(step.name + ": warning: " + warning);
  }
  return SummaryLine(step, WeightsText(result) + "; " + options.out + "/" + MixFiles::kJobFile);
}

}  // namespace trainyard::data
