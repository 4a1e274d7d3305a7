#include "proto/code/hash_cache.h"

#include <string>

#include "gtest/gtest.h"
#include "proto/code/blob_pack.h"
#include "tests/fakes/temporary_directory.h"

namespace trainyard::code {
namespace {

constexpr int64_t kNowNs = 1'000'000'000'000;

FoundFile FileAt(int64_t changed_ns) {
  return {.path = "sub/a file.py",
          .bytes = 5,
          .modified_ns = changed_ns,
          .changed_ns = changed_ns,
          .inode = 7};
}

class HashCacheTest : public testing::Test {
 protected:
  void SaveOne(const FoundFile& file) {
    HashCache cache;
    cache.Put(file, {DigestOf("hello")});
    ASSERT_TRUE(cache.Save(path_, "/root", kNowNs).ok());
  }

  TemporaryDirectory directory_;
  const std::string path_ = directory_.File("cache");
};

TEST_F(HashCacheTest, RemembersUnchangedFiles) {
  const FoundFile file = FileAt(1);
  SaveOne(file);
  const HashCache cache = HashCache::Load(path_, "/root");
  const std::vector<std::string>* digests = cache.Find(file);
  ASSERT_NE(digests, nullptr);
  EXPECT_EQ(*digests, std::vector<std::string>{DigestOf("hello")});
}

TEST_F(HashCacheTest, ForgetsAFileWhenAnyValueChanges) {
  const FoundFile file = FileAt(1);
  SaveOne(file);
  const HashCache cache = HashCache::Load(path_, "/root");
  FoundFile other = file;
  other.bytes = 6;
  EXPECT_EQ(cache.Find(other), nullptr);
  other = file;
  other.modified_ns = 2;
  EXPECT_EQ(cache.Find(other), nullptr);
  other = file;
  other.changed_ns = 2;
  EXPECT_EQ(cache.Find(other), nullptr);
  other = file;
  other.inode = 8;
  EXPECT_EQ(cache.Find(other), nullptr);
}

TEST_F(HashCacheTest, LeavesOutFilesThatMayStillBeWritten) {
  const FoundFile settled = FileAt(kNowNs - HashCache::kSettledNs);
  SaveOne(settled);
  EXPECT_NE(HashCache::Load(path_, "/root").Find(settled), nullptr);
  const FoundFile recent = FileAt(kNowNs - HashCache::kSettledNs + 1);
  SaveOne(recent);
  EXPECT_EQ(HashCache::Load(path_, "/root").Find(recent), nullptr);
}

TEST_F(HashCacheTest, IsEmptyForAnotherTreeAndForDamagedFiles) {
  const FoundFile file = FileAt(1);
  SaveOne(file);
  EXPECT_EQ(HashCache::Load(path_, "/other").Find(file), nullptr);
  const std::string text = ReadFile(path_);
  WriteFile(path_, text + "1 2 3");
  EXPECT_EQ(HashCache::Load(path_, "/root").Find(file), nullptr);
  WriteFile(path_, text.substr(0, text.size() - 20));
  EXPECT_EQ(HashCache::Load(path_, "/root").Find(file), nullptr);
  EXPECT_EQ(HashCache::Load(directory_.File("missing"), "/root").Find(file), nullptr);
}

}  // namespace
}  // namespace trainyard::code
