#include "data/input/decompressor.h"

#include <fcntl.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>
#include <zstd_errors.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <limits>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "data/input/system_error.h"
#include "proto/files/unique_fd.h"
#include "proto/support/status_macros.h"

namespace trainyard::data {
namespace {

// A larger window would need as much memory. `zstd --ultra -22` uses 128 MiB.
constexpr int kWindowLogMax = 27;

// The compressed bytes of a file, read in pieces.
class CompressedFile {
 public:
  CompressedFile(const InputFile& file, UniqueFd fd) : file_(file), fd_(std::move(fd)) {}

  // Reads the next piece if all bytes have been used.
  absl::Status Fill() {
    if (used_ < size_ || ended_) return absl::OkStatus();
    ssize_t got = 0;
    do {
      got = read(fd_.get(), buffer_.data(), buffer_.size());
    } while (got < 0 && errno == EINTR);
    if (got < 0) return SystemError("cannot read " + file_.path, errno);
    before_ += static_cast<int64_t>(size_);
    used_ = 0;
    size_ = static_cast<size_t>(got);
    ended_ = got == 0;
    return absl::OkStatus();
  }

  char* data() { return buffer_.data() + used_; }
  size_t size() const { return size_ - used_; }
  void Use(size_t bytes) { used_ += bytes; }
  bool ended() const { return ended_; }
  int64_t position() const { return before_ + static_cast<int64_t>(used_); }

  // Returns the error "<file>: <what> at byte <position>; <what to do>".
  absl::Status Damage(const std::string& what, const std::string& what_to_do) const {
    return absl::DataLossError(file_.path + ": " + what + " at byte " + std::to_string(position()) +
                               "; " + what_to_do);
  }
  absl::Status Damage(const std::string& what) const {
    return Damage(what, "copy or compress the file again");
  }

 private:
  const InputFile& file_;
  const UniqueFd fd_;
  std::array<char, 128 << 10> buffer_;
  size_t used_ = 0;
  size_t size_ = 0;
  int64_t before_ = 0;  // bytes of the earlier pieces
  bool ended_ = false;
};

class GzipDecompressor : public Decompressor {
 public:
  explicit GzipDecompressor(std::unique_ptr<CompressedFile> file) : file_(std::move(file)) {}
  ~GzipDecompressor() override { inflateEnd(&stream_); }

  absl::Status Init() {
    constexpr int kGzipOnly = 16;
    if (inflateInit2(&stream_, MAX_WBITS + kGzipOnly) == Z_OK) return absl::OkStatus();
    return absl::ResourceExhaustedError("cannot allocate memory for zlib");
  }

  absl::StatusOr<size_t> Read(char* output, size_t capacity) override {
    stream_.next_out = reinterpret_cast<Bytef*>(output);
    stream_.avail_out =
        static_cast<uInt>(std::min<size_t>(capacity, std::numeric_limits<uInt>::max()));
    const size_t wanted = stream_.avail_out;
    while (stream_.avail_out == wanted) {
      TRAINYARD_RETURN_IF_ERROR(file_->Fill());
      if (file_->ended()) {
        if (!in_member_ && members_ > 0) return 0;
        return file_->Damage("cut gzip file: it ends within a member");
      }
      TRAINYARD_RETURN_IF_ERROR(Inflate());
    }
    return wanted - stream_.avail_out;
  }

  int64_t position() const override { return file_->position(); }

 private:
  absl::Status Inflate() {
    if (!in_member_ && members_ > 0) inflateReset(&stream_);
    const bool at_start = !in_member_;
    in_member_ = true;
    stream_.next_in = reinterpret_cast<Bytef*>(file_->data());
    stream_.avail_in = static_cast<uInt>(file_->size());
    const size_t offered = stream_.avail_in;
    const int result = inflate(&stream_, Z_NO_FLUSH);
    file_->Use(offered - stream_.avail_in);
    if (result == Z_STREAM_END) {
      in_member_ = false;
      ++members_;
    }
    if (result == Z_OK || result == Z_STREAM_END) return absl::OkStatus();
    if (result == Z_MEM_ERROR) return absl::ResourceExhaustedError("out of memory in zlib");
    if (at_start && members_ > 0) return file_->Damage("bytes after the end of the gzip data");
    return file_->Damage(std::string("damaged gzip data (") +
                         (stream_.msg == nullptr ? zError(result) : stream_.msg) + ")");
  }

  const std::unique_ptr<CompressedFile> file_;
  z_stream stream_{};
  bool in_member_ = false;
  int64_t members_ = 0;  // complete ones
};

class ZstdDecompressor : public Decompressor {
 public:
  explicit ZstdDecompressor(std::unique_ptr<CompressedFile> file) : file_(std::move(file)) {}
  ~ZstdDecompressor() override { ZSTD_freeDCtx(context_); }

  absl::Status Init() {
    context_ = ZSTD_createDCtx();
    if (context_ == nullptr) return absl::ResourceExhaustedError("out of memory in zstd");
    ZSTD_DCtx_setParameter(context_, ZSTD_d_windowLogMax, kWindowLogMax);
    return absl::OkStatus();
  }

  absl::StatusOr<size_t> Read(char* output, size_t capacity) override {
    ZSTD_outBuffer out = {output, capacity, 0};
    while (out.pos == 0) {
      TRAINYARD_RETURN_IF_ERROR(file_->Fill());
      // In a frame, the decompressor may still have output for input that it has used.
      if (file_->ended() && !in_frame_ && frames_ > 0) return 0;
      TRAINYARD_RETURN_IF_ERROR(Decompress(&out));
    }
    return out.pos;
  }

  int64_t position() const override { return file_->position(); }

 private:
  absl::Status Decompress(ZSTD_outBuffer* out) {
    ZSTD_inBuffer in = {file_->data(), file_->size(), 0};
    const bool at_start = !in_frame_;
    const size_t result = ZSTD_decompressStream(context_, out, &in);
    file_->Use(in.pos);
    if (ZSTD_isError(result)) return ErrorOf(result, at_start);
    in_frame_ = result != 0;  // 0 is the end of a frame, which may be a skippable one.
    if (!in_frame_) ++frames_;
    if (file_->ended() && in_frame_ && out->pos == 0) {
      return file_->Damage("cut zstd file: it ends within a frame");
    }
    return absl::OkStatus();
  }

  absl::Status ErrorOf(size_t result, bool at_start) const {
    const ZSTD_ErrorCode code = ZSTD_getErrorCode(result);
    if (code == ZSTD_error_memory_allocation) {
      return absl::ResourceExhaustedError("out of memory in zstd");
    }
    if (code == ZSTD_error_frameParameter_windowTooLarge) {
      return file_->Damage("a zstd frame needs a window of more than 128 MiB",
                           "compress the file again without --long, or with --long=27");
    }
    if (at_start && frames_ > 0 && code == ZSTD_error_prefix_unknown) {
      return file_->Damage("bytes after the end of the zstd data");
    }
    return file_->Damage(std::string("damaged zstd data (") + ZSTD_getErrorName(result) + ")");
  }

  const std::unique_ptr<CompressedFile> file_;
  ZSTD_DCtx* context_ = nullptr;
  bool in_frame_ = false;
  int64_t frames_ = 0;  // complete ones
};

template <typename Kind>
absl::StatusOr<std::unique_ptr<Decompressor>> Make(std::unique_ptr<CompressedFile> file) {
  auto decompressor = std::make_unique<Kind>(std::move(file));
  TRAINYARD_RETURN_IF_ERROR(decompressor->Init());
  return decompressor;
}

}  // namespace

absl::StatusOr<std::unique_ptr<Decompressor>> Decompressor::Open(const InputFile& file) {
  UniqueFd fd(open(file.path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd.valid()) return SystemError("cannot open " + file.path, errno);
  auto compressed = std::make_unique<CompressedFile>(file, std::move(fd));
  if (file.compression == Compression::kGzip) return Make<GzipDecompressor>(std::move(compressed));
  return Make<ZstdDecompressor>(std::move(compressed));
}

}  // namespace trainyard::data
