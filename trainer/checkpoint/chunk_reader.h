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

// Reads exactly bytes [begin, end) of a file. `subject` describes these bytes in messages. Throws
// TrainerError kBadCheckpoint.
void ReadBytes(const std::string& path, int64_t begin, int64_t end, const std::string& subject,
               char* out);

// Returns the number of bytes of the chunk that are read at once: one block, or a part of it if the
// chunk is stored as one large block.
int64_t PieceBytes(const StoredChunk& chunk);

// Reads bytes [begin, end) of the chunk. `begin` must be a multiple of PieceBytes, and the length
// at most PieceBytes. Verifies the checksum of these bytes if there is one. Earlier versions stored
// only one checksum for the whole chunk. `directory` is the checkpoint's directory; `tensor` is a
// name for messages. Throws TrainerError kBadCheckpoint.
void ReadBlock(const std::string& directory, const std::string& tensor, const StoredChunk& chunk,
               int64_t begin, int64_t end, char* out);

// True if each piece of the chunk has a checksum. False if only the whole chunk has one.
bool HasBlockChecksums(const StoredChunk& chunk);

// A chunk and a wanted box of the same tensor. `part` is the intersection of the two.
struct WantedPart {
  const StoredChunk* chunk = nullptr;
  Box part;
  Box target;
};

// A run of elements that is contiguous both in a chunk and in a wanted box.
struct ElementRun {
  int64_t from = 0;  // Number of the first element in the chunk.
  int64_t to = 0;    // Number of the first element in the wanted box.
  int64_t elements = 0;
};

// Returns the runs of wanted elements among elements [begin, end) of the chunk, in ascending order.
std::vector<ElementRun> RunsIn(const WantedPart& wanted, int64_t begin, int64_t end);

// Runs of equal length that are evenly spaced both in the chunk and in the wanted box.
struct RunRows {
  ElementRun first;
  int64_t rows = 1;
  int64_t from_stride = 0;  // Distance in elements between the starts of consecutive runs.
  int64_t to_stride = 0;
};

// Combines consecutive runs that have equal length and spacing.
std::vector<RunRows> RowsOf(const std::vector<ElementRun>& runs);

// Receives runs of a wanted box. `bytes` points to the first run and is valid only during the call.
using RowSink = std::function<void(const RunRows& rows, const char* bytes)>;

class ChunkReader {
 public:
  // directory: the checkpoint's directory. tensor: a name for messages. buffer: scratch space of at
  // least kLargestBlockBytes, or at least as large as PieceBytes of each chunk that is read.
  ChunkReader(const std::string& directory, std::string tensor, int64_t element_bytes,
              char* buffer);

  // Reads block number `block` of the chunk and passes the wanted elements to the sink. Does not
  // read a block that contains no wanted element. Verifies the checksum after the sink has received
  // the elements, and throws TrainerError kBadCheckpoint if the checksum does not match. In a chunk
  // of an earlier version, one checksum may cover several pieces. That checksum is verified only if
  // the whole chunk is wanted.
  void Read(const WantedPart& wanted, int64_t block, const RowSink& sink) const;

 private:
  const std::string directory_;
  const std::string tensor_;
  const int64_t element_bytes_;
  char* const buffer_;
};

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_CHECKPOINT_CHUNK_READER_H_
