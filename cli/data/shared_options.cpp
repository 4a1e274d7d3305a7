#include "cli/data/shared_options.h"

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <cstdio>

namespace trainyard::cli {

std::string NotEmpty(const std::string& value) {
  return value.empty() ? "must not be empty; check for an unset shell variable" : "";
}

std::string ExactText(double value) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.17g", value);
  return text;
}

void AddReadOptions(CLI::App& app, data::InputOptions* options) {
  app.add_option(
         "inputs", options->inputs,
         "files or directories: .txt, .md, .pod, .parquet or .jsonl (one object with text per "
         "line); all but .parquet also compressed (.gz, .zst)")
      ->type_name("INPUT")
      ->required();
  app.add_option("--field", options->field,
                 "name of the field or column that contains the text in .jsonl and .parquet files")
      ->check(NotEmpty)
      ->capture_default_str();
  app.add_option("--utf8", options->utf8,
                 "invalid UTF-8: strict (an error in plain text, a bad line in .jsonl files) or "
                 "replace (insert U+FFFD)")
      ->check(CLI::IsMember({"strict", "replace"}))
      ->capture_default_str();
  app.add_option("-j,--jobs", options->jobs, "number of threads; 0 means one per core")
      ->check(CLI::Range(0, 1024))
      ->capture_default_str();
  app.add_flag("-q,--quiet", options->quiet, "show no progress");
}

void AddInputOptions(CLI::App& app, data::InputOptions* options) {
  AddReadOptions(app, options);
  app.add_option(
         "--bad", options->bad,
         "bad lines in .jsonl files and bad rows in .parquet files: skip (omit them and list "
         "them in bad.jsonl) or stop")
      ->check(CLI::IsMember({"skip", "stop"}))
      ->capture_default_str();
  app.add_option("--bad-fraction", options->bad_fraction,
                 "maximum fraction of bad lines that --bad skip accepts")
      ->check(CLI::Range(0.0, 1.0))
      ->capture_default_str();
}

void AddTokenizerOptions(CLI::App& app, data::TokenizerOptions* options) {
  app.add_option("--special-text", options->special_text,
                 "special tokens in the text, such as <|endoftext|>: text (encode them like other "
                 "text) or id")
      ->check(CLI::IsMember({"text", "id"}))
      ->capture_default_str();
  app.add_option("--family", options->family,
                 "split rule for tokenizer files without one: gpt2, llama3, qwen3, cl100k or "
                 "deepseek3 (default: the rule of the family with this number of tokens)")
      ->check(NotEmpty);
  app.add_option("--end-of-document", options->end_of_document,
                 "text of the token that ends documents (default: that of the family)")
      ->check(NotEmpty);
}

void AppendReadOptions(const data::InputOptions& options, std::vector<std::string>* line) {
  line->insert(line->end(), {"--field=" + options.field, "--utf8=" + options.utf8,
                             "--jobs=" + std::to_string(options.jobs)});
  if (options.quiet) line->push_back("--quiet");
  line->push_back("--");
  line->insert(line->end(), options.inputs.begin(), options.inputs.end());
}

void AppendInputs(const data::InputOptions& options, std::vector<std::string>* line) {
  line->insert(line->end(),
               {"--bad=" + options.bad, "--bad-fraction=" + ExactText(options.bad_fraction)});
  AppendReadOptions(options, line);
}

void AppendTokenizerOptions(const data::TokenizerOptions& options, std::vector<std::string>* line) {
  line->push_back("--special-text=" + options.special_text);
  if (!options.family.empty()) line->push_back("--family=" + options.family);
  if (!options.end_of_document.empty()) {
    line->push_back("--end-of-document=" + options.end_of_document);
  }
}

void AddRunDirectory(CLI::App& app, std::string* directory) {
  app.add_option("-o,--out", *directory,
                 "directory to create; an interrupted run in it is continued")
      ->type_name("DIR")
      ->check(NotEmpty)
      ->required();
}

}  // namespace trainyard::cli
