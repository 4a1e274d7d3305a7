#include "data/tokens/dataset_description.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>
#include <system_error>
#include <utility>

#include "data/tokens/output_file.h"
#include "data/tokens/source_format.h"
#include "data/tokens/token_packer.h"
#include "proto/contract/token_format.h"
#include "proto/support/status_macros.h"

namespace trainyard::data {
namespace {

namespace format = token_format;
using nlohmann::json;
using nlohmann::ordered_json;

constexpr char kDatasetFormat[] = "trainyard-dataset";
constexpr int64_t kDatasetVersion = 1;
constexpr int64_t kDescriptionBytesMax = int64_t{64} << 20;
constexpr int64_t kDeclaredMax = std::numeric_limits<int64_t>::max() / 8;
constexpr char kCopyOrPrepareAgain[] = "; copy the file again, or prepare the data again";

ordered_json SplitJson(const SplitTotals& totals) {
  ordered_json files = ordered_json::array();
  for (const TokenFileFacts& file : totals.files) {
    ordered_json facts = {{"name", file.name}, {"bytes", file.bytes}};
    if (file.token_from >= 0) facts["token_from"] = file.token_from;
    facts[format::kChecksum] = file.xxh64;
    files.push_back(std::move(facts));
  }
  return {{format::kTokens, totals.tokens},
          {format::kDocuments, totals.documents},
          {format::kSourceBytes, totals.source_bytes},
          {format::kUnigramEntropy, totals.unigram_entropy},
          {"files", std::move(files)}};
}

// The dictionary {"vocab_size": N} in protocol 0 of Python's pickle, byte for byte as Python writes
// it.
std::string MetaPickle(int64_t vocab_size) {
  return "(dp0\nVvocab_size\np1\nI" + std::to_string(vocab_size) + "\ns.";
}

absl::Status Damaged(const std::string& path, const std::string& what) {
  return absl::DataLossError(path + ": " + what + kCopyOrPrepareAgain);
}

absl::StatusOr<json> ReadObject(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in)
    return absl::NotFoundError(path + ": cannot open: " + std::strerror(errno) +
                               kCopyOrPrepareAgain);
  std::error_code error;
  const auto bytes = std::filesystem::file_size(path, error);
  if (error || bytes > static_cast<uintmax_t>(kDescriptionBytesMax)) {
    return Damaged(path, "is not a description of a data set");
  }
  std::ostringstream text;
  text << in.rdbuf();
  json object = json::parse(text.str(), nullptr, /*allow_exceptions=*/false);
  if (!object.is_object()) return Damaged(path, "is not a JSON object");
  return object;
}

// Reads the fields of one JSON object. After the first error, all fields are 0 or empty.
class Fields {
 public:
  Fields(const json& object, const std::string& path) : object_(object), path_(path) {}

  int64_t Integer(const char* key, int64_t max) {
    const auto found = object_.find(key);
    const bool is_number = found != object_.end() && found->is_number_integer() &&
                           found->get<double>() >= 0 &&
                           found->get<double>() <= static_cast<double>(max);
    if (is_number) return found->get<int64_t>();
    Refuse(std::string("\"") + key + "\" is not a whole number of the allowed size");
    return 0;
  }

  std::optional<uint32_t> Id(const char* key) {
    if (!object_.contains(key)) return std::nullopt;
    return static_cast<uint32_t>(Integer(key, std::numeric_limits<uint32_t>::max()));
  }

  std::string Text(const char* key) {
    const auto found = object_.find(key);
    if (found != object_.end() && found->is_string()) return found->get<std::string>();
    Refuse(std::string("\"") + key + "\" is not a text");
    return "";
  }

  void Refuse(const std::string& what) {
    if (status_.ok()) status_ = Damaged(path_, what);
  }

  const absl::Status& status() const { return status_; }

 private:
  const json& object_;
  const std::string& path_;
  absl::Status status_;
};

void ReadFormat(const char* name, int64_t version, Fields* fields) {
  if (fields->Text(format::kFormatKey) != name) {
    fields->Refuse(std::string("\"format\" is not \"") + name + "\"");
  }
  if (fields->Integer(format::kVersionKey, kDeclaredMax) != version) {
    fields->Refuse("\"version\" is not " + std::to_string(version) + "; update this program");
  }
}

// Reads the facts that are the same for all splits.
SplitDescription ReadCommon(Fields* fields) {
  SplitDescription split;
  const std::string type = fields->Text(format::kTypeKey);
  if (type != format::kTwoBytes && type != format::kFourBytes) {
    fields->Refuse("\"dtype\" is neither \"uint16\" nor \"uint32\"");
  }
  split.bytes_per_token = type == format::kFourBytes ? 4 : 2;
  split.vocab_size =
      fields->Integer(format::kVocabSize, int64_t{std::numeric_limits<uint32_t>::max()});
  split.marks = {fields->Id(format::kBeginOfDocument), fields->Id(format::kEndOfDocument)};
  return split;
}

// Adds SPLIT.sources, which older data sets lack.
absl::Status AddSourceFile(const json& header, const std::string& path, SplitDescription* split) {
  const auto found = header.find(format::kSources);
  if (found == header.end()) return absl::OkStatus();
  Fields fields(*found, path);
  split->files.push_back({SourceFileName(split->split),
                          fields.Integer(format::kBytes, kDeclaredMax), -1,
                          fields.Text(format::kChecksum)});
  return fields.status();
}

absl::StatusOr<SplitDescription> ReadHeader(const std::string& directory, const char* name) {
  const std::string path = directory + "/" + name + ".json";
  TRAINYARD_ASSIGN_OR_RETURN(const json object, ReadObject(path));
  Fields fields(object, path);
  ReadFormat(format::kFormat, format::kVersion, &fields);
  SplitDescription split = ReadCommon(&fields);
  split.split = name;
  split.tokens = fields.Integer(format::kTokens, kDeclaredMax);
  split.documents = fields.Integer(format::kDocuments, kDeclaredMax);
  split.files = {{std::string(name) + ".bin", split.tokens * split.bytes_per_token, 0,
                  fields.Text(format::kChecksum)}};
  TRAINYARD_RETURN_IF_ERROR(fields.status());
  TRAINYARD_RETURN_IF_ERROR(AddSourceFile(object, path, &split));
  return split;
}

absl::StatusOr<TokenFileFacts> ReadFile(const json& object, const std::string& path) {
  Fields fields(object, path);
  TokenFileFacts file;
  file.name = fields.Text("name");
  if (file.name.find('/') != std::string::npos) fields.Refuse("a file is in another directory");
  file.bytes = fields.Integer("bytes", kDeclaredMax);
  file.token_from = object.contains("token_from") ? fields.Integer("token_from", file.bytes) : -1;
  file.xxh64 = fields.Text(format::kChecksum);
  TRAINYARD_RETURN_IF_ERROR(fields.status());
  return file;
}

absl::StatusOr<SplitDescription> ReadSplit(const json& object, SplitDescription split,
                                           const std::string& path) {
  Fields fields(object, path);
  split.tokens = fields.Integer(format::kTokens, kDeclaredMax);
  split.documents = fields.Integer(format::kDocuments, kDeclaredMax);
  TRAINYARD_RETURN_IF_ERROR(fields.status());
  const auto files = object.find("files");
  if (files == object.end() || !files->is_array()) return Damaged(path, "\"files\" is not a list");
  for (const json& entry : *files) {
    if (!entry.is_object()) return Damaged(path, "an entry of \"files\" is not an object");
    TRAINYARD_ASSIGN_OR_RETURN(TokenFileFacts file, ReadFile(entry, path));
    split.files.push_back(std::move(file));
  }
  return split;
}

absl::StatusOr<DatasetDescription> ReadDataset(const std::string& directory) {
  const std::string path = directory + "/" + kDatasetFile;
  TRAINYARD_ASSIGN_OR_RETURN(const json object, ReadObject(path));
  Fields fields(object, path);
  ReadFormat(kDatasetFormat, kDatasetVersion, &fields);
  const std::optional<OutputFormat> token_files = FindOutputFormat(fields.Text("token_files"));
  if (!token_files) fields.Refuse("\"token_files\" names no known format");
  const SplitDescription common = ReadCommon(&fields);
  TRAINYARD_RETURN_IF_ERROR(fields.status());
  DatasetDescription description = {*token_files, {}};
  const json splits = object.value("splits", json::object());
  for (const char* name : {format::kTrainSplit, format::kValidationSplit}) {
    if (!splits.contains(name) || !splits[name].is_object()) {
      return Damaged(path, std::string("has no split \"") + name + "\"");
    }
    TRAINYARD_ASSIGN_OR_RETURN(SplitDescription split, ReadSplit(splits[name], common, path));
    split.split = name;
    description.splits.push_back(std::move(split));
  }
  return description;
}

bool Exists(const std::string& path) {
  std::error_code error;
  return std::filesystem::exists(path, error);
}

// The directory has train.bin, but none of the descriptions that `data prepare` writes beside it.
absl::Status WrittenByAnother(const std::string& directory) {
  const bool has_index = Exists(directory + "/train.idx");
  return absl::NotFoundError(
      directory + ": has train.bin" + (has_index ? " and train.idx" : "") +
      " but no train.json, so another program than `trainyard data prepare` wrote it; this command "
      "needs train.json. The trainer reads such files without it: set data.path to this directory" +
      (has_index ? "" : ", and data.format to nanogpt if the files have no header"));
}

}  // namespace

absl::Status WriteDescription(const std::string& directory, OutputFormat output_format,
                              const Tokenizer& tokenizer, const SplitTotals& train,
                              const SplitTotals& val) {
  if (output_format == OutputFormat::kTrainyard) return absl::OkStatus();
  const DocumentMarks marks = MarksOf(output_format, tokenizer);
  const bool two_bytes = BytesPerToken(tokenizer.vocab_size()) == 2;
  ordered_json description = {
      {format::kFormatKey, kDatasetFormat},
      {format::kVersionKey, kDatasetVersion},
      {"token_files", NameOf(output_format)},
      {format::kTypeKey, two_bytes ? format::kTwoBytes : format::kFourBytes},
      {format::kVocabSize, tokenizer.vocab_size()}};
  if (marks.before) description[format::kBeginOfDocument] = *marks.before;
  if (marks.after) description[format::kEndOfDocument] = *marks.after;
  description["splits"] = {{format::kTrainSplit, SplitJson(train)},
                           {format::kValidationSplit, SplitJson(val)}};
  if (output_format == OutputFormat::kNanogpt) {
    TRAINYARD_RETURN_IF_ERROR(
        WriteWholeFile(directory + "/meta.pkl", MetaPickle(tokenizer.vocab_size())));
  }
  return WriteWholeFile(directory + "/" + kDatasetFile, description.dump(2) + "\n");
}

absl::StatusOr<DatasetDescription> ReadDescription(const std::string& directory) {
  if (Exists(directory + "/" + kDatasetFile)) return ReadDataset(directory);
  const bool has_description = Exists(directory + "/train.json") || Exists(directory + "/val.json");
  if (!has_description && Exists(directory + "/train.bin")) return WrittenByAnother(directory);
  DatasetDescription description;
  for (const char* name : {format::kTrainSplit, format::kValidationSplit}) {
    const std::string stem = directory + "/" + name;
    const bool is_there = Exists(stem + ".json") || Exists(stem + ".bin");
    if (!is_there && std::string_view(name) == format::kValidationSplit) continue;
    if (!is_there) {
      return absl::NotFoundError(directory +
                                 ": has neither train.json nor dataset.json, so it is no data set "
                                 "of `trainyard data prepare`; check the path");
    }
    TRAINYARD_ASSIGN_OR_RETURN(SplitDescription split, ReadHeader(directory, name));
    description.splits.push_back(std::move(split));
  }
  return description;
}

}  // namespace trainyard::data
