#include "controller/core/decide/notes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "proto/contract/limits.h"
#include "tests/controller/core/test_cluster.h"

namespace trainyard::controller {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

WriteNote NoteOf(int64_t job, const std::string& text, int64_t step = 20,
                 const std::string& user = "ada") {
  WriteNote note;
  note.request.set_job(absl::StrCat(job));
  note.request.set_text(text);
  note.request.set_step(step);
  note.principal = {user};
  return note;
}

DeleteNote DeletionOf(int64_t job, int64_t number, const std::string& user = "ada") {
  DeleteNote deletion;
  deletion.request.set_job(absl::StrCat(job));
  deletion.request.set_note(number);
  deletion.principal = {user};
  return deletion;
}

class NotesTest : public testing::Test {
 protected:
  NotesTest() {
    cluster_.AddNode("a", 1);
    job_ = cluster_.Submit("job", 1, 1);
  }

  TestCluster cluster_;
  int64_t job_ = 0;
};

TEST_F(NotesTest, ARepeatedRequestWritesNoSecondNote) {
  EXPECT_THAT(Kinds(cluster_.Do(NoteOf(job_, "lr halved"))), ElementsAre("NoteWritten"));
  EXPECT_THAT(cluster_.Do(NoteOf(job_, "lr halved")), IsEmpty());
  EXPECT_THAT(cluster_.Do(NoteOf(job_, "lr halved", 21)), testing::SizeIs(1)) << "another step";
  EXPECT_THAT(cluster_.Do(NoteOf(job_, "lr halved", 20, "bob")), testing::SizeIs(1));
  EXPECT_EQ(cluster_.Job(job_).notes_size(), 3);
}

TEST_F(NotesTest, TheTextIsOneLineOfLimitedLength) {
  EXPECT_TRUE(cluster_.Try(NoteOf(job_, std::string(kMaxNoteBytes, 'x'))).ok());
  EXPECT_TRUE(cluster_.Try(NoteOf(job_, "größer, 更大")).ok());
  EXPECT_THAT(cluster_.Try(NoteOf(job_, std::string(kMaxNoteBytes + 1, 'x'))).message(),
              HasSubstr("501 bytes; at most 500 are allowed"));
  for (const std::string text : {"", "   "}) {
    EXPECT_THAT(cluster_.Try(NoteOf(job_, text)).message(), HasSubstr("the note is empty"));
  }
  for (const std::string text : {"two\nlines", "a\ttab", "\x1b[31mred", "\u202eright to left"}) {
    const absl::Status refused = cluster_.Try(NoteOf(job_, text));
    EXPECT_EQ(refused.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(refused.message(), HasSubstr("control character"));
  }
  EXPECT_FALSE(cluster_.Try(NoteOf(job_, "\xff")).ok()) << "not UTF-8";
}

TEST_F(NotesTest, TheStepHasBounds) {
  EXPECT_TRUE(cluster_.Try(NoteOf(job_, "start", 0)).ok());
  EXPECT_TRUE(cluster_.Try(NoteOf(job_, "end", kMaxStep)).ok());
  for (const int64_t step : {int64_t{-1}, kMaxStep + 1}) {
    EXPECT_THAT(cluster_.Try(NoteOf(job_, "text", step)).message(), HasSubstr("step: must be"));
  }
}

TEST_F(NotesTest, AJobHasALimitedNumberOfNotes) {
  for (int i = 0; i < kMaxNotesOfJob; ++i) cluster_.Do(NoteOf(job_, absl::StrCat("note ", i)));
  const absl::Status refused = cluster_.Try(NoteOf(job_, "one more"));
  EXPECT_EQ(refused.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(refused.message(), HasSubstr("at most 200 are allowed; delete notes"));
  EXPECT_TRUE(cluster_.Try(NoteOf(job_, "note 3")).ok()) << "repeated";
  cluster_.Do(DeletionOf(job_, 3));
  EXPECT_TRUE(cluster_.Try(NoteOf(job_, "one more")).ok());
}

TEST_F(NotesTest, OnlyTheWriterDeletesANote) {
  cluster_.Do(NoteOf(job_, "lr halved"));
  const absl::Status refused = cluster_.Try(DeletionOf(job_, 1, "bob"));
  EXPECT_EQ(refused.code(), absl::StatusCode::kPermissionDenied);
  EXPECT_THAT(refused.message(), HasSubstr("was written by user ada"));
  EXPECT_EQ(cluster_.Try(DeletionOf(job_, 2)).code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(Kinds(cluster_.Do(DeletionOf(job_, 1))), ElementsAre("NoteDeleted"));
  EXPECT_EQ(cluster_.Try(DeletionOf(job_, 1)).code(), absl::StatusCode::kNotFound);
}

TEST_F(NotesTest, AnEndedJobCanBeAnnotated) {
  cluster_.Stop(job_);
  ASSERT_EQ(cluster_.StateOf(job_), v1::JOB_STATE_STOPPED);
  cluster_.Do(NoteOf(job_, "stopped, the data was wrong"));
  EXPECT_EQ(cluster_.Job(job_).notes_size(), 1);
  EXPECT_EQ(cluster_.Try(NoteOf(job_ + 1, "text")).code(), absl::StatusCode::kNotFound);
}

}  // namespace
}  // namespace trainyard::controller
