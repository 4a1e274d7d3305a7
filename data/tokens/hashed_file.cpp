#include "data/tokens/hashed_file.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <cstdio>
#include <utility>

#include "proto/support/status_macros.h"

namespace trainyard::data {

struct HashedFile::Hash {
  Hash() { XXH64_reset(&state, 0); }
  XXH64_state_t state;
};

absl::StatusOr<std::unique_ptr<HashedFile>> HashedFile::Create(const std::string& directory,
                                                               const std::string& name,
                                                               std::string_view header) {
  TRAINYARD_ASSIGN_OR_RETURN(std::unique_ptr<OutputFile> file,
                             OutputFile::Create(directory + "/" + name));
  if (!header.empty()) TRAINYARD_RETURN_IF_ERROR(file->Write(header));
  return std::unique_ptr<HashedFile>(new HashedFile(std::move(file), name, header));
}

HashedFile::HashedFile(std::unique_ptr<OutputFile> file, std::string name, std::string_view header)
    : file_(std::move(file)), hash_(std::make_unique<Hash>()) {
  facts_.name = std::move(name);
  facts_.bytes = facts_.token_from = static_cast<int64_t>(header.size());
}

HashedFile::~HashedFile() = default;

absl::Status HashedFile::Write(std::string_view bytes) {
  XXH64_update(&hash_->state, bytes.data(), bytes.size());
  facts_.bytes += static_cast<int64_t>(bytes.size());
  return file_->Write(bytes);
}

absl::StatusOr<TokenFileFacts> HashedFile::Finish() {
  TRAINYARD_RETURN_IF_ERROR(file_->Close());
  facts_.xxh64 = ChecksumText(XXH64_digest(&hash_->state));
  return facts_;
}

std::string ChecksumText(uint64_t xxh64) {
  char digits[17];
  std::snprintf(digits, sizeof(digits), "%016llx", static_cast<unsigned long long>(xxh64));
  return digits;
}

}  // namespace trainyard::data
