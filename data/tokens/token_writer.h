// Writes one split of a data set: the token files, the inputs of the documents, and in our own
// format NAME.json.
// trainer/data/README.md describes the formats.
#ifndef TRAINYARD_DATA_TOKENS_TOKEN_WRITER_H_
#define TRAINYARD_DATA_TOKENS_TOKEN_WRITER_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "data/tokenizer/tokenizer.h"
#include "data/tokens/hashed_file.h"
#include "data/tokens/output_format.h"
#include "data/tokens/source_writer.h"
#include "data/tokens/token_packer.h"
#include "data/tokens/token_sink.h"

namespace trainyard::data {

struct SplitTotals {
  int64_t tokens = 0;
  int64_t documents = 0;
  int64_t source_bytes = 0;
  double unigram_entropy = 0;         // nats per token
  std::vector<TokenFileFacts> files;  // the last one contains the inputs of the documents
};

class TokenWriter {
 public:
  // Writes the files of `split` into `directory`. CheckFormat must have accepted the tokenizer.
  static absl::StatusOr<std::unique_ptr<TokenWriter>> Create(
      const std::string& directory, const std::string& split, const Tokenizer& tokenizer,
      OutputFormat format = OutputFormat::kTrainyard);

  // Appends tokens that a TokenPacker for the same vocabulary has packed. `source_bytes`: the
  // number of bytes of text that the tokens encode.
  absl::Status Append(std::string_view packed, int64_t source_bytes);
  // Adds the token before a document, if there is one.
  void BeginDocument(const SourcePlace& place);
  // Adds the token after a document, if there is one.
  absl::Status EndDocument();
  // Adds the counts of a packer. The counts of all appended tokens must be added before Finish.
  void AddCounts(const std::vector<int64_t>& counts);
  // Closes the files. Append must not be called afterwards.
  absl::StatusOr<SplitTotals> Finish();

  int64_t tokens() const { return totals_.tokens; }

 private:
  struct Files {
    std::unique_ptr<TokenSink> tokens;
    std::unique_ptr<SourceWriter> sources;
  };

  TokenWriter(std::string stem, Files files, const Tokenizer& tokenizer, OutputFormat format);
  absl::Status Flush();
  double Entropy() const;
  absl::Status WriteHeader() const;

  const std::string stem_;  // path without .bin
  const OutputFormat format_;
  const Files files_;
  const int64_t vocab_size_;
  const DocumentMarks marks_;
  const int bytes_per_token_;
  TokenPacker document_packer_;  // packs the begins and ends of documents
  std::string buffer_;
  std::vector<int64_t> counts_;       // of each id, without the begins and ends of documents
  int64_t document_first_token_ = 0;  // number, within the split, of the document's first token
  SourcePlace document_place_;
  SplitTotals totals_;
};

}  // namespace trainyard::data

#endif  // TRAINYARD_DATA_TOKENS_TOKEN_WRITER_H_
