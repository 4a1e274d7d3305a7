#include "data/leases/lease_key.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "tests/data/text_directory.h"

namespace trainyard::data {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr char kName[] = "0123456789abcdef0123456789abcdef";

TEST(LeaseKeyTest, OthersReadTheSecretByItsName) {
  const TextDirectory directory;
  {
    const auto key = LeaseKey::Create(directory.path());
    ASSERT_TRUE(key.ok()) << key.status();
    EXPECT_EQ(*ReadLeaseKey(directory.path(), (*key)->name()), (*key)->secret());
    EXPECT_NE((*key)->name(), (*key)->secret());
    struct stat status {};
    ASSERT_EQ(stat((directory / directory.Names().at(0)).c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 0777, 0600u);
  }
  EXPECT_THAT(directory.Names(), IsEmpty());
}

TEST(LeaseKeyTest, ReplacesTheKeysOfKilledProcesses) {
  const TextDirectory directory;
  directory.Write(std::string("lease-") + kName + ".key", kName);
  directory.Write("other", "text");
  const auto key = LeaseKey::Create(directory.path());
  ASSERT_TRUE(key.ok()) << key.status();
  EXPECT_THAT(directory.Names(), ElementsAre("lease-" + (*key)->name() + ".key", "other"));
  EXPECT_NE((*key)->secret(), (*LeaseKey::Create(directory.path()))->secret());
}

TEST(LeaseKeyTest, AMissingKeyIsExplained) {
  const TextDirectory directory;
  const absl::Status status = ReadLeaseKey(directory.path(), kName).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(status.message()), HasSubstr("on storage that all nodes share"));
}

TEST(LeaseKeyTest, NamesCannotLeaveTheDirectory) {
  const TextDirectory directory;
  directory.Write("lease-.key", kName);
  directory.Write("keys/a", kName);
  for (const char* name : {"", "../a", "/../keys/a", "0123456789ABCDEF0123456789ABCDEF"}) {
    EXPECT_EQ(ReadLeaseKey(directory.path(), name).status().message(),
              "rank 0 sent a damaged name of a key")
        << name;
  }
}

TEST(LeaseKeyTest, AProofDependsOnEachValue) {
  const Greeting greeting = {"group", 1, "a", "b"};
  const std::string proof = ClientProof("secret", greeting);
  EXPECT_EQ(proof, ClientProof("secret", greeting));
  EXPECT_NE(proof, ServerProof("secret", greeting));
  EXPECT_NE(proof, ClientProof("other", greeting));
  for (const Greeting& other : {Greeting{"groups", 1, "a", "b"}, Greeting{"group", 2, "a", "b"},
                                Greeting{"group", 1, "c", "b"}, Greeting{"group", 1, "a", "c"}}) {
    EXPECT_NE(proof, ClientProof("secret", other));
  }
}

}  // namespace
}  // namespace trainyard::data
