// Writes one split of a data set: NAME.bin and NAME.json. trainer/data/README.md describes the
// format.
#ifndef TRAINYARD_DATA_TOKENS_TOKEN_WRITER_H_
#define TRAINYARD_DATA_TOKENS_TOKEN_WRITER_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "data/tokenizer/tokenizer.h"
#include "data/tokens/token_packer.h"
#include "proto/files/durable_file.h"

namespace trainyard::data {

// A file whose contents are on disk when Close returns. Errors name the file. The code is
// ResourceExhausted if the disk is full, and Internal for every other error, including an existing
// file.
class OutputFile {
 public:
  static absl::StatusOr<std::unique_ptr<OutputFile>> Create(const std::string& path);

  absl::Status Write(std::string_view bytes);
  absl::Status Close();

 private:
  explicit OutputFile(std::string path) : path_(std::move(path)) {}
  absl::Status ToStatus(const FileResult& result) const;

  const std::string path_;
  DurableFile file_;
};

// Writes and closes a new OutputFile.
absl::Status WriteWholeFile(const std::string& path, std::string_view text);

struct SplitTotals {
  int64_t tokens = 0;
  int64_t documents = 0;
  int64_t source_bytes = 0;
  double unigram_entropy = 0;  // nats per token
};

class TokenWriter {
 public:
  // Writes directory/<split>.bin.
  static absl::StatusOr<std::unique_ptr<TokenWriter>> Create(const std::string& directory,
                                                             const std::string& split,
                                                             const Tokenizer& tokenizer);
  ~TokenWriter();

  // Appends tokens that a TokenPacker for the same vocabulary has packed. `source_bytes`: the
  // number of bytes of text that the tokens encode.
  absl::Status Append(std::string_view packed, int64_t source_bytes);
  // Adds the begin-of-document token, if models of the tokenizer expect one.
  void BeginDocument();
  // Adds the end-of-document token.
  absl::Status EndDocument();
  // Adds the counts of a packer. The counts of all appended tokens must be added before Finish.
  void AddCounts(const std::vector<int64_t>& counts);
  // Writes <directory>/<split>.json. Append must not be called afterwards.
  absl::StatusOr<SplitTotals> Finish();

  int64_t tokens() const { return totals_.tokens; }

 private:
  struct Hash;
  TokenWriter(std::string stem, std::unique_ptr<OutputFile> file, const Tokenizer& tokenizer);
  absl::Status WriteOut(std::string_view packed);
  absl::Status Flush();
  double Entropy() const;

  const std::string stem_;  // path without .bin
  const std::unique_ptr<OutputFile> file_;
  const int64_t vocab_size_;
  const std::optional<uint32_t> begin_of_document_;  // if it is written
  const uint32_t end_of_document_;
  const int bytes_per_token_;
  const std::unique_ptr<Hash> hash_;
  TokenPacker document_packer_;  // packs the begins and ends of documents
  std::string buffer_;
  std::vector<int64_t> counts_;  // of each id, without the begins and ends of documents
  SplitTotals totals_;
};

}  // namespace trainyard::data

#endif  // TRAINYARD_DATA_TOKENS_TOKEN_WRITER_H_
