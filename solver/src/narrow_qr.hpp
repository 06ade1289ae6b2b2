// A system in double, factored in float32 on a device: what refinement with exact residuals starts from. QR, because it
// needs no pivoting and grows nothing.
#pragma once

#include <trn/solver/qr.hpp>

#include "copies.hpp"

namespace trn::solver {

class NarrowQr {
 public:
  // A divided by a power of two near its largest element, rounded to float32. A is square and finite.
  template <class T> NarrowQr(const Executor& executor, const host::Columns<T>& a)
      : executor_(executor), scale_(power_of(a)), qr_(executor, narrowed(executor, a, scale_).view()) {}
  [[nodiscard]] const Report& report() const { return qr_.report(); }
  [[nodiscard]] double condition() const { return qr_.condition(); }  // of R, estimated, 1-norm

  // Columns of X become those of A^-1 X, about; false where they are not finite. Sizes of columns near 1 are best.
  template <class T> bool solve(host::Columns<T>& x) const {
    const Matrix<float> b = narrowed(executor_, x, 1);
    (void)qr_.solve(b.view());  // a diagonal at rounding level is the refinement's to judge
    const Matrix<float> solved = copies::on_host(b.view());
    for (std::int64_t i = 0; i < x.rows(); ++i) {
      for (std::int64_t j = 0; j < x.columns(); ++j) x(i, j) = T(host::element(solved.view(), i, j)) / T(scale_);
    }
    return host::finite(x.view()).ok();
  }

 private:
  template <class T> static double power_of(const host::Columns<T>& a) {
    double most = 0;
    for (std::int64_t j = 0; j < a.columns(); ++j) {
      for (std::int64_t i = 0; i < a.rows(); ++i) most = std::max<double>(most, std::abs(a(i, j)));
    }
    return most > 0 ? std::ldexp(1.0, std::clamp(std::ilogb(most), -1000, 1000)) : 1.0;
  }
  template <class T> static Matrix<float> narrowed(const Executor& executor, const host::Columns<T>& a, double scale) {
    Matrix<float> x(Executor::host(), a.rows(), a.columns());
    for (std::int64_t i = 0; i < a.rows(); ++i) {
      for (std::int64_t j = 0; j < a.columns(); ++j) {
        host::element(x.view(), i, j) = static_cast<float>(static_cast<double>(a(i, j)) / scale);
      }
    }
    return x.to(executor);
  }

  Executor executor_;
  double scale_;
  Qr<float> qr_;
};

}  // namespace trn::solver
