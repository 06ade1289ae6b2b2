// fft.twiddle on the host.
#include "../dist/twiddle.hpp"

namespace trn::fft::host {

namespace {

template <class T> void multiply(T* x, const T* t, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) {
    const T re = x[2 * i], im = x[2 * i + 1], a = t[2 * i], b = t[2 * i + 1];
    x[2 * i] = re * a - im * b;
    x[2 * i + 1] = re * b + im * a;
  }
}

}  // namespace

void twiddle(const Executor&, const TwiddleArgs& args) {
  if (args.real == DType::Float32)
    multiply(static_cast<float*>(args.data), static_cast<const float*>(args.table->data()), args.count);
  else
    multiply(static_cast<double*>(args.data), static_cast<const double*>(args.table->data()), args.count);
}

}  // namespace trn::fft::host
