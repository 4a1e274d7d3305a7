#include "data/input/input_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/data/text_directory.h"

namespace trainyard::data {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(FindInputFilesTest, SearchesDirectoriesAndSorts) {
  const TextDirectory directory;
  for (const char* name :
       {"b/c.txt", "b/a.MD", "z.pod", "l.jsonl", "skip.py", ".hidden/x.txt", "b/.y.txt", "q.gz",
        "p.jsonl.gz", "p.txt.ZST", "skip.py.gz", "r.parquet", "r.parquet.gz"}) {
    directory.Write(name, "text");
  }
  std::filesystem::create_symlink(".loop", directory / ".loop");
  const auto files = FindInputFiles({directory.path(), directory / "z.pod"});
  ASSERT_TRUE(files.ok()) << files.status();
  std::vector<std::string> paths;
  for (const InputFile& file : *files) paths.push_back(file.path.substr(directory.path().size()));
  EXPECT_THAT(paths, ElementsAre("/b/a.MD", "/b/c.txt", "/l.jsonl", "/p.jsonl.gz", "/p.txt.ZST",
                                 "/r.parquet", "/z.pod"));
  EXPECT_EQ((*files)[0].kind, InputKind::kText);
  EXPECT_EQ((*files)[2].kind, InputKind::kJsonLines);
  EXPECT_EQ((*files)[3].kind, InputKind::kJsonLines);
  EXPECT_EQ((*files)[3].compression, Compression::kGzip);
  EXPECT_EQ((*files)[4].kind, InputKind::kText);
  EXPECT_EQ((*files)[4].compression, Compression::kZstd);
  EXPECT_EQ((*files)[5].kind, InputKind::kParquet);
  EXPECT_EQ((*files)[6].kind, InputKind::kPod);
  EXPECT_EQ((*files)[6].compression, Compression::kNone);
  EXPECT_EQ((*files)[0].bytes, 4);
}

TEST(FindInputFilesTest, SaysWhatItCannotUse) {
  const TextDirectory directory;
  const auto missing = FindInputFiles({directory / "none.txt"});
  EXPECT_TRUE(absl::IsNotFound(missing.status()));
  EXPECT_THAT(std::string(missing.status().message()), HasSubstr("none.txt: No such file"));
  const auto unknown = FindInputFiles({directory.Write("a.pdf", "%PDF")});
  EXPECT_TRUE(absl::IsInvalidArgument(unknown.status()));
  EXPECT_THAT(std::string(unknown.status().message()), HasSubstr("unknown file type"));
  const auto json = FindInputFiles({directory.Write("a.json", "[]")});
  EXPECT_TRUE(absl::IsInvalidArgument(json.status()));
  EXPECT_THAT(std::string(json.status().message()),
              HasSubstr("a.json: .json files are not read, because one document may be the whole "
                        "file; write one object per line, for example with `jq -c"));
  const auto barren = FindInputFiles({directory.path()});
  EXPECT_TRUE(absl::IsInvalidArgument(barren.status()));
  EXPECT_THAT(std::string(barren.status().message()), HasSubstr("contains no .txt"));
  std::filesystem::create_symlink("nowhere", directory / "link.txt");
  EXPECT_TRUE(absl::IsNotFound(FindInputFiles({directory.path()}).status()));
}

}  // namespace
}  // namespace trainyard::data
