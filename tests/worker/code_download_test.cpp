#include "worker/code_download.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>
#include <map>
#include <string>
#include <vector>

#include "proto/code/blob_pack.h"
#include "tests/worker/fake_code_network.h"

namespace trainyard::worker {
namespace {

using testing::ElementsAre;

class CodeDownloadTest : public testing::Test {
 protected:
  void AnswerPeer(const std::string& peer) { network_.sources.emplace_back().set_peer(peer); }
  void AnswerController() { network_.sources.emplace_back().set_controller(true); }
  void AnswerWait() { network_.sources.emplace_back().set_wait_ms(1); }
  // Returns the content of the fetched blob, or the error.
  std::string Fetched() {
    const auto blobs = download_.Fetch({digest_});
    if (!blobs.ok()) return std::string(blobs.status().message());
    EXPECT_EQ(blobs->size(), 1U);
    return blobs->front().content;
  }

  FakeCodeNetwork network_;
  const std::string digest_ = network_.Add("content");
  RecentPacks packs_;
  CodeDownload download_{network_, packs_, "snapshot", {.id = "node", .address = "10.0.0.9:1"}};
};

TEST_F(CodeDownloadTest, FetchesFromTheControllerIfToldTo) {
  AnswerController();
  EXPECT_EQ(Fetched(), "content");
  EXPECT_EQ(Fetched(), "content");
  EXPECT_THAT(network_.fetches, ElementsAre("controller", "controller"));
  EXPECT_EQ(network_.requests.size(), 1U) << "one question per download";
  EXPECT_EQ(network_.requests[0].node(), "node");
  EXPECT_EQ(network_.requests[0].address(), "10.0.0.9:1");
}

TEST_F(CodeDownloadTest, KeepsOnlyPacksThatAreValid) {
  network_.peers["wrong:1"] = std::string("these bytes are no pack");
  AnswerPeer("wrong:1");
  AnswerController();
  EXPECT_EQ(Fetched(), "content");
  const auto kept = packs_.Find("snapshot", {digest_});
  ASSERT_NE(kept, nullptr);
  EXPECT_EQ(*kept, FakeCodeNetwork::PackOf("content"));
}

TEST_F(CodeDownloadTest, WaitsAndFetchesFromAPeer) {
  AnswerWait();
  AnswerWait();
  AnswerPeer("10.0.0.1:1");
  EXPECT_EQ(Fetched(), "content");
  EXPECT_THAT(network_.fetches, ElementsAre("10.0.0.1:1"));
  download_.Complete();
  EXPECT_TRUE(network_.requests.back().complete());
}

TEST_F(CodeDownloadTest, ReplacesPeersThatAreGoneOrSendOtherBytes) {
  network_.peers["gone:1"] = absl::DeadlineExceededError("too slow");
  network_.peers["wrong:1"] = std::string("these bytes are no pack");
  network_.peers["other:1"] = FakeCodeNetwork::PackOf("another blob");
  for (const char* peer : {"gone:1", "wrong:1", "other:1", "good:1"}) AnswerPeer(peer);
  EXPECT_EQ(Fetched(), "content");
  ASSERT_THAT(network_.fetches, ElementsAre("gone:1", "wrong:1", "other:1", "good:1"));
  EXPECT_EQ(network_.requests[1].failed(), "gone:1");
  EXPECT_EQ(network_.requests[2].failed(), "wrong:1");
  EXPECT_EQ(network_.requests[3].failed(), "other:1");
  EXPECT_EQ(Fetched(), "content");
  EXPECT_EQ(network_.fetches.back(), "good:1");
}

TEST_F(CodeDownloadTest, UsesTheControllerAfterSeveralBadPeers) {
  network_.peers["bad:1"] = absl::UnavailableError("connection refused");
  for (int peer = 0; peer < 10; ++peer) AnswerPeer("bad:1");
  EXPECT_EQ(Fetched(), "content");
  EXPECT_EQ(network_.fetches.size(), CodeDownload::kMaxFailures + 1U);
  EXPECT_EQ(network_.fetches.back(), "controller");
}

TEST_F(CodeDownloadTest, UsesTheControllerIfItDoesNotKnowTheCall) {
  network_.find_error = absl::UnimplementedError("an older controller");
  EXPECT_EQ(Fetched(), "content");
  EXPECT_THAT(network_.fetches, ElementsAre("controller"));
}

TEST_F(CodeDownloadTest, ReturnsErrorsOfTheController) {
  AnswerController();
  network_.controller_error = absl::NotFoundError("the code store has no blob");
  EXPECT_EQ(Fetched(), "the code store has no blob");
}

}  // namespace
}  // namespace trainyard::worker
