#include "worker/code_trees.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <map>
#include <string>
#include <vector>

#include "proto/code/blob_pack.h"
#include "proto/support/remove_tree.h"
#include "tests/fakes/temporary_directory.h"

namespace trainyard::worker {
namespace {

class CodeTreesTest : public testing::Test {
 protected:
  ~CodeTreesTest() override { EXPECT_TRUE(RemoveTree(directory_.File("code")).ok()); }

  std::string AddSnapshot(const std::string& content) {
    const std::string digest = code::DigestOf(content);
    const std::string text = *code::WriteManifest({{{.path = "train.py",
                                                     .bytes = static_cast<int64_t>(content.size()),
                                                     .pieces = {digest}}}});
    blobs_[digest] = content;
    blobs_[code::DigestOf(text)] = text;
    return code::DigestOf(text);
  }
  static v1::JobSpec SpecOf(const std::string& snapshot) {
    v1::JobSpec spec;
    spec.mutable_code()->set_snapshot(snapshot);
    return spec;
  }
  absl::StatusOr<std::string> Fetch(const std::vector<std::string>& digests) {
    code::PackBuilder builder;
    for (const std::string& digest : digests) {
      if (!blobs_.contains(digest)) return absl::NotFoundError("no such blob");
      builder.Add(digest, blobs_[digest]);
    }
    return builder.Finish();
  }

  TemporaryDirectory directory_;
  std::map<std::string, std::string> blobs_;
  CodeTrees trees_{directory_.File("code"),
                   [this](const std::vector<std::string>& digests) { return Fetch(digests); }};
};

TEST_F(CodeTreesTest, PreparesTheDirectoryOfASnapshot) {
  const std::string id = AddSnapshot("print()");
  ASSERT_TRUE(trees_.Prepare(id).ok());
  EXPECT_EQ(ReadFile(trees_.DirectoryOf(SpecOf(id)) + "/train.py"), "print()");
  EXPECT_EQ(trees_.Prepare(std::string(64, 'a')).code(), absl::StatusCode::kNotFound);
}

TEST_F(CodeTreesTest, KnowsJobsWithoutCodeAndInPlace) {
  EXPECT_EQ(trees_.DirectoryOf(v1::JobSpec()), "");
  v1::JobSpec spec;
  spec.mutable_code()->set_path("/shared/src");
  EXPECT_EQ(trees_.DirectoryOf(spec), "");
  spec.mutable_code()->set_in_place(true);
  EXPECT_EQ(trees_.DirectoryOf(spec), "/shared/src");
}

}  // namespace
}  // namespace trainyard::worker
