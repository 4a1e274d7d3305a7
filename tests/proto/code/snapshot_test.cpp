#include "proto/code/snapshot.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <map>
#include <string>
#include <thread>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "proto/code/blob_pack.h"
#include "tests/fakes/temporary_directory.h"

namespace trainyard::code {
namespace {

using testing::HasSubstr;

class SnapshotTest : public testing::Test {
 protected:
  void Put(const std::string& path, const std::string& text) {
    std::filesystem::create_directories(std::filesystem::path(root_.File(path)).parent_path());
    WriteFile(root_.File(path), text);
  }
  Snapshot Take(const std::string& cache = "") {
    auto snapshot = TakeSnapshot(root_.path(), {}, cache);
    EXPECT_TRUE(snapshot.ok()) << snapshot.status();
    return snapshot.ok() ? *std::move(snapshot) : Snapshot();
  }
  absl::StatusOr<std::map<std::string, std::string>> Packed(const Snapshot& snapshot,
                                                            const std::set<std::string>& wanted) {
    std::map<std::string, std::string> contents;
    const auto sink = [&](const std::string& pack) -> absl::Status {
      const auto blobs = ReadPack(pack);
      if (!blobs.ok()) return blobs.status();
      for (const Blob& blob : *blobs) contents[blob.digest] = blob.content;
      return absl::OkStatus();
    };
    const absl::Status status = PackFiles(root_.path(), snapshot, wanted, sink);
    if (!status.ok()) return status;
    return contents;
  }

  TemporaryDirectory root_;
  TemporaryDirectory caches_;
};

TEST_F(SnapshotTest, IdentifiesContents) {
  Put("a.py", "1");
  const std::string first = Take().id;
  EXPECT_EQ(Take().id, first);
  Put("a.py", "2");
  EXPECT_NE(Take().id, first);
  Put("a.py", "1");
  EXPECT_EQ(Take().id, first);
  ASSERT_EQ(chmod(root_.File("a.py").c_str(), 0755), 0);
  EXPECT_NE(Take().id, first);
}

TEST_F(SnapshotTest, PacksOnlyTheWantedBlobs) {
  Put("a.py", "same");
  Put("b.py", "same");
  Put("c.py", "other");
  Put("empty", "");
  ASSERT_EQ(symlink("a.py", root_.File("link").c_str()), 0);
  const std::string large(kPieceBytes + 5, 'x');
  Put("large", large);
  const Snapshot snapshot = Take();
  const auto all = Packed(snapshot, snapshot.manifest.Digests());
  ASSERT_TRUE(all.ok()) << all.status();
  EXPECT_EQ(all->size(), 5U);
  EXPECT_EQ(all->at(DigestOf("same")), "same");
  EXPECT_EQ(all->at(DigestOf("a.py")), "a.py");
  EXPECT_EQ(all->at(DigestOf("xxxxx")), "xxxxx");
  const auto one = Packed(snapshot, {DigestOf("other")});
  ASSERT_TRUE(one.ok()) << one.status();
  EXPECT_EQ(one->size(), 1U);
}

TEST_F(SnapshotTest, FillsSeveralPacks) {
  for (int file = 0; file < 5; ++file) {
    Put(absl::StrCat("f", file), std::string(kPieceBytes, static_cast<char>('a' + file)));
  }
  const Snapshot snapshot = Take();
  int packs = 0;
  const auto count = [&](const std::string&) {
    ++packs;
    return absl::OkStatus();
  };
  ASSERT_TRUE(PackFiles(root_.path(), snapshot, snapshot.manifest.Digests(), count).ok());
  EXPECT_EQ(packs, 2);
  const auto refuse = [](const std::string&) { return absl::UnavailableError("gone"); };
  EXPECT_EQ(PackFiles(root_.path(), snapshot, snapshot.manifest.Digests(), refuse).message(),
            "gone");
}

TEST_F(SnapshotTest, DetectsAFileThatChangedSinceTheSnapshot) {
  Put("a.py", "1");
  const Snapshot snapshot = Take();
  Put("a.py", "2");
  const auto packed = Packed(snapshot, snapshot.manifest.Digests());
  EXPECT_EQ(packed.status().code(), absl::StatusCode::kAborted);
  EXPECT_THAT(std::string(packed.status().message()), HasSubstr("a.py changed while it was read"));
}

TEST_F(SnapshotTest, DetectsAFileThatBecameALink) {
  Put("a.py", "1");
  const Snapshot snapshot = Take();
  unlink(root_.File("a.py").c_str());
  ASSERT_EQ(symlink("/etc/passwd", root_.File("a.py").c_str()), 0);
  EXPECT_EQ(Packed(snapshot, snapshot.manifest.Digests()).status().code(),
            absl::StatusCode::kAborted);
}

TEST_F(SnapshotTest, RefusesAFileThatChangesAllTheTime) {
  Put("a.log", std::string(4 << 20, 'x'));
  std::atomic<bool> ends{false};
  std::thread writer([&] {
    for (int text = 0; !ends; ++text) {
      const int fd = open(root_.File("a.log").c_str(), O_WRONLY | O_CLOEXEC);
      const std::string number = absl::StrCat(text);
      EXPECT_EQ(pwrite(fd, number.data(), number.size(), 0), static_cast<ssize_t>(number.size()));
      close(fd);
    }
  });
  // The writer may pause at the wrong time, so a few snapshots may succeed.
  absl::StatusOr<Snapshot> snapshot = absl::UnknownError("");
  for (int tries = 0; tries < 100 && !absl::IsAborted(snapshot.status()); ++tries) {
    snapshot = TakeSnapshot(root_.path(), {}, "");
  }
  ends = true;
  writer.join();
  EXPECT_THAT(std::string(snapshot.status().message()),
              HasSubstr("a.log changed while it was read; submit again"));
}

TEST_F(SnapshotTest, ReadsNoUnchangedFiles) {
  Put("a.py", "1");
  // A file that was written just now is not in the cache. Wait until it is.
  const std::string cache = caches_.File("cache");
  std::string saved;
  for (int tries = 0; tries < 100 && saved.find("a.py") == std::string::npos; ++tries) {
    Take(cache);
    saved = ReadFile(cache);
    usleep(100'000);
  }
  // Without permission, the file cannot be read. Root reads every file, so a wrong digest in the
  // cache shows that it is used.
  const std::string digest = DigestOf("1");
  const std::size_t at = saved.find(digest);
  ASSERT_NE(at, std::string::npos);
  WriteFile(cache, saved.replace(at, digest.size(), DigestOf("marked")));
  EXPECT_EQ(Take(cache).manifest.files[0].pieces[0], DigestOf("marked"));
  Put("a.py", "3");
  EXPECT_EQ(Take(cache).manifest.files[0].pieces[0], DigestOf("3"));
}

TEST_F(SnapshotTest, RefusesATreeWithoutFiles) {
  Put("a.txt", "1");
  const auto snapshot = TakeSnapshot(root_.path(), {.ignore = {"*"}}, "");
  EXPECT_EQ(snapshot.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(snapshot.status().message()), HasSubstr("has no files"));
}

}  // namespace
}  // namespace trainyard::code
