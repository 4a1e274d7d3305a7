// Token files of llm.c (dev/data/data_common.py). Each begins with 256 little-endian int32: magic
// number, version, number of tokens, zeros.
#ifndef TRAINYARD_DATA_TOKENS_LLMC_SHARDS_H_
#define TRAINYARD_DATA_TOKENS_LLMC_SHARDS_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "data/tokens/llmc_variant.h"
#include "data/tokens/token_sink.h"

namespace trainyard::data {

inline constexpr int64_t kLlmcHeaderBytes = 256 * sizeof(int32_t);

std::string LlmcHeader(const LlmcVariant& variant, int64_t tokens);

// SPLIT_000001.bin, SPLIT_000002.bin and so on. A document may continue in the next file. A split
// without tokens has no file, because llm.c refuses a file without tokens.
class LlmcShards : public TokenSink {
 public:
  // llm.c's own files have the same number of tokens. Its limit is 2^31 - 1.
  static constexpr int64_t kShardTokens = 100'000'000;

  LlmcShards(std::string directory, std::string split, const LlmcVariant& variant,
             int64_t shard_tokens = kShardTokens)
      : directory_(std::move(directory)),
        split_(std::move(split)),
        variant_(variant),
        shard_tokens_(shard_tokens) {}

  absl::Status Write(std::string_view packed) override;
  absl::Status EndDocument(int64_t) override { return absl::OkStatus(); }
  absl::StatusOr<std::vector<TokenFileFacts>> Finish() override;

 private:
  absl::Status OpenShard();
  absl::Status CloseShard();

  const std::string directory_;
  const std::string split_;
  const LlmcVariant& variant_;
  const int64_t shard_tokens_;
  std::unique_ptr<HashedFile> shard_;  // null if no file is open
  int64_t tokens_ = 0;                 // in the open file
  std::vector<TokenFileFacts> files_;  // closed ones
};

}  // namespace trainyard::data

#endif  // TRAINYARD_DATA_TOKENS_LLMC_SHARDS_H_
