// The result of a block, as a line of records.log.
#ifndef TRAINYARD_DATA_STAGES_RECORD_H_
#define TRAINYARD_DATA_STAGES_RECORD_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "data/stages/block_documents.h"
#include "data/stages/part_writer.h"

namespace trainyard::data {

// A document of a block.
struct DocumentPlace {
  size_t file = 0;   // in the plan
  int64_t line = 0;  // as Document::line
};

struct DroppedDocuments {
  // Maximum number of `samples`.
  static constexpr size_t kSamples = 3;

  int64_t documents = 0;
  int64_t bytes = 0;                   // of text
  std::vector<DocumentPlace> samples;  // the first ones
};

// The documents that a stage read from one file, and those of them that it kept.
struct FileCounts {
  size_t file = 0;  // in the plan
  int64_t documents_in = 0;
  int64_t documents_out = 0;
  int64_t bytes_in = 0;  // of text
  int64_t bytes_out = 0;
};

struct DocumentCounts {
  int64_t documents_in = 0;
  int64_t documents_out = 0;
  int64_t bytes_in = 0;  // of text
  int64_t bytes_out = 0;
  std::map<std::string, DroppedDocuments> dropped;  // keyed by reason
  std::vector<FileCounts> files;                    // those with documents, in order
  // Numbers of kept documents by the number of bits in the length of their text in bytes: entry b
  // counts the lengths from 2^(b-1) to 2^b - 1.
  std::map<int, int64_t> lengths;
  // One entry per document of the block. Empty if none was dropped.
  std::vector<bool> is_dropped;
  std::map<std::string, int64_t> sums;  // other counts of a stage, such as tokens
};

struct BlockRecord {
  size_t block = 0;  // in the plan
  DocumentCounts counts;
  std::vector<FileLines> lines;
  std::vector<PartFile> parts;
  double seconds = 0;
};

// Returns a line with its line end. It contains a checksum and the hash of the plan.
std::string RecordLine(const BlockRecord& record, const std::string& plan_hash);

// Reads a line without its line end. Returns nullopt if it is damaged, or if it belongs to another
// plan.
std::optional<BlockRecord> ParseRecord(std::string_view line, const std::string& plan_hash);

}  // namespace trainyard::data

#endif  // TRAINYARD_DATA_STAGES_RECORD_H_
