#include "cli/data/data_command.h"

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>
#include <system_error>

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

// Rejects an empty value, because in trainyard-data CLI11 would take the argument after `--out=` as
// the value.
std::string NotEmpty(const std::string& value) {
  return value.empty() ? "must not be empty; check for an unset shell variable" : "";
}

// Returns a text that reproduces the same double exactly, which 17 digits do.
std::string ExactText(double value) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.17g", value);
  return text;
}

}  // namespace

void AddPrepareOptions(CLI::App& app, data::PrepareOptions* options) {
  app.add_option("inputs", options->inputs,
                 "files or directories: .txt, .md, .pod or .jsonl (one object with text per line), "
                 "also compressed (.gz, .zst)")
      ->type_name("INPUT")
      ->required();
  app.add_option("-o,--out", options->out, "directory to create")
      ->type_name("DIR")
      ->check(NotEmpty)
      ->required();
  app.add_option("--tokenizer", options->tokenizer,
                 "byte (256 bytes and an end token), or a tokenizer that is trained on this text: "
                 "bpe (alias sentencepiece) or unigram")
      ->check(CLI::IsMember({"byte", "sentencepiece", "bpe", "unigram"}))
      ->capture_default_str();
  app.add_option("--vocab-size", options->vocab_size, "maximum vocabulary size of bpe and unigram")
      ->check(CLI::Range(512, 1 << 24))
      ->capture_default_str();
  app.add_option("--val-fraction", options->val_fraction,
                 "fraction of the text held out for validation")
      ->check(CLI::Range(0.0, 0.9))
      ->capture_default_str();
  app.add_option("--field", options->field,
                 "name of the field that contains the text in .jsonl files")
      ->check(NotEmpty)
      ->capture_default_str();
  app.add_option("--utf8", options->utf8,
                 "invalid UTF-8: strict (an error in plain text, a bad line in .jsonl files) or "
                 "replace (insert U+FFFD)")
      ->check(CLI::IsMember({"strict", "replace"}))
      ->capture_default_str();
  app.add_option("--bad", options->bad,
                 "bad lines in .jsonl files: skip (omit them and list them in bad.jsonl) or stop")
      ->check(CLI::IsMember({"skip", "stop"}))
      ->capture_default_str();
  app.add_option("--bad-fraction", options->bad_fraction,
                 "maximum fraction of bad lines that --bad skip accepts")
      ->check(CLI::Range(0.0, 1.0))
      ->capture_default_str();
  app.add_option("-j,--jobs", options->jobs, "number of threads; 0 means one per core")
      ->check(CLI::Range(0, 1024))
      ->capture_default_str();
  app.add_flag("--force", options->force, "replace a data set at DIR");
  app.add_flag("-q,--quiet", options->quiet, "show no progress");
}

std::vector<std::string> PrepareCommandLine(const std::string& program,
                                            const data::PrepareOptions& options) {
  std::vector<std::string> line = {program,
                                   "--out=" + options.out,
                                   "--tokenizer=" + options.tokenizer,
                                   "--vocab-size=" + std::to_string(options.vocab_size),
                                   "--val-fraction=" + ExactText(options.val_fraction),
                                   "--field=" + options.field,
                                   "--utf8=" + options.utf8,
                                   "--bad=" + options.bad,
                                   "--bad-fraction=" + ExactText(options.bad_fraction),
                                   "--jobs=" + std::to_string(options.jobs)};
  if (options.force) line.push_back("--force");
  if (options.quiet) line.push_back("--quiet");
  // Ends the options, so that an input that begins with '-' is not read as an option.
  line.push_back("--");
  line.insert(line.end(), options.inputs.begin(), options.inputs.end());
  return line;
}

int RunDataPrepare(const data::PrepareOptions& options) {
  const std::vector<std::string> line = PrepareCommandLine(SiblingPath(), options);
  const int error = ReplaceProcess(line);
  std::fprintf(stderr, "error: cannot start %s: %s; install it beside trainyard\n", line[0].c_str(),
               std::strerror(error));
  return 1;
}

CLI::App* AddDataCommands(CLI::App& app, data::PrepareOptions* options) {
  CLI::App* data = app.add_subcommand("data", "Prepare text for training");
  data->require_subcommand(1);
  CLI::App* prepare = data->add_subcommand(
      "prepare",
      "Convert text to train.bin and val.bin; train a tokenizer on the text if requested");
  AddPrepareOptions(*prepare, options);
  return prepare;
}

}  // namespace trainyard::cli
