#include "controller/hooks/hook_positions.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <string>

#include "controller/store/stores.h"
#include "tests/controller/hooks/fake_leader_notes.h"
#include "tests/fakes/temporary_directory.h"

namespace trainyard::controller {
namespace {

class HookPositionsTest : public testing::Test {
 protected:
  std::string FileOf(const std::string& hook) const { return directory_.File("hooks/" + hook); }
  // Stores a position as a controller on SQLite does.
  void WriteFilePosition(const std::string& hook, const std::string& text) const {
    ASSERT_TRUE(FileHookPositions(directory_.File("hooks")).Write(hook, text).ok());
  }

  const TemporaryDirectory directory_;
  FakeLeaderNotes notes_;
  NoteHookPositions in_notes_{notes_, directory_.File("hooks")};
};

TEST_F(HookPositionsTest, FilesKeepThePositionsOfEachHook) {
  FileHookPositions positions(directory_.File("hooks"));
  EXPECT_TRUE(absl::IsNotFound(positions.Read("a").status()));
  ASSERT_TRUE(positions.Write("a", "c1 5").ok());
  ASSERT_TRUE(positions.Write("b", "c1 7").ok());
  ASSERT_TRUE(positions.Write("a", "c1 6").ok());
  FileHookPositions next(directory_.File("hooks"));
  EXPECT_EQ(*next.Read("a"), "c1 6");
  EXPECT_EQ(*next.Read("b"), "c1 7");
  next.Remove("a");
  next.Remove("a");
  EXPECT_TRUE(absl::IsNotFound(positions.Read("a").status()));
}

TEST_F(HookPositionsTest, AnUnusableDirectoryIsReported) {
  WriteFile(directory_.File("hooks"), "a file");
  EXPECT_FALSE(FileHookPositions(directory_.File("hooks")).Write("a", "c1 5").ok());
}

TEST_F(HookPositionsTest, NotesKeepThePositionsForTheNextLeader) {
  EXPECT_TRUE(absl::IsNotFound(in_notes_.Read("a").status()));
  ASSERT_TRUE(in_notes_.Write("a", "c1 5").ok());
  NoteHookPositions next(notes_, directory_.File("other"));
  EXPECT_EQ(*next.Read("a"), "c1 5");
  EXPECT_EQ(*notes_.Read("hook a"), "c1 5");
}

TEST_F(HookPositionsTest, AFileIsUsedUntilTheFirstNoteAndThenRemoved) {
  WriteFilePosition("a", "c1 5");
  WriteFilePosition("b", "c1 9");
  EXPECT_EQ(*in_notes_.Read("a"), "c1 5");
  notes_.SetWriteStatus(absl::AbortedError("another controller leads"));
  EXPECT_TRUE(absl::IsAborted(in_notes_.Write("a", "c1 6")));
  EXPECT_EQ(*in_notes_.Read("a"), "c1 5") << "the file remains after a failed write";
  notes_.SetWriteStatus(absl::OkStatus());
  ASSERT_TRUE(in_notes_.Write("a", "c1 6").ok());
  EXPECT_EQ(*in_notes_.Read("a"), "c1 6");
  EXPECT_FALSE(std::filesystem::exists(FileOf("a")));
  EXPECT_TRUE(std::filesystem::exists(FileOf("b"))) << "it belongs to another hook";
}

TEST_F(HookPositionsTest, ANotePrecedesTheFileOfAFormerLeader) {
  WriteFilePosition("a", "c1 2");
  NoteHookPositions other(notes_, directory_.File("other"));
  ASSERT_TRUE(other.Write("a", "c1 8").ok());
  EXPECT_EQ(*in_notes_.Read("a"), "c1 8");
  notes_.SetReadStatus(absl::UnavailableError("no answer"));
  EXPECT_TRUE(absl::IsUnavailable(in_notes_.Read("a").status())) << "there may be a newer note";
}

TEST_F(HookPositionsTest, ThePlaceDependsOnTheStores) {
  EXPECT_TRUE(HookPositionsOf(OpenMemoryStores()) == nullptr);
  absl::StatusOr<Stores> stores = OpenSqliteStores(directory_.path());
  ASSERT_TRUE(stores.ok()) << stores.status();
  ASSERT_TRUE(HookPositionsOf(*stores)->Write("a", "c1 5").ok());
  EXPECT_EQ(ReadFile(FileOf("a")), "c1 5");
  stores->notes = std::make_unique<FakeLeaderNotes>();
  ASSERT_TRUE(HookPositionsOf(*stores)->Write("a", "c1 6").ok());
  EXPECT_EQ(*stores->notes->Read("hook a"), "c1 6");
  EXPECT_FALSE(std::filesystem::exists(FileOf("a")));
}

}  // namespace
}  // namespace trainyard::controller
