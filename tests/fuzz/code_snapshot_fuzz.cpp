// Fuzzes the readers of code snapshots. The first byte selects the reader: `m` for manifests, `p`
// for packs, `i` for ignore files. An accepted manifest must be exactly what the writer writes, and
// all its paths must stay in the tree.
#include <string>

#include "proto/code/blob_pack.h"
#include "proto/code/ignore_rules.h"
#include "proto/code/manifest.h"
#include "tests/fuzz/fuzz_target.h"

namespace {

using namespace trainyard::code;

void ReadAsManifest(const std::string& text) {
  const auto manifest = ReadManifest(text);
  if (!manifest.ok()) return;
  FUZZ_EXPECT(*WriteManifest(*manifest) == text);
  for (const CodeFile& file : manifest->files) {
    FUZZ_EXPECT(!PathProblem(file.path).has_value());
    FUZZ_EXPECT(file.path.front() != '/');
    FUZZ_EXPECT(("/" + file.path + "/").find("/../") == std::string::npos);
  }
}

void ReadAsPack(const std::string& pack) {
  const auto blobs = ReadPack(pack);
  if (!blobs.ok()) return;
  std::size_t bytes = 0;
  for (const Blob& blob : *blobs) {
    FUZZ_EXPECT(DigestOf(blob.content) == blob.digest);
    bytes += blob.content.size();
  }
  FUZZ_EXPECT(bytes <= kMaxPackBytes);
}

void ReadAsIgnoreFile(const std::string& text) {
  IgnoreRules rules;
  if (!rules.Append(text, "", "ignore file").ok()) return;
  FUZZ_EXPECT(rules.size() <= IgnoreRules::kMaxRules);
  for (const char* path : {"a", "a/b/c.py", "a/a/a/a/a/a/a/a/a/a/a/a", "data/[x]"}) {
    rules.Decide(path, false);
    rules.Decide(path, true);
  }
  (void)MatchesName(text.substr(0, 200), text.substr(0, 200));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::string text(reinterpret_cast<const char*>(data + 1), size - 1);
  if (data[0] == 'm') ReadAsManifest(text);
  if (data[0] == 'p') ReadAsPack(text);
  if (data[0] == 'i') ReadAsIgnoreFile(text);
  return 0;
}
