// Vectors as LAPACK takes them: contiguous.
#pragma once

#include <vector>

#include <trn/solver/types.hpp>

namespace trn::solver::host {

// A copy with room for one element at least.
template <class T> std::vector<T> packed(const VectorView<const T>& x) {
  std::vector<T> values(static_cast<std::size_t>(x.size()) + 1);
  for (std::int64_t i = 0; i < x.size(); ++i) values[static_cast<std::size_t>(i)] = x.data()[i * x.stride()];
  return values;
}

// A vector that LAPACK writes. write_back() must be called when the result is wanted.
template <class T> class Contiguous {
 public:
  explicit Contiguous(const VectorView<T>& x) : view_(x), values_(static_cast<std::size_t>(x.size()) + 1) {}
  [[nodiscard]] T* data() { return values_.data(); }
  void write_back() const {
    for (std::int64_t i = 0; i < view_.size(); ++i)
      view_.data()[i * view_.stride()] = values_[static_cast<std::size_t>(i)];
  }

 private:
  VectorView<T> view_;
  std::vector<T> values_;
};

}  // namespace trn::solver::host
