// Options of the program that `trainyard documents` starts.
#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>
#include <charconv>
#include <string>
#include <string_view>
#include <vector>

#include "cli/data/data_options.h"
#include "cli/data/shared_options.h"

namespace trainyard::cli {
namespace {

// Calls visit(number) for each member of the sample, in the order of its text.
template <typename Sample, typename Visit>
void VisitNumbers(Sample& sample, Visit&& visit) {
  visit(sample.index);
  visit(sample.number);
  visit(sample.position);
  visit(sample.data_index);
  visit(sample.source);
  visit(sample.place_index);
}

// The numbers of the sample, separated by colons.
std::string TextOf(const data::StepSample& sample) {
  std::string text;
  VisitNumbers(sample,
               [&](int64_t number) { text += (text.empty() ? "" : ":") + std::to_string(number); });
  return text;
}

data::StepSample SampleOf(const std::string& text) {
  data::StepSample sample;
  std::string_view rest = text;
  bool is_valid = true;
  VisitNumbers(sample, [&](int64_t& number) {
    const std::string_view part = rest.substr(0, rest.find(':'));
    const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), number);
    is_valid = is_valid && error == std::errc() && end == part.data() + part.size() && number >= 0;
    rest.remove_prefix(std::min(part.size() + 1, rest.size()));
  });
  if (is_valid && rest.empty()) return sample;
  throw CLI::ValidationError("--sample", "\"" + text + "\" is not six numbers");
}

}  // namespace

void AddStepOptions(CLI::App& app, data::StepDocumentsOptions* options) {
  app.add_option("--job", options->job)->check(NotEmpty)->required();
  app.add_option("--step", options->step)->required();
  app.add_option("--batch", options->batch)->required();
  app.add_option("--seq-length", options->seq_length)
      ->check(CLI::Range(int64_t{1}, int64_t{1} << 40))
      ->required();
  app.add_option("--seed", options->seed)->required();
  app.add_option("--source", options->sources)
      ->check(NotEmpty)
      ->allow_extra_args(false)
      ->required();
  app.add_option_function<std::vector<std::string>>(
         "--sample",
         [options](const std::vector<std::string>& texts) {
           for (const std::string& text : texts) options->samples.push_back(SampleOf(text));
         })
      ->allow_extra_args(false)
      ->required();
  app.add_option("--trained-ms", options->trained_ms);
  app.add_flag("--accept-changed", options->accepts_changed);
  app.add_option("--max-bytes", options->max_bytes)->check(CLI::Range(1, 1 << 28));
  app.add_option("-o,--output", options->output)->check(CLI::IsMember({"text", "json"}));
}

std::vector<std::string> StepLine(const std::string& program,
                                  const data::StepDocumentsOptions& options) {
  std::vector<std::string> line = {program,
                                   kStepCommand,
                                   "--job=" + options.job,
                                   "--step=" + std::to_string(options.step),
                                   "--batch=" + std::to_string(options.batch),
                                   "--seq-length=" + std::to_string(options.seq_length),
                                   "--seed=" + std::to_string(options.seed),
                                   "--trained-ms=" + std::to_string(options.trained_ms),
                                   "--max-bytes=" + std::to_string(options.max_bytes),
                                   "--output=" + options.output};
  if (options.accepts_changed) line.push_back("--accept-changed");
  for (const std::string& source : options.sources) line.push_back("--source=" + source);
  for (const data::StepSample& sample : options.samples) {
    line.push_back("--sample=" + TextOf(sample));
  }
  return line;
}

}  // namespace trainyard::cli
