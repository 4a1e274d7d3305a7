#include "trainer/data/document_token.h"

#include <gtest/gtest.h>

#include "tests/trainer/data/token_directory.h"
#include "trainer/config/trainer_error.h"

namespace trainyard::trainer {
namespace {

class DocumentTokenTest : public ::testing::Test {
 protected:
  DocumentTokenTest() {
    config_.model.vocab_size = 100;
    config_.data.path = files_.path();
    config_.data.reset_attention_mask = true;
  }

  // Writes tokens and a header with this end-of-document token.
  static void Write(const TokenDirectory& directory, int64_t end) {
    directory.WriteTrain({1, 2, 3, 4}, 100);
    nlohmann::json header = TokenDirectory::Header(4, 100);
    header["end_of_document"] = end;
    directory.WriteText("train.json", header.dump());
  }

  std::string ErrorOfToken() const {
    try {
      EndOfDocumentToken(config_);
    } catch (const TrainerError& error) {
      EXPECT_EQ(error.code(), ExitCode::kBadConfig);
      return error.what();
    }
    return "none";
  }

  TokenDirectory files_;
  RunConfig config_;
};

TEST_F(DocumentTokenTest, IsThatOfTheFilesOrTheSettings) {
  Write(files_, 7);
  EXPECT_EQ(EndOfDocumentToken(config_), 7);
  config_.data.eod_token = 9;
  EXPECT_EQ(EndOfDocumentToken(config_), 9);
}

TEST_F(DocumentTokenTest, NoSettingNeedsNone) {
  config_.data.reset_attention_mask = false;
  EXPECT_EQ(EndOfDocumentToken(config_), -1);
}

TEST_F(DocumentTokenTest, FilesWithoutOneAreRefused) {
  files_.WriteTrain({1, 2, 3, 4}, 100);
  config_.data.format = DataFormat::kNanogpt;
  EXPECT_NE(ErrorOfToken().find("does not name an end-of-document token"), std::string::npos);
  EXPECT_NE(ErrorOfToken().find("set `data.eod_token`"), std::string::npos);
}

TEST_F(DocumentTokenTest, SourcesThatDifferAreRefused) {
  const TokenDirectory other;
  Write(files_, 7);
  Write(other, 8);
  config_.data.path = "";
  config_.data.blend = {"1 " + files_.path(), "1 " + other.path()};
  EXPECT_NE(ErrorOfToken().find("name different end-of-document tokens (7 and 8)"),
            std::string::npos);
}

TEST_F(DocumentTokenTest, ATokenOutsideOfTheVocabularyIsRefused) {
  Write(files_, 99);
  config_.model.vocab_size = 99;
  EXPECT_NE(ErrorOfToken().find("(99) is not below `model.vocab_size` (99)"), std::string::npos);
}

}  // namespace
}  // namespace trainyard::trainer
