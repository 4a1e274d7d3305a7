// Reads files that the user has downloaded. For a damaged file, the error message tells the user to
// download the file again.
#ifndef TRAINYARD_TRAINER_CHECKPOINT_TOOLS_HUGGING_FACE_WEIGHTS_FILE_H_
#define TRAINYARD_TRAINER_CHECKPOINT_TOOLS_HUGGING_FACE_WEIGHTS_FILE_H_

#include <cstdint>
#include <string>

#include "proto/files/unique_fd.h"

namespace trainyard::trainer {

// Throws TrainerError kBadCheckpoint: "PATH is damaged: WHAT; fetch it again".
[[noreturn]] void RefuseDamagedDownload(const std::string& path, const std::string& what);

// Not thread-safe.
class WeightsFile {
 public:
  // Throws TrainerError kBadCheckpoint if the file cannot be opened.
  explicit WeightsFile(std::string path);

  const std::string& path() const { return path_; }

  // Reads exactly bytes [begin, end). `subject` describes these bytes in messages. Throws
  // TrainerError kBadCheckpoint.
  void Read(int64_t begin, int64_t end, const std::string& subject, char* out) const;

 private:
  const std::string path_;
  const UniqueFd file_;
};

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_CHECKPOINT_TOOLS_HUGGING_FACE_WEIGHTS_FILE_H_
