#include "cli/commands/checkpoint_tools.h"

#include <cstring>
#include <ostream>
#include <utility>

#include "absl/strings/str_cat.h"
#include "cli/process/replace_process.h"

namespace trainyard::cli {
namespace {

// Replaces this process by trainyard-ckpt, in the directory of this program. Returns only on
// failure.
Outcome RunCheckpointProgram(std::vector<std::string> words, Context& context) {
  // Earlier output of this process must come before that of the program.
  context.console.out->flush();
  words.insert(words.begin(), context.environment.program_directory + "/trainyard-ckpt");
  const int error = ReplaceProcess(words);
  return absl::NotFoundError(absl::StrCat(
      "cannot start ", words[0], ": ", std::strerror(error),
      "\nit comes with the trainer; install it beside trainyard, on a machine with LibTorch"));
}

// These commands have no other output format.
Outcome RefuseFormat(const char* formats) {
  return absl::InvalidArgumentError(absl::StrCat("this command takes -o ", formats, " only"));
}

}  // namespace

std::vector<std::string> VerifyWords(const CheckpointVerifyOptions& options) {
  std::vector<std::string> words = {"verify"};
  if (options.all) words.push_back("--all");
  words.insert(words.end(), {"--", options.directory});  // A path may begin with '-'.
  return words;
}

std::vector<std::string> DiffWords(const CheckpointDiffOptions& options, OutputFormat format) {
  std::vector<std::string> words = {"diff"};
  if (!options.tolerance.empty()) words.push_back("--tolerance=" + options.tolerance);
  if (!options.only.empty()) words.push_back("--only=" + options.only);
  if (options.all) words.push_back("--all");
  if (format == OutputFormat::kJson) words.push_back("--output=json");
  words.insert(words.end(), {"--", options.a, options.b});
  return words;
}

std::vector<std::string> ReshardWords(const CheckpointReshardOptions& options) {
  std::vector<std::string> words = {"reshard"};
  if (options.files > 0) words.push_back(absl::StrCat("--files=", options.files));
  if (options.weights_only) words.push_back("--weights-only");
  if (options.force) words.push_back("--force");
  words.insert(words.end(), {"--", options.from, options.to});
  return words;
}

std::vector<std::string> ImportWords(const CheckpointImportOptions& options) {
  std::vector<std::string> words = {"import"};
  if (options.force) words.push_back("--force");
  words.insert(words.end(), {"--", options.from, options.to});
  return words;
}

std::vector<std::string> ExportWords(const CheckpointExportOptions& options) {
  std::vector<std::string> words = {"export"};
  if (!options.dtype.empty()) words.push_back("--dtype=" + options.dtype);
  if (options.shard_bytes > 0) {
    words.push_back(absl::StrCat("--shard-bytes=", options.shard_bytes));
  }
  if (options.force) words.push_back("--force");
  words.insert(words.end(), {"--", options.from, options.to});
  return words;
}

Outcome RunCheckpointVerify(const CheckpointVerifyOptions& options, Context& context) {
  if (!IsTable(context.format)) return RefuseFormat("table");
  return RunCheckpointProgram(VerifyWords(options), context);
}

Outcome RunCheckpointDiff(const CheckpointDiffOptions& options, Context& context) {
  const bool is_known = IsTable(context.format) || context.format == OutputFormat::kJson;
  if (!is_known) return RefuseFormat("table or json");
  return RunCheckpointProgram(DiffWords(options, context.format), context);
}

Outcome RunCheckpointReshard(const CheckpointReshardOptions& options, Context& context) {
  if (!IsTable(context.format)) return RefuseFormat("table");
  return RunCheckpointProgram(ReshardWords(options), context);
}

Outcome RunCheckpointImport(const CheckpointImportOptions& options, Context& context) {
  if (!IsTable(context.format)) return RefuseFormat("table");
  return RunCheckpointProgram(ImportWords(options), context);
}

Outcome RunCheckpointExport(const CheckpointExportOptions& options, Context& context) {
  if (!IsTable(context.format)) return RefuseFormat("table");
  return RunCheckpointProgram(ExportWords(options), context);
}

}  // namespace trainyard::cli
