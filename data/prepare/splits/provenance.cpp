#include "data/prepare/splits/provenance.h"

#include <nlohmann/json.hpp>
#include <vector>

#include "data/stages/input_sources.h"
#include "data/tokenizer/fingerprint.h"
#include "data/tokens/output_file.h"
#include "data/tokens/provenance_file.h"

namespace trainyard::data {
namespace {

using nlohmann::ordered_json;

ordered_json PrepareSettingsJson(const PrepareOptions& options) {
  ordered_json settings = {{"tokenizer", options.tokenizer},
                           {"special_text", options.tokenizer_options.special_text},
                           {"format", options.format},
                           {"field", options.field},
                           {"utf8", options.utf8}};
  if (options.val.empty()) settings["val_fraction"] = options.val_fraction;
  return settings;
}

ordered_json SplitTotalsJson(const SplitTotals& totals) {
  return {{"documents", totals.documents},
          {"tokens", totals.tokens},
          {"bytes", totals.source_bytes},
          {"unigram_entropy", totals.unigram_entropy}};
}

// Lists the first directories, and adds up the others in an entry without a directory.
ordered_json SourceTotalsJson(const std::vector<SourceTotals>& sources) {
  ordered_json list = ordered_json::array();
  SourceTotals others;
  for (size_t i = 0; i < sources.size(); ++i) {
    const SourceTotals& source = sources[i];
    if (i < kSourcesListed) {
      list.push_back({{"directory", source.directory},
                      {"documents", source.documents},
                      {"bytes", source.bytes},
                      {"tokens", source.tokens}});
      continue;
    }
    others.documents += source.documents;
    others.bytes += source.bytes;
    others.tokens += source.tokens;
  }
  if (sources.size() > kSourcesListed) {
    list.push_back(
        {{"documents", others.documents}, {"bytes", others.bytes}, {"tokens", others.tokens}});
  }
  return list;
}

ordered_json InputsJson(const std::vector<InputFile>& files) {
  return SourcesJson(SourcesOf(files));
}

std::string WorkingDirectoryOf(const SplitJobs& jobs) {
  std::string directory = WorkingDirectoryFor(jobs.train.files);
  if (directory.empty() && jobs.val) directory = WorkingDirectoryFor(jobs.val->files);
  return directory;
}

}  // namespace

absl::Status WriteProvenance(const PrepareOptions& options, const SplitJobs& jobs,
                             const Tokenizer& tokenizer, const SplitsResult& splits,
                             const std::string& directory) {
  ordered_json json = {{"format", kProvenanceFormat},
                       {"version", kProvenanceVersion},
                       {"command", "prepare"},
                       {"settings", PrepareSettingsJson(options)},
                       {"tokenizer",
                        {{"name", tokenizer.name()},
                         {"vocab_size", tokenizer.vocab_size()},
                         {"fingerprint", FingerprintText(tokenizer.fingerprint())}}},
                       {"working_directory", WorkingDirectoryOf(jobs)},
                       {"inputs", InputsJson(jobs.train.files)}};
  if (jobs.val) json["val_inputs"] = InputsJson(jobs.val->files);
  json["bad_lines"] = splits.lines.bad();
  json["repaired"] = splits.lines.repaired();
  json["special_documents"] = splits.special_documents;
  if (!splits.sources.empty()) json["sources"] = SourceTotalsJson(splits.sources);
  json["splits"] = {{"train", SplitTotalsJson(splits.train)}, {"val", SplitTotalsJson(splits.val)}};
  // A path need not be UTF-8.
  return WriteWholeFile(directory + "/" + kProvenanceFile,
                        json.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n");
}

}  // namespace trainyard::data
