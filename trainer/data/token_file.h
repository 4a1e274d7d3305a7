// A memory-mapped file of tokens and its JSON header, as `trainyard data prepare` makes them.
#ifndef TRAINYARD_TRAINER_DATA_TOKEN_FILE_H_
#define TRAINYARD_TRAINER_DATA_TOKEN_FILE_H_

#include <cstddef>
#include <cstdint>
#include <string>

namespace trainyard::trainer {

// Contents of DIR/<split>.json.
struct TokenFileHeader {
  int bytes_per_token = 0;  // 2: uint16, 4: uint32
  int64_t tokens = 0;
  int64_t vocab_size = 0;
  int64_t documents = 0;
  int64_t source_bytes = 0;
  double unigram_entropy = 0;    // nats a token: the loss of a model that only knows frequencies
  int64_t end_of_document = -1;  // token id between documents; -1 when there is none
  std::string xxh64;             // of the .bin file, 16 hex digits; empty when not given
};

// Read-only, and safe to read from several threads. The file must not be changed while it is open.
class TokenFile {
 public:
  // Opens directory/<split>.bin and directory/<split>.json; split is "train" or "val".
  // Throws TrainerError: kNoInput when a file is not there or cannot be read, kBadData when
  // the header is malformed or does not match the size of the .bin file.
  TokenFile(const std::string& directory, const std::string& split);
  ~TokenFile();
  TokenFile(const TokenFile&) = delete;
  TokenFile& operator=(const TokenFile&) = delete;

  const TokenFileHeader& header() const { return header_; }
  const std::string& path() const { return path_; }  // of the .bin file
  int64_t size() const { return header_.tokens; }

  // Widens tokens [first, first + count) into out and returns the largest of them (0 when count is
  // 0). Precondition: the range lies inside the file.
  int64_t Copy(int64_t first, int64_t count, int64_t* out) const;

  // Reads the whole file and compares it with the header's checksum. Throws kBadData.
  void VerifyChecksum() const;

 private:
  void ReadHeader(const std::string& header_path);
  void Map();

  std::string path_;
  TokenFileHeader header_;
  const unsigned char* data_ = nullptr;
  size_t bytes_ = 0;
};

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_DATA_TOKEN_FILE_H_
