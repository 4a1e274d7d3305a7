// Converts token ids to the bytes of a token file.
#ifndef TRAINYARD_DATA_TOKENS_TOKEN_PACKER_H_
#define TRAINYARD_DATA_TOKENS_TOKEN_PACKER_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace trainyard::data {

// Returns 2 or 4: the size of a token id in a file.
int BytesPerToken(int64_t vocab_size);

// Packs tokens and counts each id. Not thread-safe: each thread and split has its own packer, and
// the counts are added at the end.
class TokenPacker {
 public:
  explicit TokenPacker(int64_t vocab_size)
      : bytes_per_token_(BytesPerToken(vocab_size)), counts_(static_cast<size_t>(vocab_size), 0) {}

  // Appends the ids, which must be below the size of the vocabulary, in little-endian order.
  void Pack(const std::vector<uint32_t>& tokens, std::string* packed);

  const std::vector<int64_t>& counts() const { return counts_; }

 private:
  const int bytes_per_token_;
  std::vector<int64_t> counts_;  // of each id
};

}  // namespace trainyard::data

#endif  // TRAINYARD_DATA_TOKENS_TOKEN_PACKER_H_
