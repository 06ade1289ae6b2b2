// What TAPP's handles stand for.
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <vector>

#include <trn/core/shape.hpp>
#include <trn/tensor/plan.hpp>

#include "errors.hpp"

namespace trn::dropin::tapp {

struct TensorInfo {
  DType type = DType::Float32;
  Shape extents;
  Strides strides;
};

// A tensor of a product with its labels.
struct Labelled {
  TensorInfo info;
  std::vector<std::int64_t> labels;
  bool conj = false;
};

// Each label once: a label that occurs twice is the diagonal, whose stride is the sum of the strides.
struct Merged {
  std::vector<std::int64_t> labels;
  Shape extents;
  Strides strides;
};
[[nodiscard]] Merged merged(const Labelled& tensor);

// The product is checked when it is made; what is wrong comes out there and again when it is executed.
struct Product {
  Labelled a, b, c, d;
  Error error = Error::None;
  std::string detail;

  // The plan of the last call, for the next one with the same description.
  mutable std::mutex mutex;
  mutable std::optional<tensor::Plan> plan;
};

// One multiplication with host memory.
Error multiply(const Product& product, const void* alpha, const void* a, const void* b, const void* beta, const void* c,
               void* d);

}  // namespace trn::dropin::tapp
