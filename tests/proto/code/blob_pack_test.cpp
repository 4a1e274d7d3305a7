#include "proto/code/blob_pack.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/proto/code/pack_of.h"

namespace trainyard::code {
namespace {

using testing::HasSubstr;

// Bytes that cannot be compressed.
std::string Noise(std::size_t bytes) {
  std::string text;
  uint64_t state = 1;
  while (text.size() < bytes) {
    state = state * 6364136223846793005U + 1442695040888963407U;
    text.push_back(static_cast<char>(state >> 56));
  }
  return text;
}

TEST(BlobPackTest, ReturnsTheBlobsInOrder) {
  const auto blobs = ReadPack(PackOf({"first", "second", std::string(100'000, 'x')}));
  ASSERT_TRUE(blobs.ok()) << blobs.status();
  ASSERT_EQ(blobs->size(), 3U);
  EXPECT_EQ((*blobs)[0].content, "first");
  EXPECT_EQ((*blobs)[1].digest, DigestOf("second"));
  EXPECT_EQ((*blobs)[2].content.size(), 100'000U);
}

TEST(BlobPackTest, ListsBlobsFromTheBeginningOfAPack) {
  const std::string pack = PackOf({"first", "second"});
  const auto entries = ReadPackIndex(pack.substr(0, 80));
  ASSERT_TRUE(entries.ok()) << entries.status();
  ASSERT_EQ(entries->size(), 2U);
  EXPECT_EQ((*entries)[1].digest, DigestOf("second"));
  EXPECT_EQ((*entries)[1].bytes, 6U);
  EXPECT_FALSE(ReadPackIndex(pack.substr(0, 79)).ok());
}

TEST(BlobPackTest, StaysWithinItsLimitEvenIfNothingCanBeCompressed) {
  const std::string noise = Noise(kPieceBytes);
  PackBuilder builder;
  std::size_t pieces = 0;
  for (bool fits = true; fits; ++pieces) {
    const std::string piece = std::string(1, static_cast<char>(pieces)) + noise.substr(1);
    fits = builder.Add(DigestOf(piece), piece);
  }
  EXPECT_EQ(pieces, 4U);
  const std::string pack = builder.Finish();
  EXPECT_LE(pack.size(), kMaxPackBytes);
  EXPECT_TRUE(ReadPack(pack).ok());
  const std::string manifest = Noise(kMaxBlobBytes);
  EXPECT_TRUE(builder.Add(DigestOf(manifest), manifest));
  EXPECT_LE(builder.Finish().size(), kMaxPackBytes);
}

TEST(BlobPackTest, RefusesABlobThatOccursTwice) {
  PackBuilder builder;
  builder.Add(DigestOf("same"), "same");
  builder.Add(DigestOf("same"), "same");
  EXPECT_THAT(ReadPack(builder.Finish()).status().message(), HasSubstr("contains a blob twice"));
}

TEST(BlobPackTest, RefusesAWrongDigest) {
  PackBuilder builder;
  builder.Add(DigestOf("one"), "two");
  EXPECT_THAT(ReadPack(builder.Finish()).status().message(), HasSubstr("does not have its digest"));
}

TEST(BlobPackTest, RefusesEveryDamagedByteAndEveryCut) {
  const std::string pack = PackOf({"first", "second"});
  for (std::size_t position = 0; position < pack.size(); ++position) {
    EXPECT_FALSE(ReadPack(pack.substr(0, position)).ok()) << position;
    std::string damaged = pack;
    damaged[position] ^= 0x5a;
    const auto blobs = ReadPack(damaged);
    // A byte of the frame's header may have no effect, but no other content may appear.
    if (blobs.ok()) {
      EXPECT_EQ((*blobs)[0].content, "first") << position;
    }
  }
}

TEST(BlobPackTest, KnowsDigests) {
  EXPECT_TRUE(IsDigest(DigestOf("x")));
  EXPECT_FALSE(IsDigest(""));
  EXPECT_FALSE(IsDigest(std::string(64, 'G')));
  EXPECT_FALSE(IsDigest("../" + std::string(61, 'a')));
}

}  // namespace
}  // namespace trainyard::code
