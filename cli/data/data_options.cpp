#include "cli/data/data_options.h"

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <cstdint>
#include <cstdio>
#include <map>

namespace trainyard::cli {
namespace {

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

// Options of commands that read text.
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
                 "gpt2, llama3, qwen3 or cl100k: the split rule of a tokenizer whose files have "
                 "none and whose size is unknown")
      ->check(NotEmpty);
  app.add_option("--end-of-document", options->end_of_document,
                 "text of the token that ends documents (default: that of the family)")
      ->check(NotEmpty);
}

// Appends the inputs behind the end of the options, so that an input that begins with '-' is not
// read as an option.
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

void AddRunDirectory(CLI::App& app, std::string* directory) {
  app.add_option("-o,--out", *directory,
                 "directory to create; an interrupted run in it is continued")
      ->type_name("DIR")
      ->check(NotEmpty)
      ->required();
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

void AddDecontaminateOptions(CLI::App& app, data::DecontaminateOptions* options) {
  AddInputOptions(app, options);
  AddRunDirectory(app, &options->out);
  app.add_option("--against", options->against,
                 "files or a directory of an evaluation set; can be repeated")
      ->type_name("INPUT")
      ->check(NotEmpty)
      ->allow_extra_args(false)
      ->required();
  app.add_option("--against-field", options->against_field,
                 "name of the field that contains the text in .jsonl files of evaluation sets "
                 "(default: --field)")
      ->check(NotEmpty);
  app.add_option("--ngram", options->ngram, "length of the compared runs, in words")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  app.add_option("--min-words", options->min_words,
                 "evaluation documents with fewer words are ignored")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  app.add_option(
         "--min-hits", options->min_hits,
         "least number of different runs that a dropped document shares with one evaluation "
         "document")
      ->check(CLI::Range(int64_t{1}, int64_t{1} << 40))
      ->capture_default_str();
  app.add_option("--min-share", options->min_share,
                 "least fraction of the runs of one evaluation document that a dropped document "
                 "contains")
      ->check(CLI::Range(0.0, 1.0))
      ->capture_default_str();
  app.add_option("--memory-mib", options->memory_mib,
                 "memory limit in MiB, half of which is for the evaluation sets")
      ->check(CLI::Range(192, 1 << 24))
      ->capture_default_str();
  app.add_flag("--force", options->force, "delete an earlier run in DIR");
}

std::vector<std::string> DecontaminateLine(const std::string& program,
                                           const data::DecontaminateOptions& options) {
  std::vector<std::string> line = {program,
                                   "decontaminate",
                                   "--out=" + options.out,
                                   "--ngram=" + std::to_string(options.ngram),
                                   "--min-words=" + std::to_string(options.min_words),
                                   "--min-hits=" + std::to_string(options.min_hits),
                                   "--min-share=" + ExactText(options.min_share),
                                   "--memory-mib=" + std::to_string(options.memory_mib)};
  for (const std::string& input : options.against) line.push_back("--against=" + input);
  if (!options.against_field.empty()) {
    line.push_back("--against-field=" + options.against_field);
  }
  if (options.force) line.push_back("--force");
  AppendInputs(options, &line);
  return line;
}

void AddReportOptions(CLI::App& app, data::ReportOptions* options) {
  app.add_option("dir", options->directory, "output of `trainyard data prepare`, filter or dedup")
      ->type_name("DIR")
      ->check(NotEmpty)
      ->required();
  app.add_option("-o,--output", options->output, "text or json")
      ->check(CLI::IsMember({"text", "json"}))
      ->capture_default_str();
}

std::vector<std::string> ReportLine(const std::string& program,
                                    const data::ReportOptions& options) {
  return {program, "report", "--output=" + options.output, "--", options.directory};
}

void AddShowOptions(CLI::App& app, data::ShowOptions* options) {
  app.add_option("dir", options->directory, "output of `trainyard data prepare`, filter or dedup")
      ->type_name("DIR")
      ->check(NotEmpty)
      ->required();
  app.add_option("document", options->document,
                 "N (from 1), dropped:N, or FILE:LINE of an input; in token files N, val:N, or "
                 "train@T for the document that contains token T")
      ->type_name("DOC")
      ->check(NotEmpty)
      ->required();
  app.add_option("--tokenizer", options->tokenizers,
                 "byte, gpt2, or a directory or file of a tokenizer whose tokens are shown; can be "
                 "repeated")
      ->type_name("TOKENIZER")
      ->check(NotEmpty)
      ->allow_extra_args(false);
  AddTokenizerOptions(app, &options->tokenizer_options);
  app.add_option("--max-bytes", options->max_bytes, "maximum number of bytes of text to show")
      ->check(CLI::Range(1, 1 << 28))
      ->capture_default_str();
  app.add_option("-o,--output", options->output, "text or json")
      ->check(CLI::IsMember({"text", "json"}))
      ->capture_default_str();
}

std::vector<std::string> ShowLine(const std::string& program, const data::ShowOptions& options) {
  std::vector<std::string> line = {program, "show", "--output=" + options.output,
                                   "--max-bytes=" + std::to_string(options.max_bytes)};
  for (const std::string& tokenizer : options.tokenizers) {
    line.push_back("--tokenizer=" + tokenizer);
  }
  AppendTokenizerOptions(options.tokenizer_options, &line);
  line.insert(line.end(), {"--", options.directory, options.document});
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
                 "text that is split into words on its own: line (each line with its line end, as "
                 "Hugging Face trains on files) or document")
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

void AddFilterOptions(CLI::App& app, data::FilterOptions* options) {
  AddInputOptions(app, options);
  AddRunDirectory(app, &options->out);
  app.add_option("--rules", options->rules,
                 "guide, gopher, c4, fineweb or another preset, several joined by commas, or a "
                 ".yaml file of rules")
      ->type_name("RULES")
      ->check(NotEmpty)
      ->required();
  app.add_option("--memory-mib", options->memory_mib,
                 "memory limit in MiB; fewer threads run below 96 MiB per thread")
      ->check(CLI::Range(96, 1 << 24))
      ->capture_default_str();
  app.add_flag("--force", options->force, "delete an earlier run in DIR");
}

std::vector<std::string> FilterLine(const std::string& program,
                                    const data::FilterOptions& options) {
  std::vector<std::string> line = {program, "filter", "--out=" + options.out,
                                   "--rules=" + options.rules,
                                   "--memory-mib=" + std::to_string(options.memory_mib)};
  if (options.force) line.push_back("--force");
  AppendInputs(options, &line);
  return line;
}

void AddDedupOptions(CLI::App& app, data::DedupOptions* options) {
  AddInputOptions(app, options);
  AddRunDirectory(app, &options->out);
  app.add_option("--preset", options->preset,
                 "near (verified near duplicates), exact (equal texts), or the parameters of "
                 "guide, fineweb or slimpajama")
      ->check(CLI::IsMember({"near", "guide", "fineweb", "slimpajama", "exact"}))
      ->capture_default_str();
  app.add_option("--threshold", options->threshold,
                 "lowest Jaccard similarity of duplicates; for --preset near (default: 0.8)")
      ->check(CLI::Range(0.0, 1.0));
  app.add_option("--keep", options->keep,
                 "greedy (drop documents like a kept one) or components (keep one of all connected "
                 "documents); default: that of the preset")
      ->check(CLI::IsMember({"greedy", "components"}));
  app.add_option("--against", options->against,
                 "files or a directory, such as validation data; documents like one of them are "
                 "dropped; can be repeated")
      ->type_name("INPUT")
      ->check(NotEmpty)
      ->allow_extra_args(false);
  app.add_option("--scratch", options->scratch,
                 "existing directory for scratch files (default: next to DIR)")
      ->type_name("DIR")
      ->check(NotEmpty);
  app.add_option("--memory-mib", options->memory_mib, "memory limit in MiB")
      ->check(CLI::Range(64, 1 << 24))
      ->capture_default_str();
  app.add_flag("--force", options->force, "delete an earlier run in DIR");
}

std::vector<std::string> DedupLine(const std::string& program, const data::DedupOptions& options) {
  std::vector<std::string> line = {program, "dedup", "--out=" + options.out,
                                   "--preset=" + options.preset,
                                   "--memory-mib=" + std::to_string(options.memory_mib)};
  if (options.threshold) line.push_back("--threshold=" + ExactText(*options.threshold));
  if (!options.keep.empty()) line.push_back("--keep=" + options.keep);
  for (const std::string& input : options.against) line.push_back("--against=" + input);
  if (!options.scratch.empty()) line.push_back("--scratch=" + options.scratch);
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
