// Reads the bytes of stored chunks and compares them with their checksums.
#ifndef TRAINYARD_TRAINER_CHECKPOINT_CHUNK_READER_H_
#define TRAINYARD_TRAINER_CHECKPOINT_CHUNK_READER_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "trainer/checkpoint/box.h"
#include "trainer/checkpoint/manifest.h"

namespace trainyard::trainer {

// Bytes [begin, end) of a file, exactly. `subject`: the meaning of these bytes, for messages.
// Throws TrainerError kBadCheckpoint.
void ReadBytes(const std::string& path, int64_t begin, int64_t end, const std::string& subject,
               char* out);

// Bytes of the chunk that are read at a time: a block, or part of a chunk that is one large block.
int64_t PieceBytes(const StoredChunk& chunk);

// Reads bytes [begin, end) of the chunk, which begin with a multiple of PieceBytes and are at most
// that many. Compares them with their checksum where they have one of their own: chunks of several
// blocks that earlier versions wrote have a single one. Throws TrainerError kBadCheckpoint.
// directory: of the checkpoint. tensor: for messages.
void ReadBlock(const std::string& directory, const std::string& tensor, const StoredChunk& chunk,
               int64_t begin, int64_t end, char* out);

// True when each piece has a checksum, and false when only the whole chunk of several has one.
bool HasBlockChecksums(const StoredChunk& chunk);

// The part of one chunk that lies in a wanted box of its tensor. `part` lies inside both boxes.
struct WantedPart {
  const StoredChunk* chunk = nullptr;
  Box part;
  Box target;
};

// Elements that lie one after the other in a chunk and in a wanted box.
struct ElementRun {
  int64_t from = 0;  // Element of the chunk.
  int64_t to = 0;    // Element of the wanted box.
  int64_t elements = 0;
};

// The wanted runs among elements [begin, end) of the chunk, in ascending order.
std::vector<ElementRun> RunsIn(const WantedPart& wanted, int64_t begin, int64_t end);

// Runs of one length whose places are evenly spaced, both in the chunk and in the wanted box.
struct RunRows {
  ElementRun first;
  int64_t rows = 1;
  int64_t from_stride = 0;  // Elements from the beginning of a run to that of the next.
  int64_t to_stride = 0;
};

// The runs in as few rows as can be, in their order.
std::vector<RunRows> RowsOf(const std::vector<ElementRun>& runs);

// Gets runs of the wanted box. `bytes`: of the first run. They are gone after the call.
using RowSink = std::function<void(const RunRows& rows, const char* bytes)>;

class ChunkReader {
 public:
  // directory: of the checkpoint. tensor: for messages. buffer: kLargestBlockBytes, or PieceBytes
  // of each chunk that is read; this writes to it.
  ChunkReader(const std::string& directory, std::string tensor, int64_t element_bytes,
              char* buffer);

  // Reads block `block` of the chunk, unless nothing of it is wanted, gives what is wanted to the
  // sink, and then throws TrainerError kBadCheckpoint when the checksum does not match. A single
  // checksum of a chunk of several blocks, as earlier versions wrote it, is compared only when the
  // whole chunk is wanted.
  void Read(const WantedPart& wanted, int64_t block, const RowSink& sink) const;

 private:
  const std::string directory_;
  const std::string tensor_;
  const int64_t element_bytes_;
  char* const buffer_;
};

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_CHECKPOINT_CHUNK_READER_H_
