#include "cli/data/data_command.h"

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "cli/data/data_options.h"
#include "cli/process/replace_process.h"

namespace trainyard::cli {
namespace {

constexpr char kProgram[] = "trainyard-data";

// Returns the path of trainyard-data, which is installed next to the running program. If the path
// of the running program cannot be read, returns the bare file name.
std::string SiblingPath() {
  std::error_code error;
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", error);
  return error ? kProgram : (self.parent_path() / kProgram).string();
}

}  // namespace

std::vector<DataCommand> AddDataCommands(CLI::App& app, DataOptions* options) {
  CLI::App* prepare = app.add_subcommand(
      "prepare",
      "Convert text to train.bin and val.bin; train a tokenizer on the text if requested");
  AddPrepareOptions(*prepare, &options->prepare);
  CLI::App* count = app.add_subcommand("count", "Count the tokens of text with tokenizers");
  AddCountOptions(*count, &options->count);
  CLI::App* verify = app.add_subcommand(
      "verify", "Check the files, checksums and tokenizer of a data set of `data prepare`");
  AddVerifyOptions(*verify, &options->verify);
  CLI::App* inspect = app.add_subcommand(
      "inspect", "Show what text files contain: kinds, fields, bad lines, lengths, a sample");
  AddInspectOptions(*inspect, &options->inspect);
  CLI::App* train = app.add_subcommand("train-tokenizer",
                                       "Train a byte-level BPE tokenizer and write tokenizer.json");
  AddTrainTokenizerOptions(*train, &options->train_tokenizer);
  CLI::App* filter = app.add_subcommand(
      "filter", "Keep the documents that pass quality rules; continues an interrupted run");
  AddFilterOptions(*filter, &options->filter);
  CLI::App* dedup =
      app.add_subcommand("dedup", "Remove duplicate documents; continues an interrupted run");
  AddDedupOptions(*dedup, &options->dedup);
  CLI::App* decontaminate = app.add_subcommand(
      "decontaminate",
      "Remove documents that overlap evaluation sets; continues an interrupted run");
  AddDecontaminateOptions(*decontaminate, &options->decontaminate);
  CLI::App* report = app.add_subcommand(
      "report", "Show the steps that produced a data set: documents, reasons of drops, sources");
  AddReportOptions(*report, &options->report);
  CLI::App* show = app.add_subcommand(
      "show", "Show one document: text, source, why it was dropped, tokens of several tokenizers");
  AddShowOptions(*show, &options->show);
  CLI::App* mix = app.add_subcommand(
      "mix", "Check a blend of data sets by weights and write it as settings for a job file");
  AddMixOptions(*mix, &options->mix);
  CLI::App* run =
      app.add_subcommand("run", "Run all steps of a pipeline file; continues an interrupted run");
  AddRunOptions(*run, &options->run);
  return {
      {prepare,
       [options](const std::string& program) { return PrepareLine(program, options->prepare); }},
      {count, [options](const std::string& program) { return CountLine(program, options->count); }},
      {verify,
       [options](const std::string& program) { return VerifyLine(program, options->verify); }},
      {inspect,
       [options](const std::string& program) { return InspectLine(program, options->inspect); }},
      {train,
       [options](const std::string& program) {
         return TrainTokenizerLine(program, options->train_tokenizer);
       }},
      {filter,
       [options](const std::string& program) { return FilterLine(program, options->filter); }},
      {dedup, [options](const std::string& program) { return DedupLine(program, options->dedup); }},
      {decontaminate,
       [options](const std::string& program) {
         return DecontaminateLine(program, options->decontaminate);
       }},
      {report,
       [options](const std::string& program) { return ReportLine(program, options->report); }},
      {show, [options](const std::string& program) { return ShowLine(program, options->show); }},
      {mix, [options](const std::string& program) { return MixLine(program, options->mix); }},
      {run, [options](const std::string& program) { return RunLine(program, options->run); }}};
}

int RunDataCommand(const DataCommand& command) {
  const std::vector<std::string> line = command.line(SiblingPath());
  const int error = ReplaceProcess(line);
  std::fprintf(stderr, "error: cannot start %s: %s; install it beside trainyard\n", line[0].c_str(),
               std::strerror(error));
  return 1;
}

}  // namespace trainyard::cli
