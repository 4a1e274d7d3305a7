// Compresses text for tests of compressed inputs.
#ifndef TRAINYARD_TESTS_DATA_COMPRESSED_TEXT_H_
#define TRAINYARD_TESTS_DATA_COMPRESSED_TEXT_H_

#include <gtest/gtest.h>
#include <zlib.h>
#include <zstd.h>

#include <string>

namespace trainyard::data {

// Returns a gzip member.
inline std::string Gzip(const std::string& text) {
  z_stream stream{};
  EXPECT_EQ(deflateInit2(&stream, 6, Z_DEFLATED, MAX_WBITS + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
  std::string member(deflateBound(&stream, text.size()) + 32, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(member.data());
  stream.avail_out = static_cast<uInt>(member.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  member.resize(stream.total_out);
  deflateEnd(&stream);
  return member;
}

// Returns a zstd frame with a checksum.
inline std::string Zstd(const std::string& text) {
  ZSTD_CCtx* context = ZSTD_createCCtx();
  ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1);
  std::string frame(ZSTD_compressBound(text.size()), '\0');
  const size_t size = ZSTD_compress2(context, frame.data(), frame.size(), text.data(), text.size());
  EXPECT_FALSE(ZSTD_isError(size));
  frame.resize(size);
  ZSTD_freeCCtx(context);
  return frame;
}

// Returns a zstd frame that decompressors must skip.
inline std::string SkippableFrame(const std::string& contents) {
  std::string frame("\x50\x2A\x4D\x18", 4);
  for (int byte = 0; byte < 4; ++byte) {
    frame += static_cast<char>(contents.size() >> (8 * byte));
  }
  return frame + contents;
}

}  // namespace trainyard::data

#endif  // TRAINYARD_TESTS_DATA_COMPRESSED_TEXT_H_
