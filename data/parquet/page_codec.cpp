#include "data/parquet/page_codec.h"

#include <snappy.h>
#include <zlib.h>
#include <zstd.h>

#include <limits>

#include "data/parquet/metadata.h"

namespace trainyard::data {
namespace {

bool Unsnap(std::string_view compressed, size_t bytes, char* output) {
  size_t declared = 0;
  return snappy::GetUncompressedLength(compressed.data(), compressed.size(), &declared) &&
         declared == bytes && snappy::RawUncompress(compressed.data(), compressed.size(), output);
}

// A page may consist of several gzip members.
bool Gunzip(std::string_view compressed, size_t bytes, char* output) {
  constexpr size_t kMax = std::numeric_limits<uInt>::max();
  if (compressed.size() > kMax || bytes > kMax) return false;
  z_stream stream{};
  constexpr int kGzipOrZlib = 32;
  if (inflateInit2(&stream, MAX_WBITS + kGzipOrZlib) != Z_OK) return false;
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(compressed.data()));
  stream.avail_in = static_cast<uInt>(compressed.size());
  stream.next_out = reinterpret_cast<Bytef*>(output);
  stream.avail_out = static_cast<uInt>(bytes);
  int result = inflate(&stream, Z_FINISH);
  while (result == Z_STREAM_END && stream.avail_in > 0 && inflateReset(&stream) == Z_OK) {
    result = inflate(&stream, Z_FINISH);
  }
  inflateEnd(&stream);
  return result == Z_STREAM_END && stream.avail_out == 0;
}

bool Decompress(int64_t codec, std::string_view compressed, size_t bytes, char* output) {
  switch (static_cast<Codec>(codec)) {
    case Codec::kSnappy:
      return Unsnap(compressed, bytes, output);
    case Codec::kGzip:
      return Gunzip(compressed, bytes, output);
    case Codec::kZstd:
      return ZSTD_decompress(output, bytes, compressed.data(), compressed.size()) == bytes;
    default:
      return false;
  }
}

}  // namespace

std::string CodecName(int64_t codec) {
  constexpr const char* kNames[] = {"no compression", "snappy", "gzip", "lzo",
                                    "brotli",         "lz4",    "zstd", "lz4_raw"};
  const bool is_known = codec >= 0 && codec < static_cast<int64_t>(std::size(kNames));
  return is_known ? kNames[codec] : "number " + std::to_string(codec);
}

bool IsSupportedCodec(int64_t codec) {
  switch (static_cast<Codec>(codec)) {
    case Codec::kNone:
    case Codec::kSnappy:
    case Codec::kGzip:
    case Codec::kZstd:
      return true;
  }
  return false;
}

bool DecompressPage(int64_t codec, std::string_view compressed, size_t bytes, std::string* output) {
  const size_t before = output->size();
  if (codec == static_cast<int64_t>(Codec::kNone)) {
    output->append(compressed);
    return compressed.size() == bytes;
  }
  output->resize(before + bytes);
  // Some writers store no bytes for an empty page.
  if (bytes == 0 && compressed.empty()) return true;
  return Decompress(codec, compressed, bytes, output->data() + before);
}

}  // namespace trainyard::data
