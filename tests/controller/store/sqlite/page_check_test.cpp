#include "controller/store/sqlite/page_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <random>

#include "absl/strings/str_cat.h"
#include "controller/store/sqlite/sqlite_database.h"
#include "tests/controller/store/temporary_directory.h"

namespace trainyard::controller {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

constexpr int64_t kPageBytes = 4096;

class PageCheckTest : public testing::Test {
 protected:
  PageCheckTest() {
    auto database = Open(SqliteDatabase::Mode::kWriter);
    EXPECT_TRUE(database->RunScript("CREATE TABLE t (id INTEGER PRIMARY KEY, a TEXT)").ok());
    for (int i = 1; i <= 400; ++i) {
      EXPECT_TRUE(database->Run("INSERT INTO t VALUES (?, ?)", i, std::string(300, 'a')).ok());
    }
  }

  std::unique_ptr<SqliteDatabase> Open(SqliteDatabase::Mode mode) {
    auto database = SqliteDatabase::Open(path_, mode);
    EXPECT_TRUE(database.ok()) << database.status();
    return database.ok() ? *std::move(database) : nullptr;
  }

  void FlipBit(int64_t byte, int bit) {
    std::fstream file(path_, std::ios::in | std::ios::out | std::ios::binary);
    file.seekg(byte);
    const int old = file.get();
    file.seekp(byte);
    file.put(static_cast<char>(old ^ (1 << bit)));
  }

  int64_t Pages() { return static_cast<int64_t>(fs::file_size(path_)) / kPageBytes; }

  TemporaryDirectory temporary_;
  const std::string path_ = temporary_.File("checked.db");
};

// Reads every page of the table and every row.
absl::Status ReadAllRows(SqliteDatabase& database) {
  return database.QueryInt64("SELECT SUM(LENGTH(a)) FROM t").status();
}

TEST_F(PageCheckTest, FindsASingleFlippedBitAndSaysWhere) {
  ASSERT_TRUE(ReadAllRows(*Open(SqliteDatabase::Mode::kReader)).ok());
  std::mt19937 random(1);
  for (int i = 0; i < 60; ++i) {
    // Excludes pages 1 and 2. Page 1 is read when the file is opened, and has a separate test.
    // Page 2 is a pointer map, which is read only when pages are freed.
    const int64_t page = 3 + static_cast<int64_t>(random() % (Pages() - 2));
    const int64_t byte = (page - 1) * kPageBytes + static_cast<int64_t>(random() % kPageBytes);
    const int bit = static_cast<int>(random() % 8);
    FlipBit(byte, bit);
    const absl::Status status = ReadAllRows(*Open(SqliteDatabase::Mode::kReader));
    EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss) << "bit " << bit << " of byte " << byte;
    EXPECT_THAT(
        std::string(status.message()),
        testing::AllOf(HasSubstr(path_), HasSubstr(absl::StrCat("byte ", (page - 1) * kPageBytes)),
                       HasSubstr("trainyard server restore")));
    FlipBit(byte, bit);
  }
  EXPECT_TRUE(ReadAllRows(*Open(SqliteDatabase::Mode::kReader)).ok());
}

TEST_F(PageCheckTest, DamagedFirstPageKeepsTheDatabaseShut) {
  FlipBit(kPageBytes - 20, 3);
  const auto opened = SqliteDatabase::Open(path_, SqliteDatabase::Mode::kWriter);
  EXPECT_EQ(opened.status().code(), absl::StatusCode::kDataLoss) << opened.status();
  EXPECT_THAT(std::string(opened.status().message()), HasSubstr("byte 0 "));
}

TEST_F(PageCheckTest, TheOtherPagesStayReadable) {
  // The last page contains the last rows.
  FlipBit((Pages() - 1) * kPageBytes + 2000, 0);
  auto database = Open(SqliteDatabase::Mode::kWriter);
  EXPECT_EQ(ReadAllRows(*database).code(), absl::StatusCode::kDataLoss);
  EXPECT_EQ(*database->QueryInt64("SELECT COUNT(*) FROM t WHERE id <= 300"), 300);
  EXPECT_TRUE(database->Run("UPDATE t SET a = 'new' WHERE id = 5").ok());
}

TEST_F(PageCheckTest, FindsAPageInThePlaceOfAnother) {
  std::fstream file(path_, std::ios::in | std::ios::out | std::ios::binary);
  std::string page(kPageBytes, '\0');
  file.seekg(4 * kPageBytes);
  file.read(page.data(), kPageBytes);
  file.seekp(5 * kPageBytes);
  file.write(page.data(), kPageBytes);
  file.close();
  EXPECT_EQ(ReadAllRows(*Open(SqliteDatabase::Mode::kReader)).code(), absl::StatusCode::kDataLoss);
}

TEST_F(PageCheckTest, FreePagesThatWereNeverWrittenAreNoDamage) {
  auto database = Open(SqliteDatabase::Mode::kWriter);
  // Creates a page that is never written to the file, by allocating and freeing it in one
  // transaction.
  ASSERT_TRUE(database
                  ->RunScript("BEGIN; CREATE TABLE gone AS SELECT zeroblob(90000) AS z FROM t "
                              "LIMIT 20; CREATE TABLE kept AS SELECT id FROM t; DROP TABLE gone; "
                              "COMMIT; PRAGMA wal_checkpoint(TRUNCATE)")
                  .ok());
  EXPECT_TRUE(database->RunScript("PRAGMA integrity_check").ok());
  ASSERT_TRUE(database->RunScript("CREATE TABLE more AS SELECT a FROM t").ok());
  EXPECT_EQ(*database->QueryInt64("SELECT COUNT(*) FROM more"), 400);
}

}  // namespace
}  // namespace trainyard::controller
