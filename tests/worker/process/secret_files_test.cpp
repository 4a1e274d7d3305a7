#include "worker/process/secret_files.h"

#include <sys/stat.h>
#include <unistd.h>

#include <fstream>

#include "gmock/gmock.h"
#include "tests/worker/process/rank_fixture.h"

namespace trainyard::worker {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::Pair;
using testing::UnorderedElementsAre;

class SecretFilesTest : public testing::Test {
 protected:
  void Write(const std::string& name, const std::string& value, mode_t mode = 0600) {
    std::ofstream(directory_.File(name), std::ios::binary) << value;
    ASSERT_EQ(chmod(directory_.File(name).c_str(), mode), 0);
  }
  std::string Refusal(const std::string& name) {
    const auto secrets = ReadSecrets(directory_.path(), {name});
    return secrets.ok() ? "" : std::string(secrets.status().message());
  }

  TemporaryDirectory directory_;
};

TEST_F(SecretFilesTest, ReadsOnlyWhatIsNamedAndCutsTheLastNewline) {
  Write("A", "one\n");
  Write("B", "two lines\nof it\r\n");
  Write("C", "not asked for");
  const auto secrets = ReadSecrets(directory_.path(), {"A", "B"});
  ASSERT_TRUE(secrets.ok()) << secrets.status();
  EXPECT_THAT(*secrets, UnorderedElementsAre(Pair("A", "one"), Pair("B", "two lines\nof it")));
}

TEST_F(SecretFilesTest, MissingOneSaysWhichFileToWrite) {
  EXPECT_THAT(Refusal("WANDB_API_KEY"),
              AllOf(HasSubstr(directory_.File("WANDB_API_KEY")), HasSubstr("0600")));
}

TEST_F(SecretFilesTest, RefusesNamesThatLeaveTheDirectory) {
  Write("A", "x");
  EXPECT_THAT(Refusal("../" + directory_.path() + "/A"),
              HasSubstr("is not a valid name for a secret"));
  EXPECT_THAT(Refusal(""), HasSubstr("is not a valid name for a secret"));
  EXPECT_THAT(Refusal("1A"), HasSubstr("is not a valid name for a secret"));
}

TEST_F(SecretFilesTest, RefusesWhatOthersCanReadAndWhatIsNoText) {
  Write("OPEN", "hush-hush", 0640);
  EXPECT_THAT(Refusal("OPEN"), AllOf(HasSubstr("chmod 600"), Not(HasSubstr("hush-hush"))));
  Write("TARGET", "x");
  ASSERT_EQ(symlink(directory_.File("TARGET").c_str(), directory_.File("LINK").c_str()), 0);
  EXPECT_THAT(Refusal("LINK"), HasSubstr("not a regular file"));
  Write("EMPTY", "\n");
  EXPECT_THAT(Refusal("EMPTY"), HasSubstr("is empty"));
  Write("BINARY", std::string("hush\0hush", 9));
  EXPECT_THAT(Refusal("BINARY"), AllOf(HasSubstr("UTF-8"), Not(HasSubstr("hush"))));
  Write("LARGE", std::string((64 << 10) + 1, 'x'));
  EXPECT_THAT(Refusal("LARGE"), HasSubstr("more than"));
}

}  // namespace
}  // namespace trainyard::worker
