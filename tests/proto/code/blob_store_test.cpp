#include "proto/code/blob_store.h"

#include <filesystem>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/fakes/temporary_directory.h"
#include "tests/proto/code/pack_of.h"

namespace trainyard::code {
namespace {

using testing::HasSubstr;
using testing::UnorderedElementsAre;

constexpr int64_t kHour = BlobStore::kUploadLeaseMs;

// Returns the manifest of a tree with one file per text.
std::string ManifestOf(const std::vector<std::string>& contents) {
  Manifest manifest;
  for (const std::string& content : contents) {
    manifest.files.push_back({.path = absl::StrCat("f", manifest.files.size()),
                              .bytes = static_cast<int64_t>(content.size()),
                              .pieces = {DigestOf(content)}});
  }
  return *WriteManifest(manifest);
}

class BlobStoreTest : public testing::Test {
 protected:
  BlobStoreTest() { Reopen(0); }

  void Reopen(int64_t now_ms, int64_t max_bytes = 1 << 20) {
    store_.reset();
    auto store = BlobStore::Open({.directory = path_, .max_bytes = max_bytes}, now_ms);
    ASSERT_TRUE(store.ok()) << store.status();
    store_ = *std::move(store);
  }
  void Add(const std::vector<std::string>& contents, int64_t now_ms = 0) {
    const absl::Status status = store_->Add(PackOf(contents), now_ms);
    ASSERT_TRUE(status.ok()) << status;
  }
  bool Has(const std::string& content) { return store_->Read(DigestOf(content)).ok(); }
  std::vector<std::string> Packs() const {
    std::vector<std::string> packs;
    for (const auto& entry : std::filesystem::directory_iterator(path_)) {
      packs.push_back(entry.path());
    }
    return packs;
  }

  TemporaryDirectory directory_;
  const std::string path_ = directory_.File("code");
  std::unique_ptr<BlobStore> store_;
};

TEST_F(BlobStoreTest, ReturnsBlobsAlsoAfterARestart) {
  Add({"one", "two"});
  Add({"three"});
  Reopen(0);
  EXPECT_EQ(*store_->Read(DigestOf("two")), "two");
  const auto pack =
      store_->Fetch({DigestOf("three"), DigestOf("one"), DigestOf("one"), DigestOf("two")});
  ASSERT_TRUE(pack.ok()) << pack.status();
  const auto blobs = ReadPack(*pack);
  ASSERT_TRUE(blobs.ok());
  ASSERT_EQ(blobs->size(), 3U);
  EXPECT_EQ((*blobs)[0].content, "three");
}

TEST_F(BlobStoreTest, StoresEachBlobOnce) {
  Add({"one", "two"});
  const int64_t bytes = store_->bytes();
  Add({"two", "one"});
  EXPECT_EQ(store_->bytes(), bytes);
  EXPECT_EQ(Packs().size(), 1U);
  Add({"two", "three"});
  Reopen(0);
  EXPECT_TRUE(Has("three"));
  EXPECT_EQ(
      ReadPackIndex(ReadFile(Packs()[0]))->size() + ReadPackIndex(ReadFile(Packs()[1]))->size(),
      3U);
}

TEST_F(BlobStoreTest, NamesWhatASnapshotLacks) {
  const std::string manifest = ManifestOf({"one", "two"});
  const std::string id = DigestOf(manifest);
  EXPECT_THAT(*store_->Missing(id, 0), UnorderedElementsAre(id));
  Add({manifest, "one"});
  EXPECT_THAT(*store_->Missing(id, 0), UnorderedElementsAre(DigestOf("two")));
  Add({"two"});
  EXPECT_TRUE(store_->Missing(id, 0)->empty());
  EXPECT_EQ(store_->ReadSnapshot(id)->files.size(), 2U);
  EXPECT_EQ(store_->ReadSnapshot(DigestOf("none")).status().code(), absl::StatusCode::kNotFound);
  // A blob that is no manifest is no snapshot.
  EXPECT_EQ(store_->Missing(DigestOf("one"), 0).status().code(),
            absl::StatusCode::kInvalidArgument);
}

TEST_F(BlobStoreTest, RefusesBadPacksAndUnknownBlobs) {
  EXPECT_EQ(store_->Add("no pack", 0).code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(store_->Fetch({DigestOf("none")}).status().code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(store_->Fetch({}).status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_TRUE(Packs().empty());
}

TEST_F(BlobStoreTest, RefusesPacksWhenItIsFull) {
  Reopen(0, 150);
  Add({"one"});
  const absl::Status full = store_->Add(PackOf({"two", "three", "four"}), 0);
  EXPECT_EQ(full.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(std::string(full.message()), HasSubstr("store of code snapshots is full"));
  EXPECT_EQ(Packs().size(), 1U);
}

TEST_F(BlobStoreTest, RemovesBlobsThatNoSnapshotUses) {
  const std::string used = ManifestOf({"one"});
  const std::string unused = ManifestOf({"two"});
  Add({used, "one"});
  Add({unused, "two"});
  Add({"difference"});
  Add({"stray"});
  const auto freed = store_->RemoveUnused({DigestOf(used)}, {DigestOf("difference")}, kHour + 1);
  ASSERT_TRUE(freed.ok()) << freed.status();
  EXPECT_GT(*freed, 0);
  EXPECT_TRUE(Has(used));
  EXPECT_TRUE(Has("one"));
  EXPECT_TRUE(Has("difference"));
  EXPECT_FALSE(Has(unused));
  EXPECT_FALSE(Has("two"));
  EXPECT_FALSE(Has("stray"));
  EXPECT_EQ(Packs().size(), 2U);
}

TEST_F(BlobStoreTest, KeepsNewUploadsForAnHour) {
  Add({"stray"}, 1000);
  ASSERT_TRUE(store_->RemoveUnused({}, {}, 1000 + kHour).ok());
  EXPECT_TRUE(Has("stray"));
  // Packs found at the start count as new.
  Reopen(2000 + kHour);
  ASSERT_TRUE(store_->RemoveUnused({}, {}, 3000 + kHour).ok());
  EXPECT_TRUE(Has("stray"));
  ASSERT_TRUE(store_->RemoveUnused({}, {}, 2001 + 2 * kHour).ok());
  EXPECT_FALSE(Has("stray"));
}

// A client that finds its old snapshot in the store submits without sending it again.
TEST_F(BlobStoreTest, KeepsASnapshotForAnHourAfterTheQuestion) {
  const std::string manifest = ManifestOf({"one"});
  Add({manifest, "one"});
  EXPECT_TRUE(store_->Missing(DigestOf(manifest), 5 * kHour)->empty());
  ASSERT_TRUE(store_->RemoveUnused({}, {}, 6 * kHour).ok());
  EXPECT_TRUE(Has("one"));
  ASSERT_TRUE(store_->RemoveUnused({}, {}, 6 * kHour + 1).ok());
  EXPECT_FALSE(Has("one"));
}

TEST_F(BlobStoreTest, RewritesPacksWithFewUsedBlobs) {
  const std::string manifest = ManifestOf({"one"});
  Add({manifest, "one", std::string(4000, 'x') + "unused"});
  const int64_t before = store_->bytes();
  ASSERT_TRUE(store_->RemoveUnused({DigestOf(manifest)}, {}, kHour + 1).ok());
  EXPECT_LT(store_->bytes(), before);
  EXPECT_EQ(*store_->Read(DigestOf("one")), "one");
  EXPECT_FALSE(Has(std::string(4000, 'x') + "unused"));
  Reopen(0);
  EXPECT_EQ(*store_->Read(DigestOf("one")), "one");
  EXPECT_EQ(Packs().size(), 1U);
}

TEST_F(BlobStoreTest, RemovesADamagedPackSoThatItIsUploadedAgain) {
  const std::string manifest = ManifestOf({"one"});
  Add({manifest});
  Add({"one"});
  const std::string name = absl::StrCat(path_, "/", DigestOf(PackOf({"one"})), ".pack");
  std::string text = ReadFile(name);
  text.back() ^= 1;
  text[text.size() - 3] ^= 1;
  WriteFile(name, text);
  const auto read = store_->Read(DigestOf("one"));
  EXPECT_EQ(read.status().code(), absl::StatusCode::kDataLoss);
  EXPECT_THAT(std::string(read.status().message()), HasSubstr("submit the job again"));
  EXPECT_THAT(*store_->Missing(DigestOf(manifest), 0), UnorderedElementsAre(DigestOf("one")));
  Add({"one"});
  EXPECT_TRUE(Has("one"));
}

TEST_F(BlobStoreTest, NamesWhatEachOfTwoSnapshotsLacks) {
  const std::string one = ManifestOf({"one"});
  const std::string two = ManifestOf({"two"});
  Add({one, two});
  for (int question = 0; question < 2; ++question) {
    EXPECT_THAT(*store_->Missing(DigestOf(one), 0), UnorderedElementsAre(DigestOf("one")));
    EXPECT_THAT(*store_->Missing(DigestOf(two), 0), UnorderedElementsAre(DigestOf("two")));
  }
  Add({"one"});
  EXPECT_THAT(*store_->Missing(DigestOf(one), 0), UnorderedElementsAre());
}

TEST_F(BlobStoreTest, IgnoresUnfinishedAndForeignFiles) {
  Add({"one"});
  const std::string pack = PackOf({"two"});
  for (std::size_t bytes = 0; bytes < pack.size(); ++bytes) {
    WriteFile(absl::StrCat(path_, "/", DigestOf(pack), ".pack.tmp"), pack.substr(0, bytes));
    Reopen(0);
    ASSERT_FALSE(Has("two")) << bytes;
    ASSERT_EQ(Packs().size(), 1U) << bytes;
  }
  WriteFile(path_ + "/notes.pack", "text");
  Reopen(0);
  EXPECT_TRUE(Has("one"));
  EXPECT_EQ(ReadFile(path_ + "/notes.pack"), "text");
}

}  // namespace
}  // namespace trainyard::code
