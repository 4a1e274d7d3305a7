// Reads many blocks of a checkpoint on several threads.
#ifndef TRAINYARD_TRAINER_CHECKPOINT_BLOCK_READS_H_
#define TRAINYARD_TRAINER_CHECKPOINT_BLOCK_READS_H_

#include <torch/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "trainer/checkpoint/chunk_reader.h"
#include "trainer/checkpoint/element_rows.h"
#include "trainer/checkpoint/manifest.h"

namespace trainyard::trainer {

class BlockReads {
 public:
  // directory: the checkpoint's directory. device: the device to which the sinks copy the elements.
  BlockReads(std::string directory, torch::Device device);

  // Adds a read of every block that may contain a part of the box. `name`, `tensor` and `sink` must
  // outlive this object. If the sink is null, the blocks are verified and their elements are
  // ignored.
  void Add(const std::string& name, const StoredTensor& tensor, const Box& box,
           const ElementSink* sink);

  // Reads all added blocks. If a block fails, skips the blocks not yet read and throws the error of
  // the first failed block.
  void Run() const;

  // Reads all added blocks. Returns the errors, in the order of the blocks.
  std::vector<std::string> Faults() const;

 private:
  struct BlockRead {
    const std::string* name = nullptr;
    torch::ScalarType dtype = torch::kFloat32;
    WantedPart wanted;
    int64_t block = 0;
    const ElementSink* sink = nullptr;
  };

  void RunOne(const BlockRead& read, char* buffer) const;
  template <typename Call>
  void ForEach(const Call& call) const;

  const std::string directory_;
  const torch::Device device_;
  std::vector<BlockRead> reads_;
  int64_t largest_block_ = 1;  // In bytes.
};

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_CHECKPOINT_BLOCK_READS_H_
