// An einsum of the command line: extents by label, random operands, a plan.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <trn/core/array.hpp>
#include <trn/tensor/einsum.hpp>

namespace trn::tools {

struct EinsumCase {
  std::string text, dtype = "float32", precision = "native", path = "auto";
  std::vector<std::string> sizes;  // "a=24"
  std::string operators = {};      // "exp,identity,relu": of the operands, then of the result; empty: none
  std::int64_t memory_bytes = 0;
};
[[nodiscard]] const std::vector<std::string>& path_names();

// Random operands on an executor, row-major, numbers in [-1, 1).
class EinsumOperands {
 public:
  EinsumOperands(const Executor& executor, const EinsumCase& what);
  [[nodiscard]] const tensor::Description& description() const { return description_; }
  [[nodiscard]] const std::vector<tensor::TypedView>& operands() const { return operands_; }
  [[nodiscard]] const tensor::TypedView& output() const { return output_.front(); }

 private:
  tensor::Description description_;
  std::vector<Buffer> memory_;
  std::vector<tensor::TypedView> operands_, output_;
};

// The rows of `trnsci coverage tensor` as calls, one for each element type and mode, by name, and one that only larger
// operands reach. They throw NotImplemented where the executor does not have it.
[[nodiscard]] std::vector<std::pair<std::string, std::function<void(const Executor&)>>> tensor_coverage_calls();

}  // namespace trn::tools
