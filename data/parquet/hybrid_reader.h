// Reads Parquet's hybrid of run-length encoding and bit packing, which stores definition levels and
// dictionary indices.
#ifndef TRAINYARD_DATA_PARQUET_HYBRID_READER_H_
#define TRAINYARD_DATA_PARQUET_HYBRID_READER_H_

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace trainyard::data {

// Reads untrusted bytes. Not thread-safe.
class HybridReader {
 public:
  // `bytes` must outlive the reader. `bit_width` is 0 to 32.
  HybridReader(std::string_view bytes, int bit_width) : rest_(bytes), bit_width_(bit_width) {}

  // Reads the next value. Returns false at the end of the bytes and if they are damaged.
  bool Next(uint32_t* value);

 private:
  bool NextRun();

  std::string_view rest_;
  const int bit_width_;
  uint64_t repeats_ = 0;   // left in the run of equal values
  uint32_t repeated_ = 0;  // the value of this run
  uint64_t packed_ = 0;    // left in the run of packed values
  std::string_view packed_bytes_;
  uint64_t bit_ = 0;  // position in `packed_bytes_`
};

}  // namespace trainyard::data

#endif  // TRAINYARD_DATA_PARQUET_HYBRID_READER_H_
