#include "proto/code/tree_cache.h"

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "proto/code/blob_pack.h"
#include "proto/support/remove_tree.h"
#include "tests/fakes/temporary_directory.h"

namespace trainyard::code {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

// Blobs of snapshots, as the controller has them.
class Source {
 public:
  std::string Add(const std::map<std::string, std::string>& files) {
    Manifest manifest;
    for (const auto& [path, content] : files) {
      CodeFile file{.path = path, .bytes = static_cast<int64_t>(content.size())};
      if (path == "link") file.kind = FileKind::kLink;
      if (path == "run.sh") file.kind = FileKind::kExecutable;
      for (std::size_t at = 0; at < content.size(); at += kPieceBytes) {
        file.pieces.push_back(Put(content.substr(at, kPieceBytes)));
      }
      manifest.files.push_back(file);
    }
    return Put(*WriteManifest(manifest));
  }
  std::string Put(const std::string& content) {
    blobs_[DigestOf(content)] = content;
    return DigestOf(content);
  }
  FetchBlobs Fetcher() {
    return [this](const std::vector<std::string>& digests) -> absl::StatusOr<std::vector<Blob>> {
      PackBuilder builder;
      for (const std::string& digest : digests) {
        if (!blobs_.contains(digest)) return absl::UnavailableError("the controller is gone");
        if (!builder.Add(digest, blobs_[digest])) break;
        ++fetched_;
      }
      return ReadPack(builder.Finish());
    };
  }
  void Remove(const std::string& content) { blobs_.erase(DigestOf(content)); }
  int fetched() const { return fetched_; }

 private:
  std::map<std::string, std::string> blobs_;
  std::atomic<int> fetched_{0};
};

class TreeCacheTest : public testing::Test {
 protected:
  ~TreeCacheTest() override { EXPECT_TRUE(RemoveTree(path_).ok()); }

  std::string Prepare(const std::string& id) {
    const auto path = cache_.Prepare(id, source_.Fetcher());
    EXPECT_TRUE(path.ok()) << path.status();
    return path.value_or("");
  }
  std::vector<std::string> Entries() const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(path_)) {
      names.push_back(entry.path().filename());
    }
    return names;
  }
  bool Has(const std::string& id) const { return access(cache_.PathOf(id).c_str(), F_OK) == 0; }

  TemporaryDirectory directory_;
  const std::string path_ = directory_.File("a/code");
  Source source_;
  TreeCache cache_{{.directory = path_, .max_bytes = 100}};
};

TEST_F(TreeCacheTest, UnpacksAReadOnlyTree) {
  const std::string large = std::string(kPieceBytes, 'a') + std::string(kPieceBytes, 'b') + "c";
  const std::string tree = Prepare(source_.Add({{"train.py", "print()"},
                                                {"sub/dir/x.py", "print()"},
                                                {"empty", ""},
                                                {"large", large},
                                                {"link", "sub/dir/x.py"},
                                                {"run.sh", "#!/bin/sh"}}));
  EXPECT_EQ(ReadFile(tree + "/train.py"), "print()");
  EXPECT_EQ(ReadFile(tree + "/link"), "print()");
  EXPECT_EQ(ReadFile(tree + "/large"), large);
  struct stat info {};
  ASSERT_EQ(stat((tree + "/empty").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 07777, 0444U);
  ASSERT_EQ(stat((tree + "/run.sh").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 07777, 0555U);
  ASSERT_EQ(stat((tree + "/sub").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 07777, 0555U);
  ASSERT_EQ(lstat((tree + "/link").c_str(), &info), 0);
  EXPECT_TRUE(S_ISLNK(info.st_mode));
}

TEST_F(TreeCacheTest, FetchesATreeOnce) {
  const std::string id = source_.Add({{"a", "1"}, {"b", "2"}});
  Prepare(id);
  EXPECT_EQ(source_.fetched(), 3);
  Prepare(id);
  EXPECT_EQ(source_.fetched(), 3);
  std::vector<std::thread> threads;
  const std::string other = source_.Add({{"c", "3"}});
  for (int thread = 0; thread < 8; ++thread) threads.emplace_back([&] { Prepare(other); });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(source_.fetched(), 5);
}

TEST_F(TreeCacheTest, TakesBlobsFromOtherTreesOfTheNode) {
  Prepare(source_.Add({{"a", "1"}, {"b", "2"}, {"link", "target"}}));
  EXPECT_EQ(source_.fetched(), 4);
  const std::string tree =
      Prepare(source_.Add({{"a", "changed"}, {"moved", "2"}, {"link", "target"}}));
  EXPECT_EQ(source_.fetched(), 6);
  EXPECT_EQ(ReadFile(tree + "/moved"), "2");
}

TEST_F(TreeCacheTest, DoesNotUseABlobThatIsNoLongerInItsTree) {
  const std::string tree = Prepare(source_.Add({{"a", "one"}}));
  chmod((tree + "/a").c_str(), 0644);
  WriteFile(tree + "/a", "two");
  EXPECT_EQ(ReadFile(Prepare(source_.Add({{"b", "one"}})) + "/b"), "one");
}

TEST_F(TreeCacheTest, UnpacksAModifiedTreeAgain) {
  const std::string id = source_.Add({{"a", "one"}, {"sub/b", "two"}});
  for (const std::string change :
       {"chmod u+w a && echo bad > a", "chmod u+w a && touch -d 2020-01-01 a", "chmod u+w sub",
        "chmod -R u+w . && rm sub/b", "chmod u+w sub && echo x > sub/new",
        "chmod u+w . && rm -f a && ln -s /etc/passwd a"}) {
    const std::string tree = Prepare(id);
    // ctime has the resolution of a timer tick. Wait until a change has a later time.
    usleep(20'000);
    ASSERT_EQ(std::system(absl::StrCat("cd ", tree, " && ", change).c_str()), 0);
    EXPECT_EQ(ReadFile(Prepare(id) + "/a"), "one") << change;
    EXPECT_EQ(ReadFile(Prepare(id) + "/sub/b"), "two") << change;
    EXPECT_NE(access((tree + "/sub/new").c_str(), F_OK), 0) << change;
  }
  // The modified trees remain while an attempt uses the snapshot.
  EXPECT_EQ(Entries().size(), 7U);
  ASSERT_TRUE(cache_.Trim({id}).ok());
  EXPECT_EQ(Entries().size(), 7U);
  ASSERT_TRUE(cache_.Trim({}).ok());
  EXPECT_EQ(Entries().size(), 1U);
}

TEST_F(TreeCacheTest, LeavesNothingAfterAnError) {
  const std::string id = source_.Add({{"a", "1"}, {"b", "2"}});
  source_.Remove("2");
  const auto failed = cache_.Prepare(id, source_.Fetcher());
  EXPECT_EQ(failed.status().message(), "the controller is gone");
  EXPECT_THAT(Entries(), IsEmpty());
  source_.Put("2");
  EXPECT_EQ(ReadFile(Prepare(id) + "/b"), "2");
}

TEST_F(TreeCacheTest, RefusesWrongBlobs) {
  const std::string id = source_.Add({{"a", "1"}});
  const auto prepare = [&](const std::vector<std::string>& answers) {
    std::size_t next = 0;
    return std::string(cache_
                           .Prepare(id,
                                    [&](const std::vector<std::string>&) {
                                      PackBuilder builder;
                                      builder.Add(DigestOf(answers[next]), answers[next]);
                                      ++next;
                                      return ReadPack(builder.Finish());
                                    })
                           .status()
                           .message());
  };
  const std::string manifest =
      *WriteManifest({{{.path = "a", .bytes = 1, .pieces = {DigestOf("1")}}}});
  EXPECT_THAT(prepare({"other"}), HasSubstr("another blob was received"));
  EXPECT_THAT(prepare({manifest, "other"}), HasSubstr("does not contain a received blob"));
  EXPECT_THAT(Entries(), IsEmpty());
  EXPECT_FALSE(cache_.Prepare("../../x", source_.Fetcher()).ok());
}

TEST_F(TreeCacheTest, RefusesManifestsThatLeaveTheTree) {
  const auto prepare = [&](const CodeFile& file, const std::string& content) {
    source_.Put(content);
    const std::string id = source_.Put(*WriteManifest({{file}}));
    return std::string(cache_.Prepare(id, source_.Fetcher()).status().message());
  };
  EXPECT_THAT(prepare({.path = "../x", .bytes = 1, .pieces = {DigestOf("1")}}, "1"),
              HasSubstr("the manifest of the code is not valid"));
  EXPECT_THAT(
      prepare({.path = "l", .kind = FileKind::kLink, .bytes = 6, .pieces = {DigestOf("../../")}},
              "../../"),
      HasSubstr("the link l of the code snapshot leads out of the tree"));
  EXPECT_THAT(prepare({.path = "a", .bytes = 2, .pieces = {DigestOf("1")}}, "1"),
              HasSubstr("the size of a differs"));
  EXPECT_THAT(Entries(), IsEmpty());
}

TEST_F(TreeCacheTest, RemovesTheLeastRecentlyUsedTreesThatNoAttemptUses) {
  const std::string first = source_.Add({{"a", std::string(40, '1')}});
  const std::string second = source_.Add({{"a", std::string(40, '2')}});
  const std::string third = source_.Add({{"a", std::string(40, '3')}});
  const std::string fourth = source_.Add({{"a", std::string(40, '4')}});
  for (const std::string& id : {first, second, third, fourth, first}) {
    Prepare(id);
    usleep(20'000);
  }
  ASSERT_TRUE(cache_.Trim({first, second, third, fourth}).ok());
  EXPECT_TRUE(Has(first) && Has(second) && Has(third) && Has(fourth));
  ASSERT_TRUE(cache_.Trim({second}).ok());
  EXPECT_TRUE(Has(second));
  EXPECT_FALSE(Has(third));
  EXPECT_FALSE(Has(fourth));
  EXPECT_TRUE(Has(first));
  EXPECT_EQ(Entries().size(), 2U);
}

TEST_F(TreeCacheTest, ServesBlobsOfItsTrees) {
  const std::string id = source_.Add({{"a", "1"}, {"link", "a"}});
  EXPECT_EQ(cache_.Fetch(id, {id}).status().code(), absl::StatusCode::kNotFound);
  Prepare(id);
  const auto pack = cache_.Fetch(id, {id, DigestOf("a"), DigestOf("1"), DigestOf("none")});
  ASSERT_TRUE(pack.ok()) << pack.status();
  EXPECT_EQ(ReadPack(*pack)->size(), 3U);
  EXPECT_EQ(cache_.Fetch(id, {DigestOf("none")}).status().code(), absl::StatusCode::kNotFound);
  // Another node prepares its tree from this node only.
  TreeCache other({.directory = directory_.File("other")});
  const auto tree = other.Prepare(id, [&](const std::vector<std::string>& digests) {
    return ReadPack(*cache_.Fetch(id, digests));
  });
  ASSERT_TRUE(tree.ok()) << tree.status();
  EXPECT_EQ(ReadFile(*tree + "/link"), "1");
  EXPECT_TRUE(RemoveTree(directory_.File("other")).ok());
}

// A killed process leaves either no tree or a complete one, and the next process goes on.
TEST_F(TreeCacheTest, LeavesNoIncompleteTreeWhenItIsKilled) {
  std::map<std::string, std::string> files;
  for (int file = 0; file < 300; ++file) {
    files[absl::StrCat("d", file % 7, "/f", file)] = absl::StrCat("text ", file);
  }
  const std::string id = source_.Add(files);
  for (int microseconds = 0; microseconds < 60'000; microseconds += 4'000) {
    const pid_t child = fork();
    if (child == 0) {
      const bool ok = cache_.Prepare(id, source_.Fetcher()).ok();
      _exit(ok ? 0 : 1);
    }
    usleep(static_cast<useconds_t>(microseconds));
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    if (Has(id)) {
      for (const auto& [path, content] : files) {
        ASSERT_EQ(ReadFile(cache_.PathOf(id) + "/" + path), content) << microseconds;
      }
      ASSERT_TRUE(RemoveTree(path_ + "/" + id).ok());
    }
  }
  EXPECT_EQ(ReadFile(Prepare(id) + "/d0/f7"), "text 7");
  ASSERT_TRUE(cache_.Trim({id}).ok());
  EXPECT_EQ(Entries().size(), 1U);
}

}  // namespace
}  // namespace trainyard::code
