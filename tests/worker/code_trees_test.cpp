#include "worker/code_trees.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <memory>
#include <string>

#include "proto/code/blob_pack.h"
#include "proto/support/remove_tree.h"
#include "tests/fakes/temporary_directory.h"
#include "tests/worker/fake_code_network.h"

namespace trainyard::worker {
namespace {

class CodeTreesTest : public testing::Test {
 protected:
  ~CodeTreesTest() override { EXPECT_TRUE(RemoveTree(directory_.File("code")).ok()); }

  std::string AddSnapshot(const std::string& content) {
    const std::string digest = network_->Add(content);
    const std::string text = *code::WriteManifest({{{.path = "train.py",
                                                     .bytes = static_cast<int64_t>(content.size()),
                                                     .pieces = {digest}}}});
    return network_->Add(text);
  }
  static v1::JobSpec SpecOf(const std::string& snapshot) {
    v1::JobSpec spec;
    spec.mutable_code()->set_snapshot(snapshot);
    return spec;
  }
  TemporaryDirectory directory_;
  FakeCodeNetwork* network_ = new FakeCodeNetwork;  // Owned by trees_.
  CodeTrees trees_{directory_.File("code"), std::unique_ptr<CodeNetwork>(network_), "node"};
};

TEST_F(CodeTreesTest, PreparesTheDirectoryOfASnapshot) {
  const std::string id = AddSnapshot("print()");
  ASSERT_TRUE(trees_.Prepare(id).ok());
  EXPECT_EQ(ReadFile(trees_.DirectoryOf(SpecOf(id)) + "/train.py"), "print()");
  EXPECT_EQ(trees_.Prepare(std::string(64, 'a')).code(), absl::StatusCode::kNotFound);
}

TEST_F(CodeTreesTest, SharesASnapshotThatItHasFetched) {
  trees_.ShareAt("10.0.0.7:7073");
  const std::string id = AddSnapshot("print()");
  ASSERT_TRUE(trees_.Prepare(id).ok());
  const std::size_t requests = network_->requests.size();
  EXPECT_TRUE(network_->requests.back().complete());
  EXPECT_EQ(network_->requests.back().address(), "10.0.0.7:7073");
  const auto pack = trees_.Pack(id, {code::DigestOf("print()")});
  ASSERT_TRUE(pack.ok()) << pack.status();
  EXPECT_EQ(code::ReadPack(*pack)->at(0).content, "print()");
  ASSERT_TRUE(trees_.Prepare(id).ok());
  EXPECT_EQ(network_->requests.size(), requests) << "the node already has the snapshot";
}

// A job may modify its tree, so files read again may no longer have their digests.
TEST_F(CodeTreesTest, SharesAReceivedPackAsItIs) {
  const std::string id = AddSnapshot("print()");
  ASSERT_TRUE(trees_.Prepare(id).ok());
  const std::string file = trees_.DirectoryOf(SpecOf(id)) + "/train.py";
  ASSERT_EQ(chmod(file.c_str(), 0644), 0);
  std::ofstream(file) << "changed";
  const std::string digest = code::DigestOf("print()");
  const auto pack = trees_.Pack(id, {digest, code::DigestOf("another")});
  ASSERT_TRUE(pack.ok()) << pack.status();
  const auto blobs = code::ReadPack(*pack);
  ASSERT_TRUE(blobs.ok()) << blobs.status();
  EXPECT_EQ(blobs->at(0).content, "print()");
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
