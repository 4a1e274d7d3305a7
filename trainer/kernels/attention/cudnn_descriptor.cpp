#include "trainer/kernels/attention/cudnn_descriptor.h"

#include <algorithm>
#include <array>
#include <utility>

#include "trainer/kernels/cuda_check.h"

namespace trainyard::trainer::kernels {

std::string LastCudnnError() {
  std::array<char, 1024> detail{};
  cudnnGetLastErrorString(detail.data(), detail.size());
  return detail.data();
}

void CheckCudnn(cudnnStatus_t status, const char* operation) {
  if (status == CUDNN_STATUS_SUCCESS) return;
  throw KernelError(std::string(operation) + ": " + cudnnGetErrorString(status) + " " +
                    LastCudnnError());
}

CudnnDescriptor::CudnnDescriptor(cudnnBackendDescriptorType_t type) {
  CheckCudnn(cudnnBackendCreateDescriptor(type, &descriptor_), "cudnnBackendCreateDescriptor");
}

// Ignores the result, because destroying a created descriptor cannot fail.
CudnnDescriptor::~CudnnDescriptor() {
  if (descriptor_ != nullptr) static_cast<void>(cudnnBackendDestroyDescriptor(descriptor_));
}

CudnnDescriptor::CudnnDescriptor(CudnnDescriptor&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, nullptr)) {}

CudnnDescriptor& CudnnDescriptor::operator=(CudnnDescriptor&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  return *this;
}

void CudnnDescriptor::SetType(cudnnBackendAttributeName_t name, cudnnDataType_t value) {
  Set(name, CUDNN_TYPE_DATA_TYPE, 1, &value);
}

void CudnnDescriptor::SetBool(cudnnBackendAttributeName_t name, bool value) {
  Set(name, CUDNN_TYPE_BOOLEAN, 1, &value);
}

void CudnnDescriptor::SetIntegers(cudnnBackendAttributeName_t name,
                                  std::span<const int64_t> values) {
  Set(name, CUDNN_TYPE_INT64, static_cast<int64_t>(values.size()), values.data());
}

void CudnnDescriptor::SetInteger(cudnnBackendAttributeName_t name, int64_t value) {
  Set(name, CUDNN_TYPE_INT64, 1, &value);
}

void CudnnDescriptor::SetHandle(cudnnBackendAttributeName_t name, cudnnHandle_t value) {
  Set(name, CUDNN_TYPE_HANDLE, 1, &value);
}

void CudnnDescriptor::SetPointers(cudnnBackendAttributeName_t name, std::span<void* const> values) {
  Set(name, CUDNN_TYPE_VOID_PTR, static_cast<int64_t>(values.size()), values.data());
}

void CudnnDescriptor::SetDescriptors(cudnnBackendAttributeName_t name,
                                     std::span<const cudnnBackendDescriptor_t> values) {
  Set(name, CUDNN_TYPE_BACKEND_DESCRIPTOR, static_cast<int64_t>(values.size()), values.data());
}

void CudnnDescriptor::SetDescriptor(cudnnBackendAttributeName_t name,
                                    const CudnnDescriptor& value) {
  Set(name, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &value.descriptor_);
}

void CudnnDescriptor::Set(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type,
                          int64_t count, const void* values) {
  CheckCudnn(cudnnBackendSetAttribute(descriptor_, name, type, count, values),
             "cudnnBackendSetAttribute");
}

void CudnnDescriptor::Finalize() {
  CheckCudnn(cudnnBackendFinalize(descriptor_), "cudnnBackendFinalize");
}

bool CudnnDescriptor::TryFinalize() {
  return cudnnBackendFinalize(descriptor_) == CUDNN_STATUS_SUCCESS;
}

int64_t CudnnDescriptor::GetInteger(cudnnBackendAttributeName_t name) const {
  int64_t value = 0;
  int64_t count = 0;
  CheckCudnn(cudnnBackendGetAttribute(descriptor_, name, CUDNN_TYPE_INT64, 1, &count, &value),
             "cudnnBackendGetAttribute");
  return value;
}

std::vector<CudnnDescriptor> CudnnDescriptor::GetDescriptors(cudnnBackendAttributeName_t name,
                                                             cudnnBackendDescriptorType_t type,
                                                             int64_t limit) const {
  std::vector<CudnnDescriptor> results;
  std::vector<cudnnBackendDescriptor_t> raw;
  for (int64_t i = 0; i < limit; ++i) raw.push_back(results.emplace_back(type).get());
  int64_t count = 0;
  CheckCudnn(cudnnBackendGetAttribute(descriptor_, name, CUDNN_TYPE_BACKEND_DESCRIPTOR, limit,
                                      &count, raw.data()),
             "cudnnBackendGetAttribute");
  // Needed because `count` is cuDNN's total number of descriptors, which may exceed the
  // limit.
  results.erase(results.begin() + std::min(count, limit), results.end());
  return results;
}

std::vector<cudnnBackendNumericalNote_t> CudnnDescriptor::GetNotes(
    cudnnBackendAttributeName_t name) const {
  std::vector<cudnnBackendNumericalNote_t> notes(CUDNN_NUMERICAL_NOTE_TYPE_COUNT);
  int64_t count = 0;
  CheckCudnn(cudnnBackendGetAttribute(descriptor_, name, CUDNN_TYPE_NUMERICAL_NOTE,
                                      static_cast<int64_t>(notes.size()), &count, notes.data()),
             "cudnnBackendGetAttribute");
  notes.resize(std::min<size_t>(count, notes.size()));
  return notes;
}

}  // namespace trainyard::trainer::kernels
