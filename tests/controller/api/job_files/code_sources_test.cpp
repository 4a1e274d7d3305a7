#include "controller/api/job_files/code_sources.h"

#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_cat.h"

namespace trainyard::controller {
namespace {

using Kind = CodeSources::Source::Kind;

class CodeSourcesTest : public testing::Test {
 protected:
  static CodeSources::Request Of(const std::string& node, const std::string& failed = "") {
    return {.snapshot = "code", .node = node, .address = node + ":1", .failed = failed};
  }
  CodeSources::Source Find(const std::string& node, const std::string& failed = "") {
    return sources_.Find(Of(node, failed), now_ms_);
  }
  void Complete(const std::string& node) { sources_.Complete(Of(node), now_ms_); }

  CodeSources sources_;
  int64_t now_ms_ = 1'000;
};

TEST_F(CodeSourcesTest, SendsThreeNodesToTheControllerAndLetsOthersWait) {
  for (const char* node : {"a", "b", "c"}) EXPECT_EQ(Find(node).kind, Kind::kController) << node;
  const CodeSources::Source fourth = Find("d");
  EXPECT_EQ(fourth.kind, Kind::kWait);
  EXPECT_GT(fourth.wait_ms, 0);
}

TEST_F(CodeSourcesTest, SendsNodesToTheLeastBusyNodeThatHasTheSnapshot) {
  for (const char* node : {"a", "b", "c"}) Find(node);
  Complete("a");
  Complete("b");
  EXPECT_EQ(Find("d").peer, "a:1");
  EXPECT_EQ(Find("e").peer, "b:1");
  for (int node = 0; node < 6; ++node) EXPECT_EQ(Find(absl::StrCat(node)).kind, Kind::kPeer);
  EXPECT_EQ(Find("f").kind, Kind::kWait) << "both nodes serve four others";
  Complete("d");
  EXPECT_EQ(Find("f").kind, Kind::kPeer) << "d is done and serves others";
}

TEST_F(CodeSourcesTest, SendsANodeToAnotherSourceAfterAFailure) {
  Find("a");
  Complete("a");
  Find("b");
  Complete("b");
  EXPECT_EQ(Find("c").peer, "a:1");
  EXPECT_EQ(Find("c", "a:1").peer, "b:1");
  EXPECT_EQ(Find("c", "b:1").kind, Kind::kController) << "the node could use no other";
  EXPECT_EQ(Find("d").kind, Kind::kPeer) << "one failure is not enough to drop a source";
}

TEST_F(CodeSourcesTest, DropsASourceThatFailedForTwoNodes) {
  Find("a");
  Complete("a");
  Find("b", "a:1");
  Find("c", "a:1");
  EXPECT_NE(Find("d").peer, "a:1");
  Complete("a");
  EXPECT_EQ(Find("d").peer, "a:1") << "the node has fetched the snapshot again";
}

TEST_F(CodeSourcesTest, NeverSendsANodeToItself) {
  Find("a");
  Complete("a");
  EXPECT_EQ(Find("a").kind, Kind::kController);
}

TEST_F(CodeSourcesTest, DoesNotLetNodesWaitForNodesThatShareNothing) {
  for (int node = 0; node < 10; ++node) {
    CodeSources::Request request = Of(absl::StrCat(node));
    request.address = "";
    EXPECT_EQ(sources_.Find(request, now_ms_).kind, Kind::kController);
    sources_.Complete(request, now_ms_);
  }
  EXPECT_EQ(Find("sharing").kind, Kind::kController);
  CodeSources::Request request = Of("silent");
  request.address = "";
  EXPECT_EQ(sources_.Find(request, now_ms_).kind, Kind::kWait);
  Complete("sharing");
  EXPECT_EQ(sources_.Find(request, now_ms_).peer, "sharing:1");
}

TEST_F(CodeSourcesTest, EndsTheWaitForNodesThatNeverComplete) {
  for (const char* node : {"a", "b", "c"}) Find(node);
  const int64_t begin_ms = now_ms_;
  CodeSources::Source source = Find("d");
  for (; source.kind == Kind::kWait; source = Find("d")) now_ms_ += 100;
  EXPECT_EQ(source.kind, Kind::kController);
  EXPECT_EQ(now_ms_ - begin_ms, CodeSources::Limits().patience_ms);
}

TEST_F(CodeSourcesTest, FreesTheSourceOfAFetchThatNeverEnds) {
  Find("a");
  Complete("a");
  for (int node = 0; node < 4; ++node) Find(absl::StrCat(node));
  EXPECT_NE(Find("late").kind, Kind::kPeer);
  now_ms_ += CodeSources::Limits().fetch_ms + 1;
  EXPECT_EQ(Find("late").peer, "a:1");
}

TEST_F(CodeSourcesTest, KeepsALimitedNumberOfSnapshotsAndNodes) {
  CodeSources sources({.snapshots = 2, .nodes = 2});
  for (const char* snapshot : {"one", "two", "three"}) {
    sources.Complete({.snapshot = snapshot, .node = "a", .address = "a:1"}, now_ms_++);
  }
  EXPECT_EQ(sources.Find({.snapshot = "one", .node = "b"}, now_ms_).kind, Kind::kController);
  EXPECT_EQ(sources.Find({.snapshot = "three", .node = "b"}, now_ms_).peer, "a:1");
  EXPECT_EQ(sources.Find({.snapshot = "three", .node = "c"}, now_ms_).peer, "a:1");
  EXPECT_EQ(sources.Find({.snapshot = "three", .node = "d"}, now_ms_).kind, Kind::kController);
}

}  // namespace
}  // namespace trainyard::controller
