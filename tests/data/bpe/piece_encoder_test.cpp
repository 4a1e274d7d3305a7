#include "data/bpe/piece_encoder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "data/bpe/byte_piece_model.h"
#include "data/bpe/character_piece_model.h"

namespace trainyard::data {
namespace {

using testing::ElementsAre;
using testing::ElementsAreArray;

// Ids 0 to 255 are the bytes.
ByteBpe BytesOnly() {
  ByteBpe bpe;
  for (uint32_t byte = 0; byte < 256; ++byte) {
    const char text = static_cast<char>(byte);
    bpe.vocabulary.Add(byte, std::string_view(&text, 1));
  }
  return bpe;
}

std::vector<uint32_t> EncodeOne(const PieceModel& model, std::string_view piece) {
  std::vector<uint32_t> ids;
  model.Encode(piece, &ids);
  return ids;
}

TEST(BytePieceModelTest, MergesBytes) {
  ByteBpe bpe = BytesOnly();
  bpe.vocabulary.Add(256, "ab");
  bpe.vocabulary.Add(257, "abc");
  bpe.merges.Add('a', 'b', 256);
  bpe.merges.Add(256, 'c', 257);
  EXPECT_THAT(EncodeOne(BytePieceModel(bpe), "abcab\xFF"), ElementsAre(257, 256, 255));
}

// A token that no merge makes is used only with ignore_merges, and only for a whole piece.
TEST(BytePieceModelTest, IgnoreMergesAffectsWholePiecesOnly) {
  ByteBpe bpe = BytesOnly();
  bpe.vocabulary.Add(256, "xyz");
  EXPECT_THAT(EncodeOne(BytePieceModel(bpe), "xyz"), ElementsAre('x', 'y', 'z'));
  bpe.ignore_merges = true;
  EXPECT_THAT(EncodeOne(BytePieceModel(bpe), "xyz"), ElementsAre(256));
  EXPECT_THAT(EncodeOne(BytePieceModel(bpe), "xyzx"), ElementsAre('x', 'y', 'z', 'x'));
}

TEST(BytePieceModelTest, UnknownBytesAreFusedOnlyOnRequest) {
  ByteBpe bpe;
  bpe.vocabulary.Add(0, "a");
  bpe.unknown = 9;
  EXPECT_THAT(EncodeOne(BytePieceModel(bpe), "xyax"), ElementsAre(9, 9, 0, 9));
  bpe.fuse_unknown = true;
  EXPECT_THAT(EncodeOne(BytePieceModel(bpe), "xyax"), ElementsAre(9, 0, 9));
}

TEST(BytePieceModelTest, LongPiecesAreMergedAsShortOnes) {
  ByteBpe bpe = BytesOnly();
  bpe.vocabulary.Add(256, "aa");
  bpe.merges.Add('a', 'a', 256);
  const BytePieceModel model(bpe);
  const std::vector<uint32_t> ids = EncodeOne(model, std::string(1001, 'a'));
  ASSERT_EQ(ids.size(), 501u);
  EXPECT_EQ(ids.front(), 256u);
  EXPECT_EQ(ids.back(), static_cast<uint32_t>('a'));
}

CharacterBpe Characters() {
  CharacterBpe bpe;
  bpe.byte_tokens.fill(kNoToken);
  bpe.unknown = 0;
  bpe.vocabulary.Add(1, kSpaceSymbol);
  bpe.vocabulary.Add(2, "a");
  bpe.vocabulary.Add(3, std::string(kSpaceSymbol) + "a");
  bpe.vocabulary.Add(4, std::string(kSpaceSymbol) + std::string(kSpaceSymbol));
  bpe.merges.Add(1, 2, 3);
  bpe.merges.Add(1, 1, 4);
  return bpe;
}

// Rank 1 is applied after rank 0, although id 4 could be made first from the left.
TEST(CharacterPieceModelTest, SpacesAreSymbols) {
  const CharacterBpe bpe = Characters();
  const CharacterPieceModel model(bpe);
  EXPECT_THAT(EncodeOne(model, "  a"), ElementsAre(1, 3));
  EXPECT_THAT(EncodeOne(model, "   a"), ElementsAre(4, 3));
  EXPECT_THAT(EncodeOne(model, " \xE2\x96\x81"), ElementsAre(4));
}

TEST(CharacterPieceModelTest, UnknownCharactersAreBytesIfAllBytesAreTokens) {
  CharacterBpe bpe = Characters();
  bpe.byte_tokens[0xC3] = 100;
  bpe.byte_tokens[0xA9] = 101;
  bpe.byte_tokens[0] = 102;
  const CharacterPieceModel model(bpe);
  EXPECT_THAT(EncodeOne(model, "a\xC3\xA9"), ElementsAre(2, 100, 101));
  EXPECT_THAT(EncodeOne(model, std::string_view("\0a", 2)), ElementsAre(102, 2));
  // U+00E8 ends with a byte that has no token. Two of them give one id.
  EXPECT_THAT(EncodeOne(model,
                        "\xC3\xA8\xC3\xA8"
                        "a"),
              ElementsAre(0, 2));
}

TEST(CharacterPieceModelTest, LongPiecesAreMergedAsShortOnes) {
  const CharacterBpe bpe = Characters();
  const CharacterPieceModel model(bpe);
  const std::vector<uint32_t> ids = EncodeOne(model, std::string(1000, ' ') + "a");
  ASSERT_EQ(ids.size(), 501u);
  EXPECT_EQ(ids[498], 4u);
  EXPECT_THAT(std::vector<uint32_t>(ids.end() - 2, ids.end()), ElementsAre(1, 3));
}

// Counts the calls. The ids of a piece are its bytes.
class CountingModel : public PieceModel {
 public:
  void Encode(std::string_view piece, std::vector<uint32_t>* ids) const override {
    ++calls;
    for (const char byte : piece) ids->push_back(static_cast<unsigned char>(byte));
  }
  mutable int calls = 0;
};

// Encodes each of the pieces, as one text.
std::vector<uint32_t> EncodeAll(PieceEncoder& encoder, const std::vector<std::string>& pieces) {
  std::string text;
  std::vector<uint32_t> ends;
  for (const std::string& piece : pieces) {
    text += piece;
    ends.push_back(static_cast<uint32_t>(text.size()));
  }
  // Without spare capacity, so that sanitizers find a read behind the text.
  const std::unique_ptr<char[]> exact(new char[text.size()]);
  std::memcpy(exact.get(), text.data(), text.size());
  std::vector<uint32_t> ids;
  size_t begin = 0;
  for (size_t done = 0; done < ends.size(); done += PieceEncoder::kPiecesMax) {
    const size_t count = std::min(PieceEncoder::kPiecesMax, ends.size() - done);
    encoder.Encode({exact.get(), text.size()}, begin, ends.data() + done, count, &ids);
    begin = ends[done + count - 1];
  }
  return ids;
}

std::vector<uint32_t> BytesOf(const std::vector<std::string>& pieces) {
  std::vector<uint32_t> bytes;
  for (const std::string& piece : pieces) {
    for (const char byte : piece) bytes.push_back(static_cast<unsigned char>(byte));
  }
  return bytes;
}

TEST(PieceEncoderTest, EveryLengthIsCachedOnce) {
  const CountingModel model;
  PieceEncoder encoder(model);
  std::vector<std::string> pieces;
  for (size_t length = 1; length <= LongPieceCache::kPieceBytesMax; ++length) {
    pieces.push_back(std::string(length, 'x'));
    pieces.push_back(std::string(length - 1, 'x') + '\0');
  }
  EXPECT_THAT(EncodeAll(encoder, pieces), ElementsAreArray(BytesOf(pieces)));
  EXPECT_EQ(model.calls, static_cast<int>(pieces.size()));
  EXPECT_THAT(EncodeAll(encoder, pieces), ElementsAreArray(BytesOf(pieces)));
  EXPECT_EQ(model.calls, static_cast<int>(pieces.size()));
}

TEST(PieceEncoderTest, VeryLongPiecesAreNotCached) {
  const CountingModel model;
  PieceEncoder encoder(model);
  const std::vector<std::string> pieces = {std::string(LongPieceCache::kPieceBytesMax + 1, 'x')};
  EXPECT_THAT(EncodeAll(encoder, pieces), ElementsAreArray(BytesOf(pieces)));
  EXPECT_THAT(EncodeAll(encoder, pieces), ElementsAreArray(BytesOf(pieces)));
  EXPECT_EQ(model.calls, 2);
}

TEST(PieceEncoderTest, NoPiecesGiveNoIds) {
  const CountingModel model;
  PieceEncoder encoder(model);
  std::vector<uint32_t> ids = {7};
  encoder.Encode("", 0, nullptr, 0, &ids);
  EXPECT_THAT(ids, ElementsAre(7));
}

// More distinct pieces than the caches have space for: both are emptied on the way.
TEST(PieceEncoderTest, StaysBoundedAndExactWithManyPieces) {
  const CountingModel model;
  PieceEncoder encoder(model);
  std::mt19937_64 random(1);
  for (int round = 0; round < 400; ++round) {
    std::vector<std::string> pieces;
    for (int i = 0; i < 4000; ++i) {
      std::string piece = std::to_string(random());
      pieces.push_back(piece.substr(0, i % 2 == 0 ? 4 : 20));
      if (i % 4 == 0) pieces.back() = "\xE2" + piece.substr(0, 3);
    }
    const std::vector<uint32_t> ids = EncodeAll(encoder, pieces);
    ASSERT_TRUE(ids == BytesOf(pieces));
  }
  EXPECT_LE(encoder.cache_bytes(), size_t{64} << 20);
}

TEST(PieceCacheTest, GrowsToItsLimitAndStaysExact) {
  PieceCache cache;
  const auto key_of = [](uint64_t number) {
    char bytes[16] = {};
    std::memcpy(bytes, &number, sizeof(number));
    return PieceCache::KeyOf(bytes, sizeof(number));
  };
  size_t found = 0;
  for (uint32_t i = 0; i < 2'000'000; ++i) {
    const PieceCache::Key key = key_of(i);
    ASSERT_EQ(cache.Find(key, key.Hash()), nullptr);
    const uint32_t ids[] = {i, i + 1};
    cache.Insert(key, key.Hash(), ids, 2);
    const PieceCache::Key earlier = key_of(i / 2);
    const PieceCache::Slot* slot = cache.Find(earlier, earlier.Hash());
    if (slot == nullptr) continue;
    ++found;
    ASSERT_EQ(slot->count(), 2u);
    ASSERT_EQ(slot->ids[0], i / 2);
    ASSERT_EQ(slot->ids[1], i / 2 + 1);
  }
  EXPECT_GT(found, 500'000u);
  EXPECT_EQ(cache.bytes(), size_t{32} << 20);
}

}  // namespace
}  // namespace trainyard::data
