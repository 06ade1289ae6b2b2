// The operands of an entry point: addresses, sizes, increments and leading dimensions of the caller become views. On
// the host they are views of the caller's memory; for a device they are dense copies there, and what was written is
// copied back by commit().
#pragma once

#include <cstdio>
#include <cstdlib>
#include <optional>
#include <trn/blas/storage.hpp>
#include <trn/core/array.hpp>
#include <vector>

#include "environment.hpp"

namespace trn::dropin {

using blas::Layout;
using blas::Uplo;

// BLAS counts a vector with a negative increment from its last address.
template <class T> T* first(T* x, std::int64_t n, std::int64_t inc) { return inc < 0 && n > 0 ? x - (n - 1) * inc : x; }

template <class T> class Vector {
 public:
  using Value = std::remove_const_t<T>;
  Vector(const Executor& e, T* x, std::int64_t n, std::int64_t inc) : view_(e, first(x, n, inc), n, inc) {
    if (e.family() == Family::Host) return;
    staged_.emplace(Staged{View<T>(environment().host, view_.data(), {n}, {inc}), Array<Value>(e, Shape{n})});
    copy(staged_->user, staged_->array.view());
    view_ = VectorView<T>(e, staged_->array.data(), n);
  }
  [[nodiscard]] const VectorView<T>& view() const { return view_; }
  void commit() requires(!std::is_const_v<T>) {
    if (staged_) copy(staged_->array.view(), staged_->user);
  }

 private:
  struct Staged {
    View<T> user;
    Array<Value> array;
  };
  VectorView<T> view_;
  std::optional<Staged> staged_;
};

template <class T> class General {
 public:
  using Value = std::remove_const_t<T>;
  General(const Executor& e, T* a, std::int64_t rows, std::int64_t columns, std::int64_t ld, Layout layout)
      : view_(e, a, rows, columns, layout == Layout::RowMajor ? ld : 1, layout == Layout::RowMajor ? 1 : ld) {
    if (e.family() == Family::Host) return;
    const MatrixView<T> user(environment().host, a, rows, columns, view_.row_stride(), view_.column_stride());
    staged_.emplace(Staged{user, Matrix<Value>(e, rows, columns)});
    copy(View<T>(user), View<Value>(staged_->matrix.view()));
    view_ = MatrixView<T>(staged_->matrix.view());
  }
  [[nodiscard]] const MatrixView<T>& view() const { return view_; }
  void commit() requires(!std::is_const_v<T>) {
    if (staged_) copy(View<T>(staged_->matrix.view()), View<T>(staged_->user));
  }
  // Only these rows or columns are written, those whose flag is set.
  void commit(const std::vector<bool>& rows, const std::vector<bool>& columns) requires(!std::is_const_v<T>) {
    commit_where([&](std::int64_t i, std::int64_t j) {
      return rows[static_cast<std::size_t>(i)] && columns[static_cast<std::size_t>(j)];
    });
  }
  // Only one triangle of the caller's matrix is written.
  void commit(Uplo uplo) requires(!std::is_const_v<T>) {
    commit_where([uplo](std::int64_t i, std::int64_t j) { return uplo == Uplo::Upper ? j >= i : j <= i; });
  }

 private:
  template <class In> void commit_where(const In& in) requires(!std::is_const_v<T>) {
    if (!staged_) return;
    const MatrixView<T>& user = staged_->user;
    const std::vector<Value> values = staged_->matrix.to_host();
    for (std::int64_t i = 0; i < user.rows(); ++i) {
      for (std::int64_t j = 0; j < user.columns(); ++j) {
        if (in(i, j))
          user.data()[i * user.row_stride() + j * user.column_stride()] =
              values[static_cast<std::size_t>(i * user.columns() + j)];
      }
    }
  }

  struct Staged {
    MatrixView<T> user;
    Matrix<Value> matrix;
  };
  MatrixView<T> view_;
  std::optional<Staged> staged_;
};

[[noreturn]] inline void stop(const std::exception& e) {
  std::fprintf(stderr, "trnblas: %s\n", e.what());
  std::abort();
}

// Runs f(host). BLAS has no way to return an error that is not an illegal argument: the program ends with the message.
template <class F> auto on_host(Level level, F f) {
  const Environment& env = environment();
  note_host_call(env, "trnblas");
  if (env.report) count(level, true);
  try {
    return f(env.host);
  } catch (const std::exception& e) {
    stop(e);
  }
}

// Runs f(executor, precision): as chosen, or on the host where the choice has no kernel for the call, in native
// precision or with the same target. A target that cannot be met ends the program with a message. f copies results back
// only after it succeeded.
template <class F> auto on_executor(Level level, F f, Precision Environment::*precision = &Environment::products) {
  const Environment& env = environment();
  const Precision target = (env.*precision).has_target() ? env.*precision : Precision();
  const auto plain = [&](const Executor& host) { return f(host, target); };
  if (env.on_host && env.*precision == target) return on_host(level, plain);
  try {
    if constexpr (std::is_void_v<decltype(plain(env.host))>) {
      f(env.executor, env.*precision);
      if (env.report) count(level, env.on_host);
      return;
    } else {
      const auto result = f(env.executor, env.*precision);
      if (env.report) count(level, env.on_host);
      return result;
    }
  } catch (const NotImplemented&) {
  } catch (const std::exception& e) {
    stop(e);
  }
  return on_host(level, plain);
}

}  // namespace trn::dropin
