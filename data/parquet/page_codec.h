// Decompresses the pages of Parquet files.
#ifndef TRAINYARD_DATA_PARQUET_PAGE_CODEC_H_
#define TRAINYARD_DATA_PARQUET_PAGE_CODEC_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace trainyard::data {

// "snappy", "brotli", ...; "number 9" for unknown ones.
std::string CodecName(int64_t codec);
bool IsSupportedCodec(int64_t codec);

// Appends exactly `bytes` decompressed bytes to `output`. Returns false, with unspecified contents
// of `output`, if `compressed` is damaged or has another length. The codec must be supported.
bool DecompressPage(int64_t codec, std::string_view compressed, size_t bytes, std::string* output);

}  // namespace trainyard::data

#endif  // TRAINYARD_DATA_PARQUET_PAGE_CODEC_H_
