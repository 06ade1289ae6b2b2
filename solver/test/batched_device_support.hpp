// Batches of float matrices in a simulated device's memory, in every form, with guarded padding.
#pragma once

#include <optional>

#include <trn/solver/batched.hpp>

#include "device_support.hpp"

namespace trn::solver::testing {

using Matrices = std::vector<Dense<long double>>;

// How a batch lies in memory.
enum class Form { Rows, Columns, Listed };

// Matrices in device memory with 77 between them.
class DeviceBatch {
 public:
  DeviceBatch(const Executor& executor, const Matrices& matrices, Form form)
      : m_(matrices[0].rows), n_(matrices[0].columns), count_(static_cast<std::int64_t>(matrices.size())), form_(form) {
    shape_ = {m_, n_, (form == Form::Columns ? m_ : n_) + 2,
              form == Form::Columns ? blas::Layout::ColumnMajor : blas::Layout::RowMajor};
    apart_ = shape_.ld * (form == Form::Columns ? n_ : m_) + 3;
    values_.assign(static_cast<std::size_t>(apart_ * count_), 77.0f);
    for (std::int64_t p = 0; p < count_; ++p) {
      for (std::int64_t i = 0; i < m_; ++i) {
        for (std::int64_t j = 0; j < n_; ++j) values_[at(p, i, j)] = static_cast<float>(matrices[std::size_t(p)](i, j));
      }
    }
    memory_.emplace(Array<float>::from_host(executor, {static_cast<std::int64_t>(values_.size())}, values_));
    for (std::int64_t p = 0; p < count_; ++p) addresses_.push_back(memory_->data() + p * apart_);
  }
  Batch<float> batch() const {
    return form_ == Form::Listed ? Batch<float>::listed(shape_, addresses_)
                                 : Batch<float>::strided(shape_, memory_->data(), apart_, count_);
  }
  // The matrices as they are now; the padding must be as it was.
  Matrices fetch() const {
    const std::vector<float> now = memory_->to_host();
    std::vector<char> mine(now.size());
    Matrices all;
    for (std::int64_t p = 0; p < count_; ++p) {
      all.emplace_back(m_, n_);
      for (std::int64_t i = 0; i < m_; ++i) {
        for (std::int64_t j = 0; j < n_; ++j) all.back()(i, j) = now[at(p, i, j)], mine[at(p, i, j)] = 1;
      }
    }
    for (std::size_t k = 0; k < now.size(); ++k) {
      if (!mine[k]) {
        EXPECT_EQ(now[k], 77.0f) << k;
      }
    }
    return all;
  }

 private:
  [[nodiscard]] std::size_t at(std::int64_t p, std::int64_t i, std::int64_t j) const {
    return static_cast<std::size_t>(p * apart_ + (form_ == Form::Columns ? j * shape_.ld + i : i * shape_.ld + j));
  }
  std::int64_t m_, n_, count_, apart_ = 0;
  Form form_;
  BatchShape shape_;
  std::vector<float> values_;
  std::optional<Array<float>> memory_;
  std::vector<float*> addresses_;
};

// f(n, count, form): every order once, and the counts around a group at one order.
template <class F> void for_cases(F f) {
  int k = 0;
  for (const std::int64_t n : {1, 2, 3, 8, 16, 17, 31, 32}) f(n, std::int64_t{6}, static_cast<Form>(k++ % 3));
  for (const std::int64_t count : {1, 127, 128, 129}) f(std::int64_t{4}, count, static_cast<Form>(k++ % 3));
}

}  // namespace trn::solver::testing
