#include "data/dedup/document_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "tests/fakes/temporary_directory.h"

namespace trainyard::data {
namespace {

using ::testing::ElementsAre;
using ::testing::Optional;

Signature Filled(uint32_t value) {
  Signature signature;
  signature.fill(value);
  return signature;
}

class DocumentStoreTest : public ::testing::Test {
 protected:
  void SetUp() override {
    store_ = *DocumentStore::Create(directory_.File("documents"), *PresetSettings("near", {}, ""));
    // Block 1 has a full chunk and three more documents, and is added before block 0.
    std::vector<StoredDocument> chunk;
    for (uint32_t i = 0; i < DocumentStore::kChunk; ++i) chunk.push_back({1, i, Filled(i)});
    ASSERT_TRUE(store_->Add(1, chunk).ok());
    ASSERT_TRUE(store_->Add(0, {{0, 5, Filled(7)}}).ok());
    chunk.resize(3);
    for (StoredDocument& document : chunk) document.line += 1000;
    ASSERT_TRUE(store_->Add(1, chunk).ok());
    ASSERT_TRUE(store_->Finish(DocumentNumbers({1, DocumentStore::kChunk + 3})).ok());
  }

  const TemporaryDirectory directory_;
  std::unique_ptr<DocumentStore> store_;
};

TEST_F(DocumentStoreTest, FindsDocumentsOfAllBlocks) {
  EXPECT_EQ(store_->PlaceOf(0)->file, 0u);
  EXPECT_EQ(store_->PlaceOf(0)->line, 5u);
  EXPECT_EQ(store_->PlaceOf(1)->file, 1u);
  EXPECT_EQ(store_->PlaceOf(1)->line, 0u);
  EXPECT_EQ(store_->PlaceOf(DocumentStore::kChunk)->line, DocumentStore::kChunk - 1);
  EXPECT_EQ(store_->PlaceOf(DocumentStore::kChunk + 3)->line, 1002u);
}

TEST_F(DocumentStoreTest, EstimatesFromSignatures) {
  EXPECT_EQ(*store_->Estimate(0, 8), 1);  // both are filled with 7
  EXPECT_EQ(*store_->Estimate(0, 9), 0);
}

TEST_F(DocumentStoreTest, ACutFileIsAnError) {
  std::filesystem::resize_file(directory_.File("documents"), 272 * 3);
  EXPECT_TRUE(store_->PlaceOf(1).ok());
  EXPECT_EQ(store_->PlaceOf(200).status().code(), absl::StatusCode::kDataLoss);
}

// Similarities near the threshold come from the shingles, others from the signatures.
TEST(VerifyingTest, ComparesShinglesNearTheThreshold) {
  const TemporaryDirectory directory;
  const auto store =
      *DocumentStore::Create(directory.File("documents"), *PresetSettings("near", {}, ""));
  const auto shingles = *ShingleStore::Create(directory.File("shingles"));
  Signature near = Filled(1);
  for (size_t i = 0; i < 25; ++i) near[i] = 2;  // 0.805 of the first document
  Signature far = Filled(1);
  for (size_t i = 0; i < 64; ++i) far[i] = 2;  // 0.5
  ASSERT_TRUE(store->Add(0, {{0, 0, Filled(1)}, {0, 1, near}, {0, 2, far}}).ok());
  ASSERT_TRUE(store->Finish(DocumentNumbers({3})).ok());
  ASSERT_TRUE(shingles->Add(2, {1, 2, 3}).ok());
  ASSERT_TRUE(shingles->Add(0, {1, 2, 3}).ok());
  ASSERT_TRUE(shingles->Add(1, {1, 2, 4}).ok());
  ASSERT_TRUE(shingles->Finish().ok());
  EXPECT_THAT(*shingles->ShinglesOf(1), ElementsAre(1, 2, 4));

  VerifyingTest high(*store, *shingles, 0.8);
  EXPECT_EQ(*high.Compare(0, 1), std::nullopt);  // the exact similarity is 0.5
  EXPECT_EQ(*high.Compare(0, 2), std::nullopt);
  VerifyingTest low(*store, *shingles, 0.5);
  EXPECT_THAT(*low.Compare(0, 1), Optional(103.0 / 128));
  EXPECT_THAT(*low.Compare(0, 2), Optional(1.0));
  VerifyingTest equal(*store, *shingles, 1);
  EXPECT_EQ(*equal.Compare(0, 1), std::nullopt);
}

TEST(UnverifiedTest, EveryCandidateIsADuplicate) {
  const TemporaryDirectory directory;
  const auto store =
      *DocumentStore::Create(directory.File("documents"), *PresetSettings("exact", {}, ""));
  ASSERT_TRUE(store->Add(0, {{0, 0, Filled(1)}, {3, 9, Filled(2)}}).ok());
  ASSERT_TRUE(store->Finish(DocumentNumbers({2})).ok());
  UnverifiedTest test(*store);
  EXPECT_THAT(*test.Compare(0, 1), Optional(1.0));
  EXPECT_EQ(store->PlaceOf(1)->line, 9u);
}

}  // namespace
}  // namespace trainyard::data
