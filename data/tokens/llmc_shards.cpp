#include "data/tokens/llmc_shards.h"

#include <algorithm>
#include <bit>
#include <cstdio>
#include <cstring>
#include <utility>

#include "proto/support/status_macros.h"

namespace trainyard::data {
static_assert(std::endian::native == std::endian::little);

std::string LlmcHeader(const LlmcVariant& variant, int64_t tokens) {
  const int32_t numbers[] = {variant.magic, variant.version, static_cast<int32_t>(tokens)};
  std::string header(kLlmcHeaderBytes, '\0');
  std::memcpy(header.data(), numbers, sizeof(numbers));
  return header;
}

absl::Status LlmcShards::OpenShard() {
  char number[16];
  std::snprintf(number, sizeof(number), "_%06zu", files_.size() + 1);
  // The number of tokens is known only at the end. All files but the last one are full.
  TRAINYARD_ASSIGN_OR_RETURN(shard_, HashedFile::Create(directory_, split_ + number + ".bin",
                                                        LlmcHeader(variant_, shard_tokens_)));
  tokens_ = 0;
  return absl::OkStatus();
}

absl::Status LlmcShards::CloseShard() {
  TRAINYARD_ASSIGN_OR_RETURN(TokenFileFacts facts, shard_->Finish());
  if (tokens_ != shard_tokens_) {
    TRAINYARD_RETURN_IF_ERROR(OverwriteStart(shard_->path(), LlmcHeader(variant_, tokens_)));
  }
  shard_.reset();
  files_.push_back(std::move(facts));
  return absl::OkStatus();
}

absl::Status LlmcShards::Write(std::string_view packed) {
  while (!packed.empty()) {
    if (shard_ == nullptr) TRAINYARD_RETURN_IF_ERROR(OpenShard());
    const int64_t waiting = static_cast<int64_t>(packed.size()) / variant_.bytes_per_token;
    const int64_t tokens = std::min(waiting, shard_tokens_ - tokens_);
    const auto bytes = static_cast<size_t>(tokens * variant_.bytes_per_token);
    TRAINYARD_RETURN_IF_ERROR(shard_->Write(packed.substr(0, bytes)));
    packed.remove_prefix(bytes);
    tokens_ += tokens;
    if (tokens_ == shard_tokens_) TRAINYARD_RETURN_IF_ERROR(CloseShard());
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<TokenFileFacts>> LlmcShards::Finish() {
  if (shard_ != nullptr) TRAINYARD_RETURN_IF_ERROR(CloseShard());
  return files_;
}

}  // namespace trainyard::data
