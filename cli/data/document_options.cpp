// Options of the commands that keep or drop documents, and of those that show what they did.
#include "cli/data/data_options.h"

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <cstdint>

#include "cli/data/shared_options.h"

namespace trainyard::cli {

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
         "minimum number of different runs that a dropped document shares with one evaluation "
         "document")
      ->check(CLI::Range(int64_t{1}, int64_t{1} << 40))
      ->capture_default_str();
  app.add_option("--min-share", options->min_share,
                 "minimum fraction of the runs of one evaluation document that a dropped document "
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
  app.add_flag("--texts", options->texts,
               "add the beginnings of dropped documents and duplicates to the JSON");
  app.add_option("--tokenizer", options->tokenizers,
                 "with --texts: byte, gpt2, or a directory or file of a tokenizer whose tokens are "
                 "added; can be repeated")
      ->type_name("TOKENIZER")
      ->check(NotEmpty)
      ->allow_extra_args(false);
}

std::vector<std::string> ReportLine(const std::string& program,
                                    const data::ReportOptions& options) {
  std::vector<std::string> line = {program, "report", "--output=" + options.output};
  if (options.texts) line.push_back("--texts");
  for (const std::string& tokenizer : options.tokenizers) {
    line.push_back("--tokenizer=" + tokenizer);
  }
  line.insert(line.end(), {"--", options.directory});
  return line;
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

}  // namespace trainyard::cli
