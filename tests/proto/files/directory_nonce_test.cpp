#include "proto/files/directory_nonce.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <thread>
#include <vector>

#include "gtest/gtest.h"

namespace trainyard {
namespace {

class DirectoryNonceTest : public testing::Test {
 protected:
  DirectoryNonceTest() {
    std::string pattern = testing::TempDir() + "nonce_XXXXXX";
    directory_ = mkdtemp(pattern.data());
    path_ = directory_ + "/nonce";
  }
  ~DirectoryNonceTest() override { std::filesystem::remove_all(directory_); }

  std::string directory_;
  std::string path_;
};

TEST_F(DirectoryNonceTest, NoncesDiffer) {
  std::set<std::string> nonces;
  for (int i = 0; i < 100; ++i) nonces.insert(NewNonce());
  EXPECT_EQ(nonces.size(), 100u);
  for (const std::string& nonce : nonces) EXPECT_TRUE(IsNonce(nonce)) << nonce;
  EXPECT_FALSE(IsNonce(""));
  EXPECT_FALSE(IsNonce(std::string(31, '0')));
  EXPECT_FALSE(IsNonce(std::string(33, '0')));
  EXPECT_FALSE(IsNonce(std::string(31, '0') + "g"));
}

TEST_F(DirectoryNonceTest, IsMadeOnceAndLeavesNothingElse) {
  EXPECT_EQ(ReadNonce(path_).error->number, ENOENT);
  const ReadNonceResult made = ReadOrMakeNonce(path_);
  ASSERT_FALSE(made.error.has_value()) << made.error->action;
  EXPECT_TRUE(IsNonce(made.nonce));
  EXPECT_EQ(ReadOrMakeNonce(path_).nonce, made.nonce);
  EXPECT_EQ(ReadNonce(path_).nonce, made.nonce);
  int files = 0;
  for ([[maybe_unused]] const auto& file : std::filesystem::directory_iterator(directory_)) ++files;
  EXPECT_EQ(files, 1);
}

TEST_F(DirectoryNonceTest, OfManyThatMakeItAtOnceOneWins) {
  std::vector<std::string> nonces(16);
  std::vector<std::thread> threads;
  for (std::string& nonce : nonces) {
    threads.emplace_back([&] { nonce = ReadOrMakeNonce(path_).nonce; });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_TRUE(IsNonce(nonces[0]));
  EXPECT_EQ(std::set<std::string>(nonces.begin(), nonces.end()).size(), 1u);
}

TEST_F(DirectoryNonceTest, OtherContentsAreErrorsAndStay) {
  for (const std::string& text : {std::string(), std::string("x"), std::string(1 << 20, '0')}) {
    std::ofstream(path_, std::ios::trunc) << text;
    EXPECT_EQ(ReadOrMakeNonce(path_).error->number, EBADMSG) << text.size();
    EXPECT_EQ(std::filesystem::file_size(path_), text.size());
  }
}

TEST_F(DirectoryNonceTest, NeverWaitsForTheOtherEndOfAFifo) {
  ASSERT_EQ(mkfifo(path_.c_str(), 0644), 0);
  EXPECT_TRUE(ReadOrMakeNonce(path_).error.has_value());
}

TEST_F(DirectoryNonceTest, AMissingDirectoryIsAnError) {
  EXPECT_EQ(ReadOrMakeNonce(directory_ + "/none/nonce").error->number, ENOENT);
}

}  // namespace
}  // namespace trainyard
