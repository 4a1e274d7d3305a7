// Reads the bytes of stored chunks and verifies their checksums.
#ifndef TRAINYARD_TRAINER_CHECKPOINT_CHUNK_READER_H_
#define TRAINYARD_TRAINER_CHECKPOINT_CHUNK_READER_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "trainer/checkpoint/box.h"
#include "trainer/checkpoint/manifest.h"

namespace trainyard::trainer {

// Reads exactly bytes [begin, end) of a file. subject: description of these bytes, for messages.
// Throws TrainerError kBadCheckpoint.
void ReadBytes(const std::string& path, int64_t begin, int64_t end, const std::string& subject,
               char* out);

// Number of the chunk's bytes read at a time: a block, or part of a chunk stored as one large
// block.
int64_t PieceBytes(const StoredChunk& chunk);

// Reads bytes [begin, end) of the chunk. `begin` is a multiple of PieceBytes, and the length is at
// most PieceBytes. Verifies their checksum if they have one: chunks written by earlier versions
// have one checksum for all their pieces. Throws TrainerError kBadCheckpoint. directory: the
// checkpoint. tensor: for messages.
void ReadBlock(const std::string& directory, const std::string& tensor, const StoredChunk& chunk,
               int64_t begin, int64_t end, char* out);

// True if each piece has a checksum, false if only the whole chunk has one.
bool HasBlockChecksums(const StoredChunk& chunk);

// The part of one chunk inside a wanted box of its tensor. `part` is inside both boxes.
struct WantedPart {
  const StoredChunk* chunk = nullptr;
  Box part;
  Box target;
};

// Elements that are contiguous in a chunk and in a wanted box.
struct ElementRun {
  int64_t from = 0;  // First element in the chunk.
  int64_t to = 0;    // First element in the wanted box.
  int64_t elements = 0;
};

// The wanted runs in elements [begin, end) of the chunk, in ascending order.
std::vector<ElementRun> RunsIn(const WantedPart& wanted, int64_t begin, int64_t end);

// Runs of equal length, evenly spaced in both the chunk and the wanted box.
struct RunRows {
  ElementRun first;
  int64_t rows = 1;
  int64_t from_stride = 0;  // Elements from the start of one run to the next.
  int64_t to_stride = 0;
};

// Groups consecutive runs into rows.
std::vector<RunRows> RowsOf(const std::vector<ElementRun>& runs);

// Receives runs of the wanted box. bytes: those of the first run, valid only during the call.
using RowSink = std::function<void(const RunRows& rows, const char* bytes)>;

class ChunkReader {
 public:
  // directory: the checkpoint. tensor: for messages. buffer: at least kLargestBlockBytes, or
  // PieceBytes of each chunk to read; used as scratch space.
  ChunkReader(const std::string& directory, std::string tensor, int64_t element_bytes,
              char* buffer);

  // Reads block `block` of the chunk, unless none of it is wanted. Passes the wanted parts to the
  // sink and then throws TrainerError kBadCheckpoint if the checksum does not match. A single
  // checksum for several pieces, from earlier versions, is verified only if the whole chunk is
  // wanted.
  void Read(const WantedPart& wanted, int64_t block, const RowSink& sink) const;

 private:
  const std::string directory_;
  const std::string tensor_;
  const int64_t element_bytes_;
  char* const buffer_;
};

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_CHECKPOINT_CHUNK_READER_H_
