#include "proto/code/manifest.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "proto/code/blob_pack.h"

namespace trainyard::code {
namespace {

using testing::HasSubstr;

CodeFile FileOf(const std::string& path, const std::string& content,
                FileKind kind = FileKind::kFile) {
  CodeFile file{.path = path, .kind = kind, .bytes = static_cast<int64_t>(content.size())};
  if (!content.empty()) file.pieces = {DigestOf(content)};
  return file;
}

std::string TextOf(std::vector<CodeFile> files) { return *WriteManifest({std::move(files)}); }

std::string MessageOf(const std::string& text) {
  return std::string(ReadManifest(text).status().message());
}

TEST(ManifestTest, IsTheSameAfterWritingAndReading) {
  const std::string text =
      TextOf({FileOf("train.py", "print()"), FileOf("a b/x", ""),
              FileOf("run.sh", "#!", FileKind::kExecutable), FileOf("l", "a b", FileKind::kLink)});
  const auto manifest = ReadManifest(text);
  ASSERT_TRUE(manifest.ok()) << manifest.status();
  ASSERT_EQ(manifest->files.size(), 4U);
  EXPECT_EQ(manifest->files[0], FileOf("a b/x", ""));
  EXPECT_EQ(manifest->files[1], FileOf("l", "a b", FileKind::kLink));
  EXPECT_EQ(manifest->Bytes(), 7 + 2 + 3);
  EXPECT_EQ(manifest->Digests().size(), 3U);
  EXPECT_EQ(*WriteManifest(*manifest), text);
}

TEST(ManifestTest, HasOneTextForEachTree) {
  EXPECT_EQ(TextOf({FileOf("a", "1"), FileOf("b", "2")}),
            TextOf({FileOf("b", "2"), FileOf("a", "1")}));
  EXPECT_NE(TextOf({FileOf("a", "1")}), TextOf({FileOf("a", "1", FileKind::kExecutable)}));
}

TEST(ManifestTest, RefusesPathsThatLeaveTheTree) {
  for (const char* path : {"../x", "/etc/passwd", "a/../../x", "a//b", "./a", "a/.", "", "a/"}) {
    EXPECT_FALSE(ReadManifest(TextOf({FileOf(path, "1")})).ok()) << path;
  }
}

TEST(ManifestTest, RefusesUnreadableNames) {
  EXPECT_THAT(MessageOf(TextOf({FileOf("\xff", "1")})), HasSubstr("not UTF-8: \\xff"));
  EXPECT_THAT(MessageOf(TextOf({FileOf("a\nb", "1")})), HasSubstr("control character"));
  EXPECT_THAT(MessageOf(TextOf({FileOf(std::string(kMaxPathBytes + 1, 'a'), "1")})),
              HasSubstr("more than 1024 bytes"));
}

TEST(ManifestTest, RefusesAPathTwiceAndAPathBelowAFileOrLink) {
  EXPECT_THAT(MessageOf(TextOf({FileOf("a", "1"), FileOf("a", "2")})),
              HasSubstr("one occurs twice: a"));
  EXPECT_THAT(MessageOf(TextOf({FileOf("a", "b", FileKind::kLink), FileOf("a/b", "2")})),
              HasSubstr("below a file: a/b"));
  // "a-" sorts between "a" and "a/b".
  EXPECT_FALSE(
      ReadManifest(TextOf({FileOf("a", "1"), FileOf("a-", "1"), FileOf("a/b", "2")})).ok());
}

TEST(ManifestTest, RefusesOtherFormsOfTheSameTree) {
  const std::string digest = DigestOf("1");
  const std::string start("trainyard-code 1\0", 17);
  const auto text = [&](const std::string& record) {
    return start + record + std::string(1, '\0');
  };
  EXPECT_TRUE(ReadManifest(text("f 1 " + digest + " a")).ok());
  EXPECT_FALSE(ReadManifest(text("f 01 " + digest + " a")).ok());
  EXPECT_FALSE(ReadManifest(text("f +1 " + digest + " a")).ok());
  EXPECT_FALSE(ReadManifest(text("d 1 " + digest + " a")).ok());
  EXPECT_FALSE(ReadManifest(text("f 1 " + digest + "," + digest + " a")).ok());
  EXPECT_FALSE(ReadManifest(text("f -1  a")).ok());
  EXPECT_FALSE(ReadManifest(text("f 9999999999 " + digest + " a")).ok());
  EXPECT_FALSE(ReadManifest(text("f 1 " + digest + " a").substr(0, 80)).ok());
  EXPECT_FALSE(ReadManifest("").ok());
}

TEST(ManifestTest, CountsPieces) {
  EXPECT_EQ(PiecesOf(0), 0U);
  EXPECT_EQ(PiecesOf(1), 1U);
  EXPECT_EQ(PiecesOf(kPieceBytes), 1U);
  EXPECT_EQ(PiecesOf(kPieceBytes + 1), 2U);
}

TEST(ManifestTest, AcceptsOnlyLinksThatStayInTheTree) {
  EXPECT_TRUE(StaysInTree("a/link", "../b"));
  EXPECT_TRUE(StaysInTree("a/link", "./x//y/"));
  EXPECT_TRUE(StaysInTree("a/b/link", "../../c"));
  EXPECT_TRUE(StaysInTree("a/link", ".."));
  EXPECT_FALSE(StaysInTree("link", "../b"));
  EXPECT_FALSE(StaysInTree("a/link", "../../b"));
  EXPECT_FALSE(StaysInTree("link", "/etc/passwd"));
  EXPECT_FALSE(StaysInTree("link", ""));
  // If "s" were a link to the root, "s/.." would be outside.
  EXPECT_FALSE(StaysInTree("a/link", "s/../x"));
}

}  // namespace
}  // namespace trainyard::code
