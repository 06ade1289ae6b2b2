// What a simulator says of an argument that nobody wrote: its name, as the operation has it.
#include <trn/blas/gemm.hpp>
#include <trn/fft/plan.hpp>

#include "support/message_of.hpp"

namespace trn {
namespace {

using testing_support::message_of;

TEST(UnwrittenArgument, OfAProduct) {
  const Executor e = Executor::open("sim:trn2");
  const std::vector<float> ones(64 * 64, 1.0F);
  const auto full = Matrix<float>::from_host(e, 64, 64, ones);
  const Matrix<float> c(e, 64, 64);
  const auto text = [&](const auto& x, const auto& y, float beta, Mode mode) {
    return message_of<DeviceError>([&] {
      const Matrix<float> none(e, 64, 64);
      blas::gemm(e, blas::Op::N, blas::Op::T, 1, x(none), y(none), beta, beta == 0 ? c : none, {.precision = mode});
      e.synchronize();
    });
  };
  const auto written = [&](const Matrix<float>&) -> const Matrix<float>& { return full; };
  const auto unwritten = [](const Matrix<float>& none) -> const Matrix<float>& { return none; };
  for (const Mode mode : {Mode::Native, Mode::Tf32x3}) {
    EXPECT_IN("argument 'a' is read, and nothing has written it", text(unwritten, written, 0, mode));
    EXPECT_IN("argument 'b' is read, and nothing has written it", text(written, unwritten, 0, mode));
    EXPECT_IN("argument 'c' is read, and nothing has written it", text(written, written, 1, mode));
  }
}

TEST(UnwrittenArgument, OfATransform) {
  const Executor e = Executor::open("sim:trn2");
  for (const std::int64_t n : {64, 240, 1000}) {
    const Array<std::complex<float>> x(e, {n}), y(e, {n}), half(e, {n / 2 + 1});
    const Array<float> real(e, {n});
    using namespace fft;
    EXPECT_IN("argument 'x' is read", message_of<DeviceError>([&] {
                Plan<float>(e, dense(Kind::ComplexToComplex, Direction::Forward, {n})).execute(x, y);
                e.synchronize();
              }));
    EXPECT_IN("argument 'x' is read", message_of<DeviceError>([&] {
                Plan<float>(e, dense(Kind::RealToComplex, Direction::Forward, {n})).execute(real, half);
                e.synchronize();
              }));
  }
}

}  // namespace
}  // namespace trn
