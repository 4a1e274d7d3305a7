#include "data/tokens/tokenizer_files.h"

#include <filesystem>
#include <nlohmann/json.hpp>
#include <system_error>
#include <vector>

#include "data/tokenizer/fingerprint.h"
#include "data/tokens/output_file.h"
#include "proto/contract/token_format.h"
#include "proto/files/durable_file.h"
#include "proto/support/status_macros.h"

namespace trainyard::data {
namespace {

namespace format = token_format;

absl::Status CannotWriteInto(const std::string& directory, const std::string& cause) {
  return absl::InternalError("cannot create " + directory + ": " + cause);
}

// Writes the files into directory/tokenizer, so that no name can clash with those of the data set.
absl::Status WriteFiles(const std::vector<TokenizerFile>& files, const std::string& directory,
                        nlohmann::ordered_json* description) {
  const std::string below = directory + "/tokenizer";
  std::error_code error;
  if (!std::filesystem::create_directory(below, error)) {
    return CannotWriteInto(below, error.message());
  }
  for (const TokenizerFile& file : files) {
    TRAINYARD_RETURN_IF_ERROR(WriteWholeFile(below + "/" + file.name, file.contents));
    (*description)[format::kTokenizerFiles].push_back("tokenizer/" + file.name);
  }
  const FileResult failed = SyncDirectory(below);
  return failed ? CannotWriteInto(below, failed->action) : absl::OkStatus();
}

}  // namespace

absl::Status WriteTokenizer(const Tokenizer& tokenizer, const std::string& special_text,
                            const std::string& directory) {
  nlohmann::ordered_json description = {
      {format::kTokenizerKind, tokenizer.kind()},
      {format::kTokenizerName, tokenizer.name()},
      {format::kVocabSize, tokenizer.vocab_size()},
      {format::kTokenizerFingerprint, FingerprintText(tokenizer.fingerprint())},
      {format::kEndOfDocument, tokenizer.end_of_document()}};
  if (tokenizer.begin_of_document()) {
    description[format::kBeginOfDocument] = *tokenizer.begin_of_document();
    description["begins_documents"] = tokenizer.begins_documents();
  }
  if (tokenizer.needs_safe_cuts()) description["special_text"] = special_text;
  const std::vector<TokenizerFile> files = tokenizer.files();
  if (tokenizer.kind() == "sentencepiece") {
    description[format::kTokenizerModel] = files[0].name;
    TRAINYARD_RETURN_IF_ERROR(WriteWholeFile(directory + "/" + files[0].name, files[0].contents));
  } else if (!files.empty()) {
    TRAINYARD_RETURN_IF_ERROR(WriteFiles(files, directory, &description));
  }
  return WriteWholeFile(directory + "/" + format::kTokenizerFile, description.dump(2) + "\n");
}

}  // namespace trainyard::data
