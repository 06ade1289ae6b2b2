// The 1-D engines of the host family: plain mixed radix, one line at a time.
#include <complex>

#include "../roots.hpp"
#include "lines.hpp"

namespace trn::fft::host {
namespace {

template <class T> class PlainEngine final : public Engine<T> {
 public:
  PlainEngine(EngineKind kind, std::int64_t n) : kind_(kind), n_(n), root_(static_cast<std::size_t>(n)) {
    for (std::int64_t k = 0; k < n; ++k) root_[static_cast<std::size_t>(k)] = root<T>(k, n);
  }
  std::int64_t length() const override { return n_; }
  std::int64_t scratch_bytes(int) const override { return static_cast<std::int64_t>(sizeof(std::complex<T>)) * 2 * n_; }

  void run(const Lines& in, const Lines& out, const std::vector<LineBatch>& batch, double factor, std::byte* scratch, int) const override {
    auto* line = reinterpret_cast<std::complex<T>*>(scratch);
    std::vector<std::int64_t> index(batch.size(), 0);
    for (;;) {
      std::int64_t from = 0, to = 0;
      for (std::size_t d = 0; d < batch.size(); ++d) {
        from += index[d] * batch[d].input_distance;
        to += index[d] * batch[d].output_distance;
      }
      one(in, from, out, to, static_cast<T>(factor), line);
      std::size_t d = batch.size();
      while (d > 0 && ++index[d - 1] == batch[d - 1].count) index[--d] = 0;
      if (d == 0) return;
    }
  }

 private:
  void one(const Lines& in, std::int64_t from, const Lines& out, std::int64_t to, T factor, std::complex<T>* line) const {
    const T* re = static_cast<const T*>(in.re) + from;
    const T* im = in.im ? static_cast<const T*>(in.im) + from : nullptr;
    const std::int64_t half = n_ / 2;
    if (kind_ == EngineKind::HalfToReal) {  // conj in, forward transform, real part: the inverse of a Hermitian line
      for (std::int64_t j = 0; j < n_; ++j) {
        const std::int64_t k = j <= half ? j : n_ - j;
        const bool self = k == 0 || 2 * k == n_;
        const T i = self ? T(0) : im[k * in.stride];
        line[j] = {re[k * in.stride], j <= half ? -i : i};
      }
    } else {
      for (std::int64_t j = 0; j < n_; ++j) line[j] = {re[j * in.stride], im ? im[j * in.stride] : T(0)};
    }
    step(line, line + n_, n_, 1);
    T* x = static_cast<T*>(out.re) + to;
    T* y = out.im ? static_cast<T*>(out.im) + to : nullptr;
    const std::int64_t points = kind_ == EngineKind::RealToHalf ? half + 1 : n_;
    for (std::int64_t k = 0; k < points; ++k) {
      x[k * out.stride] = line[n_ + k].real() * factor;
      if (y) y[k * out.stride] = line[n_ + k].imag() * factor;
    }
  }

  // out[0 .. m) = DFT of in[0], in[s], ...: decimation in time by the smallest factor.
  void step(const std::complex<T>* in, std::complex<T>* out, std::int64_t m, std::int64_t s) const {
    if (m == 1) { out[0] = in[0]; return; }
    std::int64_t p = 2;
    while (m % p != 0) ++p;
    const std::int64_t q = m / p;
    for (std::int64_t r = 0; r < p; ++r) step(in + r * s, out + r * q, q, s * p);
    std::vector<std::complex<T>> column(static_cast<std::size_t>(p));
    for (std::int64_t k = 0; k < q; ++k) {
      for (std::int64_t r = 0; r < p; ++r) column[static_cast<std::size_t>(r)] = out[r * q + k];
      for (std::int64_t t = 0; t < p; ++t) {
        std::complex<T> sum = 0;
        for (std::int64_t r = 0; r < p; ++r) sum += column[static_cast<std::size_t>(r)] * root_[static_cast<std::size_t>((r * (k + t * q) % m) * s)];
        out[t * q + k] = sum;
      }
    }
  }

  EngineKind kind_;
  std::int64_t n_;
  std::vector<std::complex<T>> root_;
};

}  // namespace

template <class T> std::shared_ptr<const Engine<T>> make_engine(EngineKind kind, std::int64_t n, std::int64_t) {
  return std::make_shared<PlainEngine<T>>(kind, n);
}
template std::shared_ptr<const Engine<float>> make_engine<float>(EngineKind, std::int64_t, std::int64_t);
template std::shared_ptr<const Engine<double>> make_engine<double>(EngineKind, std::int64_t, std::int64_t);

}  // namespace trn::fft::host
