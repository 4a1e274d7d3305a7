#include "proto/contract/device_table.h"

namespace trainyard {
namespace {

constexpr int64_t kGigabyte = 1'000'000'000;

// The sources are NVIDIA's data sheets:
// - "H200 Tensor Core GPU" (SXM);
// - "H100 Tensor Core GPU" (SXM and PCIe); sold as 80 GB, but CUDA reports 85.0e9 bytes for the SXM
//   version (measured);
// - "A100 Tensor Core GPU" (SXM); the driver reports the smaller one as "A100-SXM4-40GB";
// - "HGX B200": a board's figures divided by eight;
// - "GB200 NVL72": a rack's figures divided by 72;
// - "GH200 Grace Hopper Superchip" (HBM3 of 96 GB and HBM3e of 144 GB); the driver reports "GH200
//   480GB", where 480 GB is the memory of the CPU, and "GH200 144G HBM3e";
// - "A10G" (AWS g5);
// - "RTX A6000";
// - "V100" (SXM2); the driver's name ends with the memory size. Its tensor cores have fp16, but no
//   bf16.
constexpr DeviceRating kDevices[] = {
    {"B200", 180 * kGigabyte, 2250e12, 75e12},
    {"GB200", 186 * kGigabyte, 2500e12, 80e12},
    {"H200", 141 * kGigabyte, 989.4e12, 66.9e12},
    {"GH200 144G", 144 * kGigabyte, 989.4e12, 66.9e12},
    {"GH200", 96 * kGigabyte, 989.4e12, 66.9e12},
    {"H100 PCIe", 80 * kGigabyte, 756e12, 51e12},
    {"H100", 85 * kGigabyte, 989.4e12, 66.9e12},
    {"A100-SXM4-40GB", 40 * kGigabyte, 312e12, 19.5e12},
    {"A100-PCIE-40GB", 40 * kGigabyte, 312e12, 19.5e12},
    {"A100", 80 * kGigabyte, 312e12, 19.5e12},
    {"A10G", 24 * kGigabyte, 70e12, 35e12},
    {"A6000", 48 * kGigabyte, 154.8e12, 38.7e12},
    {"V100-SXM2-16GB", 16 * kGigabyte, 0, 15.7e12, 125e12},
    {"V100", 32 * kGigabyte, 0, 15.7e12, 125e12},
};

}  // namespace

std::span<const DeviceRating> KnownDevices() { return kDevices; }

bool NamesDevice(std::string_view device_name, std::string_view entry) {
  const auto is_letter_or_digit = [](char c) {
    return ('0' <= c && c <= '9') || ('a' <= c && c <= 'z') || ('A' <= c && c <= 'Z');
  };
  for (size_t at = device_name.find(entry); at != std::string_view::npos;
       at = device_name.find(entry, at + 1)) {
    if (at == 0 || !is_letter_or_digit(device_name[at - 1])) return true;
  }
  return false;
}

const DeviceRating* FindDevice(std::string_view device_name) {
  for (const DeviceRating& device : KnownDevices()) {
    if (NamesDevice(device_name, device.name)) return &device;
  }
  return nullptr;
}

}  // namespace trainyard
