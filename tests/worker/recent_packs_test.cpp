#include "worker/recent_packs.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "proto/code/blob_pack.h"

namespace trainyard::worker {
namespace {

std::string PackOf(const std::vector<std::string>& contents) {
  code::PackBuilder builder;
  for (const std::string& content : contents) builder.Add(code::DigestOf(content), content);
  return builder.Finish();
}

std::vector<std::string> DigestsOf(const std::vector<std::string>& contents) {
  std::vector<std::string> digests;
  for (const std::string& content : contents) digests.push_back(code::DigestOf(content));
  return digests;
}

// Bytes that do not shrink in a pack.
std::string RandomBytes(std::size_t size, unsigned seed) {
  std::mt19937_64 random(seed);
  std::string bytes;
  while (bytes.size() < size) {
    const std::uint64_t word = random();
    bytes.append(reinterpret_cast<const char*>(&word), sizeof(word));
  }
  return bytes;
}

TEST(RecentPacksTest, ReturnsAPackToARequestForAllOfItsBlobs) {
  RecentPacks packs;
  const std::string pack = PackOf({"a", "b"});
  packs.Keep("snapshot", pack);
  for (const std::vector<std::string>& requested :
       {DigestsOf({"a", "b"}), DigestsOf({"a", "c", "b"})}) {
    const auto found = packs.Find("snapshot", requested);
    ASSERT_NE(found, nullptr);
    EXPECT_EQ(*found, pack);
  }
}

TEST(RecentPacksTest, ReturnsNoBlobsThatWereNotRequested) {
  RecentPacks packs;
  packs.Keep("snapshot", PackOf({"a", "b"}));
  EXPECT_EQ(packs.Find("snapshot", DigestsOf({"a"})), nullptr);
  EXPECT_EQ(packs.Find("snapshot", DigestsOf({"b", "a"})), nullptr) << "the first blob comes first";
  EXPECT_EQ(packs.Find("another", DigestsOf({"a", "b"})), nullptr);
  EXPECT_EQ(packs.Find("snapshot", {}), nullptr);
  packs.Keep("snapshot", "these bytes are not a pack");
}

TEST(RecentPacksTest, DropsTheOldestPacksBeyondTheLimit) {
  RecentPacks packs;
  std::vector<std::string> contents;
  for (unsigned seed = 0; seed < 6; ++seed) {
    contents.push_back(RandomBytes(7 << 20, seed));
    packs.Keep("snapshot", PackOf({contents.back()}));
  }
  // Four packs of 7 MiB fit into 32 MiB.
  for (std::size_t index = 0; index < contents.size(); ++index) {
    EXPECT_EQ(packs.Find("snapshot", DigestsOf({contents[index]})) != nullptr, index >= 2) << index;
  }
}

}  // namespace
}  // namespace trainyard::worker
