// What the output of ranks takes on disk, and what of it is given up when there is no room.
//
// A rank's output file only grows, and its offsets are the sequence numbers of the stream, so room
// is made by a hole at its front: the blocks are freed, the offsets stay. Where data begins in a
// file is all that there is to know, and the file system knows it. What the controller has stored
// goes first and is missed by nobody; then the oldest bytes that it has not, and the log says so.
#ifndef TRAINYARD_WORKER_SPOOL_OUTPUT_SPACE_H_
#define TRAINYARD_WORKER_SPOOL_OUTPUT_SPACE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace trainyard::worker {

// The last lines of a rank's output are part of its verdict: so much of the end is never given up.
inline constexpr int64_t kOutputKeptAtEnd = 64 << 10;

struct OutputFile {
  std::string path;
  // Where data begins: bytes before were given up.
  int64_t first_byte = 0;
  int64_t size = 0;
  // The controller has stored the bytes before this offset.
  int64_t stored = 0;
  // Nothing from here on may go: metrics are still to be read from it. `size` when there are none.
  int64_t keep_from = 0;
};

// Bytes [begin, end) of a file that are to go.
struct Release {
  std::string path;
  int64_t begin = 0;
  int64_t end = 0;
  // How many of them the controller has not stored.
  int64_t lost = 0;
};

// What to give up of these files, oldest attempt first, to free so many bytes; less when there is
// not enough. Stored bytes of all files go before any that are lost. Whole blocks only.
std::vector<Release> PlanRelease(const std::vector<OutputFile>& files, int64_t bytes_to_free);

// What the file takes on its disk, without its holes; 0 when there is none. Thread-safe.
int64_t BytesOnDisk(const std::string& path);

// Where data begins in the file; 0 when there is none. Thread-safe.
int64_t FirstKeptByte(const std::string& path);

// Frees the range, which begins where data begins. UNIMPLEMENTED: this file system cannot.
absl::Status DropOutput(const Release& release);

}  // namespace trainyard::worker

#endif  // TRAINYARD_WORKER_SPOOL_OUTPUT_SPACE_H_
