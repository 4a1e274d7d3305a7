#include "data/tokens/megatron_index.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <string_view>
#include <vector>

#include "tests/data/text_directory.h"

namespace trainyard::data {
namespace {

using testing::ElementsAre;

// The parts of an index as Megatron-LM's indexed_dataset.py reads them.
struct ReadIndex {
  std::string magic;
  uint64_t version = 0;
  int type = 0;
  std::vector<int32_t> lengths;
  std::vector<int64_t> pointers;
  std::vector<int64_t> documents;
};

template <typename Number>
Number Take(std::string_view* bytes) {
  Number number{};
  EXPECT_GE(bytes->size(), sizeof(number));
  std::memcpy(&number, bytes->data(), std::min(bytes->size(), sizeof(number)));
  bytes->remove_prefix(std::min(bytes->size(), sizeof(number)));
  return number;
}

ReadIndex Read(const std::string& path) {
  const std::string file = ReadFile(path);
  std::string_view bytes = file;
  ReadIndex index;
  index.magic = bytes.substr(0, 9);
  bytes.remove_prefix(index.magic.size());
  index.version = Take<uint64_t>(&bytes);
  index.type = Take<int8_t>(&bytes);
  index.lengths.resize(Take<uint64_t>(&bytes));
  index.documents.resize(Take<uint64_t>(&bytes));
  for (int32_t& length : index.lengths) length = Take<int32_t>(&bytes);
  index.pointers.resize(index.lengths.size());
  for (int64_t& pointer : index.pointers) pointer = Take<int64_t>(&bytes);
  for (int64_t& document : index.documents) document = Take<int64_t>(&bytes);
  EXPECT_EQ(bytes, "");
  return index;
}

TEST(MegatronIndexTest, EachDocumentIsASequence) {
  const TextDirectory directory;
  const auto index = MegatronIndex::Create(directory.path(), "train", 2);
  ASSERT_TRUE(index.ok()) << index.status();
  for (const int64_t tokens : {3, 1, 10}) ASSERT_TRUE((*index)->AddDocument(tokens).ok());
  const auto facts = (*index)->Finish();
  ASSERT_TRUE(facts.ok()) << facts.status();
  const ReadIndex read = Read(directory / "train.idx");
  EXPECT_EQ(read.magic, std::string("MMIDIDX\0\0", 9));
  EXPECT_EQ(read.version, 1u);
  EXPECT_EQ(read.type, 8);
  EXPECT_THAT(read.lengths, ElementsAre(3, 1, 10));
  EXPECT_THAT(read.pointers, ElementsAre(0, 6, 8));
  EXPECT_THAT(read.documents, ElementsAre(0, 1, 2, 3));
  EXPECT_EQ(facts->token_from, -1);
  EXPECT_EQ(facts->bytes, 34 + 3 * 12 + 4 * 8);
  EXPECT_THAT(directory.Names(), ElementsAre("train.idx"));
}

TEST(MegatronIndexTest, AVeryLongDocumentHasSeveralSequences) {
  const TextDirectory directory;
  const auto index = MegatronIndex::Create(directory.path(), "val", 4, 5);
  for (const int64_t tokens : {5, 12, 2}) ASSERT_TRUE((*index)->AddDocument(tokens).ok());
  ASSERT_TRUE((*index)->Finish().ok());
  const ReadIndex read = Read(directory / "val.idx");
  EXPECT_EQ(read.type, 4);
  EXPECT_THAT(read.lengths, ElementsAre(5, 5, 5, 2, 2));
  EXPECT_THAT(read.pointers, ElementsAre(0, 20, 40, 60, 68));
  EXPECT_THAT(read.documents, ElementsAre(0, 1, 4, 5));
}

// More lengths than the buffer of the file of lengths has.
TEST(MegatronIndexTest, ManyDocuments) {
  const TextDirectory directory;
  const auto index = MegatronIndex::Create(directory.path(), "train", 2);
  constexpr int64_t kDocuments = 300'000;
  for (int64_t i = 0; i < kDocuments; ++i) ASSERT_TRUE((*index)->AddDocument(i % 7 + 1).ok());
  ASSERT_TRUE((*index)->Finish().ok());
  const ReadIndex read = Read(directory / "train.idx");
  ASSERT_EQ(read.lengths.size(), static_cast<size_t>(kDocuments));
  int64_t byte = 0;
  for (size_t i = 0; i < read.lengths.size(); ++i) {
    ASSERT_EQ(read.lengths[i], static_cast<int32_t>(i % 7 + 1));
    ASSERT_EQ(read.pointers[i], byte);
    byte += read.lengths[i] * 2;
  }
  EXPECT_EQ(read.documents.back(), kDocuments);
}

TEST(MegatronIndexTest, NoDocuments) {
  const TextDirectory directory;
  ASSERT_TRUE((*MegatronIndex::Create(directory.path(), "val", 2))->Finish().ok());
  EXPECT_THAT(Read(directory / "val.idx").documents, ElementsAre(0));
}

}  // namespace
}  // namespace trainyard::data
