#include "trainer/data/token_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/trainer/data/token_directory.h"
#include "trainer/config/trainer_error.h"

namespace trainyard::trainer {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// Opens the set `train` in the directory and expects this error.
void ExpectError(const TokenDirectory& directory, ExitCode code, const std::string& part) {
  try {
    const TokenFile file(directory.path(), "train");
    FAIL() << "opened; expected: " << part;
  } catch (const TrainerError& error) {
    EXPECT_EQ(error.code(), code) << error.what();
    EXPECT_THAT(error.what(), HasSubstr(part));
    EXPECT_THAT(error.what(), HasSubstr(directory.path()));
  }
}

TEST(TokenFileTest, ReadsHeaderAndTokens) {
  const TokenDirectory directory;
  directory.WriteTrain({1, 2, 65535, 258, 0}, 65536);
  const TokenFile file(directory.path(), "train");
  EXPECT_EQ(file.size(), 5);
  EXPECT_EQ(file.header().vocab_size, 65536);
  EXPECT_EQ(file.header().documents, 2);
  EXPECT_EQ(file.header().source_bytes, 100);
  EXPECT_EQ(file.header().unigram_entropy, 2.5);
  EXPECT_EQ(file.header().end_of_document, 0);
  int64_t tokens[3];
  EXPECT_EQ(file.Copy(1, 3, tokens), 65535);
  EXPECT_THAT(tokens, ElementsAre(2, 65535, 258));
  EXPECT_EQ(file.Copy(5, 0, tokens), 0);
}

TEST(TokenFileTest, ReadsFourByteTokens) {
  const TokenDirectory directory;
  directory.WriteText("train.bin", std::string("\x01\x02\x03\x04\xff\0\0\0", 8));
  nlohmann::json header = TokenDirectory::Header(2, 1 << 30);
  header["dtype"] = "uint32";
  directory.WriteText("train.json", header.dump());
  const TokenFile file(directory.path(), "train");
  int64_t tokens[2];
  EXPECT_EQ(file.Copy(0, 2, tokens), 0x04030201);
  EXPECT_THAT(tokens, ElementsAre(0x04030201, 255));
}

TEST(TokenFileTest, RefusesToReadOutsideTheFile) {
  const TokenDirectory directory;
  directory.WriteCounting(5);
  const TokenFile file(directory.path(), "train");
  int64_t tokens[8];
  EXPECT_THROW(file.Copy(3, 3, tokens), TrainerError);
  EXPECT_THROW(file.Copy(-1, 2, tokens), TrainerError);
}

TEST(TokenFileTest, NamesTheMissingFile) {
  const TokenDirectory directory;
  ExpectError(directory, ExitCode::kNoInput, "train.bin: cannot open: No such file");
  directory.WriteText("train.bin", "ab");
  ExpectError(directory, ExitCode::kNoInput, "train.json: cannot open: No such file");
  std::filesystem::remove(directory.path() + "/train.bin");
  std::filesystem::create_directory(directory.path() + "/train.bin");
  ExpectError(directory, ExitCode::kNoInput, "train.bin: not a regular file");
}

TEST(TokenFileTest, RefusesAFileOfAnotherSize) {
  const TokenDirectory directory;
  directory.WriteCounting(5);
  directory.WriteText("train.bin", "123456789");
  ExpectError(directory, ExitCode::kBadData, "has 9 bytes, but its header declares 5 tokens");
  directory.WriteText("train.bin", "");
  ExpectError(directory, ExitCode::kBadData, "has 0 bytes");
}

TEST(TokenFileTest, RefusesHeadersThatAreNotOurs) {
  const TokenDirectory directory;
  directory.WriteCounting(5);
  const auto expect = [&](const char* key, const nlohmann::json& value, const char* part) {
    nlohmann::json header = TokenDirectory::Header(5, 10);
    header[key] = value;
    directory.WriteText("train.json", header.dump());
    ExpectError(directory, ExitCode::kBadData, part);
  };
  expect("format", "other", "\"format\" is not");
  expect("version", 2, "version 2 of the format");
  expect("dtype", "int8", "\"dtype\" must be");
  expect("dtype", 7, "\"dtype\" must be a string");
  expect("tokens", -5, "\"tokens\" must be a whole number");
  expect("tokens", "5", "\"tokens\" must be a whole number");
  expect("tokens", 1e19, "\"tokens\" must be a whole number");
  expect("vocab_size", nullptr, "\"vocab_size\" must be a whole number");
  directory.WriteText("train.json", "{\"format\": \"trainyard-tok");
  ExpectError(directory, ExitCode::kBadData, "not a JSON object");
  directory.WriteText("train.json", "[1]");
  ExpectError(directory, ExitCode::kBadData, "not a JSON object");
}

TEST(TokenFileTest, FindsADamagedFileByItsChecksum) {
  const TokenDirectory directory;
  directory.WriteTrain({1, 2, 3}, 10);
  nlohmann::json header = TokenDirectory::Header(3, 10);
  header["xxh64"] = "7b6df80ef941de3b";  // of the bytes 01 00 02 00 03 00
  directory.WriteText("train.json", header.dump());
  EXPECT_NO_THROW(TokenFile(directory.path(), "train").VerifyChecksum());
  directory.WriteText("train.bin", std::string("\x01\0\x02\0\x07\0", 6));
  EXPECT_THROW(TokenFile(directory.path(), "train").VerifyChecksum(), TrainerError);
}

}  // namespace
}  // namespace trainyard::trainer
