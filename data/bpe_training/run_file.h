// Sorted words with counts, in files.
//
// A run file is a header of eight bytes, blocks, and an end mark. A block has the number of bytes
// and words of its contents (32 bits each), an XXH64 of both, and the contents: for each word the
// count (64 bits), the length (32 bits) and the bytes. The end mark is a block without
// contents whose second number is 0xFFFFFFFF and whose hash is the number of words in the file.
// Numbers are little-endian. Run files are read only by the process that wrote them.
#ifndef TRAINYARD_DATA_BPE_TRAINING_RUN_FILE_H_
#define TRAINYARD_DATA_BPE_TRAINING_RUN_FILE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "data/bpe_training/word_source.h"
#include "proto/files/unique_fd.h"

namespace trainyard::data {

class RunWriter {
 public:
  // Creates the file, which must not exist.
  static absl::StatusOr<std::unique_ptr<RunWriter>> Create(const std::string& path);

  // Adds a word of at most 2^32 - 17 bytes. Words must be added in ascending order.
  absl::Status Add(std::string_view word, uint64_t count);
  // Writes the end mark and closes the file.
  absl::Status Finish();

 private:
  RunWriter(std::string path, UniqueFd file) : path_(std::move(path)), file_(std::move(file)) {}
  absl::Status Write(std::string_view bytes);
  absl::Status WriteBlock();

  const std::string path_;
  UniqueFd file_;
  std::string block_;
  uint32_t block_words_ = 0;
  uint64_t words_ = 0;
};

// Reads a run file. Returns DataLoss if the file is cut or damaged, before it returns a word of the
// damaged block.
class RunReader : public WordSource {
 public:
  static absl::StatusOr<std::unique_ptr<RunReader>> Open(const std::string& path);

  absl::StatusOr<bool> Next() override;
  std::string_view word() const override { return word_; }
  uint64_t count() const override { return count_; }

 private:
  RunReader(std::string path, UniqueFd file) : path_(std::move(path)), file_(std::move(file)) {}
  absl::Status Read(char* data, size_t bytes);
  absl::Status ReadBlock();
  absl::Status Damaged(const std::string& cause) const;

  const std::string path_;
  UniqueFd file_;
  std::string block_;
  size_t at_ = 0;  // in block_
  uint64_t words_ = 0;
  bool ended_ = false;
  std::string_view word_;
  uint64_t count_ = 0;
};

}  // namespace trainyard::data

#endif  // TRAINYARD_DATA_BPE_TRAINING_RUN_FILE_H_
