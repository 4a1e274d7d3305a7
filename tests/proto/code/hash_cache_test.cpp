#include "proto/code/hash_cache.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <string>

#include "absl/strings/str_cat.h"
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

TEST_F(HashCacheTest, RemovesTheOldestCaches) {
  for (std::size_t cache = 0; cache < HashCache::kMaxCaches + 2; ++cache) {
    const std::string path = directory_.File(absl::StrCat("c", cache));
    WriteFile(path, "x");
    const timespec time = {.tv_sec = static_cast<time_t>(1000 + cache), .tv_nsec = 0};
    const timespec times[] = {time, time};
    ASSERT_EQ(utimensat(AT_FDCWD, path.c_str(), times, 0), 0);
  }
  HashCache::RemoveOldCaches(directory_.path());
  EXPECT_NE(access(directory_.File("c1").c_str(), F_OK), 0);
  EXPECT_EQ(access(directory_.File("c2").c_str(), F_OK), 0);
}

}  // namespace
}  // namespace trainyard::code
