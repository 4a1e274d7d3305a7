#include "proto/files/file_place.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <string>

namespace trainyard {
namespace {

TEST(FilePlaceTest, TwoPathsOfOneFileHaveOneIdentityAndALinkHasItsOwn) {
  std::string directory = testing::TempDir() + "/place_XXXXXX";
  ASSERT_NE(mkdtemp(directory.data()), nullptr);
  const std::string link = directory + "/link";
  ASSERT_EQ(symlink(directory.c_str(), link.c_str()), 0);
  const auto place = PlaceOf(AT_FDCWD, directory.c_str());
  const auto again = PlaceOf(AT_FDCWD, (directory + "/./.").c_str());
  const auto of_link = PlaceOf(AT_FDCWD, link.c_str());
  ASSERT_TRUE(place.has_value() && again.has_value() && of_link.has_value());
  EXPECT_EQ(place->identity, again->identity);
  EXPECT_TRUE(place->IsDirectory());
  EXPECT_TRUE(of_link->IsLink());
  EXPECT_NE(of_link->identity, place->identity);
  EXPECT_TRUE(of_link->IsOnMountOf(*place));
  const auto proc = PlaceOf(AT_FDCWD, "/proc");
  ASSERT_TRUE(proc.has_value());
  EXPECT_FALSE(proc->IsOnMountOf(*place));
  EXPECT_FALSE(PlaceOf(AT_FDCWD, (directory + "/none").c_str()).has_value());
  EXPECT_EQ(errno, ENOENT);
  EXPECT_EQ(unlink(link.c_str()), 0);
  EXPECT_EQ(rmdir(directory.c_str()), 0);
}

}  // namespace
}  // namespace trainyard
