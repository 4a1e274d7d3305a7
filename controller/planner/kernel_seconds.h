// The durations of kernels on one device: matrix products, attention and memory-bound work.
#ifndef TRAINYARD_CONTROLLER_PLANNER_KERNEL_SECONDS_H_
#define TRAINYARD_CONTROLLER_PLANNER_KERNEL_SECONDS_H_

#include <vector>

#include "controller/planner/block_work.h"
#include "controller/planner/cluster.h"
#include "controller/planner/trainer_profile.h"
#include "proto/contract/run_config.h"

namespace trainyard::planner {

class Kernels {
 public:
  // `is_fp8` applies to the products whose times are requested.
  Kernels(const BlockWork& work, bool is_fp8, Precision precision, const Cluster& cluster,
          const TrainerProfile& profile);

  double Bytes(double bytes) const { return bytes / memory_rate_; }
  double Elementwise(double elements) const {
    return Bytes(profile_.elementwise * work_.element * elements);
  }

  double ForwardProduct(const Product& product) const;
  double ForwardProducts(const std::vector<Product>& products) const;
  // Returns the time of the two backward products. They compute the input gradients, and the weight
  // gradients, which are added up in fp32.
  double BackwardProduct(const Product& product) const;
  double BackwardProducts(const std::vector<Product>& products) const;

  // The products of a rank's experts: up (with gate) and down. They run as one product per expert.
  // Small forward and input-gradient products run as one grouped kernel instead.
  double ForwardExpertProducts(const std::vector<Product>& products) const;
  double BackwardExpertProducts(const std::vector<Product>& products) const;

  double AttentionForward() const;
  double AttentionBackward() const;

  // Returns the time of `flops` operations on fp32 operands that move `bytes` bytes.
  double WideProduct(double flops, double bytes) const;

 private:
  double OfProduct(const Product& product, double out_bytes) const;
  double OfWeightGradient(const Product& product) const;
  double OfGroup(const Product& product, bool is_grouped) const;
  bool IsGrouped(const std::vector<Product>& products) const;
  double Cast(double elements) const;
  double Fused(double passes, double rate) const;
  double Scores(double flops, double bytes) const;

  const BlockWork& work_;
  const TrainerProfile& profile_;
  bool is_fp8_;
  double peak_;
  double product_rate_;
  double wide_rate_;
  double memory_rate_;
};

}  // namespace trainyard::planner

#endif  // TRAINYARD_CONTROLLER_PLANNER_KERNEL_SECONDS_H_
