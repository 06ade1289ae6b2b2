// Operators on rows of floating-point values.
#include "sim/alu.hpp"

#include <cmath>
#include <trn/core/error.hpp>

namespace trn::neuron::sim {

namespace {

using tile::AluOp;

template <class Real> Real truth(bool b) { return b ? Real(1) : Real(0); }

// Calls f with a captureless function object that computes `op` on two values of type Real.
template <class Real, class F> auto with_operator(AluOp op, F&& f) {
  switch (op) {
    case AluOp::Add:
      return f([](Real a, Real b) { return a + b; });
    case AluOp::Subtract:
      return f([](Real a, Real b) { return a - b; });
    case AluOp::Multiply:
      return f([](Real a, Real b) { return a * b; });
    case AluOp::Maximum:
      return f([](Real a, Real b) { return ((a > b) | (a != a)) ? a : b; });
    case AluOp::Minimum:
      return f([](Real a, Real b) { return ((a < b) | (a != a)) ? a : b; });
    case AluOp::Power:
      return f(
          [](Real a, Real b) { return static_cast<Real>(std::pow(static_cast<double>(a), static_cast<double>(b))); });
    // The signed operand of larger (smaller) magnitude, the second on a tie.
    case AluOp::AbsMax:
      return f([](Real a, Real b) { return ((std::fabs(a) > std::fabs(b)) | (a != a)) ? a : b; });
    case AluOp::AbsMin:
      return f([](Real a, Real b) { return ((std::fabs(a) < std::fabs(b)) | (a != a)) ? a : b; });
    case AluOp::Equal:
      return f([](Real a, Real b) { return truth<Real>(a == b); });
    case AluOp::NotEqual:
      return f([](Real a, Real b) { return truth<Real>(a != b); });
    case AluOp::GreaterEqual:
      return f([](Real a, Real b) { return truth<Real>(a >= b); });
    case AluOp::Greater:
      return f([](Real a, Real b) { return truth<Real>(a > b); });
    case AluOp::LessEqual:
      return f([](Real a, Real b) { return truth<Real>(a <= b); });
    case AluOp::Less:
      return f([](Real a, Real b) { return truth<Real>(a < b); });
    case AluOp::LogicalAnd:
      return f([](Real a, Real b) { return truth<Real>((a != 0) & (b != 0)); });
    case AluOp::LogicalOr:
      return f([](Real a, Real b) { return truth<Real>((a != 0) | (b != 0)); });
    case AluOp::LogicalXor:
      return f([](Real a, Real b) { return truth<Real>((a != 0) != (b != 0)); });
    case AluOp::Abs:
      return f([](Real a, Real) { return std::fabs(a); });
    case AluOp::Square:
      return f([](Real a, Real) { return a * a; });
    case AluOp::Relu:
      return f([](Real a, Real) { return ((a > 0) | (a != a)) ? a : Real(0); });
    case AluOp::Rsqrt:
      return f([](Real a, Real) { return static_cast<Real>(1.0 / std::sqrt(static_cast<double>(a))); });
    case AluOp::Reciprocal:
      return f([](Real a, Real) { return Real(1) / a; });
    default:
      break;
  }
  fail<NotImplemented>("simulator: operator {} does not compute on floating-point values here", name(op));
}

}  // namespace

template <class Real> void combine(AluOp op, const Term<Real>& a, const Term<Real>& b, Real* out, std::int64_t n) {
  with_operator<Real>(op, [&](auto f) { map_terms(a, b, out, n, f); });
}

template <class Real> BinaryFunction<Real> binary_function(AluOp op) {
  return with_operator<Real>(op, [](auto f) -> BinaryFunction<Real> { return f; });
}

template void combine<float>(AluOp, const Term<float>&, const Term<float>&, float*, std::int64_t);
template void combine<double>(AluOp, const Term<double>&, const Term<double>&, double*, std::int64_t);
template BinaryFunction<float> binary_function<float>(AluOp);
template BinaryFunction<double> binary_function<double>(AluOp);

}  // namespace trn::neuron::sim
