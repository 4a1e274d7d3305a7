#include "trainer/checkpoint/manifest.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "trainer/config/trainer_error.h"

namespace trainyard::trainer {
namespace {

using testing::HasSubstr;

Manifest Example() {
  Manifest manifest;
  manifest.step = 100;
  manifest.attempt = {7, 3};
  manifest.world_size = 2;
  manifest.model_fingerprint = "llama-tiny";
  manifest.trainer_state = {{"samples", 1600}, {"lr", 0.1}};
  manifest.entries.files = {{"rank_00000.safetensors", {200, 64, 1}},
                            {"rank_00001.safetensors", {80, 64, 2}}};
  manifest.entries.tensors["w"] = {torch::kBFloat16,
                                   {4, 3},
                                   {{{{0, 0}, {2, 3}}, "rank_00000.safetensors", 64, 76, {5}},
                                    {{{2, 0}, {2, 3}}, "rank_00001.safetensors", 64, 76, {6}}}};
  return manifest;
}

// Returns the text of a manifest, with a recomputed checksum.
std::string Sealed(nlohmann::json json) {
  json.erase("xxh64");
  const std::string body = json.dump().substr(1);
  char digits[17];
  std::snprintf(digits, sizeof(digits), "%016llx",
                static_cast<unsigned long long>(XXH64(body.data(), body.size(), 0)));
  return "{\"xxh64\":\"" + std::string(digits) + "\"," + body;
}

// Returns the text of the example manifest with one value changed and a valid checksum.
std::string Forged(const std::string& pointer, const nlohmann::json& value) {
  nlohmann::json json = nlohmann::json::parse(ManifestToText(Example()));
  json[nlohmann::json::json_pointer(pointer)] = value;
  return Sealed(std::move(json));
}

std::string ErrorIn(const std::string& text) {
  try {
    ManifestFromText(text, "/c/manifest.json");
    return "no error";
  } catch (const TrainerError& error) {
    EXPECT_EQ(error.code(), ExitCode::kBadCheckpoint);
    EXPECT_THAT(error.what(), HasSubstr("/c/manifest.json"));
    return error.what();
  }
}

TEST(ManifestTest, RoundTrips) {
  const Manifest read = ManifestFromText(ManifestToText(Example()), "x");
  EXPECT_EQ(read.step, 100);
  EXPECT_TRUE(read.attempt == (AttemptKey{7, 3}));
  EXPECT_EQ(read.world_size, 2);
  EXPECT_EQ(read.model_fingerprint, "llama-tiny");
  EXPECT_EQ(read.trainer_state, Example().trainer_state);
  EXPECT_EQ(ManifestToText(read), ManifestToText(Example()));
  EXPECT_EQ(ErrorIn(Forged("/step", 101)), "no error");
}

TEST(ManifestTest, ReadsTheFirstVersion) {
  nlohmann::json json = nlohmann::json::parse(ManifestToText(Example()));
  json["version"] = 1;
  json["epoch"] = json["attempt"];
  json.erase("attempt");
  const Manifest read = ManifestFromText(Sealed(json), "x");
  EXPECT_TRUE(read.attempt == (AttemptKey{7, 3}));
  EXPECT_EQ(ManifestToText(read), ManifestToText(Example()));
}

// In version 2, a chunk has one checksum, whatever its size.
TEST(ManifestTest, ReadsTheSecondVersion) {
  nlohmann::json json = nlohmann::json::parse(ManifestToText(Example()));
  json["version"] = 2;
  nlohmann::json& tensor = json["/tensors/0"_json_pointer];
  for (nlohmann::json& chunk : tensor["chunks"]) chunk["xxh64"] = chunk["xxh64"][0];
  const Manifest read = ManifestFromText(Sealed(json), "x");
  const StoredChunk& chunk = read.entries.tensors.at("w").chunks.at(0);
  EXPECT_THAT(chunk.xxh64, testing::ElementsAre(5));
  EXPECT_EQ(chunk.block_bytes, 12);
  // A rank that runs version 2 may be in a gang whose rank 0 runs a newer version and merges the
  // lists. Therefore rank 0 must be able to write the entries of version 2 again.
  const Manifest again = ManifestFromText(ManifestToText(read), "x");
  EXPECT_EQ(again.entries.tensors.at("w").chunks.at(0).block_bytes, 12);
}

// A manifest of version 3 does not state the block size.
TEST(ManifestTest, ReadsTheThirdVersion) {
  nlohmann::json json = nlohmann::json::parse(ManifestToText(Example()));
  json["version"] = 3;
  for (nlohmann::json& chunk : json["/tensors/0/chunks"_json_pointer]) chunk.erase("block_bytes");
  const Manifest read = ManifestFromText(Sealed(json), "x");
  EXPECT_EQ(read.entries.tensors.at("w").chunks.at(0).block_bytes, kBlockBytesOfVersion3);
  const Manifest again = ManifestFromText(ManifestToText(read), "x");
  EXPECT_EQ(again.entries.tensors.at("w").chunks.at(0).block_bytes, kBlockBytesOfVersion3);
}

TEST(ManifestTest, RefusesImpossibleBlocks) {
  for (const int64_t bytes : {int64_t{0}, int64_t{5}, 2 * kLargestBlockBytes}) {
    nlohmann::json json = nlohmann::json::parse(ManifestToText(Example()));
    json["/tensors/0/chunks/0/block_bytes"_json_pointer] = bytes;
    EXPECT_NE(ErrorIn(Sealed(json)).find("block_bytes"), std::string::npos) << bytes;
  }
}

TEST(ManifestTest, FindsEveryChangedByteAndEveryTruncation) {
  const std::string text = ManifestToText(Example());
  for (size_t i = 0; i < text.size(); ++i) {
    std::string changed = text;
    changed[i] ^= 0x04;
    ASSERT_NE(ErrorIn(changed), "no error") << i;
    ASSERT_NE(ErrorIn(text.substr(0, i)), "no error") << i;
  }
}

TEST(ManifestTest, RefusesImpossibleContents) {
  const std::string chunk = "/tensors/0/chunks/0";
  EXPECT_THAT(ErrorIn(Forged("/version", 5)), HasSubstr("version 5"));
  EXPECT_THAT(ErrorIn(Forged("/format", "zip")), HasSubstr("not a checkpoint's manifest"));
  EXPECT_THAT(ErrorIn(Forged("/step", -1)), HasSubstr("step"));
  EXPECT_THAT(ErrorIn(Forged("/tensors/0/dtype", "F8")), HasSubstr("unknown dtype"));
  EXPECT_THAT(ErrorIn(Forged("/tensors/0/global_shape", {1 << 30, 1 << 30, 1 << 30})),
              HasSubstr("shape is impossible"));
  EXPECT_THAT(ErrorIn(Forged("/tensors/0/global_shape", {5, 3})), HasSubstr("only 12 of 15"));
  EXPECT_THAT(ErrorIn(Forged(chunk + "/file", "../../etc/passwd")), HasSubstr("not a file name"));
  EXPECT_THAT(ErrorIn(Forged(chunk + "/file", "rank_9")), HasSubstr("not listed"));
  EXPECT_THAT(ErrorIn(Forged(chunk + "/offset", {3, 0})), HasSubstr("outside the tensor"));
  EXPECT_THAT(ErrorIn(Forged(chunk + "/offset", {1, 0})), HasSubstr("same elements"));
  EXPECT_THAT(ErrorIn(Forged(chunk + "/byte_range", {64, 77})), HasSubstr("byte range"));
  EXPECT_THAT(ErrorIn(Forged(chunk + "/byte_range", {0, 12})), HasSubstr("byte range"));
  EXPECT_THAT(ErrorIn(Forged(chunk + "/byte_range", {192, 204})), HasSubstr("byte range"));
  EXPECT_THAT(ErrorIn(Forged(chunk + "/xxh64", "12")), HasSubstr("not a checksum"));
  EXPECT_THAT(ErrorIn(Forged(chunk + "/xxh64/0", "12")), HasSubstr("not a checksum"));
  EXPECT_THAT(ErrorIn(Forged(chunk + "/xxh64/1", "0000000000000000")),
              HasSubstr("2 checksums for 1 blocks"));
}

TEST(ManifestTest, MergeRefusesRanksThatDisagree) {
  Entries all = Example().entries;
  Entries more = Example().entries;
  more.tensors["w"].shape = {4, 4};
  EXPECT_THROW(Merge(more, &all), TrainerError);
  more.tensors["w"].shape = {4, 3};
  more.tensors["w"].dtype = torch::kHalf;
  EXPECT_THROW(Merge(more, &all), TrainerError);
}

}  // namespace
}  // namespace trainyard::trainer
