// Reads the file in which a program describes its error (TORCHELASTIC_ERROR_FILE).
#ifndef TRAINYARD_WORKER_TAIL_ERROR_FILE_H_
#define TRAINYARD_WORKER_TAIL_ERROR_FILE_H_

#include <string>
#include <string_view>

#include "proto/support/guarded_path.h"

namespace trainyard::worker {

inline constexpr int kMaxErrorFileText = 2048;

// Returns the message of the error, at most kMaxErrorFileText bytes of valid UTF-8. Empty if the
// content is not in PyTorch's format.
std::string ErrorMessageIn(std::string_view content);

// Returns the message in the file. Empty also if the file is missing or longer than 1 MiB.
std::string ReadErrorFile(const GuardedPath& path);

}  // namespace trainyard::worker

#endif  // TRAINYARD_WORKER_TAIL_ERROR_FILE_H_
