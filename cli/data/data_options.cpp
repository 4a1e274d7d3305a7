#include "cli/data/data_options.h"

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <cstdint>
#include <map>

#include "cli/data/shared_options.h"

namespace trainyard::cli {
namespace {

void AddValidationOptions(CLI::App& app, data::PrepareOptions* options) {
  CLI::Option* fraction =
      app.add_option("--val-fraction", options->val_fraction,
                     "fraction of the text held out for validation; whole documents, except for "
                     "long files of plain text")
          ->check(CLI::Range(0.0, 0.9))
          ->capture_default_str();
  app.add_option("--val", options->val,
                 "file or directory used for validation instead of a fraction, and never for "
                 "training; can be repeated")
      ->type_name("INPUT")
      ->check(NotEmpty)
      ->allow_extra_args(false)
      ->excludes(fraction);
}

}  // namespace

void AddPrepareOptions(CLI::App& app, data::PrepareOptions* options) {
  AddInputOptions(app, options);
  app.add_option("-o,--out", options->out, "directory to create")
      ->type_name("DIR")
      ->check(NotEmpty)
      ->required();
  app.add_option("--tokenizer", options->tokenizer,
                 "byte (256 bytes and an end token); gpt2; a directory or file: tokenizer.json, "
                 ".tiktoken, vocab.json with merges.txt, tokenizer.model; or a tokenizer that is "
                 "trained on this text: bpe (alias sentencepiece) or unigram")
      ->check(NotEmpty)
      ->capture_default_str();
  AddTokenizerOptions(app, &options->tokenizer_options);
  app.add_option("--vocab-size", options->vocab_size, "maximum vocabulary size of bpe and unigram")
      ->check(CLI::Range(512, 1 << 24))
      ->capture_default_str();
  AddValidationOptions(app, options);
  app.add_option("--format", options->format,
                 "format of the token files: trainyard, megatron, nanogpt or llmc")
      ->check(CLI::IsMember({"trainyard", "megatron", "nanogpt", "llmc"}))
      ->capture_default_str();
  app.add_flag("--force", options->force, "replace a data set at DIR");
}

std::vector<std::string> PrepareLine(const std::string& program,
                                     const data::PrepareOptions& options) {
  std::vector<std::string> line = {program,
                                   "prepare",
                                   "--out=" + options.out,
                                   "--tokenizer=" + options.tokenizer,
                                   "--vocab-size=" + std::to_string(options.vocab_size),
                                   "--format=" + options.format};
  if (options.val.empty()) {
    line.push_back("--val-fraction=" + ExactText(options.val_fraction));
  }
  for (const std::string& input : options.val) line.push_back("--val=" + input);
  AppendTokenizerOptions(options.tokenizer_options, &line);
  if (options.force) line.push_back("--force");
  AppendInputs(options, &line);
  return line;
}

void AddVerifyOptions(CLI::App& app, data::VerifyOptions* options) {
  app.add_option("dir", options->directory, "data set of `trainyard data prepare`")
      ->type_name("DIR")
      ->check(NotEmpty)
      ->required();
  app.add_flag("-q,--quiet", options->quiet, "show no progress");
}

std::vector<std::string> VerifyLine(const std::string& program,
                                    const data::VerifyOptions& options) {
  std::vector<std::string> line = {program, "verify"};
  if (options.quiet) line.push_back("--quiet");
  line.insert(line.end(), {"--", options.directory});
  return line;
}

void AddInspectOptions(CLI::App& app, data::InspectOptions* options) {
  AddReadOptions(app, options);
  app.add_option("-o,--output", options->output, "text or json")
      ->check(CLI::IsMember({"text", "json"}))
      ->capture_default_str();
}

std::vector<std::string> InspectLine(const std::string& program,
                                     const data::InspectOptions& options) {
  std::vector<std::string> line = {program, "inspect", "--output=" + options.output};
  AppendReadOptions(options, &line);
  return line;
}

void AddCountOptions(CLI::App& app, data::CountOptions* options) {
  AddInputOptions(app, options);
  app.add_option("--tokenizer", options->tokenizers,
                 "byte, gpt2, or a directory or file of a tokenizer; can be repeated")
      ->type_name("TOKENIZER")
      ->check(NotEmpty)
      ->allow_extra_args(false)
      ->required();
  AddTokenizerOptions(app, &options->tokenizer_options);
  app.add_option("-o,--output", options->output, "table or json")
      ->check(CLI::IsMember({"table", "json"}))
      ->capture_default_str();
}

std::vector<std::string> CountLine(const std::string& program, const data::CountOptions& options) {
  std::vector<std::string> line = {program, "count", "--output=" + options.output};
  for (const std::string& tokenizer : options.tokenizers) {
    line.push_back("--tokenizer=" + tokenizer);
  }
  AppendTokenizerOptions(options.tokenizer_options, &line);
  AppendInputs(options, &line);
  return line;
}

void AddTrainTokenizerOptions(CLI::App& app, data::TrainTokenizerOptions* options) {
  AddInputOptions(app, options);
  app.add_option("-o,--out", options->out, "tokenizer.json to create")
      ->type_name("FILE")
      ->check(NotEmpty)
      ->required();
  app.add_option("--vocab-size", options->vocab_size,
                 "maximum number of tokens, including bytes and special tokens")
      ->check(CLI::Range(257, 2'000'000))
      ->capture_default_str();
  app.add_option("--min-frequency", options->min_frequency,
                 "pairs that occur less often are not merged")
      ->check(CLI::Range(int64_t{0}, int64_t{1} << 60))
      ->capture_default_str();
  app.add_option("--special", options->special,
                 "special tokens, separated by commas; the first ids of the vocabulary")
      ->type_name("TOKENS")
      ->check(NotEmpty)
      ->capture_default_str();
  app.add_option("--unit", options->unit,
                 "text that is split into words separately: line (as Hugging Face trains on files) "
                 "or document (as it trains on iterators)")
      ->check(CLI::IsMember({"line", "document"}))
      ->capture_default_str();
  app.add_option("--memory-mib", options->memory_mib, "memory limit in MiB")
      ->check(CLI::Range(64, 1 << 24))
      ->capture_default_str();
  app.add_flag("--force", options->force, "replace FILE");
}

std::vector<std::string> TrainTokenizerLine(const std::string& program,
                                            const data::TrainTokenizerOptions& options) {
  std::vector<std::string> line = {program,
                                   "train-tokenizer",
                                   "--out=" + options.out,
                                   "--vocab-size=" + std::to_string(options.vocab_size),
                                   "--min-frequency=" + std::to_string(options.min_frequency),
                                   "--special=" + options.special,
                                   "--unit=" + options.unit,
                                   "--memory-mib=" + std::to_string(options.memory_mib)};
  if (options.force) line.push_back("--force");
  AppendInputs(options, &line);
  return line;
}

void AddMixOptions(CLI::App& app, data::MixOptions* options) {
  const auto add_tokens = [&app](const char* name, int64_t* value, const char* text) {
    app.add_option(name, *value, text)
        ->type_name("TOKENS")
        ->transform(CLI::AsNumberWithUnit(
            std::map<std::string, int64_t>{
                {"K", 1'000}, {"M", 1'000'000}, {"B", 1'000'000'000}, {"T", 1'000'000'000'000}},
            CLI::AsNumberWithUnit::CASE_SENSITIVE, "TOKENS"))
        ->check(CLI::Range(int64_t{1}, int64_t{1'000'000'000'000'000'000}));
  };
  app.add_option(
         "file", options->file,
         "YAML file with `blend` and optional `blend_stages`, as in section `data` of a job "
         "file; paths are relative to this file")
      ->type_name("MIX.yaml")
      ->check(NotEmpty)
      ->required();
  app.add_option("-o,--out", options->out, "directory to create")
      ->type_name("DIR")
      ->check(NotEmpty)
      ->required();
  add_tokens("--tokens", &options->tokens,
             "tokens of the run, such as 100B; prints how often each data set is read");
  add_tokens("--step-tokens", &options->step_tokens,
             "tokens of one step (train.global_batch * train.seq_length); required by --tokens if "
             "the file has `blend_stages`");
  app.add_flag("--force", options->force, "replace an earlier result at DIR");
}

std::vector<std::string> MixLine(const std::string& program, const data::MixOptions& options) {
  std::vector<std::string> line = {program, "mix", "--out=" + options.out};
  if (options.tokens > 0) line.push_back("--tokens=" + std::to_string(options.tokens));
  if (options.step_tokens > 0) {
    line.push_back("--step-tokens=" + std::to_string(options.step_tokens));
  }
  if (options.force) line.push_back("--force");
  line.insert(line.end(), {"--", options.file});
  return line;
}

void AddRunOptions(CLI::App& app, data::PipelineOptions* options) {
  app.add_option("pipeline", options->pipeline, "YAML file with inputs, out and steps")
      ->type_name("PIPELINE")
      ->check(NotEmpty)
      ->required();
  app.add_flag("-q,--quiet", options->quiet, "show no progress");
}

std::vector<std::string> RunLine(const std::string& program, const data::PipelineOptions& options) {
  std::vector<std::string> line = {program, "run"};
  if (options.quiet) line.push_back("--quiet");
  line.insert(line.end(), {"--", options.pipeline});
  return line;
}

}  // namespace trainyard::cli
