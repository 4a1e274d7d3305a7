// Makes packs for tests.
#ifndef TRAINYARD_TESTS_PROTO_CODE_PACK_OF_H_
#define TRAINYARD_TESTS_PROTO_CODE_PACK_OF_H_

#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "proto/code/blob_pack.h"

namespace trainyard::code {

// Returns a pack with one blob per text.
inline std::string PackOf(const std::vector<std::string>& contents) {
  PackBuilder builder;
  for (const std::string& content : contents) {
    EXPECT_TRUE(builder.Add(DigestOf(content), content));
  }
  return builder.Finish();
}

}  // namespace trainyard::code

#endif  // TRAINYARD_TESTS_PROTO_CODE_PACK_OF_H_
