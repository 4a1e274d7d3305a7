// The layout of SPLIT.sources, which records the input of each document of a split.
// data/tokens/README.md describes it.
#ifndef TRAINYARD_DATA_TOKENS_SOURCE_FORMAT_H_
#define TRAINYARD_DATA_TOKENS_SOURCE_FORMAT_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace trainyard::data {

// The place at which the text of a document begins.
struct SourcePlace {
  std::string file;  // absolute path
  // The position is the number of a line or row if the file has numbered documents (HasLines), or a
  // byte of the text of the file. Both are counted from 0.
  bool is_line = false;
  int64_t position = 0;

  bool operator==(const SourcePlace&) const = default;
};

// Returns "FILE:LINE" with the line counted from 1, "FILE", or "FILE, byte N" for a document that
// begins within a file.
std::string SourcePlaceText(const SourcePlace& place);

// The name of the file of a split.
std::string SourceFileName(const std::string& split);

namespace source_format {

inline constexpr std::string_view kMark = "trainyard-source";  // the first 16 bytes
inline constexpr uint64_t kVersion = 1;

// Documents of a group. A reader decodes whole groups.
inline constexpr int64_t kGroupDocuments = 1024;

// An entry of the index, and the end of the file: little-endian numbers without gaps.
struct Group {
  uint64_t begin = 0;        // byte of the file
  uint64_t first_token = 0;  // of the split
  uint64_t xxh64 = 0;        // of the bytes of the group
};
struct Ending {
  uint64_t groups = 0;
  uint64_t documents = 0;
  uint64_t tokens = 0;
  uint64_t version = kVersion;
};

// The first number of a document is twice the increase of the position if the document follows the
// previous one in the same file. Otherwise it is this bit and twice the number of bytes that the
// path has in common with the previous one. The remaining bytes of the path, their number first,
// and the position follow. The position has the bit kLineBit if it is a line.
inline constexpr uint64_t kNewFileBit = 1;
inline constexpr uint64_t kLineBit = 1;

}  // namespace source_format
}  // namespace trainyard::data

#endif  // TRAINYARD_DATA_TOKENS_SOURCE_FORMAT_H_
