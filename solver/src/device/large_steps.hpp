// The polynomial steps of sign_schedule.hpp on a matrix that SBUF has no room for, by trnblas's products:
// X <- X (a I + b M + c M^2), M = X^T X.
//
// A symmetric matrix lies in two buffers: `low`, whose lower triangle products write and add to, and `full`, which the
// next product reads. So nothing is copied: M = X^T X into low, then c M M + b M onto the same low, then, for a
// symmetric X, X Q + a X onto the low of X.
#pragma once

#include "device/padded.hpp"
#include "device/sign_schedule.hpp"

namespace trn::solver::device {

class LargeSteps {
 public:
  // The first k columns of X are meant, the others are zero and stay so. X must outlive this and is replaced.
  LargeSteps(const Executor& executor, Matrix<float>& x, std::int64_t k, bool symmetric);

  // X is divided by a power of two and then by ||M||_F^1/2 before the steps of kFirst; false where X is zero.
  bool begin();
  // kShort, with the D of departure() in its first step.
  void again();
  // M becomes D = M - I; its norm.
  double departure();
  void close() { apply(about_one(kClosing)); }
  [[nodiscard]] double trace() const { return trace_; }  // of D

 private:
  void square();
  void apply(const SignStep& p);  // with the M that is there
  void step(const SignStep& p);

  const Executor& executor_;
  Matrix<float>& x_;
  std::int64_t k_;
  bool symmetric_;
  Matrix<float> next_, m_low_, m_;  // next_: the low of a symmetric X, the next of any other
  double trace_ = 0;
};

}  // namespace trn::solver::device
