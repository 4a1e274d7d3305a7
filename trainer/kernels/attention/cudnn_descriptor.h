// Owns one descriptor of cuDNN's backend interface.
#ifndef TRAINYARD_TRAINER_KERNELS_ATTENTION_CUDNN_DESCRIPTOR_H_
#define TRAINYARD_TRAINER_KERNELS_ATTENTION_CUDNN_DESCRIPTOR_H_

#include <cudnn_graph.h>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace trainyard::trainer::kernels {

// Returns cuDNN's explanation of the last failed call on this thread.
std::string LastCudnnError();

// Throws KernelError with cuDNN's explanation if the status is an error. `operation` is the name of
// the call, for the message.
void CheckCudnn(cudnnStatus_t status, const char* operation);

// A descriptor. It is created empty, then gets its attributes, and is then finalized. After that it
// cannot change.
class CudnnDescriptor {
 public:
  explicit CudnnDescriptor(cudnnBackendDescriptorType_t type);
  ~CudnnDescriptor();
  CudnnDescriptor(CudnnDescriptor&& other) noexcept;
  CudnnDescriptor& operator=(CudnnDescriptor&& other) noexcept;

  void SetType(cudnnBackendAttributeName_t name, cudnnDataType_t value);
  void SetBool(cudnnBackendAttributeName_t name, bool value);
  void SetIntegers(cudnnBackendAttributeName_t name, std::span<const int64_t> values);
  void SetInteger(cudnnBackendAttributeName_t name, int64_t value);
  void SetHandle(cudnnBackendAttributeName_t name, cudnnHandle_t value);
  void SetPointers(cudnnBackendAttributeName_t name, std::span<void* const> values);
  void SetDescriptors(cudnnBackendAttributeName_t name,
                      std::span<const cudnnBackendDescriptor_t> values);
  void SetDescriptor(cudnnBackendAttributeName_t name, const CudnnDescriptor& value);
  // Sets an attribute to a single enumerator. `type` is the type of the attribute.
  template <typename Enumeration>
  void SetEnumeration(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type,
                      Enumeration value) {
    Set(name, type, 1, &value);
  }

  void Finalize();
  // Finalizes the descriptor. Returns false if cuDNN rejects the attributes.
  bool TryFinalize();

  int64_t GetInteger(cudnnBackendAttributeName_t name) const;
  // Returns the descriptors of type `type` in the attribute, at most `limit` of them.
  std::vector<CudnnDescriptor> GetDescriptors(cudnnBackendAttributeName_t name,
                                              cudnnBackendDescriptorType_t type,
                                              int64_t limit) const;
  std::vector<cudnnBackendNumericalNote_t> GetNotes(cudnnBackendAttributeName_t name) const;

  cudnnBackendDescriptor_t get() const { return descriptor_; }

 private:
  void Set(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type, int64_t count,
           const void* values);

  cudnnBackendDescriptor_t descriptor_ = nullptr;
};

}  // namespace trainyard::trainer::kernels

#endif  // TRAINYARD_TRAINER_KERNELS_ATTENTION_CUDNN_DESCRIPTOR_H_
