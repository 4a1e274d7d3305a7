// A file of tokens with its checksum.
#ifndef TRAINYARD_DATA_TOKENS_HASHED_FILE_H_
#define TRAINYARD_DATA_TOKENS_HASHED_FILE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "data/tokens/output_file.h"

namespace trainyard::data {

// A file of a data set.
struct TokenFileFacts {
  std::string name;        // without the directory
  int64_t bytes = 0;       // of the whole file
  int64_t token_from = 0;  // byte at which the tokens begin; -1 if the file contains none
  std::string xxh64;       // of the bytes from `token_from`, or of the whole file; 16 hex digits
};

class HashedFile {
 public:
  // Creates the file with a header, which is not part of the checksum.
  static absl::StatusOr<std::unique_ptr<HashedFile>> Create(const std::string& directory,
                                                            const std::string& name,
                                                            std::string_view header = "");
  ~HashedFile();

  absl::Status Write(std::string_view bytes);
  // Syncs and closes the file.
  absl::StatusOr<TokenFileFacts> Finish();

  const std::string& path() const { return file_->path(); }

 private:
  struct Hash;
  HashedFile(std::unique_ptr<OutputFile> file, std::string name, std::string_view header);

  const std::unique_ptr<OutputFile> file_;
  TokenFileFacts facts_;
  const std::unique_ptr<Hash> hash_;
};

// XXH64 as 16 hexadecimal digits.
std::string ChecksumText(uint64_t xxh64);

}  // namespace trainyard::data

#endif  // TRAINYARD_DATA_TOKENS_HASHED_FILE_H_
