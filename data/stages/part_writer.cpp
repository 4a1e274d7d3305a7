#include "data/stages/part_writer.h"

#define XXH_INLINE_ALL
#include <xxhash.h>
#include <zstd.h>

#include <cstdio>
#include <fstream>
#include <utility>
#include <vector>

#include "data/stages/file_status.h"
#include "proto/files/durable_file.h"
#include "proto/support/status_macros.h"

namespace trainyard::data {
namespace {

// zstd's default.
constexpr int kLevel = 3;

constexpr size_t kHashedBytes = size_t{256} << 10;

class ZstdPartWriter : public PartWriter {
 public:
  ZstdPartWriter(std::string path, std::string name)
      : path_(std::move(path)), output_(ZSTD_CStreamOutSize()) {
    part_.name = std::move(name);
    XXH64_reset(&hash_, 0);
  }
  ~ZstdPartWriter() override {
    ZSTD_freeCCtx(context_);
    if (created_ && !finished_) std::remove(path_.c_str());
  }

  absl::Status Init() {
    context_ = ZSTD_createCCtx();
    if (context_ == nullptr) return absl::ResourceExhaustedError("out of memory in zstd");
    ZSTD_CCtx_setParameter(context_, ZSTD_c_compressionLevel, kLevel);
    ZSTD_CCtx_setParameter(context_, ZSTD_c_checksumFlag, 1);
    TRAINYARD_RETURN_IF_ERROR(ToStatus(file_.CreateNew(path_, {.mode = 0644})));
    created_ = true;
    return absl::OkStatus();
  }

  absl::Status Append(std::string_view line) override {
    TRAINYARD_RETURN_IF_ERROR(Compress(line, ZSTD_e_continue));
    return Compress("\n", ZSTD_e_continue);
  }

  absl::StatusOr<PartFile> Finish() override {
    TRAINYARD_RETURN_IF_ERROR(Compress("", ZSTD_e_end));
    TRAINYARD_RETURN_IF_ERROR(ToStatus(file_.Finish()));
    finished_ = true;
    part_.xxh64 = XXH64_digest(&hash_);
    return part_;
  }

 private:
  absl::Status Compress(std::string_view text, ZSTD_EndDirective directive) {
    ZSTD_inBuffer in = {text.data(), text.size(), 0};
    for (;;) {
      ZSTD_outBuffer out = {output_.data(), output_.size(), 0};
      const size_t left = ZSTD_compressStream2(context_, &out, &in, directive);
      if (ZSTD_isError(left)) {
        return absl::InternalError(path_ + ": zstd failed: " + ZSTD_getErrorName(left));
      }
      if (out.pos > 0) TRAINYARD_RETURN_IF_ERROR(Write({output_.data(), out.pos}));
      const bool done = directive == ZSTD_e_end ? left == 0 : in.pos == in.size;
      if (done) return absl::OkStatus();
    }
  }

  absl::Status Write(std::string_view bytes) {
    part_.bytes += static_cast<int64_t>(bytes.size());
    XXH64_update(&hash_, bytes.data(), bytes.size());
    return ToStatus(file_.Append(bytes));
  }

  const std::string path_;
  std::vector<char> output_;
  ZSTD_CCtx* context_ = nullptr;
  XXH64_state_t hash_;
  DurableFile file_;
  PartFile part_;
  bool created_ = false;
  bool finished_ = false;
};

}  // namespace

bool IsIntact(const std::string& directory, const PartFile& part) {
  std::ifstream file(directory + "/" + part.name, std::ios::binary);
  XXH64_state_t hash;
  XXH64_reset(&hash, 0);
  std::vector<char> buffer(kHashedBytes);
  int64_t bytes = 0;
  do {
    file.read(buffer.data(), static_cast<std::streamsize>(buffer.size()));
    bytes += file.gcount();
    XXH64_update(&hash, buffer.data(), static_cast<size_t>(file.gcount()));
  } while (file && bytes <= part.bytes);
  return file.eof() && bytes == part.bytes && XXH64_digest(&hash) == part.xxh64;
}

absl::StatusOr<std::unique_ptr<PartWriter>> PartWriter::Create(const std::string& directory,
                                                               const std::string& name) {
  auto writer = std::make_unique<ZstdPartWriter>(directory + "/" + name, name);
  TRAINYARD_RETURN_IF_ERROR(writer->Init());
  return writer;
}

}  // namespace trainyard::data
