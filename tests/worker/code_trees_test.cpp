#include "worker/code_trees.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

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
