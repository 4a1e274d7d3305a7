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

// Adds a command with its options, which must outlive the result.
template <typename Options>
DataCommand Add(CLI::App* command, void (*add_options)(CLI::App&, Options*),
                std::vector<std::string> (*line)(const std::string&, const Options&),
                Options* options) {
  add_options(*command, options);
  return {command, [line, options](const std::string& program) { return line(program, *options); }};
}

// Returns 1 after printing a message, because it returns only on failure.
int Start(const std::vector<std::string>& line) {
  const int error = ReplaceProcess(line);
  std::fprintf(stderr, "error: cannot start %s: %s; install it in the directory of trainyard\n",
               line[0].c_str(), std::strerror(error));
  return 1;
}

}  // namespace

std::vector<DataCommand> AddDataCommands(CLI::App& app, DataOptions* options) {
  const auto command = [&app](const char* name, const char* text) {
    return app.add_subcommand(name, text);
  };
  return {
      Add(command("prepare",
                  "Convert text to train.bin and val.bin; train a tokenizer on the text if "
                  "requested")
              ->alias("tokenize"),
          AddPrepareOptions, PrepareLine, &options->prepare),
      Add(command("count", "Count the tokens of text with tokenizers"), AddCountOptions, CountLine,
          &options->count),
      Add(command("verify",
                  "Check the files, checksums and tokenizer of a data set of `data prepare`"),
          AddVerifyOptions, VerifyLine, &options->verify),
      Add(command("inspect",
                  "Show what text files contain: kinds, fields, bad lines, lengths, a sample"),
          AddInspectOptions, InspectLine, &options->inspect),
      Add(command("train-tokenizer", "Train a byte-level BPE tokenizer and write tokenizer.json"),
          AddTrainTokenizerOptions, TrainTokenizerLine, &options->train_tokenizer),
      Add(command("filter",
                  "Keep the documents that pass quality rules; continues an interrupted run"),
          AddFilterOptions, FilterLine, &options->filter),
      Add(command("dedup", "Remove duplicate documents; continues an interrupted run"),
          AddDedupOptions, DedupLine, &options->dedup),
      Add(command("decontaminate",
                  "Remove documents that overlap evaluation sets; continues an interrupted run"),
          AddDecontaminateOptions, DecontaminateLine, &options->decontaminate),
      Add(command("report",
                  "Show the steps that produced a data set: documents, reasons of drops, sources"),
          AddReportOptions, ReportLine, &options->report),
      Add(command("show",
                  "Show one document: text, source, why it was dropped, tokens of several "
                  "tokenizers"),
          AddShowOptions, ShowLine, &options->show),
      Add(command("mix",
                  "Check a blend of data sets by weights and write it as settings for a job file"),
          AddMixOptions, MixLine, &options->mix),
      Add(command("run", "Run all steps of a pipeline file; continues an interrupted run"),
          AddRunOptions, RunLine, &options->run)};
}

int RunDataCommand(const DataCommand& command) { return Start(command.line(SiblingPath())); }

int RunStepDocuments(const data::StepDocumentsOptions& options) {
  return Start(StepLine(SiblingPath(), options));
}

}  // namespace trainyard::cli
