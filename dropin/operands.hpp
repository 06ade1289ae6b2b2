// The operands of an entry point: addresses, sizes, increments and leading dimensions of the caller become views. On the host they are views
// of the caller's memory; for a device they are dense copies there, and what was written is copied back by commit().
#pragma once

#include <cstdio>
#include <cstdlib>
#include <optional>

#include <trn/blas/storage.hpp>
#include <trn/core/array.hpp>

#include "environment.hpp"

namespace trn::dropin {

using blas::Layout;
using blas::Uplo;

// BLAS counts a vector with a negative increment from its last address.
template <class T> T* first(T* x, std::int64_t n, std::int64_t inc) { return inc < 0 && n > 0 ? x - (n - 1) * inc : x; }

template <class T> class Vector {
 public:
  using Value = std::remove_const_t<T>;
  Vector(const Executor& e, T* x, std::int64_t n, std::int64_t inc) : user_(environment().host, first(x, n, inc), n, inc), view_(user_) {
    if (e == user_.executor()) return;
    copy_.emplace(e, Shape{n});
    copy(View<T>(user_), copy_->view());
    view_ = VectorView<T>(e, copy_->data(), n);
  }
  [[nodiscard]] const VectorView<T>& view() const { return view_; }
  void commit() requires (!std::is_const_v<T>) {
    if (copy_) copy(copy_->view(), View<T>(user_));
  }

 private:
  VectorView<T> user_, view_;
  std::optional<Array<Value>> copy_;
};

template <class T> class General {
 public:
  using Value = std::remove_const_t<T>;
  General(const Executor& e, T* a, std::int64_t rows, std::int64_t columns, std::int64_t ld, Layout layout)
      : user_(environment().host, a, rows, columns, layout == Layout::RowMajor ? ld : 1, layout == Layout::RowMajor ? 1 : ld), view_(user_) {
    if (e == user_.executor()) return;
    copy_.emplace(e, rows, columns);
    copy(View<T>(user_), View<Value>(copy_->view()));
    view_ = MatrixView<T>(copy_->view());
  }
  [[nodiscard]] const MatrixView<T>& view() const { return view_; }
  void commit() requires (!std::is_const_v<T>) {
    if (copy_) copy(View<T>(copy_->view()), View<T>(user_));
  }
  // Only one triangle of the caller's matrix is written.
  void commit(Uplo uplo) requires (!std::is_const_v<T>) {
    if (!copy_) return;
    const std::vector<Value> values = copy_->to_host();
    for (std::int64_t i = 0; i < user_.rows(); ++i) {
      const std::int64_t begin = uplo == Uplo::Upper ? i : 0, end = uplo == Uplo::Upper ? user_.columns() : i + 1;
      for (std::int64_t j = begin; j < end; ++j) {
        user_.data()[i * user_.row_stride() + j * user_.column_stride()] = values[static_cast<std::size_t>(i * user_.columns() + j)];
      }
    }
  }

 private:
  MatrixView<T> user_, view_;
  std::optional<Matrix<Value>> copy_;
};

[[noreturn]] inline void stop(const std::exception& e) {
  std::fprintf(stderr, "trnblas: %s\n", e.what());
  std::abort();
}

// Runs f(host). BLAS has no way to return an error that is not an illegal argument: the program ends with the message.
template <class F> auto on_host(Level level, F f) {
  const Environment& env = environment();
  if (env.report) count(level, true);
  try {
    return f(env.host);
  } catch (const std::exception& e) {
    stop(e);
  }
}

// Runs f(executor, precision): on the chosen executor, or on the host in native precision when that executor has no kernel for the call. f copies
// results back only after it succeeded.
template <class F> auto on_executor(Level level, F f, Precision Environment::*precision = &Environment::products) {
  const Environment& env = environment();
  if (env.on_host) {
    return on_host(level, [&](const Executor& host) { return f(host, env.*precision); });
  }
  try {
    if constexpr (std::is_void_v<decltype(f(env.executor, Precision()))>) {
      f(env.executor, env.*precision);
      if (env.report) count(level, false);
      return;
    } else {
      const auto result = f(env.executor, env.*precision);
      if (env.report) count(level, false);
      return result;
    }
  } catch (const NotImplemented&) {
  } catch (const std::exception& e) {
    stop(e);
  }
  return on_host(level, [&](const Executor& host) { return f(host, Precision()); });
}

}  // namespace trn::dropin
