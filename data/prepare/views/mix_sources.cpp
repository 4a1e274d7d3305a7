#include "data/prepare/views/mix_sources.h"

#include <filesystem>
#include <nlohmann/json.hpp>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "data/tokenizer/tokenizer_text.h"
#include "proto/contract/token_format.h"
#include "proto/support/status_macros.h"

namespace trainyard::data {
namespace {

namespace format = token_format;
using nlohmann::json;

std::string FieldText(const json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

absl::Status CheckSizes(const std::string& directory, const SplitDescription& split) {
  for (const TokenFileFacts& file : split.files) {
    const std::string path = directory + "/" + file.name;
    std::error_code error;
    const auto bytes = static_cast<int64_t>(std::filesystem::file_size(path, error));
    if (!error && bytes == file.bytes) continue;
    return absl::DataLossError(
        absl::StrCat(path,
                     error ? ": cannot be read: " + error.message()
                           : absl::StrCat(": has ", bytes, " bytes instead of ", file.bytes),
                     "; run `trainyard data verify ", directory, "`, or prepare the data again"));
  }
  return absl::OkStatus();
}

absl::Status ReadTokenizer(MixSource* source) {
  const std::string path = source->path + "/" + format::kTokenizerFile;
  TRAINYARD_ASSIGN_OR_RETURN(const std::string text, ReadTokenizerFile(path));
  const json object = json::parse(text, nullptr, /*allow_exceptions=*/false);
  const std::string kind = object.is_object() ? FieldText(object, format::kTokenizerKind) : "";
  if (kind.empty()) {
    return absl::DataLossError(
        path + ": does not describe a tokenizer; copy the file again, or prepare the data again");
  }
  // Older descriptions have only the kind. It is also the name of the tokenizers of that time.
  const std::string name = FieldText(object, format::kTokenizerName);
  source->tokenizer =
      absl::StrCat(name.empty() ? kind : name, " of ", source->train.vocab_size, " ids");
  source->fingerprint = FieldText(object, format::kTokenizerFingerprint);
  return absl::OkStatus();
}

absl::StatusOr<MixSource> Describe(const DataSource& named) {
  TRAINYARD_ASSIGN_OR_RETURN(DatasetDescription description, ReadDescription(named.path));
  MixSource source;
  source.name = named.name;
  source.path = named.path;
  source.format = description.format;
  for (SplitDescription& split : description.splits) {
    TRAINYARD_RETURN_IF_ERROR(CheckSizes(named.path, split));
    if (split.split == format::kValidationSplit) source.has_validation = split.tokens > 0;
    if (split.split == format::kTrainSplit) source.train = std::move(split);
  }
  if (source.train.tokens == 0) {
    return absl::InvalidArgumentError(named.path +
                                      ": the train split has no tokens; remove this data set");
  }
  TRAINYARD_RETURN_IF_ERROR(ReadTokenizer(&source));
  return source;
}

// Compares tokenizers by the trainer's rule: if both have fingerprints, only these count.
absl::Status CheckSameTokenizer(const MixSource& first, const MixSource& other) {
  const bool have_fingerprints = !first.fingerprint.empty() && !other.fingerprint.empty();
  const bool is_same = have_fingerprints ? first.fingerprint == other.fingerprint
                                         : first.tokenizer == other.tokenizer;
  if (is_same) return absl::OkStatus();
  const auto text = [](const MixSource& source) {
    return source.tokenizer +
           (source.fingerprint.empty() ? "" : ", fingerprint " + source.fingerprint);
  };
  return absl::InvalidArgumentError(absl::StrCat(
      other.path, " has another tokenizer (", text(other), ") than ", first.path, " (", text(first),
      "); remove one of the two data sets, or prepare both with the same tokenizer"));
}

// The trainer detects all formats except nanoGPT's, and data.format applies to all sources.
absl::Status CheckFormats(const MixSource& first, const MixSource& other) {
  const bool is_same = first.format == other.format;
  const bool is_detected =
      first.format != OutputFormat::kNanogpt && other.format != OutputFormat::kNanogpt;
  if (is_same || is_detected) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      other.path, " has the format ", NameOf(other.format), " and ", first.path, " the format ",
      NameOf(first.format),
      "; the trainer cannot detect the format of nanoGPT's files, so prepare all data sets in the "
      "same format"));
}

}  // namespace

absl::StatusOr<std::vector<MixSource>> DescribeSources(const std::vector<DataSource>& sources) {
  std::vector<MixSource> described;
  for (const DataSource& named : sources) {
    TRAINYARD_ASSIGN_OR_RETURN(MixSource source, Describe(named));
    described.push_back(std::move(source));
    TRAINYARD_RETURN_IF_ERROR(CheckSameTokenizer(described.front(), described.back()));
    TRAINYARD_RETURN_IF_ERROR(CheckFormats(described.front(), described.back()));
  }
  return described;
}

}  // namespace trainyard::data
