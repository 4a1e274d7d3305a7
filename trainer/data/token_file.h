// The memory-mapped tokens of one split of a data set, in our own format or another tool's.
#ifndef TRAINYARD_TRAINER_DATA_TOKEN_FILE_H_
#define TRAINYARD_TRAINER_DATA_TOKEN_FILE_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "proto/contract/run_config.h"
#include "trainer/data/mapped_file.h"
#include "trainer/data/token_layout.h"
#include "trainer/data/token_path.h"

namespace trainyard::trainer {

// Read-only, and safe to read from several threads. The files must not be changed while open. A
// split in several files is one row of tokens, in the order of the files' names.
class TokenFile {
 public:
  // Opens the files that FindTokenFiles finds; split is "train" or "val". Throws TrainerError:
  // kNoInput when a file is not there or cannot be read, kBadData when a header is malformed or
  // does not match the size of its file.
  TokenFile(const std::string& path, const std::string& split,
            DataFormat format = DataFormat::kTrainyard);

  // Of all files together; the checksum only for a split in one file.
  const TokenFileHeader& header() const { return header_; }
  const std::string& path() const { return parts_.front().file.path(); }  // of the first .bin file
  int64_t size() const { return header_.tokens; }
  DataFormat format() const { return format_; }

  // Widens tokens [first, first + count) into out and returns the largest of them (0 when count is
  // 0), or a negative one where there is one. Precondition: the range lies inside the file.
  int64_t Copy(int64_t first, int64_t count, int64_t* out) const;

  // Reads the whole file and compares it with the header's checksum. Throws kBadData.
  void VerifyChecksum() const;

 private:
  struct Part {
    MappedFile file;
    TokenLayout layout;
    int64_t first = 0;  // Number of its first token.
  };

  void AddPart(const std::string& stem);

  DataFormat format_ = DataFormat::kTrainyard;
  TokenFileHeader header_;
  std::vector<Part> parts_;  // At least one.
};

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_DATA_TOKEN_FILE_H_
