#include "gmock/gmock.h"
#include "nlohmann/json.hpp"
#include "tests/cli/cli_fixture.h"

namespace trainyard::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

v1::Note NoteOf(int64_t id, int64_t step, const std::string& text) {
  v1::Note note;
  note.set_id(id);
  note.set_step(step);
  note.set_text(text);
  note.set_actor("user ada");
  note.set_time_ms(kNow - 192000);
  return note;
}

class NoteTest : public CliFixture {
 protected:
  NoteTest() {
    v1::Job& job = *answers().note.mutable_job();
    job = RunningJob();
    *job.add_notes() = NoteOf(1, 900, "lr halved");
    *job.add_notes() = NoteOf(2, 40, "data \x1b[31mshuffled");
    *answers().job.mutable_job() = job;
  }
};

TEST_F(NoteTest, IsWrittenOnAStepOrOnTheNewestOne) {
  const CliResult result = Run({"note", "tiny", "lr halved", "--step", "900"});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.out, "job 17 tiny: note 1 written on step 900\n");
  Run({"job", "note", "tiny", "lr halved"});
  ASSERT_EQ(answers().note_requests.size(), 2u);
  EXPECT_EQ(answers().note_requests[0].job(), "tiny");
  EXPECT_EQ(answers().note_requests[0].step(), 900);
  EXPECT_EQ(answers().note_requests[0].text(), "lr halved");
  EXPECT_EQ(answers().note_requests[0].user(), "ada");
  EXPECT_FALSE(answers().note_requests[1].has_step()) << "the controller knows the newest step";
}

TEST_F(NoteTest, NotesAreListedByStep) {
  const std::string out = Run({"note", "tiny"}).out;
  EXPECT_THAT(answers().note_requests, IsEmpty());
  EXPECT_LT(out.find("shuffled"), out.find("lr halved"));
  EXPECT_THAT(out, HasSubstr("ada"));
  EXPECT_THAT(out, Not(HasSubstr("\033")));
  const auto notes = nlohmann::json::parse(Run({"note", "tiny", "-o", "json"}).out);
  ASSERT_EQ(notes.size(), 2u);
  EXPECT_EQ(notes[1]["id"], 1);
  EXPECT_EQ(notes[1]["text"], "lr halved");
}

TEST_F(NoteTest, DescribeShowsNotesAndTheirEvents) {
  v1::Event& event = *answers().job.add_events();
  event.set_time_ms(kNow);
  event.set_actor("user ada");
  event.mutable_note_written()->set_step(900);
  event.mutable_note_written()->set_text("lr halved");
  v1::Event& deleted = *answers().job.add_events();
  deleted.set_time_ms(kNow);
  deleted.set_actor("user ada");
  deleted.mutable_note_deleted()->set_note_id(3);
  deleted.mutable_note_deleted()->set_step(7);
  const std::string out = Run({"describe", "tiny"}).out;
  EXPECT_THAT(out, HasSubstr("\nNotes\n"));
  EXPECT_THAT(out, HasSubstr("user ada: note on step 900: lr halved\n"));
  EXPECT_THAT(out, HasSubstr("user ada: note 3 on step 7 deleted\n"));
}

TEST_F(NoteTest, IsDeletedByItsNumber) {
  const CliResult result = Run({"note", "tiny", "--delete", "2"});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.out, "job 17 tiny: note 2 deleted\n");
  ASSERT_EQ(answers().note_deletions.size(), 1u);
  EXPECT_EQ(answers().note_deletions[0].note(), 2);
  EXPECT_EQ(answers().note_deletions[0].user(), "ada");
}

TEST_F(NoteTest, WrongUsesSendNothing) {
  EXPECT_EQ(Run({"note", "tiny", "--step", "3"}).exit_code, 2);
  EXPECT_EQ(Run({"note", "tiny", "text", "--delete", "3"}).exit_code, 2);
  EXPECT_EQ(Run({"note", "tiny", "text", "--step", "many"}).exit_code, 2);
  EXPECT_EQ(Run({"note", "Bad Name", "text"}).exit_code, 2);
  EXPECT_THAT(answers().note_requests, IsEmpty());
  EXPECT_THAT(answers().note_deletions, IsEmpty());
}

}  // namespace
}  // namespace trainyard::cli
