// The index of Megatron-LM's token files. trainer/data/megatron_tokens.cpp describes its layout.
#ifndef TRAINYARD_DATA_TOKENS_MEGATRON_INDEX_H_
#define TRAINYARD_DATA_TOKENS_MEGATRON_INDEX_H_

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "data/tokens/hashed_file.h"
#include "data/tokens/output_file.h"

namespace trainyard::data {

// Each document is one sequence, or several if it has more than 2^31 - 1 tokens. The lengths of
// documents are stored in a file until Finish, so that memory does not depend on their number.
class MegatronIndex {
 public:
  static constexpr int64_t kSequenceTokensMax = std::numeric_limits<int32_t>::max();

  // Writes directory/<split>.idx. Until Finish, directory/<split>.lengths exists.
  static absl::StatusOr<std::unique_ptr<MegatronIndex>> Create(
      const std::string& directory, const std::string& split, int bytes_per_token,
      int64_t sequence_tokens_max = kSequenceTokensMax);

  absl::Status AddDocument(int64_t tokens);
  absl::StatusOr<TokenFileFacts> Finish();

 private:
  MegatronIndex(std::string directory, std::string split, int bytes_per_token,
                int64_t sequence_tokens_max, std::unique_ptr<OutputFile> lengths)
      : directory_(std::move(directory)),
        split_(std::move(split)),
        bytes_per_token_(bytes_per_token),
        sequence_tokens_max_(sequence_tokens_max),
        lengths_(std::move(lengths)) {}

  absl::Status Flush();
  int64_t SequencesOf(int64_t tokens) const;
  // Calls `take` for the length of each document, in order.
  absl::Status ForEachLength(const std::function<absl::Status(int64_t)>& take) const;
  // Calls `take` for the length of each sequence, in order.
  absl::Status ForEachSequence(const std::function<absl::Status(int64_t)>& take) const;
  absl::Status WriteArrays(HashedFile* file) const;

  const std::string directory_;
  const std::string split_;
  const int bytes_per_token_;
  const int64_t sequence_tokens_max_;
  const std::unique_ptr<OutputFile> lengths_;
  std::string buffer_;  // lengths that are not yet in the file
  int64_t documents_ = 0;
  int64_t sequences_ = 0;
};

}  // namespace trainyard::data

#endif  // TRAINYARD_DATA_TOKENS_MEGATRON_INDEX_H_
