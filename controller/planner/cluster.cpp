#include "controller/planner/cluster.h"

#include <algorithm>
#include <cctype>
#include <string>
#include <vector>

#include "controller/planner/figures.h"

namespace trainyard::planner {
namespace {

// Links within a node. Each bandwidth is half of the bidirectional bandwidth in NVIDIA's data
// sheets. The latency of one hop is the time of an NCCL all-reduce of a few bytes among eight GPUs,
// divided by the all-reduce's number of steps (nccl-tests).
constexpr double kNodeLatency = 3e-6;
constexpr Link kNvLink2 = {"NVLink 2", 150e9, kNodeLatency};
constexpr Link kNvLink3 = {"NVLink 3", 300e9, kNodeLatency};
constexpr Link kNvLink4 = {"NVLink 4", 450e9, kNodeLatency};
constexpr Link kNvLink5 = {"NVLink 5", 900e9, kNodeLatency};
constexpr Link kPcie4 = {"PCIe 4", 25e9, 6e-6};  // x16: 32 GB/s minus the packet overhead.
constexpr Link kPcie5 = {"PCIe 5", 50e9, 6e-6};

// Networks between nodes. The faster networks have one network card per device, as in NVIDIA's DGX
// and HGX designs. The slower networks (TCP) are those of cloud nodes. Their bandwidth is divided
// among eight GPUs.
constexpr double kNetworkLatency = 8e-6;
constexpr Link kNetworks[] = {
    {"xdr", 100e9, kNetworkLatency},   // InfiniBand XDR, 800 Gb/s.
    {"ndr", 50e9, kNetworkLatency},    // InfiniBand NDR, 400 Gb/s.
    {"hdr", 25e9, kNetworkLatency},    // InfiniBand HDR, 200 Gb/s.
    {"roce400", 50e9, 12e-6},          // Ethernet 400 Gb/s with RDMA.
    {"roce200", 25e9, 12e-6},          // Ethernet 200 Gb/s with RDMA.
    {"eth100", 100e9 / 8 / 8, 30e-6},  // Ethernet 100 Gb/s per node, TCP.
    {"eth25", 25e9 / 8 / 8, 50e-6},    // Ethernet 25 Gb/s per node, TCP.
};

// A local disk, a file server, and a mounted object store. All values are assumed, not measured.
constexpr Storage kStorages[] = {
    {"nvme", 100e-6, 1e9},
    {"nfs", 2e-3, 300e6},
    {"object", 50e-3, 100e6},
};

// Sources of the values:
// - Memory bandwidth and power: NVIDIA's data sheets, listed in proto/contract/device_table.cpp.
// - sustained_products of H200, 0.70: trainer/README.md (693 of 989 TFLOP/s in a step at 700 W).
// - sustained_products of H100 SXM, 0.731: fitted to one step (RecentH100Runs, row "1.5B"). The
//   slower memory of the H100 leaves more of the 700 W to the products.
// - sustained_products of A100 SXM, 0.82: 256 TFLOP/s (cuBLAS at 8192^3, NVIDIA's A100 white paper
//   and the fits of tests/controller/planner).
// - sustained_products of B200, 0.635: 1,429 of 2,250 TFLOP/s of large products under load.
// - sustained_products of GB200 and GH200: the shares of B200 and H100, which have the same dies.
// - sustained_products of all other devices: assumptions based on their power limit, not measured.
// - Power of GH200: that of the whole superchip. NVLink of GH200: that of GH200 NVL32, because
//   other GH200 nodes have only one GPU.
// - FP8 peak rates: data sheets.
// - sustained_fp8: products of 32,768 rows reach 1,390 of 1,979 TFLOP/s on an H200. The power limit
//   of a step reduces this share as it does for bf16 (693 of 750). The same share is assumed for
//   all other devices.
struct Entry {
  std::string_view name;
  double memory_bandwidth;
  double power_watts;
  double sustained_products;
  Link node_link;
  std::string_view network;
  double fp8_flops = 0;
};

constexpr double kSustainedFp8 = 1390.0 / 1979 * 693 / 750;

constexpr Entry kEntries[] = {
    {"B200", 8.0e12, 1000, 0.635, kNvLink5, "ndr", 4500e12},
    {"GB200", 8.0e12, 1200, 0.635, kNvLink5, "ndr", 5000e12},
    {"H200", 4.8e12, 700, 0.70, kNvLink4, "ndr", 1979e12},
    {"GH200 144G", 4.9e12, 1000, 0.70, kNvLink4, "ndr", 1979e12},
    {"GH200", 4.0e12, 1000, 0.70, kNvLink4, "ndr", 1979e12},
    {"H100 PCIe", 2.0e12, 350, 0.55, kPcie5, "ndr", 1513e12},
    {"H100", 3.35e12, 700, 0.731, kNvLink4, "ndr", 1979e12},
    {"A100-SXM4-40GB", 1.555e12, 400, 0.82, kNvLink3, "hdr"},
    {"A100-PCIE-40GB", 1.555e12, 250, 0.70, kPcie4, "hdr"},
    {"A100", 2.039e12, 400, 0.82, kNvLink3, "hdr"},
    {"A10G", 0.6e12, 300, 0.70, kPcie4, "eth100"},
    {"A6000", 0.768e12, 300, 0.70, kPcie4, "eth100"},
    {"V100-SXM2-16GB", 0.9e12, 300, 0.75, kNvLink2, "eth100"},
    {"V100", 0.9e12, 300, 0.75, kNvLink2, "eth100"},
};

std::vector<DeviceSpec> MakeSpecs() {
  std::vector<DeviceSpec> specs;
  for (const Entry& entry : kEntries) {
    specs.push_back({FindDevice(entry.name), entry.memory_bandwidth, entry.power_watts,
                     entry.sustained_products, entry.fp8_flops, kSustainedFp8 * entry.fp8_flops,
                     entry.node_link, entry.network});
  }
  return specs;
}

std::string LowerCase(std::string_view text) {
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char letter) { return static_cast<char>(std::tolower(letter)); });
  return lower;
}

}  // namespace

std::span<const DeviceSpec> KnownDeviceSpecs() {
  static const std::vector<DeviceSpec> specs = MakeSpecs();
  return specs;
}

const DeviceSpec* FindDeviceSpec(std::string_view name) {
  const std::string wanted = LowerCase(name);
  for (const DeviceSpec& spec : KnownDeviceSpecs()) {
    if (NamesDevice(wanted, LowerCase(spec.rating->name))) return &spec;
  }
  return nullptr;
}

std::string DeviceNote(std::string_view name, const DeviceSpec& device) {
  std::string wanted = LowerCase(name);
  constexpr std::string_view kMaker = "nvidia ";
  if (wanted.starts_with(kMaker)) wanted.erase(0, kMaker.size());
  if (wanted == LowerCase(device.rating->name)) return "";
  const double flops =
      device.rating->bf16_flops > 0 ? device.rating->bf16_flops : device.rating->fp32_flops;
  return "`" + std::string(name) + "` is planned with the specifications of the " +
         std::string(device.rating->name) + ": " +
         FigureText(static_cast<double>(device.rating->memory_bytes) / 1e9, 4) + " GB, " +
         FigureText(flops / 1e12, 4) + " TFLOP/s, " +
         FigureText(device.memory_bandwidth / 1e12, 3) + " TB/s, " +
         std::string(device.node_link.name) + "; compare these values with those of your device";
}

const DeviceSpec& CpuSlotSpec() {
  // One core of a server CPU with vector instructions, and its share of the memory bandwidth.
  static constexpr DeviceRating kRating = {"CPU", int64_t{1} << 60, 0, 50e9};
  static const DeviceSpec spec = {&kRating, 10e9, 10, 0.5, 0, 0, {"shared memory", 5e9, 20e-6},
                                  "eth25"};
  return spec;
}

std::string ClusterText(const Cluster& cluster) {
  const std::string nodes = cluster.nodes == 1 ? " node of " : " nodes of ";
  return std::to_string(cluster.nodes) + nodes + std::to_string(cluster.per_node) + " " +
         std::string(cluster.device->rating->name);
}

std::span<const Link> KnownNetworks() { return kNetworks; }

std::span<const Storage> KnownStorages() { return kStorages; }

const Storage* FindStorage(std::string_view name) {
  for (const Storage& storage : kStorages) {
    if (storage.name == name) return &storage;
  }
  return nullptr;
}

const Link* FindNetwork(std::string_view name) {
  const std::string wanted = LowerCase(name);
  for (const Link& network : kNetworks) {
    if (network.name == wanted) return &network;
  }
  return nullptr;
}

}  // namespace trainyard::planner
