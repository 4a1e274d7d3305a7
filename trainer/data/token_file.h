// Memory-mapped tokens of one split of a data set, in Trainyard's format or another tool's.
#ifndef TRAINYARD_TRAINER_DATA_TOKEN_FILE_H_
#define TRAINYARD_TRAINER_DATA_TOKEN_FILE_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "proto/contract/data_config.h"
#include "trainer/data/mapped_file.h"
#include "trainer/data/token_layout.h"
#include "trainer/data/token_path.h"

namespace trainyard::trainer {

// Read-only and safe to read from several threads. The files must not change while open. A split in
// several files is one sequence of tokens, in the order of the file names.
class TokenFile {
 public:
  // Opens the files found by FindTokenFiles; split is "train" or "val". Throws TrainerError:
  // kNoInput if a file is missing or unreadable, kBadData if a header is malformed or does not
  // match the file size.
  TokenFile(const std::string& path, const std::string& split,
            DataFormat format = DataFormat::kTrainyard);

  // Header of all files together; has a checksum only for a split in one file.
  const TokenFileHeader& header() const { return header_; }
  const std::string& path() const { return parts_.front().file.path(); }  // First .bin file.
  int64_t size() const { return header_.tokens; }
  DataFormat format() const { return format_; }

  // Widens tokens [first, first + count) into `out`. Returns the largest of them (0 if count is 0),
  // or a negative one if any is negative. Precondition: the range is inside the split.
  int64_t Copy(int64_t first, int64_t count, int64_t* out) const;

  // Reads the whole file and compares it with the header's checksum. Throws kBadData if they
  // differ.
  void VerifyChecksum() const;

 private:
  struct Part {
    MappedFile file;
    TokenLayout layout;
    int64_t first = 0;  // Number of its first token in the split.
  };

  void AddPart(const std::string& stem);

  DataFormat format_ = DataFormat::kTrainyard;
  TokenFileHeader header_;
  std::vector<Part> parts_;  // At least one part.
};

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_DATA_TOKEN_FILE_H_
