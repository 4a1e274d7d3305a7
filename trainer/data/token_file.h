// Memory-mapped tokens of one split of a data set, in the format of Trainyard or of another tool.
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

// The tokens of one split. Read-only; several threads may read. The files must not change while
// they are open. If a split consists of several files, their tokens form one sequence, in the order
// of the file names.
class TokenFile {
 public:
  // Opens the files that FindTokenFiles finds. `split` is "train" or "val". Throws TrainerError:
  // kNoInput if a file is missing or unreadable, kBadData if a header is malformed or does not
  // match the file size.
  TokenFile(const std::string& path, const std::string& split,
            DataFormat format = DataFormat::kTrainyard);

  // The header for all files together. It contains a checksum only if the split is a single file.
  const TokenFileHeader& header() const { return header_; }
  const std::string& path() const { return parts_.front().file.path(); }  // First .bin file.
  int64_t size() const { return header_.tokens; }
  DataFormat format() const { return format_; }

  // Widens tokens [first, first + count) and writes them to `out`. Returns a negative token if
  // there is one, otherwise the largest token, or 0 if `count` is 0. Precondition: the range is
  // inside the split.
  int64_t Copy(int64_t first, int64_t count, int64_t* out) const;

  // Reads the whole file and compares its checksum with the checksum in the header. Throws kBadData
  // if they differ.
  void VerifyChecksum() const;

 private:
  struct Part {
    MappedFile file;
    TokenLayout layout;
    int64_t first = 0;  // Number, within the split, of the part's first token.
  };

  void AddPart(const std::string& stem);

  DataFormat format_ = DataFormat::kTrainyard;
  TokenFileHeader header_;
  std::vector<Part> parts_;  // Never empty.
};

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_DATA_TOKEN_FILE_H_
