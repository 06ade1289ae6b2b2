// The words of each Mode: see words.hpp.
#include "words.hpp"

#include <trn/core/error.hpp>

namespace trn::fft::device {

Words words_of(Mode mode) {
  // Rounding to p bits errs by 2^-p relative; two words of p bits leave 2^-2p, because the second holds the rounded rest, of magnitude
  // 2^-p. A product then errs by twice that, plus the products left out.
  switch (mode) {
    case Mode::Native: return {};
    case Mode::Tf32: return {DType::TFloat32, 1, {{0, 0}}, 2 * 0x1p-11 + 0x1p-22};
    case Mode::Bf16: return {DType::BFloat16, 1, {{0, 0}}, 2 * 0x1p-8 + 0x1p-16};
    case Mode::Tf32x3: return {DType::TFloat32, 2, {{1, 0}, {0, 1}, {0, 0}}, 3 * 0x1p-22};
    case Mode::Bf16x6: return {DType::BFloat16, 3, {{2, 0}, {0, 2}, {1, 1}, {1, 0}, {0, 1}, {0, 0}}, 4 * 0x1p-24};
    case Mode::Exact: break;
  }
  fail<NotImplemented>("fft.plan: mode {} has no float32 device kernel; use native, tf32, bf16, tf32x3 or bf16x6", name(mode));
}

}  // namespace trn::fft::device
