#include "controller/store/sqlite/sqlite_database.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <limits>
#include <string>

#include "tests/controller/store/temporary_directory.h"

namespace trainyard::controller {
namespace {

using testing::HasSubstr;

class SqliteDatabaseTest : public testing::Test {
 protected:
  SqliteDatabaseTest() : writer_(OpenWriter("test.db")) {}

  std::unique_ptr<SqliteDatabase> OpenWriter(const std::string& name) {
    auto database = SqliteDatabase::Open(temporary_.File(name), SqliteDatabase::Mode::kWriter);
    EXPECT_TRUE(database.ok()) << database.status();
    return database.ok() ? *std::move(database) : nullptr;
  }

  TemporaryDirectory temporary_;
  std::unique_ptr<SqliteDatabase> writer_;
};

TEST_F(SqliteDatabaseTest, OpensWithWriteAheadLogAndFullSync) {
  EXPECT_EQ(*writer_->QueryInt64("PRAGMA synchronous"), 2);
  auto mode = writer_->Query("PRAGMA journal_mode");
  ASSERT_TRUE(mode.ok() && *mode->Next());
  EXPECT_EQ(mode->Bytes(0), "wal");
}

TEST_F(SqliteDatabaseTest, GivesBackWhatWasBound) {
  ASSERT_TRUE(writer_->RunScript("CREATE TABLE t (a INT, b REAL, c TEXT, d BLOB, e REAL)").ok());
  const std::string bytes("\0\xff binary", 9);
  const double nan = std::numeric_limits<double>::quiet_NaN();
  ASSERT_TRUE(writer_
                  ->Run("INSERT INTO t VALUES (?, ?, ?, ?, ?)", int64_t{-7},
                        std::numeric_limits<double>::infinity(), "text", SqlBlob{bytes}, nan)
                  .ok());
  auto row = writer_->Query("SELECT a, b, c, d, e FROM t");
  ASSERT_TRUE(row.ok() && *row->Next());
  EXPECT_EQ(row->Int64(0), -7);
  EXPECT_EQ(row->Double(1), std::numeric_limits<double>::infinity());
  EXPECT_EQ(row->Bytes(2), "text");
  EXPECT_EQ(row->Bytes(3), bytes);
  EXPECT_TRUE(std::isnan(row->Double(4)));
  EXPECT_FALSE(*row->Next());
}

TEST_F(SqliteDatabaseTest, RollsBackWithoutCommit) {
  ASSERT_TRUE(writer_->RunScript("CREATE TABLE t (a INT)").ok());
  {
    auto transaction = SqliteTransaction::BeginWrite(*writer_);
    ASSERT_TRUE(transaction.ok());
    ASSERT_TRUE(writer_->Run("INSERT INTO t VALUES (1)").ok());
  }
  EXPECT_EQ(*writer_->QueryInt64("SELECT COUNT(*) FROM t"), 0);
  auto transaction = SqliteTransaction::BeginWrite(*writer_);
  ASSERT_TRUE(writer_->Run("INSERT INTO t VALUES (1)").ok());
  ASSERT_TRUE(transaction->Commit().ok());
  EXPECT_EQ(*writer_->QueryInt64("SELECT COUNT(*) FROM t"), 1);
}

TEST_F(SqliteDatabaseTest, ErrorNamesFileAndStatement) {
  const absl::Status status = writer_->Run("SELECT * FROM missing");
  EXPECT_EQ(status.code(), absl::StatusCode::kInternal);
  EXPECT_THAT(std::string(status.message()),
              testing::AllOf(HasSubstr(temporary_.File("test.db")), HasSubstr("no such table"),
                             HasSubstr("SELECT * FROM missing")));
}

TEST_F(SqliteDatabaseTest, FullDiskIsResourceExhausted) {
  ASSERT_TRUE(writer_->RunScript("CREATE TABLE t (a BLOB); PRAGMA max_page_count = 8").ok());
  const std::string large(100'000, 'x');
  const absl::Status status = writer_->Run("INSERT INTO t VALUES (?)", SqlBlob{large});
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(std::string(status.message()), HasSubstr("free disk space"));
}

TEST_F(SqliteDatabaseTest, FileThatIsNoDatabaseIsDataLoss) {
  std::ofstream(temporary_.File("other.db")) << std::string(8192, 'x');
  auto opened = SqliteDatabase::Open(temporary_.File("other.db"), SqliteDatabase::Mode::kWriter);
  EXPECT_EQ(opened.status().code(), absl::StatusCode::kDataLoss);
  EXPECT_THAT(std::string(opened.status().message()), HasSubstr("backup"));
}

TEST_F(SqliteDatabaseTest, MissingDirectoryIsPermissionDenied) {
  auto opened = SqliteDatabase::Open(temporary_.File("no/such.db"), SqliteDatabase::Mode::kWriter);
  EXPECT_EQ(opened.status().code(), absl::StatusCode::kPermissionDenied);
}

TEST_F(SqliteDatabaseTest, ReadersSeeCommitsAndCannotWrite) {
  ASSERT_TRUE(writer_->RunScript("CREATE TABLE t (a INT)").ok());
  SqliteReaderPool pool(temporary_.File("test.db"));
  auto reader = pool.Acquire();
  ASSERT_TRUE(reader.ok()) << reader.status();
  ASSERT_TRUE(writer_->Run("INSERT INTO t VALUES (1)").ok());
  EXPECT_EQ(*(*reader)->QueryInt64("SELECT COUNT(*) FROM t"), 1);
  EXPECT_EQ((*reader)->Run("INSERT INTO t VALUES (2)").code(), absl::StatusCode::kPermissionDenied);
}

TEST_F(SqliteDatabaseTest, NestedQueriesOfOneTextAreIndependent) {
  ASSERT_TRUE(writer_->RunScript("CREATE TABLE t (a INT); INSERT INTO t VALUES (1), (2)").ok());
  auto outer = writer_->Query("SELECT a FROM t ORDER BY a");
  ASSERT_TRUE(*outer->Next());
  {
    auto inner = writer_->Query("SELECT a FROM t ORDER BY a");
    ASSERT_TRUE(*inner->Next());
    EXPECT_EQ(inner->Int64(0), 1);
  }
  ASSERT_TRUE(*outer->Next());
  EXPECT_EQ(outer->Int64(0), 2);
}

}  // namespace
}  // namespace trainyard::controller
